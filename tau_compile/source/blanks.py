"""Keys without a value that only look like a choice of the form: they count as unset (taugrid-config 1.1)."""

from __future__ import annotations

from tau_compile.diagnostics import Diagnostic, warning
from tau_compile.source.nodes import Entry, Mapping, Node, Scalar

_NULLS = ("", "~", "null", "Null", "NULL")


def is_blank(node: Node | None) -> bool:
    """Whether a value is absent, null or nothing but spaces."""
    return node is None or (isinstance(node, Scalar) and (not node.text.strip() or is_null(node)))


def is_null(node: Node) -> bool:
    """Whether a value is YAML's null."""
    return isinstance(node, Scalar) and node.plain and node.text in _NULLS


def without_blanks(node: Mapping, said: list[Diagnostic]) -> Mapping:
    """A document without a null ``schema_version`` and without blank engines; says that they have no effect."""
    entries: list[Entry] = []
    for entry in node.entries:
        name, value = entry.key.name, entry.value
        if (name == "engine" and is_blank(value)) or (name == "schema_version" and is_null(value)):
            said.append(_unset(entry, name))
            continue
        if name == "run" and isinstance(value, Mapping):
            engine = value.entry("engine")
            if engine is not None and is_blank(engine.value):
                said.append(_unset(engine, "run.engine"))
                rest = tuple(inner for inner in value.entries if inner is not engine)
                entry = Entry(entry.key, Mapping(value.span, rest))
        entries.append(entry)
    return (
        node
        if len(entries) == len(node.entries)
        and all(a is b for a, b in zip(entries, node.entries, strict=True))
        else Mapping(node.span, tuple(entries))
    )


def _unset(entry: Entry, path: str) -> Diagnostic:
    return warning(
        "TAU903", f"`{path}` is blank, which is as if it were not there", entry.key.span, "remove the line"
    )

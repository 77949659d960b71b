"""The fields of a canonical tau.yaml, and the defaults that its schema gives them."""

from __future__ import annotations

from functools import cache
from typing import Any

from tau_compile.named import NamedTuple
from tau_compile.schema import store

_TOP = "#/$defs/canonical"


class Default(NamedTuple):
    """A default, and the only texts that the field may have."""

    value: Any
    words: frozenset[str] | None


@cache
def fields() -> tuple[str, ...]:
    """The dotted paths of all fields, without the sections that hold them."""
    return tuple(sorted(path for path, schema in _found().items() if "properties" not in schema))


@cache
def defaults() -> dict[str, Default]:
    """The defaults by path."""
    shape = store.prepared(f"tau.schema.json{_TOP}").shape
    found = {}
    for path, schema in sorted(_found().items()):
        if "default" in schema:
            inner = shape
            for name in path.split("."):
                inner = inner.child(name)
            found[path] = Default(schema["default"], inner.words)
    return found


def _found() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    document = store.document("tau.schema.json")

    def walk(schema: Any, path: str) -> None:
        if not isinstance(schema, dict):
            return
        if "$ref" in schema:
            walk(document.find(schema["$ref"])[0], path)
        for part in schema.get("allOf", ()):
            walk(part, path)
        if path:
            found[path] = {**found.get(path, {}), **schema}
        for name, inner in schema.get("properties", {}).items():
            if isinstance(inner, dict) and "x-tau-refused" not in inner and "x-tau-renamed" not in inner:
                walk(inner, f"{path}.{name}" if path else name)

    walk(document.find(_TOP)[0], "")
    return found

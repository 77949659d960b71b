"""Documents in the making: trees whose values keep the places they came from, checked against the schemas of what they become."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Span, has_errors, warning
from tau_compile.importing.hidden import places
from tau_compile.named import NamedTuple
from tau_compile.schema.check import check
from tau_compile.source.nodes import Entry, Key, Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.importing.documents import Object
    from tau_compile.schema.store import Prepared
    from tau_compile.source.nodes import Node

_PASSES = 30  # what was pruned may be demanded by what is around it


class Made(NamedTuple):
    """What an import writes: (path, content) of each file, in order. Empty when there are errors.

    ``secrets`` are the places of the input that no message may show; ``programs`` the paths of files that may be executed.
    """

    files: tuple[tuple[str, str | bytes], ...]
    diagnostics: tuple[Diagnostic, ...]
    secrets: tuple[Span, ...] = ()
    programs: frozenset[str] = frozenset()


def made(
    files: Iterable[tuple[str, str | bytes]],
    found: Iterable[Object],
    said: list[Diagnostic],
    programs: Iterable[str] = (),
) -> Made:
    """The result of an import that has read these objects."""
    secrets = tuple(span for item in found for span in places(item.node))
    return Made(() if has_errors(said) else tuple(sorted(files)), tuple(said), secrets, frozenset(programs))


def tree(value: Any, span: Span) -> Node | None:
    """Nodes, and dicts, lists, texts, numbers and booleans around them, as one tree; what is empty or None is left out."""
    if value is None or isinstance(value, (Mapping, Sequence, Scalar)):
        return value
    if isinstance(value, dict):
        entries = []
        for name, inner in value.items():
            made = tree(inner, span)
            if made is not None:
                entries.append(Entry(name if isinstance(name, Key) else Key(name, made.span), made))
        return Mapping(entries[0].value.span, tuple(entries)) if entries else None
    if isinstance(value, (list, tuple)):
        items = tuple(made for made in (tree(inner, span) for inner in value) if made is not None)
        return Sequence(items[0].span, items) if items else None
    if isinstance(value, bool):
        return Scalar(span, "true" if value else "false", True)
    return Scalar(span, str(value), isinstance(value, int))


def checked(
    value: dict[Any, Any], span: Span, schema: Prepared, kind: str, said: list[Diagnostic]
) -> dict[str, Any] | None:
    """The document as plain data; what its schema would refuse is reported and left out. None when nothing is left."""
    node = tree(value, span)
    seen: list[Diagnostic] = []
    for _ in range(_PASSES):
        if not isinstance(node, Mapping):
            break
        result = check(node, schema, file_kind=kind)
        errors = [d for d in result.diagnostics if d.severity == "error"]
        if not errors:
            said += seen
            data: dict[str, Any] = result.data
            return data
        places = {d.span for d in errors if d.span}
        pruned = _without(node, places)
        if pruned == node or pruned is None:
            said += errors
            return None
        seen += [
            warning(
                "TAU396", f"this cannot be written into a {kind}: {d.message}", d.span, d.hint or "change it"
            )
            for d in errors
            if d.id != "TAU204" or not seen
        ]
        node = pruned
    said += [*seen]
    if not has_errors(said) and isinstance(node, Mapping):
        said += check(node, schema, file_kind=kind).diagnostics
    return None


def _without(node: Node, places: set[Span]) -> Node | None:
    """The tree without the deepest values that stand at one of the places, or begin there and lack a key."""
    if isinstance(node, Scalar):
        return None if node.span in places else node
    if isinstance(node, Sequence):
        items = tuple(kept for kept in (_without(item, places) for item in node.items) if kept is not None)
        if items == node.items:
            return None if node.span in places else node
        return Sequence(node.span, items) if items else None
    entries = []
    for entry in node.entries:
        kept = _without(entry.value, places)
        if kept is entry.value and entry.key.span in places:
            kept = None
        if kept is not None:
            entries.append(Entry(entry.key, kept))
    if tuple(entries) == node.entries:
        return None if node.span in places or _start(node.span) in places else node
    return Mapping(node.span, tuple(entries)) if entries else None


def _start(span: Span) -> Span:
    return Span(span.file, span.line, span.column, span.line, span.column)

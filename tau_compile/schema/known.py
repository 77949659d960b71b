"""The keys that a schema knows, by path: what an unknown or a missing key is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tau_compile.schema import fast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.schema.document import Document, Schema

Names = tuple[str, ...]
_DEEPEST = 12  # a schema may contain itself


class Known(NamedTuple):
    """One key. ``path`` has no list indices; ``schemas`` are those that describe it, the nearest first."""

    path: Names
    schemas: tuple[dict[str, Any], ...]

    def note(self, keyword: str) -> Any:
        """What the nearest schema says under ``keyword``, or None."""
        return next((schema[keyword] for schema in self.schemas if keyword in schema), None)

    @property
    def usable(self) -> bool:
        """Whether one should write it: it is neither refused nor an older spelling."""
        return not any("x-tau-refused" in schema or "x-tau-renamed" in schema for schema in self.schemas)


class Index(NamedTuple):
    """The known keys of the form that a document is in, and those of its other form only."""

    here: dict[Names, Known]
    other: dict[Names, Known]


def index(schema: Schema, document: Document, value: Any = None) -> Index:
    """All known keys. Where the root has an ``if``, ``value`` decides which branch is ``here``."""
    here: dict[Names, Known] = {}
    other: dict[Names, Known] = {}
    _walk(schema, document, (), here)
    for condition, home in _conditions(schema, document):
        holds = fast.check(condition["if"], home)(value)
        for branch in ("then", "else"):
            _walk(condition.get(branch, True), home, (), here if holds == (branch == "then") else other)
    return Index(here, {path: found for path, found in other.items() if path not in here})


def _conditions(schema: Schema, document: Document) -> Iterator[tuple[dict[str, Any], Document]]:
    """The schemas with an ``if`` that apply to the whole value."""
    for part, home in applied(schema, document, branches=False):
        if "if" in part:
            yield part, home


def applied(
    schema: Schema, document: Document, branches: bool = True
) -> Iterator[tuple[dict[str, Any], Document]]:
    """``schema`` and all schemas that it applies to the same value, each with its document."""
    if not isinstance(schema, dict):
        return
    yield schema, document
    if "$ref" in schema:
        yield from applied(*document.find(schema["$ref"]), branches)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(keyword, ()):
            yield from applied(part, document, branches)
    if branches and "if" in schema:
        for keyword in ("then", "else"):
            yield from applied(schema.get(keyword, True), document, branches)


def _walk(schema: Schema, document: Document, path: Names, found: dict[Names, Known], lists: int = 0) -> None:
    """``lists``: how many lists are around, which are no part of the path."""
    if len(path) + lists > _DEEPEST:
        return
    for part, home in applied(schema, document, branches=bool(path)):
        for name, inner in part.get("properties", {}).items():
            below = (*path, name)
            notes = tuple(described for described, _ in applied(inner, home))
            if below in found:
                found[below] = Known(below, found[below].schemas + notes)
            else:
                found[below] = Known(below, notes)
            _walk(inner, home, below, found, lists)
        items = part.get("items", ())
        for item in items if isinstance(items, list) else (items, *part.get("prefixItems", ())):
            if isinstance(item, dict):
                _walk(item, home, path, found, lists + 1)

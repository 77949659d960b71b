"""Judging an ``if`` before its document has been read: which keys it mentions, and their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.schema.keywords import says_nothing
from tau_compile.schema.reading import read
from tau_compile.source.nodes import Mapping, Scalar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.schema.document import Document, Schema
    from tau_compile.schema.shape import Shape
    from tau_compile.source.nodes import Node

_SHALLOW = frozenset(
    "type required properties not anyOf allOf oneOf if then else $ref dependentRequired".split()  # noqa: SIM905
)


def outline(node: Node, shape: Shape, names: frozenset[str] | None = None) -> Any:
    """``node`` as plain data, without complaints; of a mapping only the keys in ``names``, if given."""
    shape = shape.at(node)
    if isinstance(node, Scalar):
        return read(node, shape)[0]
    if isinstance(node, Mapping):
        return {
            key.name: outline(value, shape.child(key.name))
            for key, value in node.entries
            if names is None or key.name in names
        }
    return [outline(item, shape.item(index)) for index, item in enumerate(node.items)]


def mentioned(schema: Schema, document: Document) -> frozenset[str] | None:
    """The keys of an object on which the verdict of ``schema`` can depend; None when all may matter."""
    if not isinstance(schema, dict):
        return frozenset()
    names = {*schema.get("required", ()), *schema.get("properties", ())}
    for name, others in schema.get("dependentRequired", {}).items():
        names |= {name, *others}
    for keyword in schema:
        if keyword not in _SHALLOW and not says_nothing(keyword):
            return None
    for part, home in _applied(schema, document):
        found = mentioned(part, home)
        if found is None:
            return None
        names |= found
    return frozenset(names)


def _applied(schema: dict[str, Any], document: Document) -> Iterable[tuple[Schema, Document]]:
    """The schemas that ``schema`` applies to the same value."""
    for keyword in ("anyOf", "allOf", "oneOf"):
        for part in schema.get(keyword, ()):
            yield part, document
    for keyword in ("not", "if", "then", "else"):
        if keyword in schema:
            yield schema[keyword], document
    if "$ref" in schema:
        yield document.find(schema["$ref"])

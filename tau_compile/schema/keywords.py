"""The keywords of JSON Schema that this room asserts, and the subschemas they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.schema.document import SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.schema.document import Document, Schema


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ANNOTATIONS = _words(
    "$schema $id $comment $defs definitions title description default examples deprecated readOnly writeOnly"
    " format"
)
_MAPS = _words("properties patternProperties $defs definitions dependentSchemas")
_LISTS = _words("allOf anyOf oneOf prefixItems")
_ONE = _words("additionalItems additionalProperties propertyNames contains not if then else items")
_BOTH = _words(
    "type enum const properties patternProperties additionalProperties required items contains propertyNames"
    " minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems"
    " maxItems uniqueItems minProperties maxProperties oneOf anyOf allOf not if then else $ref"
)
_DRAFT_7 = _BOTH | ANNOTATIONS | _words("additionalItems dependencies")
_DRAFT_2020 = (
    _BOTH | ANNOTATIONS | _words("prefixItems dependentRequired dependentSchemas minContains maxContains")
)


def says_nothing(keyword: str) -> bool:
    """Whether a keyword asserts nothing by itself."""
    return keyword in ANNOTATIONS or keyword.startswith("x-")


def refuse_unknown(schema: dict[str, Any], document: Document) -> None:
    """Raise `SchemaError` where ``schema`` itself uses something that would not be asserted."""
    known = _DRAFT_7 if document.draft7 else _DRAFT_2020
    for keyword in schema:
        if keyword not in known and not keyword.startswith("x-"):
            raise SchemaError(f"keyword {keyword} is not implemented")
        if document.draft7 and "$ref" in schema and keyword != "$ref" and not says_nothing(keyword):
            raise SchemaError(f"draft 7 ignores {keyword} beside $ref")
    if "$id" in schema and schema is not document.root:
        raise SchemaError("$id below the root is not implemented")


def subschemas(schema: dict[str, Any]) -> Iterator[Schema]:
    """The schemas written directly inside ``schema``."""
    for keyword, value in schema.items():
        if keyword in _MAPS:
            yield from value.values()
        elif keyword == "dependencies":
            yield from (item for item in value.values() if not isinstance(item, list))
        elif keyword in _LISTS or (keyword == "items" and isinstance(value, list)):
            yield from value
        elif keyword in _ONE:
            yield value

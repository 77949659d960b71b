"""The assertions of JSON Schema, one builder each: ``build(schema, document, compile) -> verdict function``.

A verdict function of a group is only ever called with values of that group ("any": with every value).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tau_compile.schema.pattern import searcher

if TYPE_CHECKING:
    from tau_compile.schema.document import Document, Schema

Check = Callable[[Any], bool]
Compile = Callable[["Schema", "Document"], Check]
Builder = Callable[[dict[str, Any], "Document", Compile], Check]

_NONE: tuple[Any, ...] = ()


def freeze(value: Any) -> Any:
    """A hashable stand-in, equal for values that JSON Schema holds equal: 1 is 1.0, true is not 1."""
    kind = type(value)
    if kind is str or value is None:
        return value
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list):
        return ("array", tuple(freeze(item) for item in value))
    if isinstance(value, dict):
        return ("object", frozenset((key, freeze(item)) for key, item in value.items()))
    return value


def _enum(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    allowed = frozenset(freeze(value) for value in schema["enum"])
    return lambda value: freeze(value) in allowed


def _const(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    wanted = freeze(schema["const"])
    return lambda value: bool(freeze(value) == wanted)


def _lengths(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    least, most = schema.get("minLength", 0), schema.get("maxLength", float("inf"))
    return lambda value: least <= len(value) <= most


def _pattern(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    search = searcher(schema["pattern"])
    return lambda value: search(value) is not None


def _bounds(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    least, most = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")

    def verdict(value: Any) -> bool:
        # Refusals, not demands, so that NaN passes them as it does in the reference implementation.
        return not (
            (least is not None and value < least)
            or (most is not None and value > most)
            or (above is not None and value <= above)
            or (below is not None and value >= below)
        )

    return verdict


def _multiple(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    step = schema["multipleOf"]

    def verdict(value: Any) -> bool:
        if value != value or value in (float("inf"), float("-inf")):
            return False
        if not isinstance(step, float):
            return bool(value % step == 0)
        try:
            quotient = value / step
            return bool(int(quotient) == quotient)
        except OverflowError:
            from fractions import Fraction  # it brings `decimal` along, and is hardly ever needed

            return (Fraction(value) / Fraction(step)).denominator == 1

    return verdict


def _sizes(least: str, most: str) -> Builder:
    def build(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
        low, high = schema.get(least, 0), schema.get(most, float("inf"))
        return lambda value: low <= len(value) <= high

    return build


def _items(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    first, rest = list_parts(schema, document)
    heads = tuple(compile(item, document) for item in first)
    tail = compile(rest, document)
    count = len(heads)

    def verdict(value: Any) -> bool:
        if count:
            for test, item in zip(heads, value, strict=False):
                if not test(item):
                    return False
            value = value[count:]
        for item in value:  # noqa: SIM110 - twice as fast as all() over a generator
            if not tail(item):
                return False
        return True

    return verdict


def list_parts(schema: dict[str, Any], document: Document) -> tuple[list[Schema], Schema]:
    """The schemas of the first items, and of all further ones, in either draft's spelling."""
    if document.draft7:
        items = schema.get("items", True)
        return (items, schema.get("additionalItems", True)) if isinstance(items, list) else ([], items)
    return schema.get("prefixItems", []), schema.get("items", True)


def _unique(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    if not schema["uniqueItems"]:
        return lambda value: True
    return lambda value: len({freeze(item) for item in value}) == len(value)


def _contains(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    test = compile(schema["contains"], document)
    least, most = schema.get("minContains", 1), schema.get("maxContains", float("inf"))
    return lambda value: least <= sum(1 for item in value if test(item)) <= most


def _members(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    properties: dict[str, Schema] = schema.get("properties", {})
    named = schema.get("patternProperties", {})
    patterns = [(searcher(text), compile(inner, document)) for text, inner in named.items()]
    rest = compile(schema.get("additionalProperties", True), document)
    required = tuple(schema.get("required", _NONE))
    free = not properties and not patterns and schema.get("additionalProperties", True) is True
    tests: dict[str, tuple[Check, ...]] = {}  # filled as properties are met, never with names of a user's own

    def tests_of(name: str) -> tuple[Check, ...]:
        found = [test for search, test in patterns if search(name)]
        if name in properties:
            found.append(compile(properties[name], document))
            return tests.setdefault(name, tuple(found))
        return tuple(found) or (rest,)

    def verdict(value: Any) -> bool:
        for name in required:
            if name not in value:
                return False
        if free:
            return True
        for name, item in value.items():
            for test in tests.get(name) or tests_of(name):
                if not test(item):
                    return False
        return True

    return verdict


def _names(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    test = compile(schema["propertyNames"], document)
    return lambda value: all(map(test, value))


def _dependent(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    needs: list[tuple[str, tuple[str, ...]]] = []
    tests: list[tuple[str, Check]] = []
    for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
        for name, wanted in schema.get(keyword, {}).items():
            if isinstance(wanted, list):
                needs.append((name, tuple(wanted)))
            else:
                tests.append((name, compile(wanted, document)))

    def verdict(value: Any) -> bool:
        return all(
            name not in value or all(other in value for other in wanted) for name, wanted in needs
        ) and all(name not in value or test(value) for name, test in tests)

    return verdict


def _all_of(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    tests = tuple(compile(inner, document) for inner in schema["allOf"])
    return lambda value: all(test(value) for test in tests)


def _any_of(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    tests = tuple(compile(inner, document) for inner in schema["anyOf"])
    return lambda value: any(test(value) for test in tests)


def _one_of(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    tests = tuple(compile(inner, document) for inner in schema["oneOf"])
    return lambda value: sum(1 for test in tests if test(value)) == 1


def _not(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    test = compile(schema["not"], document)
    return lambda value: not test(value)


def _if(schema: dict[str, Any], document: Document, compile: Compile) -> Check:
    test = compile(schema["if"], document)
    then, otherwise = compile(schema.get("then", True), document), compile(schema.get("else", True), document)
    return lambda value: then(value) if test(value) else otherwise(value)


BUILDERS: tuple[tuple[str, tuple[str, ...], Builder], ...] = (
    ("string", ("minLength", "maxLength"), _lengths),
    ("string", ("pattern",), _pattern),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _bounds),
    ("number", ("multipleOf",), _multiple),
    ("array", ("minItems", "maxItems"), _sizes("minItems", "maxItems")),
    ("array", ("items", "prefixItems"), _items),
    ("array", ("uniqueItems",), _unique),
    ("array", ("contains",), _contains),
    ("object", ("minProperties", "maxProperties"), _sizes("minProperties", "maxProperties")),
    ("object", ("properties", "patternProperties", "additionalProperties", "required"), _members),
    ("object", ("propertyNames",), _names),
    ("object", ("dependentRequired", "dependentSchemas", "dependencies"), _dependent),
    ("any", ("enum",), _enum),
    ("any", ("const",), _const),
    ("any", ("allOf",), _all_of),
    ("any", ("anyOf",), _any_of),
    ("any", ("oneOf",), _one_of),
    ("any", ("not",), _not),
    ("any", ("if",), _if),
)

"""Everything that is wrong with a value under a schema, down to the branch that was meant.

The verdict comes from `fast`; this module runs only after it was "no", and agrees with it: a test holds that
there are faults exactly when the verdict is "no". Where branches compete (``anyOf``, ``oneOf``) it looks for
the one that the author had in mind: by type, then by fixed words, then by the fewest faults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tau_compile.schema import fast
from tau_compile.schema.asserts import freeze, list_parts
from tau_compile.schema.document import Document, Schema
from tau_compile.schema.pattern import searcher

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str | int, ...]
Holders = tuple[dict[str, Any], ...]

# Assertions that are judged alone, each as a schema of its own: (what they apply to, keywords).
_SINGLE: tuple[tuple[type | tuple[type, ...], tuple[str, ...]], ...] = (
    (object, ("enum", "const")),
    (str, ("minLength", "maxLength", "pattern")),
    ((int, float), ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
    (list, ("minItems", "maxItems", "uniqueItems")),
    (dict, ("minProperties", "maxProperties")),
)


class Fault(NamedTuple):
    """One failed assertion.

    ``path`` leads to the value; ``holders`` are the schemas that speak about it, the one with ``keyword``
    last; ``detail`` names the unknown or missing key, the repeated items, or the faults of each branch.
    """

    path: Path
    keyword: str
    holders: Holders
    value: Any
    detail: Any = None


def faults(
    schema: Schema, document: Document, value: Any, path: Path = (), holders: Holders = ()
) -> Iterator[Fault]:
    """The faults of ``value``, none if it is valid."""
    if fast.check(schema, document)(value):
        return
    if not isinstance(schema, dict):
        yield Fault(path, "false", holders, value)
        return
    holders = (*holders, schema)
    if "$ref" in schema:
        target, home = document.find(schema["$ref"])
        yield from faults(target, home, value, path, holders)
    if "type" in schema and not fast.check({"type": schema["type"]}, _bare(document))(value):
        yield Fault(path, "type", holders, value, _names(schema["type"]))
        return  # the other assertions speak of values of that type
    yield from _single(schema, document, value, path, holders)
    if isinstance(value, dict):
        yield from _members(schema, document, value, path, holders)
    elif isinstance(value, list):
        yield from _items(schema, document, value, path, holders)
    yield from _combined(schema, document, value, path, holders)


def _bare(document: Document) -> Document:
    """A document of the same draft in which nothing is remembered, for schemas made up on the way."""
    return Document({"$schema": "http://json-schema.org/draft-07/schema"} if document.draft7 else True)


def _names(names: str | list[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _single(
    schema: dict[str, Any], document: Document, value: Any, path: Path, holders: Holders
) -> Iterator[Fault]:
    for kinds, keywords in _SINGLE:
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not object):
            continue
        for keyword in keywords:
            if keyword in schema and not fast.check({keyword: schema[keyword]}, _bare(document))(value):
                yield Fault(
                    path, keyword, holders, value, _repeated(value) if keyword == "uniqueItems" else None
                )


def _repeated(items: Any) -> tuple[int, int]:
    """The first item that repeats an earlier one, and that one."""
    seen: dict[Any, int] = {}
    for index, item in enumerate(items):
        first = seen.setdefault(freeze(item), index)
        if first != index:
            return index, first
    return 0, 0


def _members(
    schema: dict[str, Any], document: Document, value: dict[str, Any], path: Path, holders: Holders
) -> Iterator[Fault]:
    for name in schema.get("required", ()):
        if name not in value:
            yield Fault(path, "required", holders, value, name)
    properties = schema.get("properties", {})
    patterns = [(searcher(text), inner) for text, inner in schema.get("patternProperties", {}).items()]
    rest = schema.get("additionalProperties", True)
    for name, item in value.items():
        known = [inner for search, inner in patterns if search(name)]
        if name in properties:
            known.append(properties[name])
        elif not known and rest is False:
            yield Fault(path, "additionalProperties", holders, value, name)
            continue
        for inner in known or [rest]:
            yield from faults(inner, document, item, (*path, name))
    if "propertyNames" in schema:
        for name in value:
            for fault in faults(schema["propertyNames"], document, name, (*path, name)):
                yield fault._replace(keyword="propertyNames", detail=fault.keyword)
    yield from _dependent(schema, document, value, path, holders)


def _dependent(
    schema: dict[str, Any], document: Document, value: dict[str, Any], path: Path, holders: Holders
) -> Iterator[Fault]:
    for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
        for name, wanted in schema.get(keyword, {}).items():
            if name not in value:
                continue
            if isinstance(wanted, list):
                for other in wanted:
                    if other not in value:
                        yield Fault(path, "dependentRequired", holders, value, (name, other))
            else:
                yield from faults(wanted, document, value, path, holders)


def _items(
    schema: dict[str, Any], document: Document, value: list[Any], path: Path, holders: Holders
) -> Iterator[Fault]:
    first, rest = list_parts(schema, document)
    for index, item in enumerate(value):
        yield from faults(first[index] if index < len(first) else rest, document, item, (*path, index))
    if "contains" in schema:
        bounds = {key: schema[key] for key in ("contains", "minContains", "maxContains") if key in schema}
        test = fast.check(schema["contains"], document)
        hits = sum(1 for item in value if test(item))
        if not bounds.get("minContains", 1) <= hits <= bounds.get("maxContains", len(value)):
            yield Fault(path, "contains", holders, value)


def _combined(
    schema: dict[str, Any], document: Document, value: Any, path: Path, holders: Holders
) -> Iterator[Fault]:
    for part in schema.get("allOf", ()):
        yield from faults(part, document, value, path, holders)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            yield from _branches(keyword, schema, document, value, path, holders)
    if "not" in schema and fast.check(schema["not"], document)(value):
        yield Fault(path, "not", holders, value, schema["not"])
    if "if" in schema:
        branch = "then" if fast.check(schema["if"], document)(value) else "else"
        yield from faults(schema.get(branch, True), document, value, path, holders)


def _branches(
    keyword: str, schema: dict[str, Any], document: Document, value: Any, path: Path, holders: Holders
) -> Iterator[Fault]:
    options = schema[keyword]
    found = [list(faults(option, document, value, path, holders)) for option in options]
    fitting = [option for option, wrong in zip(options, found, strict=True) if not wrong]
    if fitting:
        if keyword == "oneOf" and len(fitting) > 1:
            yield Fault(path, "oneOf", holders, value, fitting)
        return
    typed = [wrong for wrong in found if not any(f.keyword == "type" and f.path == path for f in wrong)]
    if not typed:
        expected = [
            name
            for wrong in found
            for f in wrong
            if f.keyword == "type" and f.path == path
            for name in f.detail
        ]
        yield Fault(path, "type", holders, value, tuple(dict.fromkeys(expected)))
        return
    if all(f.keyword == "required" and f.path == path for wrong in typed for f in wrong):
        names = [[f.detail for f in wrong] for wrong in typed]
        yield from typed[0] if len(typed) == 1 else [Fault(path, "alternatives", holders, value, names)]
        return
    if len(typed) > 1 and not isinstance(value, dict | list):
        yield Fault(path, "anyOf", holders, value, typed)
        return
    yield from min(typed, key=lambda wrong: (_off_topic(wrong, path), len(wrong)))


def _off_topic(wrong: list[Fault], path: Path) -> int:
    """How many fixed words of a branch, such as its ``kind``, the value does not have."""
    return sum(1 for f in wrong if f.keyword in ("const", "enum") and len(f.path) == len(path) + 1)

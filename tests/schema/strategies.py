"""Random JSON Schemas of the implemented subset, random instances, and the reference implementation to ask."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema
from hypothesis import strategies as st
from referencing import Registry, Resource

from tau_compile.schema.keywords import subschemas
from tau_compile.schema.pattern import translate

KEYS = ("a", "b", "ab", "c-1")
TEXTS = ("", "a", "b", "ab", "aab", "c-1", "1", "a\n", "é", "A")
PATTERNS = ("^a", "b$", "^(a|b)+$", "[^a]", "^$", r"^\w+$", r"\d")

names = st.sampled_from(KEYS)
texts = st.sampled_from(TEXTS)
numbers = st.sampled_from(
    [0, 1, -1, 2, 7, 1.0, 0.5, -2.5, 1e3, 10**20]
)  # the reference cannot divide infinity
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
instances = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names | texts, inner, max_size=4),
    max_leaves=8,
)
_TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
_SIZE = st.integers(0, 3)


def schemas(draft7: bool) -> st.SearchStrategy[dict[str, Any]]:
    """Root schemas; references lead to definitions that apply themselves to parts of the value only."""

    def whole(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
        draft = "http://json-schema.org/draft-07/schema#" if draft7 else None
        head = {"$schema": draft, "definitions": definitions} if draft else {"$defs": definitions}
        return {**head, **schema} if "$ref" not in schema or not draft7 else {**head, "allOf": [schema]}

    return st.builds(whole, _schema(2, True, draft7), st.fixed_dictionaries({"x": _schema(1, False, draft7)}))


def _schema(depth: int, refs: bool, draft7: bool) -> st.SearchStrategy[Any]:
    """``refs``: whether a reference may apply to the value itself without an endless loop."""
    leaf = _leaf(draft7)
    if depth == 0:
        return leaf
    part = _schema(depth - 1, True, draft7) | st.booleans()
    same = _schema(depth - 1, refs, draft7) | st.booleans()
    some = st.lists(same, min_size=1, max_size=3)
    inner: dict[str, st.SearchStrategy[Any]] = {
        "properties": st.dictionaries(names, part, max_size=3),
        "patternProperties": st.dictionaries(st.sampled_from(PATTERNS), part, max_size=2),
        "additionalProperties": part,
        "propertyNames": leaf,
        "items": part,
        "contains": part,
        "allOf": some,
        "anyOf": some,
        "oneOf": some,
        "not": same,
        "if": same,
        "then": same,
        "else": same,
    }
    if draft7:
        inner["items"] = part | st.lists(part, max_size=2)
        inner["additionalItems"] = part
        inner["dependencies"] = st.dictionaries(names, st.lists(names, max_size=2) | same, max_size=2)
    else:
        inner["prefixItems"] = st.lists(part, min_size=1, max_size=2)
        inner["dependentSchemas"] = st.dictionaries(names, same, max_size=2)
        inner["dependentRequired"] = st.dictionaries(names, st.lists(names, max_size=2), max_size=2)
        inner["minContains"], inner["maxContains"] = _SIZE, _SIZE
    chosen = st.sampled_from(sorted(inner)).flatmap(lambda key: st.fixed_dictionaries({key: inner[key]}))
    nested = st.lists(chosen, min_size=1, max_size=3).map(
        lambda parts: {k: v for d in parts for k, v in d.items()}
    )
    nested = nested.map(_sensible)
    branches = [leaf, nested, st.builds(lambda a, b: {**a, **b}, leaf, nested)]
    if refs:
        target = "#/definitions/x" if draft7 else "#/$defs/x"
        branches.append(st.just({"$ref": target}))
    return st.one_of(*branches)


def _sensible(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the companions of keywords that are not there; the reference trips over some of them."""
    if "contains" not in schema:
        schema = {key: value for key, value in schema.items() if "Contains" not in key}
    if "additionalItems" in schema and not isinstance(schema.get("items"), list):
        schema = {key: value for key, value in schema.items() if key != "additionalItems"}
    return schema


def _leaf(draft7: bool) -> st.SearchStrategy[dict[str, Any]]:
    keys: dict[str, st.SearchStrategy[Any]] = {
        "type": _TYPES | st.lists(_TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(instances, min_size=1, max_size=3),
        "const": instances,
        "required": st.lists(names, max_size=2, unique=True),
        "minimum": st.sampled_from([0, 1, 0.5]),
        "maximum": st.sampled_from([1, 2, 0.5]),
        "exclusiveMinimum": st.sampled_from([0, 1]),
        "exclusiveMaximum": st.sampled_from([1, 2]),
        "multipleOf": st.sampled_from([1, 2, 0.5, 0.1]),
        "minLength": _SIZE,
        "maxLength": _SIZE,
        "pattern": st.sampled_from(PATTERNS),
        "minItems": _SIZE,
        "maxItems": _SIZE,
        "uniqueItems": st.booleans(),
        "minProperties": _SIZE,
        "maxProperties": _SIZE,
        "description": st.just("about"),
    }
    one = st.sampled_from(sorted(keys)).flatmap(lambda key: st.fixed_dictionaries({key: keys[key]}))
    return st.lists(one, max_size=3).map(lambda parts: {k: v for d in parts for k, v in d.items()})


def reference(schema: Any, neighbours: dict[str, Any] | None = None) -> jsonschema.protocols.Validator:
    """The jsonschema package's validator, with patterns read as ECMA 262 reads them (see `pattern`)."""
    rewritten = _rewritten(schema)
    kind = jsonschema.validators.validator_for(rewritten, jsonschema.Draft202012Validator)
    resources = [
        (name, Resource.from_contents(_rewritten(other))) for name, other in (neighbours or {}).items()
    ]
    return kind(rewritten, registry=Registry().with_resources(resources))


def _rewritten(schema: Any) -> Any:
    out = copy.deepcopy(schema)
    _rewrite(out)
    return out


def _rewrite(schema: Any) -> None:
    if isinstance(schema, dict):
        for inner in subschemas(schema):
            _rewrite(inner)
        if isinstance(schema.get("pattern"), str):
            schema["pattern"] = translate(schema["pattern"])
        if "patternProperties" in schema:
            schema["patternProperties"] = {translate(k): v for k, v in schema["patternProperties"].items()}


def nested_booleans(value: Any, deep: bool = False) -> bool:
    """Whether a list inside a list or mapping holds a boolean: the reference's uniqueItems may take it for 0 or 1."""
    if isinstance(value, list):
        return any((deep and isinstance(item, bool)) or nested_booleans(item, True) for item in value)
    if isinstance(value, dict):
        return any(
            (deep and isinstance(item, bool)) or nested_booleans(item, deep) for item in value.values()
        )
    return False

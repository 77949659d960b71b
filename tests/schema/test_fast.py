from __future__ import annotations

import enum
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from tau_compile.schema import fast
from tau_compile.schema.document import Document, SchemaError
from tests.schema.strategies import instances, nested_booleans, reference, schemas


@pytest.mark.parametrize(
    "schema, good, bad",
    [
        ({"type": "integer"}, [0, -1, 1.0, 10**30], [True, 1.5, "1", None, float("inf"), float("nan")]),
        ({"type": "number"}, [0, 1.5], [False, "1", None]),
        ({"type": ["integer", "number"]}, [0, 1.5, 2.0], [False, "1"]),
        ({"type": ["string", "null"]}, ["", None], [0, [], {}]),
        ({"enum": [1, "a", None]}, [1, 1.0, "a", None], [True, "1", 2, "A"]),
        (
            {"const": [1, {"a": True}]},
            [[1, {"a": True}], [1.0, {"a": True}]],
            [[1, {"a": 1}], [True, {"a": True}]],
        ),
        ({"minLength": 1, "maxLength": 2}, ["é", "😀😀", 5], ["", "abc"]),
        ({"pattern": "b"}, ["abc", 7], ["ac"]),
        ({"minimum": 1, "exclusiveMaximum": 3}, [1, 2.9, "0", True], [0, 3]),
        ({"multipleOf": 0.5}, [1.5, 2, 10**400], [0.3, float("inf"), float("nan")]),
        (
            {"uniqueItems": True},
            [[1, True, "1"], [{"a": 1}, {"a": True}]],
            [[1, 1.0], [{"a": 1}, {"a": 1.0}]],
        ),
        ({"uniqueItems": False}, [[1, 1]], []),
        (
            {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
            [["a", 1], []],
            [[1], ["a", "b"]],
        ),
        ({"contains": {"const": 1}, "maxContains": 1}, [[0, 1]], [[0], [1, 1]]),
        ({"required": ["a"]}, [{"a": None}, []], [{}]),
        ({"properties": {"a": False}}, [{"b": 1}], [{"a": 1}]),
        (
            {"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": False},
            [{"ab": ""}],
            [{"b": ""}],
        ),
        ({"propertyNames": {"maxLength": 1}}, [{"a": 1}], [{"ab": 1}]),
        ({"dependentRequired": {"a": ["b"]}}, [{"a": 1, "b": 1}, {"b": 1}], [{"a": 1}]),
        ({"dependentSchemas": {"a": {"maxProperties": 1}}}, [{"a": 1}, {"b": 1, "c": 1}], [{"a": 1, "b": 1}]),
        ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, [1, 2.5], [3, 1.5]),
        ({"not": {"type": "string"}}, [1], [""]),
        (
            {"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "null"}},
            ["a", None],
            ["", 1],
        ),
        (True, [None, 1], []),
        (False, [], [None, 1]),
    ],
)
def test_keywords(schema: Any, good: list[Any], bad: list[Any]) -> None:
    verdict = fast.compile(schema)
    assert [value for value in good if not verdict(value)] == []
    assert [value for value in bad if verdict(value)] == []


def test_a_final_newline_does_not_pass_a_dollar() -> None:
    verdict = fast.compile({"pattern": "^[a-z]+$"})
    assert verdict("abc")
    assert not verdict("abc\n")


def test_digits_and_letters_are_those_of_ascii() -> None:
    assert not fast.compile({"pattern": r"^\d+$"})("१")
    assert not fast.compile({"pattern": r"^[\w-]+$"})("é")
    assert fast.compile({"pattern": r"^[\w$]+[$]\$$"})("a_1$$$")


def test_members_of_subclasses_count_as_their_json_kind() -> None:
    class Word(enum.StrEnum):
        a = "a"

    class Table(dict[str, Any]):
        pass

    assert fast.compile({"type": "string", "enum": ["a"]})(Word.a)
    assert fast.compile({"type": "object", "required": ["a"]})(Table(a=1))
    assert not fast.compile({"type": "object"})((1, 2))


@pytest.mark.parametrize(
    "schema",
    [
        {"unevaluatedProperties": False},
        {"minimun": 3},
        {"$anchor": "a"},
        {"type": "text"},
        {"$schema": "http://json-schema.org/draft-04/schema#"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "dependentRequired": {}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "allOf": [{"$ref": "#", "type": "object"}]},
    ],
)
def test_what_is_not_implemented_raises(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        fast.audit(schema)


def test_an_unknown_keyword_is_found_where_no_document_has_been() -> None:
    schema = {"properties": {"a": {"items": {"minimun": 1}}}, "$defs": {"b": {"$ref": "#/$defs/c"}}}
    fast.compile(schema)({"b": 1})
    with pytest.raises(SchemaError, match="minimun"):
        fast.audit(schema)
    with pytest.raises(SchemaError, match="minimun"):
        fast.compile(schema)({"a": [1]})
    with pytest.raises(SchemaError, match="leads nowhere"):
        fast.audit({"$defs": {"b": {"$ref": "#/$defs/c"}}})


def test_references() -> None:
    schema = {
        "$defs": {"tree": {"properties": {"left": {"$ref": "#/$defs/tree"}, "n/~": {"type": "integer"}}}},
        "$ref": "#/$defs/tree",
        "properties": {"also": {"$ref": "#/$defs/tree/properties/n~1~0"}},
    }
    verdict = fast.compile(schema)
    assert verdict({"left": {"left": {"n/~": 1}}, "also": 2})
    assert not verdict({"left": {"left": {"n/~": "1"}}})
    assert not verdict({"also": "2"})


def test_references_to_a_neighbour() -> None:
    other = Document({"$defs": {"n": {"type": "integer"}, "m": {"$ref": "#/$defs/n"}}})
    for spelling in ("other.json#/$defs/m", "urn:tau-compile:other.json#/$defs/m"):
        root = {"properties": {"a": {"$ref": spelling}}}
        verdict = fast.check(root, Document(root, {"other.json": other}.__getitem__))
        assert verdict({"a": 1})
        assert not verdict({"a": "1"})


_QUICK = settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def _same(schema: dict[str, Any], value: Any) -> None:
    assume(not ("uniqueItems" in json.dumps(schema) and nested_booleans(value)))
    assert fast.compile(schema)(value) is bool(reference(schema).is_valid(value))


@given(schemas(draft7=False), instances)
@_QUICK
def test_verdicts_equal_the_reference(schema: dict[str, Any], value: Any) -> None:
    _same(schema, value)


@given(schemas(draft7=True), instances)
@_QUICK
def test_verdicts_equal_the_reference_in_draft_7(schema: dict[str, Any], value: Any) -> None:
    _same(schema, value)

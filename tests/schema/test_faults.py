from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tau_compile.schema import fast
from tau_compile.schema.document import Document
from tau_compile.schema.explain import explain
from tau_compile.schema.faults import faults
from tests.schema.strategies import instances, schemas

_QUICK = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def _found(schema: Any, value: Any) -> list[tuple[Any, ...]]:
    return [(fault.path, fault.keyword, fault.detail) for fault in faults(schema, Document(schema), value)]


def _agree(schema: dict[str, Any], value: Any) -> None:
    found = list(faults(schema, Document(schema), value))
    assert bool(found) is not fast.compile(schema)(value)
    for fault in found:
        said = explain(fault, "x.y")
        assert said.id.startswith("TAU20")
        assert said.message
        assert _at(value, fault.path) is not None or fault.value is None or fault.keyword == "propertyNames"


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@given(schemas(draft7=False), instances)
@_QUICK
def test_there_are_faults_exactly_where_the_verdict_is_no(schema: dict[str, Any], value: Any) -> None:
    _agree(schema, value)


@given(schemas(draft7=True), instances)
@_QUICK
def test_there_are_faults_exactly_where_the_verdict_is_no_in_draft_7(
    schema: dict[str, Any], value: Any
) -> None:
    _agree(schema, value)


def test_the_branch_of_the_right_type_is_explained() -> None:
    schema = {
        "oneOf": [
            {"type": "integer", "minimum": 1},
            {"type": "object", "required": ["a"]},
            {"type": "object"},
        ]
    }
    assert _found(schema, 0) == [((), "minimum", None)]
    assert _found(schema, "x") == [((), "type", ("integer", "object"))]


def test_the_branch_with_the_right_word_is_explained() -> None:
    def branch(kind: str, key: str) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {"kind": {"const": kind}, key: {"type": "integer"}},
            "required": ["kind", key],
            "additionalProperties": False,
        }

    schema = {"oneOf": [branch("A", "a"), branch("B", "b")]}
    assert _found(schema, {"kind": "B", "b": "x", "a": 1}) == [
        (("b",), "type", ("integer",)),
        ((), "additionalProperties", "a"),
    ]


def test_branches_that_only_require_keys_are_alternatives() -> None:
    schema = {"anyOf": [{"required": ["a", "b"]}, {"required": ["c"]}]}
    assert _found(schema, {"a": 1}) == [((), "alternatives", [["b"], ["c"]])]
    one = {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert _found(one, {"a": 1, "b": 1}) == [((), "oneOf", one["oneOf"])]


@pytest.mark.parametrize("holds", [True, False])
def test_only_the_branch_of_a_condition_is_explained(holds: bool) -> None:
    schema = {
        "if": {"required": ["engine"]},
        "then": {"required": ["direct"]},
        "else": {"required": ["canonical"]},
    }
    value = {"engine": "job"} if holds else {}
    assert _found(schema, value) == [((), "required", "direct" if holds else "canonical")]


def test_one_wrong_type_is_one_fault() -> None:
    schema = {"type": "string", "minLength": 2, "enum": ["ab"], "pattern": "^a"}
    assert _found(schema, 1) == [((), "type", ("string",))]

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.schema.coerce import Coerced, coerce
from tau_compile.schema.document import Document, SchemaError
from tau_compile.schema.reading import readings
from tau_compile.schema.shape import ALL, build, meet
from tests.schema.documents import parse
from tests.schema.strategies import schemas


def _coerce(text: str, schema: Any) -> Coerced:
    return coerce(parse(text), schema, Document(schema))


def _value(spelling: str, schema: Any, head: dict[str, Any] | None = None) -> tuple[Any, list[str]]:
    """What ``key: <spelling>`` is under a property schema, and the ids of what was said."""
    got = _coerce(f"key: {spelling}\n", {**(head or {}), "properties": {"key": schema}})
    return got.data["key"], [said.id for said in got.diagnostics]


STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
BOOLEAN = {"type": "boolean"}
CPU = {"type": ["string", "integer", "number"], "x-tau-spelling": "keep"}


@pytest.mark.parametrize(
    "spelling",
    [
        "010",
        "1e3",
        "yes",
        "1.10",
        "0x1F",
        "1_000",
        "2024-01-01",
        ".inf",
        "-1",
        "true",
        "=",
        "1:30",
        "08",
        "+1",
        ".5",
    ],
)
@pytest.mark.parametrize(
    "schema", [STRING, CPU, {"enum": ["a", "b"]}, {"type": ["string", "number"]}, {"const": "a"}]
)
def test_text_keeps_its_spelling(spelling: str, schema: dict[str, Any]) -> None:
    assert _value(spelling, schema) == (spelling, [])


@pytest.mark.parametrize("spelling", ["", "null", "~", "Null", "NULL"])
@pytest.mark.parametrize(
    "schema", [STRING, CPU, INTEGER, {"type": "object"}, {"type": "array"}, {"enum": ["a"]}]
)
def test_a_missing_value_is_said_to_be_missing(spelling: str, schema: dict[str, Any]) -> None:
    assert _value(spelling, schema) == (None, ["TAU206"])


@pytest.mark.parametrize("schema", [{"type": ["string", "null"]}, {"type": ["object", "null"]}, {}, True])
def test_null_where_it_is_allowed(schema: Any) -> None:
    assert _value("null", schema) == (None, [])


def test_quotes_make_null_a_text() -> None:
    assert _value('"null"', STRING) == ("null", [])
    assert _value('""', STRING) == ("", [])
    assert _value("'~'", {}) == ("~", [])


@pytest.mark.parametrize(
    "spelling, schema, value",
    [
        ("8", INTEGER, 8),
        ("0x1F", INTEGER, 31),
        ("8.0", INTEGER, 8),
        ("1e3", INTEGER, 1000),
        ("1.5", INTEGER, 1.5),
        ("1e3", NUMBER, 1000.0),
        ("1e-4", NUMBER, 0.0001),
        ("8", NUMBER, 8),
        ("true", BOOLEAN, True),
        ("eight", INTEGER, "eight"),
        ('"8"', INTEGER, "8"),
        ("1e3", {}, 1000.0),
        ("word", {}, "word"),
        ("8", {"type": ["string", "number", "boolean"]}, 8),
        ("8", {"type": ["string", "integer"], "x-tau-spelling": "resolve"}, 8),
        ("8", {"oneOf": [{"const": "auto"}, INTEGER]}, 8),
        ("auto", {"oneOf": [{"const": "auto"}, INTEGER]}, "auto"),
        ("on", {"enum": ["on", "off", 3]}, "on"),
        ("3", {"enum": ["on", "off", 3]}, 3),
    ],
)
def test_numbers_and_booleans_are_resolved(spelling: str, schema: Any, value: Any) -> None:
    got, said = _value(spelling, schema)
    assert (got, type(got), said) == (value, type(value), [])


@pytest.mark.parametrize(
    "spelling, schema, likely, hint",
    [
        ("yes", BOOLEAN, True, "write `true`"),
        ("off", BOOLEAN, False, "write `false`"),
        ("012", INTEGER, 12, "write `10` or `12`"),
        ("-010", INTEGER, -10, "write `-8` or `-10`"),
        ("089", INTEGER, 89, "write `89`"),
        ("0o14", INTEGER, 12, "write `12`"),
        ("0b101", INTEGER, 5, "write `5`"),
        ("1_000", INTEGER, 1000, "write `1000`"),
        ("1:30", INTEGER, 90, "write `90`"),
        ("yes", INTEGER, True, "a whole number is expected here"),
        ("yes", {}, True, 'write `true` or `"yes"` for text'),
        ("012", {}, 12, 'write `10`, `12` or `"012"` for text'),
        ("2024-01-01", {}, "2024-01-01", 'write `"2024-01-01"` for text'),
        ("no", {"type": ["string", "boolean"]}, False, 'write `false` or `"no"` for text'),
    ],
)
def test_ambiguous_spellings_are_refused(spelling: str, schema: Any, likely: Any, hint: str) -> None:
    got = _coerce(f"key: {spelling}\n", {"properties": {"key": schema}})
    (said,) = got.diagnostics
    assert got.data == {"key": likely}
    assert (said.id, said.severity, said.hint) == ("TAU140", "error", hint)
    assert said.message.startswith("`key`: ")
    assert said.span == ("f.yaml", 1, 6, 1, 6 + len(spelling))


@pytest.mark.parametrize("spelling", [".inf", "-.INF", ".nan"])
@pytest.mark.parametrize("schema", [NUMBER, {}, True])
def test_numbers_that_json_lacks_are_refused(spelling: str, schema: Any) -> None:
    assert _value(spelling, schema)[1] == ["TAU141"]


def test_free_form_data_is_resolved_and_checked_to_the_bottom() -> None:
    schema = {"properties": {"configs": {"type": "object"}}}
    got = _coerce("configs:\n  lr: [1e-3, 0.1, yes]\n  deep: {a: 010, b: 'no', c: null}\n", schema)
    assert got.data == {"configs": {"lr": [0.001, 0.1, True], "deep": {"a": 10, "b": "no", "c": None}}}
    assert [(said.id, said.span and said.span[1:3]) for said in got.diagnostics] == [
        ("TAU140", (2, 19)),
        ("TAU140", (3, 13)),
    ]
    assert "`configs.lr[2]`" in got.diagnostics[0].message
    assert "`configs.deep.a`" in got.diagnostics[1].message


def test_nothing_is_said_about_values_in_the_wrong_place() -> None:
    schema = {"additionalProperties": False, "properties": {"name": STRING, "list": {"type": "array"}}}
    got = _coerce("name: {a: yes}\nlist: {a: 012}\nother: [no, ~]\nmore: ~\n", schema)
    assert got.diagnostics == ()
    assert got.settled == frozenset()


def test_conditions_choose_how_a_value_is_read() -> None:
    schema = {
        "if": {"required": ["engine"], "properties": {"engine": {"pattern": "^j"}}},
        "then": {"$ref": "#/$defs/direct"},
        "else": {"allOf": [{"$ref": "#/$defs/canonical"}]},
        "$defs": {"direct": {"properties": {"x": STRING}}, "canonical": {"properties": {"x": INTEGER}}},
    }
    assert _coerce("engine: job\nx: 8\n", schema).data == {"engine": "job", "x": "8"}
    assert _coerce("engine: ray\nx: 8\n", schema).data == {"engine": "ray", "x": 8}
    assert _coerce("x: 8\n", schema).data == {"x": 8}


def test_conditions_may_look_below_and_at_everything() -> None:
    deep = {
        "if": {"not": {"properties": {"run": {"properties": {"n": {"minimum": 2}}, "required": ["n"]}}}},
        "then": {"properties": {"x": STRING}},
        "else": {"properties": {"x": INTEGER}},
    }
    assert _coerce("run: {n: 3}\nx: 1\n", deep).data["x"] == 1
    assert _coerce("run: {n: 1}\nx: 1\n", deep).data["x"] == "1"
    whole = {
        "if": {"maxProperties": 1},
        "then": {"properties": {"x": STRING}},
        "else": {"properties": {"x": INTEGER}},
    }
    assert _coerce("x: 1\n", whole).data == {"x": "1"}
    assert _coerce("x: 1\ny: 2\n", whole).data == {"x": 1, "y": 2}


def test_alternatives_are_told_apart_by_kind_and_by_fixed_words() -> None:
    def branch(kind: str, inner: dict[str, Any]) -> dict[str, Any]:
        return {
            "properties": {"kind": {"const": kind}, "value": inner},
            "required": ["kind"],
            "type": "object",
        }

    schema = {
        "items": {
            "oneOf": [branch("text", STRING), branch("count", INTEGER), {"type": "array", "items": STRING}]
        }
    }
    got = _coerce("- {kind: text, value: 010}\n- {kind: count, value: 8}\n- [1.10, no]\n", schema)
    assert got.data == [{"kind": "text", "value": "010"}, {"kind": "count", "value": 8}, ["1.10", "no"]]
    assert got.diagnostics == ()


def test_all_parts_of_a_schema_apply() -> None:
    schema: dict[str, Any] = {
        "$ref": "#/$defs/base",
        "allOf": [{"properties": {"b": {"type": ["string", "integer"]}}}],
        "patternProperties": {"^b": NUMBER},
        "properties": {"c": {"prefixItems": [STRING], "items": INTEGER}},
        "additionalProperties": BOOLEAN,
        "$defs": {"base": {"properties": {"a": STRING}}},
    }
    got = _coerce(
        "a: 1\nb: 2\nc: [1, 2]\nd: true\n", {**schema, "properties": {**schema["properties"], "a": True}}
    )
    assert got.data == {"a": "1", "b": 2, "c": ["1", 2], "d": True}


def test_letter_case_and_blanks_can_be_folded() -> None:
    schema = {"enum": ["job", "rayjob"], "x-tau-fold": True}
    assert _value("RayJob", schema) == ("rayjob", [])
    assert _value('" job "', schema) == ("job", [])
    assert _value("Jobs", schema) == ("Jobs", [])


def test_refused_and_renamed_keys_are_said_at_the_key() -> None:
    schema = {
        "properties": {
            "off": {
                "x-tau-refused": {"id": "TAU220", "message": "no `off`", "hint": "use on"},
                "type": "string",
            },
            "old": {"type": "integer", "deprecated": True, "x-tau-renamed": "new.path"},
        }
    }
    got = _coerce("off:\n  x: yes\nold: 012\n", schema)
    assert [(s.id, s.severity, s.message, s.hint, s.span and s.span[1:]) for s in got.diagnostics[:2]] == [
        ("TAU220", "error", "no `off`", "use on", (1, 1, 1, 4)),
        ("TAU210", "warning", "`old` is an older spelling", "write `new.path`", (3, 1, 3, 4)),
    ]
    assert [said.id for said in got.diagnostics[2:]] == ["TAU140"]


def test_bounds_that_would_not_be_checked_are_a_mistake_in_the_schema() -> None:
    for schema in (
        {"type": ["string", "integer"], "minimum": 1},
        {"anyOf": [STRING, {"type": "integer", "maximum": 3}]},
    ):
        with pytest.raises(SchemaError):
            build(schema, Document(schema)).at(parse("1"))


def test_types_that_meet() -> None:
    assert meet(ALL, frozenset({"integer"})) == {"integer"}
    assert meet(frozenset({"integer", "string"}), frozenset({"number"})) == {"integer"}
    assert meet(frozenset({"number"}), frozenset({"integer", "null"})) == {"integer"}
    assert meet(frozenset({"string"}), frozenset({"integer", "number"})) == frozenset()
    assert meet(frozenset({"integer", "number"}), frozenset({"string"})) == frozenset()


def test_readings_of_strange_numbers() -> None:
    assert readings("0x1_F") == [31]
    assert readings("1:2:3") == [3723]
    assert readings("1:x") == []
    assert readings("0") == [0]
    assert readings("0" * 50 + "1") == []


_TEXTS = st.sampled_from(
    ["1", "010", "yes", "~", "1.0", ".nan", "x", '"y"', "[1, no]", "{a: 1, b: ~}", "[[a], {a: no}]"]
)


@given(schemas(draft7=False), _TEXTS, _TEXTS)
@settings(max_examples=300, deadline=None)
def test_any_schema_reads_any_document(schema: dict[str, Any], one: str, two: str) -> None:
    try:
        got = _coerce(f"a: {one}\nb: [{two}]\nab: {two}\n", schema)
    except SchemaError:
        return  # bounds on a number that is read as text
    assert list(got.data) == ["a", "b", "ab"]
    assert {said.id for said in got.diagnostics} <= {"TAU140", "TAU141", "TAU206"}

from __future__ import annotations

from typing import Any

import pytest

from tau_compile.codes import CODES
from tau_compile.schema.check import check
from tau_compile.source.nodes import Entry, Key, Mapping
from tests.schema.documents import parse


def _said(text: str, schema: Any) -> list[tuple[str, str, str, tuple[int, int, int, int]]]:
    """Everything said about ``text``: id, message, hint, place."""
    result = check(parse(text), schema, file_kind="test file")
    out = []
    for said in result.diagnostics:
        assert said.span is not None
        assert said.id in CODES
        out.append((said.id, said.message, said.hint, said.span[1:]))
    return out


def _one(text: str, schema: Any) -> tuple[str, str, str, tuple[int, int, int, int]]:
    (said,) = _said(text, schema)
    return said


def _properties(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def test_unknown_key() -> None:
    said = _one("gpuss: 1\n", _properties(gpus={"type": "integer"}))
    assert said == ("TAU201", "unknown key `gpuss`", "did you mean `gpus`?", (1, 1, 1, 6))


def test_all_unknown_keys_are_told_at_once_with_their_paths() -> None:
    inner = _properties(gpus={"type": "integer"})
    said = _said(
        "a:\n  - gpu: 1\n    'x y': 2\nzzzzzzzz: 3\n", _properties(a={"type": "array", "items": inner})
    )
    assert [(s[1], s[3][:2]) for s in said] == [
        ("unknown key `a[0].gpu`", (2, 5)),
        ('unknown key `a[0]."x y"`', (3, 5)),
        ("unknown key `zzzzzzzz`", (4, 1)),
    ]


MAPPING = "write keys of its own below it, indented"
LIST = "write a list: items below it, each behind `- `"


@pytest.mark.parametrize(
    "schema, value, message, hint",
    [
        ({"type": "integer"}, "two", '`key` must be a whole number, not "two"', "write a whole number"),
        ({"type": "integer"}, '"2"', '`key` must be a whole number, not "2"', "remove the quotes"),
        (
            {"type": "integer", "examples": [4]},
            "two",
            '`key` must be a whole number, not "two"',
            "for example `key: 4`",
        ),
        ({"type": "integer"}, "1.5", "`key` must be a whole number, not `1.5`", "write a whole number"),
        ({"type": "boolean"}, "1", "`key` must be `true` or `false`, not `1`", "write `true` or `false`"),
        ({"type": "array"}, "torch", '`key` must be a list, not "torch"', "write a list: `key: [torch]`"),
        ({"type": "array"}, "{a: 1}", "`key` must be a list, not a mapping", LIST),
        ({"type": "object"}, "[1]", "`key` must be a mapping, not a list", MAPPING),
        ({"type": "object"}, "''", "`key` must be a mapping, not empty text", MAPPING),
        (
            {"type": ["string", "object"]},
            "[1]",
            "`key` must be text or a mapping, not a list",
            "write text or a mapping",
        ),
        (
            {"type": "string", "x-tau-hint": "ask Ann"},
            "[1]",
            "`key` must be text, not a list",
            "write text; ask Ann",
        ),
        (
            {"oneOf": [{"type": "integer"}, {"type": "array"}]},
            "x",
            '`key` must be a whole number or a list, not "x"',
            "remove",
        ),
        (
            {"type": "integer", "x-tau-sensitive": True},
            "s3cret",
            "`key` must be a whole number, not the value given",
            "write a whole number",
        ),
    ],
)
def test_wrong_type(schema: dict[str, Any], value: str, message: str, hint: str) -> None:
    said = _one(f"key: {value}\n", _properties(key=schema))
    assert said[:2] == ("TAU202", message)
    assert said[2] == hint or (hint == "remove" and said[2].startswith("write a list"))
    assert said[3] == (1, 6, 1, 6 + len(value))


@pytest.mark.parametrize(
    "schema, value, message, hint",
    [
        ({"enum": ["min", "max"]}, "Max", '`key` must be `min` or `max`, not "Max"', "write `max`"),
        (
            {"enum": ["python", "torchrun", "x"]},
            "torchrn",
            '`key` must be `python`, `torchrun` or `x`, not "torchrn"',
            "did you mean `torchrun`?",
        ),
        ({"type": "integer", "const": 1}, "2", "`key` must be `1`, not `2`", "write `1`"),
        ({"enum": [True, None, 1]}, "2", "`key` must be `true`, `null` or `1`, not `2`", "write one of them"),
    ],
)
def test_value_not_allowed(schema: dict[str, Any], value: str, message: str, hint: str) -> None:
    assert _one(f"key: {value}\n", _properties(key=schema))[:3] == ("TAU203", message, hint)


def test_missing_key_is_told_at_its_mapping() -> None:
    inner = {
        "type": "object",
        "required": ["image", "path"],
        "properties": {"path": {"description": "Where it is."}},
    }
    schema = {"required": ["name"], "properties": {"name": {"examples": ["my-run"]}, "source": inner}}
    assert _said("source:\n  x: 1\n", schema) == [
        ("TAU204", "`name` is missing", "add `name: my-run`", (1, 1, 1, 1)),
        ("TAU204", "`source.image` is missing", "add `image`", (1, 1, 1, 7)),
        ("TAU204", "`source.path` is missing", "add `path`: where it is", (1, 1, 1, 7)),
    ]
    assert _one("- {a: 1}\n", {"items": {"required": ["b"]}}) == (
        "TAU204",
        "`[0].b` is missing",
        "add `b`",
        (1, 3, 1, 3),
    )


def test_alternatives_and_exclusions() -> None:
    one = {"oneOf": [{"required": ["value"]}, {"required": ["valueFrom"]}]}
    assert _one("k: {x: 1}\n", _properties(k=one))[:2] == ("TAU204", "`k.value` or `k.valueFrom` is missing")
    both = _one("k: {value: 1, valueFrom: 2}\n", _properties(k=one))
    assert both[:3] == ("TAU207", "`k.value` and `k.valueFrom` exclude each other", "keep one of them")
    assert both[3] == (1, 1, 1, 2)
    excluded = {"not": {"required": ["a", "b"]}}
    assert _one("a: 1\nb: 2\n", excluded)[:2] == ("TAU207", "`a` and `b` exclude each other")
    assert _one("a: 1\n", {"dependentRequired": {"a": ["b"]}})[:2] == (
        "TAU204",
        "`b` is missing: `a` needs it",
    )
    assert _one("a: 1\n", {"properties": {"a": False}}) == (
        "TAU207",
        "`a` cannot be used here",
        "remove it",
        (1, 1, 1, 2),
    )
    said = _one(
        "a: x\n", {"properties": {"a": {"not": {"pattern": "x"}, "x-tau-expects": "a word without x"}}}
    )
    assert said[:3] == ("TAU207", "`a` cannot be used like this", "write a word without x")


@pytest.mark.parametrize(
    "schema, value, message, hint",
    [
        ({"type": "integer", "minimum": 1}, "0", "`key` must be at least 1, not `0`", "write a larger one"),
        (
            {"type": "integer", "minimum": 1, "maximum": 8},
            "9",
            "`key` must be at least 1 and at most 8, not `9`",
            "write a smaller one",
        ),
        (
            {"type": "number", "exclusiveMinimum": 0},
            "0",
            "`key` must be more than 0, not `0`",
            "write a larger one",
        ),
        ({"type": "integer", "multipleOf": 2}, "3", "`key` must be a multiple of 2, not `3`", "round it"),
        (
            {"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^x"},
            "''",
            "`key` is empty",
            "write 1 to 5 characters",
        ),
        (
            {"type": "string", "maxLength": 3},
            "abcd",
            "`key` has 4 characters, allowed are at most 3 characters",
            "remove some",
        ),
        (
            {"type": "string", "pattern": "^x$"},
            "abc",
            '`key` cannot be "abc"',
            "write text that matches the pattern `^x$`",
        ),
        (
            {"type": "string", "pattern": "^x$", "x-tau-expects": "an x"},
            "abc",
            '`key` cannot be "abc"',
            "write an x",
        ),
        (
            {"type": "string", "pattern": "^x$", "x-tau-expects": "an x", "x-tau-sensitive": True},
            "abc",
            "`key` cannot be the value given",
            "write an x",
        ),
        (
            {"type": "array", "maxItems": 1},
            "[1, 2]",
            "`key` has 2 items, allowed are at most 1 item",
            "remove some",
        ),
        ({"type": "array", "minItems": 1}, "[]", "`key` is empty", "write at least 1 item"),
        (
            {"type": "object", "maxProperties": 0},
            "{a: 1}",
            "`key` has 1 key, allowed are at most 0 keys",
            "remove some",
        ),
        (
            {"type": "array", "contains": {"const": "a"}},
            "[b]",
            "`key` lacks an item of the expected kind",
            "add one",
        ),
        (
            {"anyOf": [{"type": "string", "pattern": "^a"}, {"enum": ["x", "y"]}]},
            "b",
            '`key` cannot be "b"',
            "write text that matches the pattern `^a` or `x` or `y`",
        ),
    ],
)
def test_out_of_range(schema: dict[str, Any], value: str, message: str, hint: str) -> None:
    assert _one(f"key: {value}\n", _properties(key=schema))[:3] == ("TAU205", message, hint)


def test_repeated_items_show_both_places() -> None:
    schema = _properties(key={"type": "array", "uniqueItems": True})
    (said,) = check(parse("key: [a, b, a]\n"), schema, file_kind="x").diagnostics
    assert said.message == "`key[2]` repeats `key[0]`"
    assert said.span == ("f.yaml", 1, 13, 1, 14)
    assert [related.span[1:] for related in said.related] == [(1, 7, 1, 8)]


def test_names_of_keys() -> None:
    names = {"pattern": "^[A-Z]+$", "x-tau-expects": "capital letters"}
    schema = _properties(env={"propertyNames": names})
    said = _one("env:\n  ab: 1\n  AB: 2\n", schema)
    assert said == ("TAU205", "the key `env.ab` is not allowed", "use capital letters", (2, 3, 2, 5))


def test_no_value_is_told_once_and_at_the_key() -> None:
    schema = _properties(
        a={"type": "string", "pattern": "^x"}, b={"type": "object", "required": ["c"]}, d={"type": "integer"}
    )
    assert _said("a:\nb: ~\nd: null\n", schema) == [
        ("TAU206", "`a` has no value", "remove the key or write a value", (1, 1, 1, 2)),
        ("TAU206", "`b` has no value", "remove the key or write a mapping", (2, 4, 2, 5)),
        ("TAU206", "`d` has no value", "remove the key or write a value", (3, 4, 3, 8)),
    ]


def test_a_value_already_complained_of_is_left_alone() -> None:
    schema = _properties(
        n={"type": "integer", "maximum": 5},
        off={
            "x-tau-refused": {"id": "TAU220", "message": "no", "hint": ""},
            "type": "object",
            "required": ["x"],
        },
    )
    assert [said[0] for said in _said("n: 012\noff: {y: [yes]}\n", schema)] == ["TAU140", "TAU220"]


def test_a_moved_key_is_called_what_the_user_wrote() -> None:
    node = parse("compute:\n  gpus: two\n  odd: 1\n")
    assert isinstance(node, Mapping)
    compute = node.entries[0].value
    assert isinstance(compute, Mapping)
    gpus, odd = compute.entries
    moved = (
        Entry(Key("gpus", gpus.key.span, "compute.gpus_per_worker"), gpus.value),
        Entry(Key("odd", odd.key.span, "odder"), odd.value),
    )
    node = Mapping(node.span, (Entry(node.entries[0].key, Mapping(compute.span, moved)),))
    schema = _properties(compute=_properties(gpus={"type": "integer"}))
    messages = [said.message for said in check(node, schema, file_kind="x").diagnostics]
    assert messages == ['`compute.gpus_per_worker` must be a whole number, not "two"', "unknown key `odder`"]


def test_hostile_keys_and_values_stay_on_one_short_line() -> None:
    said = _said('"a\\nb\\e[31m": 1\n"' + "k" * 500 + '": 2\n', _properties(x=True))
    assert all(len(message) < 120 and message.isprintable() for _, message, _, _ in said)
    said = _said('x: "' + "v" * 5000 + '\\u001b"\n', _properties(x={"const": 1}))
    assert all(len(message) < 200 and message.isprintable() for _, message, _, _ in said)

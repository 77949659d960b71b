"""Anchors, aliases and merge keys: expanded while reading, with the source's own places (B33, B34, B45)."""

from __future__ import annotations

from typing import Any

import pytest

from tau_compile.source.nodes import Mapping, Node, Scalar, Sequence, find
from tau_compile.source.reader import read
from tau_compile.source.scalars import plain_data


def load(text: str) -> Mapping:
    for loader in ("c", "python"):
        result = read(text.encode(), "f", loader=loader)
        assert result.diagnostics == ()
    assert isinstance(result.node, Mapping)
    return result.node


def place(node: Node | None) -> tuple[int, int]:
    assert node is not None
    return node.span.line, node.span.column


@pytest.mark.parametrize(
    ("text", "data"),
    [
        # B33: the name and the image are the same text, and two values all the same.
        ("name: &a foo\nimage: *a\n", {"name": "foo", "image": "foo"}),
        ("a: &l [1, {b: c}]\nd: *l\n", {"a": [1, {"b": "c"}], "d": [1, {"b": "c"}]}),
        ("a: &l\nb: *l\n", {"a": None, "b": None}),
        ("a: &q '1'\nb: *q\n", {"a": "1", "b": "1"}),
        ("&k a: b\nc: *k\n", {"a": "b", "c": "a"}),
        ("a: &k b\n*k : c\n", {"a": "b", "b": "c"}),
        # An anchor may be given anew; the last one above counts.
        ("a: &x 1\nb: *x\nc: &x 2\nd: *x\n", {"a": 1, "b": 1, "c": 2, "d": 2}),
        ("a: &x [&x 1, *x]\nb: *x\n", {"a": [1, 1], "b": 1}),
        # Merge keys: own keys win wherever they stand, then the first source.
        ("a: &m {x: 1, y: 2}\nb: {<<: *m, y: 3}\n", {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}}),
        ("a: &m {x: 1, y: 2}\nb: {y: 3, <<: *m}\n", {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}}),
        (
            "a: &m {x: 1}\nb: &n {x: 2, y: 3}\nc: {<<: [*m, *n]}\n",
            {"a": {"x": 1}, "b": {"x": 2, "y": 3}, "c": {"x": 1, "y": 3}},
        ),
        ("<<: {a: 1, b: [2]}\nb: 3\n", {"a": 1, "b": 3}),
        ("<<: []\na: 1\n", {"a": 1}),
        ("a: &m {x: 1}\nb: &n {<<: *m, y: 2}\nc: {<<: *n}\n", None),
        # Nothing is merged below the first level.
        ("a: &m {x: {p: 1}}\nb: {<<: *m, x: {q: 2}}\n", {"a": {"x": {"p": 1}}, "b": {"x": {"q": 2}}}),
        # Only a plain `<<` is a merge key.
        ("'<<': {a: 1}\n", {"<<": {"a": 1}}),
        ("'<<': 1\n<<: {a: 2}\n", {"<<": 1, "a": 2}),
        ("a: <<\nb: [<<]\n", {"a": "<<", "b": ["<<"]}),
    ],
)
def test_expansion(text: str, data: Any) -> None:
    expected = data if data is not None else {"a": {"x": 1}, "b": {"x": 1, "y": 2}, "c": {"x": 1, "y": 2}}
    assert plain_data(load(text)) == expected


def test_a_copy_has_the_places_of_its_anchor() -> None:
    node = load("a: &l\n  - b\nc: *l\n")
    assert place(find(node, "c")) == (2, 3)
    copy = find(node, "c")
    assert isinstance(copy, Sequence)
    assert place(copy.items[0]) == (2, 5)
    entry = node.entry("c")
    assert entry is not None
    assert entry.key.span[1:3] == (3, 1)


def test_merged_entries_stand_in_the_place_of_the_merge_key_with_their_own_places() -> None:
    node = load("base: &b\n  x: 1\n  y: 2\nrun:\n  a: 0\n  <<: *b\n  y: 3\n  z: 4\n")
    run = node.get("run")
    assert isinstance(run, Mapping)
    assert [(e.key.name, e.key.span.line) for e in run.entries] == [("a", 5), ("x", 2), ("y", 7), ("z", 8)]
    assert [e.value.text for e in run.entries if isinstance(e.value, Scalar)] == ["0", "1", "3", "4"]


def test_a_mapping_that_ends_with_an_alias_ends_there() -> None:
    node = load("a: &x 1\nb:\n  c: *x\nd: [*x]\n")
    assert [tuple(e.value.span[1:]) for e in node.entries] == [(1, 7, 1, 8), (3, 3, 3, 8), (4, 4, 4, 8)]


def test_python_data_of_copies_are_independent() -> None:
    data = plain_data(load("a: &l [1]\nb: *l\n"))
    data["a"].append(2)
    assert data["b"] == [1]

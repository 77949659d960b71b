"""Whatever stands in a section, what comes out is objects that the schemas take, or diagnostics; never an exception."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.schema.objects import problems
from tests.spaces.making import EVERYTHING, objects, spaces

ODD = st.sampled_from(
    [None, "", "x", "a b", "1", 0, -1, 1.5, True, [], {}, ["x"], {"x": "y"}, "10.0.0.0/8", "::/0", "10.0.0.1/8", "${X}", "é" * 70]
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, below in inner for found in places(below, (*path, key)))]


PLACES = places(EVERYTHING)[1:]


def mutated(edits: list[tuple[tuple[Any, ...], Any]]) -> dict[str, Any]:
    made: Any = copy.deepcopy(EVERYTHING)
    for path, value in edits:
        inner = made
        for step in path[:-1]:
            there = isinstance(inner, dict) and step in inner
            there = there or (isinstance(inner, list) and isinstance(step, int) and step < len(inner))
            inner = inner[step] if there else None
        last = path[-1]
        if isinstance(inner, dict) or (
            isinstance(inner, list) and isinstance(last, int) and last < len(inner)
        ):
            inner[last] = value
    found: dict[str, Any] = made
    return found


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from(PLACES), ODD), max_size=3),
    st.lists(st.tuples(st.sampled_from(PLACES), ODD), max_size=2),
)
def test_nothing_in_a_section_breaks_anything(own: list[Any], platform: list[Any]) -> None:
    made = spaces(mutated(own), platform=mutated(platform))
    if not any(said.severity == "error" for said in made.diagnostics) and made.folders:
        for found in objects(made).values():
            assert problems(found) == []
    for said in made.diagnostics:
        assert said.message
        assert said.span is not None

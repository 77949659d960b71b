"""Wildcards: the two ways to match agree, and no pattern takes for ever."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.guard.fields import matcher as field
from tau_compile.source.globs import matches
from tau_compile.source.wildcards import Part, _expression, _Machine, matcher

PARTS = st.sampled_from(
    [
        Part("a"),
        Part("ab/"),
        Part(wild=True),
        Part(wild=True, barred="/"),
        Part(wild=True, barred="/", many=False),
        Part(wild=True, then="/"),
    ]
)


@settings(max_examples=500, deadline=None)
@given(st.lists(PARTS, max_size=7), st.text("ab/", max_size=9))
def test_both_ways_agree(parts: list[Part], text: str) -> None:
    expected = re.fullmatch("".join(map(_expression, parts)), text, re.DOTALL) is not None
    assert _Machine(parts)(text) is expected
    assert matcher(parts)(text) is expected


@pytest.mark.parametrize("pattern", ["*" * 200 + "x", "*a" * 100 + "x", "**/" * 80 + "x", "?*" * 100])
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    start = time.process_time()
    assert not matches("a/" * 200 + "a", pattern)
    assert not field("runtime.env." + pattern.replace("?", "b"))("runtime.env." + "a" * 400)
    assert not field(pattern.replace("?", "b"))("a" * 400 + ".b")
    assert time.process_time() - start < 5

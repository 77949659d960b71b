"""Go durations in whole seconds."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_compile.workload.duration import seconds

UNITS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
PART = st.tuples(
    st.integers(0, 10**6), st.one_of(st.none(), st.integers(0, 999)), st.sampled_from(sorted(UNITS))
)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("30s", 30),
        ("5m", 300),
        ("1h30m", 5400),
        ("72h", 259200),
        ("0s", 0),
        ("1ms", 1),
        ("1001ms", 2),
        ("1.5h", 5400),
        ("0.1s", 1),
        ("1m1m", 120),
    ],
)
def test_durations(text: str, expected: int) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "s",
        "1d",
        "1w",
        "-1s",
        "+1s",
        " 1s",
        "1s ",
        "1 s",
        "1h 30m",
        "1.s",
        ".5s",
        "1,5s",
        "1e3s",
        "one",
        "1S",
        "٣s",
        "1s" * 40,
    ],
)
def test_what_is_no_duration(text: str) -> None:
    assert seconds(text) is None


@given(st.lists(PART, min_size=1, max_size=3))
def test_parts_add_up_and_are_rounded_up(parts: list[tuple[int, int | None, str]]) -> None:
    text, total = "", Fraction(0)
    for whole, fraction, unit in parts:
        number = str(whole) if fraction is None else f"{whole}.{fraction:03d}"
        text += number + unit
        # A part is cut to whole nanoseconds, as in Go.
        total += Fraction(int(Fraction(number) * UNITS[unit] * 10**9), 10**9)
    assert seconds(text) == -(-total.numerator // total.denominator)


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    result = seconds(text)
    assert result is None or result >= 0

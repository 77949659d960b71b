"""For any amounts and durations: spelling never matters, and values are compared as what they are."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.policy.documents import platform
from tests.support.compiling import JOB, ids

UNITS = {
    "Mi": Fraction(2**20), "Gi": Fraction(2**30), "M": Fraction(10**6), "G": Fraction(10**9),
    "Ti": Fraction(2**40), "": Fraction(1), "e9": Fraction(10**9),
}  # fmt: skip
CPUS = {"": Fraction(1), "m": Fraction(1, 1000), "k": Fraction(1000)}
TIMES = {"s": 1, "m": 60, "h": 3600}


def spellings(amount: Fraction, units: dict[str, Fraction]) -> list[str]:
    """The whole-numbered spellings of an amount."""
    found = [f"{amount / unit}{name}" for name, unit in units.items() if (amount / unit).denominator == 1]
    return [*found, f"+{found[0]}"]


memory = st.integers(1, 4096).map(lambda n: Fraction(n) * 2**20 * 256)
cpus = st.integers(1, 64000).map(lambda n: Fraction(n, 1000))


def overlay(section: str, path: str, text: str) -> str:
    head, _, field = path.partition(".")
    if section == "enforce":
        return platform(enforce=f"{{{head}: {{{field}: {text}}}}}")
    return platform(limits=f"[{{name: one, field: {path}, {section}: {text}}}]")


def job(field: str, text: str) -> str:
    return JOB + f"compute: {{gpus: 1, {field}: {text}}}\n"


@given(memory, memory, st.data())
@settings(max_examples=60, deadline=None)
def test_memory(mine: Fraction, theirs: Fraction, data: st.DataObject) -> None:
    own = data.draw(st.sampled_from(spellings(mine, UNITS)))
    other = data.draw(st.sampled_from(spellings(theirs, UNITS)))
    text = job("memory", own)
    assert ids(text, [overlay("enforce", "compute.memory", other)]) == ["TAU330"] * (mine != theirs)
    assert ids(text, [overlay("max", "compute.memory", other)]) == ["TAU331"] * (mine > theirs)
    assert ids(text, [overlay("min", "compute.memory", other)]) == ["TAU331"] * (mine < theirs)
    assert ids(text, [overlay("oneOf", "compute.memory", f'["{other}"]')]) == ["TAU331"] * (mine != theirs)


@given(cpus, st.data())
@settings(max_examples=40, deadline=None)
def test_repeated_in_any_spelling(amount: Fraction, data: st.DataObject) -> None:
    one, other = (data.draw(st.sampled_from(spellings(amount, CPUS))) for _ in range(2))
    assert ids(job("cpus", one), [overlay("enforce", "compute.cpus", other)]) == []
    assert ids(job("cpus", one), [overlay("max", "compute.cpus", other)]) == []


@given(
    st.integers(1, 200), st.integers(1, 200), st.sampled_from(sorted(TIMES)), st.sampled_from(sorted(TIMES))
)
@settings(max_examples=40, deadline=None)
def test_durations(mine: int, theirs: int, unit: str, other: str) -> None:
    text = JOB.replace("train.py}", f"train.py, max_duration: {mine}{unit}}}") + "compute: {gpus: 1}\n"
    seconds, bound = mine * TIMES[unit], theirs * TIMES[other]
    found = ids(text, [overlay("max", "run.max_duration", f"{theirs}{other}")])
    assert ("TAU331" in found) == (seconds > bound)
    found = ids(text, [overlay("enforce", "run.max_duration", f"{theirs}{other}")])
    assert ("TAU330" in found) == (seconds != bound)


@pytest.mark.parametrize("count", [1, 2, 8])
def test_whole_numbers(count: int) -> None:
    text = JOB + f"compute: {{gpus: {count}}}\n"
    assert ids(text, [overlay("max", "compute.gpus", "2.0")]) == ["TAU331"] * (count > 2)
    assert ids(text, [overlay("enforce", "compute.gpus", "2")]) == ["TAU330"] * (count != 2)

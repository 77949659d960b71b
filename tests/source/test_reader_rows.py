"""The rows of the evidence sheet that concern reading: what went wrong elsewhere, and what happens here."""

from __future__ import annotations

import pytest

from tau_compile.source.nodes import Mapping, Scalar
from tau_compile.source.reader import read
from tau_compile.source.scalars import ambiguity, plain_data, resolve


def value(text: str) -> Scalar:
    """The value of `v` in a document of one line."""
    result = read(f"v: {text}\n".encode(), "f")
    assert result.diagnostics == ()
    assert isinstance(result.node, Mapping)
    node = result.node.get("v")
    assert isinstance(node, Scalar)
    return node


@pytest.mark.parametrize("text", ["'true'", '"${TEST}"', "'01234'", '"Y"'])
def test_b29_b35_quotes_are_remembered(text: str) -> None:
    node = value(text)
    assert not node.plain
    assert resolve(node) == text[1:-1]


@pytest.mark.parametrize("text", ["Y", "y", "n", "yes", "no", "on", "off"])
def test_b36_b47_a_word_that_kubectl_takes_for_a_boolean_is_the_text_the_user_wrote(text: str) -> None:
    """Kept where a string is wanted (an env value), refused by the caller where a boolean is."""
    assert value(text).text == text
    assert resolve(value(text)) == text
    assert ambiguity(text) is not None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1E6", 1e6),
        ("25921e05", 2592100000.0),
        ("1e3", 1e3),
        ("1e+10", 1e10),
        ("1.0e10", 1e10),
        ("1e-4", 1e-4),
        ("1e-6", 1e-6),
    ],
)
def test_b37_b38_b48_an_exponent_makes_a_number(text: str, number: float) -> None:
    assert resolve(value(text)) == number
    assert ambiguity(text) is None


@pytest.mark.parametrize("text", ["72225e2", "01443e5", "0e1234", "00215e6", "72044e011", "695e0514"])
def test_b39_b49_a_commit_stays_as_written_where_a_string_is_wanted(text: str) -> None:
    node = value(text)
    assert node.text == text
    assert node.plain
    assert resolve(node) not in (float("inf"), None)


def test_b45_shared_values_leave_no_trace() -> None:
    node = read(b"a: &id001 [1]\nb: *id001\n", "f").node
    assert node is not None
    data = plain_data(node)
    assert data == {"a": [1], "b": [1]}
    assert data["a"] is not data["b"]


def test_b50_an_equals_sign_is_a_text_and_no_exception() -> None:
    assert value("=").text == "="
    assert resolve(value("=")) == "="
    assert ambiguity("=") is not None


@pytest.mark.parametrize(
    "text", ["2024-01-01", "2024-1-1", "12:30", "12:30:45", "1_000", "0b101", "0o17", "012"]
)
def test_b52_dates_and_the_like_are_texts_or_refused_never_something_else(text: str) -> None:
    assert value(text).text == text
    assert isinstance(resolve(value(text)), str | int)
    assert ambiguity(text) is not None


def test_b52_the_last_of_two_keys_does_not_win_in_silence() -> None:
    assert [d.id for d in read(b"image: a\nimage: b\n", "f").diagnostics] == ["TAU113"]


@pytest.mark.parametrize("text", ["\ufeffa: 1\n", "a: 1\r\n", "\ufeffa: &x 1\r\n"])
def test_what_other_strict_readers_refuse_is_accepted(text: str) -> None:
    result = read(text.encode(), "f")
    assert result.diagnostics == ()
    assert result.node is not None
    assert plain_data(result.node) == {"a": 1}

"""What plain scalars mean, and which of them YAML readers take for different values."""

from __future__ import annotations

import math
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.diagnostics import Span
from tau_compile.source.nodes import Scalar
from tau_compile.source.reader import read
from tau_compile.source.scalars import ambiguity, plain_data, resolve

HERE = Span("f", 1, 1, 1, 2)


def plain(text: str) -> Scalar:
    return Scalar(HERE, text, plain=True)


MEANINGS: dict[str, Any] = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"], None),
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
    "0": 0, "7": 7, "-0": 0, "+12": 12, "-12": -12, "012": 12, "08": 8, "9007199254740993": 9007199254740993,
    "0o17": 15, "0x1F": 31, "0xff": 255, "0x0": 0,
    "1e3": 1000.0, "1e-4": 1e-4, "1E+2": 100.0, "1.5e3": 1500.0, "0e1234": 0.0, "72225e2": 7222500.0,
    ".5": 0.5, "+.5": 0.5, "-.5e1": -5.0, "1.": 1.0, "1.0": 1.0, "-1.25": -1.25, "012.5": 12.5,
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf"], math.inf),
    "-.inf": -math.inf,
}  # fmt: skip
TEXTS = [
    *["a", "nULL", "tRUE", "yes", "no", "on", "off", "y", "n", "Yes", "NO", ".Nan", "inf", "nan"],
    *["NaN", "Infinity", "+", "-", ".", "..", "-.", "e3", "1e", "1e+", "1_000", "0b1", "0O17", "0X1F"],
    *["-0x1F", "+0o7", "0o", "0o8", "0x", "0xG", "1:30", "1:30.5", "2024-01-01", "=", "<<", "1,000"],
    *["1.2.3", "v1", "16Gi", "100m", "00215e", "72044g", "0.0.0.0", "١٢", "1e400", "-1e999"],
    *["695e0514"],
]  # fmt: skip


@pytest.mark.parametrize("text", MEANINGS)
def test_core_schema(text: str) -> None:
    value = resolve(plain(text))
    assert value == MEANINGS[text]
    assert type(value) is type(MEANINGS[text])


@pytest.mark.parametrize("text", [*TEXTS, " 1", "1 ", "1\n", "two words"])
def test_everything_else_is_a_text(text: str) -> None:
    assert resolve(plain(text)) == text


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_not_a_number(text: str) -> None:
    value = resolve(plain(text))
    assert isinstance(value, float)
    assert math.isnan(value)


@pytest.mark.parametrize("text", [*MEANINGS, *TEXTS, ".nan"])
def test_quotes_make_a_text(text: str) -> None:
    assert resolve(Scalar(HERE, text, plain=False)) == text


@pytest.mark.parametrize(
    "text", ["9" * 5000, "-" + "1" * 100_000, "0x" + "f" * 5000, "0o" + "7" * 9000, "1" * 501]
)
def test_numbers_too_long_for_python_stay_texts(text: str) -> None:
    assert resolve(plain(text)) == text


def test_the_longest_numbers_can_be_printed_again() -> None:
    assert str(resolve(plain("9" * 500))) == "9" * 500
    assert len(str(resolve(plain("0x" + "f" * 498)))) == 600


AMBIGUOUS = {
    "as true": ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "yEs"],
    "as false": ["n", "N", "no", "No", "NO", "off", "Off", "OFF", "nO"],
    "octal": ["012", "0777", "-010", "+017", "0012"],
    "as a text, YAML 1.2 as a decimal": ["08", "09", "0128", "-09"],
    "others for a text": ["0o14", "0O14", "0b1", "0B1", "0b1_0", "0X1F", "-0x1F", "+0o7", "-0b1", "0x1_F"],
    "underscores": ["1_000", "1_0.5", "12_", "-1_0", ".5_0", "1_0e3"],
    "base 60": ["1:30", "12:30:45", "1:30.5", "-1:30", "1_0:30"],
    "a date": ["2024-01-01", "2024-1-1", "2024-01-01T10:00:00Z", "2024-01-01 10:00:00.5 +02:00"],
    "meaning of its own": ["=", "<<"],
}
AGREED = [
    *["1e3", "1e-4", "1E6", "0x1F", "0", "7", "-12", ".5", "+.5", "1.", "1.0", "1.5e3", "true", "False", "null", "~"],
    *["", "01", "007", "-00", "012.5", "01443e5", "0e1234", ".inf", "-.inf", ".nan", "a", "yesterday", "nope", "one"],
    *["16Gi", "100m", "1.2.3", "v1", "1,000", "12h", "1:60", "1:2:", "2024-01", "2024-01-01x", "a_b", "_1", "-", "==", "0o"],
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "text"), [(words, text) for words, texts in AMBIGUOUS.items() for text in texts]
)
def test_ambiguous(words: str, text: str) -> None:
    reason = ambiguity(text)
    assert reason is not None
    assert words in reason
    assert f"`{text}`" in reason


@pytest.mark.parametrize("text", AGREED)
def test_not_ambiguous(text: str) -> None:
    assert ambiguity(text) is None


def test_a_reason_is_never_long() -> None:
    reason = ambiguity("0" + "12" * 100_000)
    assert reason is not None
    assert len(reason) < 200


def same(a: Any, b: Any) -> bool:
    """Equality that tells 1 from 1.0 and from True, and takes nan for itself."""
    return type(a) is type(b) and (a == b or (a != a and b != b))


@settings(deadline=None)
@given(
    st.text("0123456789abefnotxyEINOTY.+-_:=~<", max_size=8) | st.sampled_from([*MEANINGS, *TEXTS, *AGREED])
)
def test_what_is_not_ambiguous_is_what_pyyaml_reads(text: str) -> None:
    """PyYAML is a YAML 1.1 reader; floats without a dot or a signed exponent it takes for texts (B38)."""
    document = f"a: {text}".encode()
    result = read(document, "f")
    try:
        theirs = yaml.safe_load(document)
    except (yaml.YAMLError, ValueError):  # `=`, and dates like 0000-00-00
        return
    if result.node is None or ambiguity(text) is not None:
        return
    mine, other = plain_data(result.node)["a"], theirs["a"]
    assert same(mine, other) or (isinstance(mine, float) and isinstance(other, str))


def test_plain_data() -> None:
    text = b"a: {b: [1, '1', 1.5, yes, null, ~, true], 2: |\n  c\n}\nd: []\ne: {}\nf:\n"
    node = read(text.replace(b"|\n  c\n", b"c"), "f").node
    assert node is not None
    expected: dict[str, Any] = {
        "a": {"b": [1, "1", 1.5, "yes", None, None, True], "2": "c"},
        "d": [],
        "e": {},
        "f": None,
    }
    assert plain_data(node) == expected
    assert list(plain_data(node)) == ["a", "d", "e", "f"]

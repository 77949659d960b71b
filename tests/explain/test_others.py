"""What is tried in the place of a value."""

from __future__ import annotations

import pytest

from tau_compile.diagnostics import Span
from tau_compile.explain.others import MOST, others
from tau_compile.source.nodes import Scalar

SPAN = Span("tau.yaml", 1, 1, 1, 2)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("true", "false"),
        ("False", "true"),
        ("4", "5"),
        ("0", "1"),
        ("64Gi", "65Gi"),
        ("1.5Gi", "2.5Gi"),
        ("72h", "73h"),
        ("train.py", "traia.py"),
        ("code/train.py", "code/traia.py"),
        ("repo/image:1.2", "repo/image:2.2"),
        ("HF_TOKEN", "HF_TOKEA"),
        ("data/", "datb/"),
    ],
)
def test_values_of_the_same_class(text: str, first: str) -> None:
    found = others(Scalar(SPAN, text, True), None, ())
    assert found[0] == first
    assert text not in found
    assert len(found) <= MOST


def test_the_words_of_the_schema_and_the_names_beside() -> None:
    assert others(Scalar(SPAN, "job", True), {"job", "rayjob"}, ()) == ["rayjob"]
    assert others(Scalar(SPAN, "a100", True), None, ["h100"])[0] == "h100"
    assert others(Scalar(SPAN, "true", False), None, ())[0] == "trua"


@pytest.mark.parametrize("text", ["", "-", "é", "..", "/"])
def test_any_text_is_no_problem(text: str) -> None:
    assert text not in others(Scalar(SPAN, text, True), None, ())


def test_every_word_of_a_text_is_tried() -> None:
    assert "secreb:keb" in others(Scalar(SPAN, "secret:key", True), None, ()) or "secrea:kea" in others(
        Scalar(SPAN, "secret:key", True), None, ()
    )

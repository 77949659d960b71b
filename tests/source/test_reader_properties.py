"""Properties of the reader over texts made up by the hundred."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.codes import CODES
from tau_compile.diagnostics import Span, ordered
from tau_compile.source.nodes import Mapping, Node, Scalar, Sequence
from tau_compile.source.reader import Limits, read
from tau_compile.source.scalars import plain_data

SEEDS = (
    "# run\nname: demo\nrun: {engine: rayjob, gpus: 8}\nenv:\n- name: A\n  value: 'it''s'\n- {name: B, value: \"\\u00e9\"}\n",
    "a: &x {b: 1, c: [d, e]}\n<<: *x\nf: |+\n  text\n   more\n\ng: >-\n  fold\n  ed\n\n  x\n",
    "? a\n: b\n? [c]\n: d\n- e\n",
    "[a: 1, ? b : c, {d: e}, 'f': g, \"h\":i, j?k]\n",
    "%YAML 1.1\n---\na: !!str b\n...\n---\nc\n",
    "- - a\n  - b\n-\n  - c\n- d: e\n  f: g\n",
    "{a: , b, ? , c: {}, d: []}\n&a a: *a\n*a : b\n",
    "a: !<tag:x> b\nc: !e!f d\r\ne: f\rg:\th\n",
)  # fmt: skip
PARTS = (
    *["a", "b: ", "- ", "\n", "\n  ", "\n    ", " ", "\t", ": ", ":", ",", "[", "]", "{", "}", "? ", "?", "&x ", "*x"],
    *["*x ", "!!str ", "!a", "!<b>", "! ", '"', "'", "|", ">", "|2", ">-", "|+\n", "#", " # c", "---", "\n---\n"],
    *["\n...\n", "%", "@", "`", "\\", "\\x41", "\\ud800", "\\U00110000", "é", "😀", "\r\n", "\r", "<<", "<<: *x\n"],
    *["~", "null", "1", "=", "-", "\n- ", '"a"', "'b'", "%41", "!%C3 ", "\n\n", "\n\t", "\\\n", "&", "*", "!", "\x85"],
    *["x" * 1030, "\0", "\ufeff", "\u2028"],
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A YAML text with a few parts put in, taken out and copied about."""
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 4))
        text = text[:at] + draw(st.sampled_from(("", *PARTS))) + text[at + length :]
    return text


def places(node: Node) -> list[Span]:
    """The spans of all nodes and keys."""
    if isinstance(node, Scalar):
        return [node.span]
    if isinstance(node, Sequence):
        return [node.span, *(span for item in node.items for span in places(item))]
    assert isinstance(node, Mapping)
    return [node.span, *(s for entry in node.entries for s in (entry.key.span, *places(entry.value)))]


def check(data: bytes) -> None:
    """Both parsers give the same result, all of it in the file and in order."""
    limits = Limits(depth=6)
    result = read(data, "f", limits)
    assert result == read(data, "f", limits, loader="python")
    assert (result.node is not None) or result.diagnostics
    assert list(result.diagnostics) == ordered(result.diagnostics)

    spans = [span for d in result.diagnostics for span in (d.span, *(r.span for r in d.related)) if span]
    spans += places(result.node) if result.node else []
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    lines = [len(line) + 1 for line in re.split("\r\n|\r|\n", text)]
    for span in spans:
        assert (1, 1) <= span[1:3] <= span[3:5], span
        assert span.end_line <= len(lines), span
        assert span.column <= lines[span.line - 1], span
        assert span.end_column <= lines[span.end_line - 1], span
    for diagnostic in result.diagnostics:
        assert diagnostic.id in CODES
        assert diagnostic.span is not None
        assert diagnostic.message.isprintable()
        assert diagnostic.hint


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    check(data)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text(text: str) -> None:
    check(text.encode("utf-8", "surrogatepass"))


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(mutated() | st.lists(st.sampled_from(PARTS), max_size=14).map("".join))
def test_texts_like_yaml(text: str) -> None:
    check(text.encode())


# Words that PyYAML and we read alike when plain, and texts that need quotes.
WORDS = st.text("abcdefghij0123456789./_-", min_size=1, max_size=8).map("w".__add__)
LEAVES = st.integers(-(10**20), 10**20) | WORDS | st.text(st.characters(codec="utf-8"), max_size=12)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("flow", [None, True, False])
@given(tree=st.dictionaries(WORDS, TREES, min_size=1, max_size=4), wide=st.booleans())
def test_what_pyyaml_writes_is_read_back(flow: bool | None, tree: dict[str, Any], wide: bool) -> None:
    text = yaml.safe_dump(tree, default_flow_style=flow, allow_unicode=wide, width=20)
    # PyYAML leaves a few texts unquoted that other readers take for numbers (B37), and writes U+0085 and the like
    # as they are.
    result = read(text.encode(), "f")
    if any(d.id == "TAU107" for d in result.diagnostics):
        return
    assert result.diagnostics == ()
    assert result.node is not None
    assert texts(result.node) == spelled(yaml.safe_load(text))


def texts(node: Node) -> Any:
    """The tree with every scalar as its text, so that no schema takes part."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [texts(item) for item in node.items]
    return {entry.key.name: texts(entry.value) for entry in node.entries}


def spelled(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: spelled(value) for key, value in data.items()}
    return [spelled(item) for item in data] if isinstance(data, list) else str(data)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        WORDS, st.recursive(st.integers() | WORDS, st.lists, max_leaves=8), min_size=1, max_size=5
    )
)
def test_words_and_integers_mean_what_pyyaml_takes_them_for(tree: dict[str, Any]) -> None:
    text = yaml.safe_dump(tree)
    node = read(text.encode(), "f").node
    assert node is not None
    assert plain_data(node) == yaml.safe_load(text) == tree

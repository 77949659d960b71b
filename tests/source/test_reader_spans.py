"""Where things are: spans count code points from 1, end where the value ends, and the text is as spelled."""

from __future__ import annotations

import pytest

from tau_compile.source.nodes import Entry, Mapping, Node, Scalar, Sequence
from tau_compile.source.reader import read


def load(text: str, loader: str = "c") -> Node:
    result = read(text.encode(), "f", loader=loader)  # type: ignore[arg-type]
    assert result.diagnostics == ()
    assert result.node is not None
    return result.node


def flat(node: Node) -> list[tuple[object, ...]]:
    """Every key and value in order: its kind or text, then its lines and columns."""
    if isinstance(node, Scalar):
        return [(node.text, *node.span[1:])]
    if isinstance(node, Sequence):
        return [("[]", *node.span[1:])] + [row for item in node.items for row in flat(item)]
    rows: list[tuple[object, ...]] = [("{}", *node.span[1:])]
    for key, value in node.entries:
        rows += [(key.name, *key.span[1:]), *flat(value)]
    return rows


CASES = {
    "plain": (
        "a:  b c  # d\n",
        [("{}", 1, 1, 1, 8), ("a", 1, 1, 1, 2), ("b c", 1, 5, 1, 8)],
    ),
    "quoted": (
        "'a': \"b\\n\"\n\"c\" : 'd''e'\n",
        [
            ("{}", 1, 1, 2, 13),
            ("a", 1, 1, 1, 4),
            ("b\n", 1, 6, 1, 11),
            ("c", 2, 1, 2, 4),
            ("d'e", 2, 7, 2, 13),
        ],
    ),
    "wide characters": (
        "é😀: 'ü😀' # 😀\nb: 😀😀\n",
        [
            ("{}", 1, 1, 2, 6),
            ("é😀", 1, 1, 1, 3),
            ("ü😀", 1, 5, 1, 9),
            ("b", 2, 1, 2, 2),
            ("😀😀", 2, 4, 2, 6),
        ],
    ),
    "byte order mark and CR LF": (
        "\ufeffa: b\r\nc: |\r\n  d\r\n  e\r\n\r\nf: g\r\n",
        [
            ("{}", 1, 1, 6, 5),
            ("a", 1, 1, 1, 2),
            ("b", 1, 4, 1, 5),
            ("c", 2, 1, 2, 2),
            ("d\ne\n", 2, 4, 4, 4),
            ("f", 6, 1, 6, 2),
            ("g", 6, 4, 6, 5),
        ],
    ),
    "lone CR": ("a: b\rc: d", [("{}", 1, 1, 2, 5), ("a", 1, 1, 1, 2), ("b", 1, 4, 1, 5), ("c", 2, 1, 2, 2), ("d", 2, 4, 2, 5)]),
    "over two lines": (
        "a: b\n  c\nd: 'e\n\n  f'\n",
        [
            ("{}", 1, 1, 5, 5),
            ("a", 1, 1, 1, 2),
            ("b c", 1, 4, 2, 4),
            ("d", 3, 1, 3, 2),
            ("e\nf", 3, 4, 5, 5),
        ],
    ),
    "blocks end at their last character": (
        "a: |\n  b\n\n  c\n\n\nd: >-\n  e\n  f\n# g\nh: |+\n  i\n\n",
        [
            ("{}", 1, 1, 12, 4),
            ("a", 1, 1, 1, 2),
            ("b\n\nc\n", 1, 4, 4, 4),
            ("d", 7, 1, 7, 2),
            ("e f", 7, 4, 9, 4),
            ("h", 11, 1, 11, 2),
            ("i\n\n", 11, 4, 12, 4),
        ],
    ),
    "left out values stand behind their sign": (
        "a:\nb:   # c\n\nd:\n-\n- # e\n- f: \n",
        [
            ("{}", 1, 1, 7, 5),
            ("a", 1, 1, 1, 2),
            ("", 1, 3, 1, 3),
            ("b", 2, 1, 2, 2),
            ("", 2, 3, 2, 3),
            ("d", 4, 1, 4, 2),
            ("[]", 5, 1, 7, 5),
            ("", 5, 2, 5, 2),
            ("", 6, 2, 6, 2),
            ("{}", 7, 3, 7, 5),
            ("f", 7, 3, 7, 4),
            ("", 7, 5, 7, 5),
        ],
    ),
    "flow": (
        "a: [ b, {c: d, e: , f}, g: h ,\n  [] ]\n",
        [
            ("{}", 1, 1, 2, 7),
            ("a", 1, 1, 1, 2),
            ("[]", 1, 4, 2, 7),
            ("b", 1, 6, 1, 7),
            ("{}", 1, 9, 1, 23),
            ("c", 1, 10, 1, 11),
            ("d", 1, 13, 1, 14),
            ("e", 1, 16, 1, 17),
            ("", 1, 18, 1, 18),
            ("f", 1, 21, 1, 22),
            ("", 1, 22, 1, 22),
            ("{}", 1, 25, 1, 29),
            ("g", 1, 25, 1, 26),
            ("h", 1, 28, 1, 29),
            ("[]", 2, 3, 2, 5),
        ],
    ),
    "anchors are not part of the value": (
        "a: &x b\nc: &y # d\n  e: &z\nf: &w [g]\n&k h: &v |\n  i\n",
        [
            ("{}", 1, 1, 6, 4),
            ("a", 1, 1, 1, 2),
            ("b", 1, 7, 1, 8),
            ("c", 2, 1, 2, 2),
            ("{}", 3, 3, 3, 8),
            ("e", 3, 3, 3, 4),
            ("", 3, 8, 3, 8),
            ("f", 4, 1, 4, 2),
            ("[]", 4, 7, 4, 10),
            ("g", 4, 8, 4, 9),
            ("h", 5, 4, 5, 5),
            ("i\n", 5, 10, 6, 4),
        ],
    ),
    "a list ends with its last item": (
        "a:\n  - b\n  - c # d\n\n\ne: f\n",
        [
            ("{}", 1, 1, 6, 5),
            ("a", 1, 1, 1, 2),
            ("[]", 2, 3, 3, 6),
            ("b", 2, 5, 2, 6),
            ("c", 3, 5, 3, 6),
            ("e", 6, 1, 6, 2),
            ("f", 6, 4, 6, 5),
        ],
    ),
    "explicit keys": (
        "? a\n: b\n? |\n  c\n: d\n? e\n",
        [
            ("{}", 1, 1, 6, 4),
            ("a", 1, 3, 1, 4),
            ("b", 2, 3, 2, 4),
            ("c\n", 3, 3, 4, 4),
            ("d", 5, 3, 5, 4),
            ("e", 6, 3, 6, 4),
            ("", 6, 4, 6, 4),
        ],
    ),
    "document marks": ("--- # a\nb: c\n...\n", [("{}", 2, 1, 2, 5), ("b", 2, 1, 2, 2), ("c", 2, 4, 2, 5)]),
    "tabs where YAML allows them": (
        "a:\tb\tc\t# d\ne: [\tf,\n\tg]\n",
        [
            ("{}", 1, 1, 3, 4),
            ("a", 1, 1, 1, 2),
            ("b\tc", 1, 4, 1, 7),
            ("e", 2, 1, 2, 2),
            ("[]", 2, 4, 3, 4),
            ("f", 2, 6, 2, 7),
            ("g", 3, 2, 3, 3),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("loader", ["c", "python"])
@pytest.mark.parametrize("name", CASES)
def test_spans(name: str, loader: str) -> None:
    text, expected = CASES[name]
    assert flat(load(text, loader)) == expected


def test_the_file_is_only_a_label() -> None:
    node = read(b"a: [b]", "no/such file.yaml").node
    assert isinstance(node, Mapping)
    assert node.span.file == "no/such file.yaml"
    assert node.entries[0].key.span.file == "no/such file.yaml"


def test_any_spelling_is_kept_as_written() -> None:
    spellings = ["yes", "012", "0x1F", "1e3", "0o14", "1_000", "1:30", "2024-01-01", "="]
    spellings += ["~", "null", ".5", "+1", "72225e2", "0e1234", "on", "No", "<"]
    node = load("".join(f"- {s}\n" for s in spellings))
    assert isinstance(node, Sequence)
    assert [i.text for i in node.items if isinstance(i, Scalar) and i.plain] == spellings


def test_quoted_and_block_scalars_are_not_plain() -> None:
    node = load("- 'a'\n- \"a\"\n- |\n  a\n- >\n  a\n- ''\n- a\n-\n")
    assert isinstance(node, Sequence)
    assert [i.plain for i in node.items if isinstance(i, Scalar)] == [False] * 5 + [True] * 2


def test_keys_keep_their_spelling() -> None:
    node = load('1: a\ntrue: b\nnull: c\nyes: d\n~: e\n"": f\n0x1: g\n')
    assert isinstance(node, Mapping)
    assert [entry.key.name for entry in node.entries] == ["1", "true", "null", "yes", "~", "", "0x1"]
    assert isinstance(node.entry("yes"), Entry)

"""Every refusal of the reader: its id, its exact place, and the cure that its hint names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tau_compile.codes import CODES
from tau_compile.source.reader import Limits, read

if TYPE_CHECKING:
    from tau_compile.diagnostics import Diagnostic

# name: (text, [(id, line, column, end line, end column, words of the hint)])
Expected = list[tuple[str, int, int, int, int, str]]
CASES: dict[str, tuple[bytes | str, Expected]] = {
    # characters and encodings
    "invalid utf-8": (b"a: 1\nb: caf\xe9\n", [("TAU104", 2, 7, 2, 8, "save the file as UTF-8")]),
    "invalid utf-8 behind wide characters": ("é😀: ".encode() + b"\xff", [("TAU104", 1, 5, 1, 6, "UTF-8")]),
    "encoded surrogate": (b"a: \xed\xa0\x80\n", [("TAU104", 1, 4, 1, 5, "UTF-8")]),
    "cut off in a character": (b"\xef\xbb\xbfa: \xc3", [("TAU104", 1, 4, 1, 5, "UTF-8")]),
    "utf-16 le": ("a: 1".encode("utf-16"), [("TAU105", 1, 1, 1, 1, "save the file as UTF-8")]),
    "utf-16 be": (b"\xfe\xff" + "a: 1".encode("utf-16-be"), [("TAU105", 1, 1, 1, 1, "UTF-8")]),
    "utf-32 le": ("a: 1".encode("utf-32"), [("TAU105", 1, 1, 1, 1, "UTF-8")]),
    "utf-32 be": (b"\0\0\xfe\xff" + "a: 1".encode("utf-32-be"), [("TAU105", 1, 1, 1, 1, "UTF-8")]),
    "utf-16 without a mark": (
        "ab".encode("utf-16-le"),
        [("TAU106", 1, 2, 1, 3, "save it as UTF-8"), ("TAU106", 1, 4, 1, 5, "save it as UTF-8")],
    ),
    "nul": ("a: x\0\n", [("TAU106", 1, 5, 1, 6, "remove it")]),
    "escape character": ("a: é\x1b[0m\n", [("TAU106", 1, 5, 1, 6, '"\\u001b" in double quotes')]),
    "delete": ("a: \x7f\n", [("TAU106", 1, 4, 1, 5, "\\u007f")]),
    "c1 control": ("a: \x9b\n", [("TAU106", 1, 4, 1, 5, "\\u009b")]),
    "not a character": ("a: \uffff\n", [("TAU106", 1, 4, 1, 5, "\\uffff")]),
    "mark inside": ("a: \ufeffb\n", [("TAU106", 1, 4, 1, 5, "remove it")]),
    "two marks": ("\ufeff\ufeffa: b\n", [("TAU106", 1, 1, 1, 2, "remove it")]),
    "next line": ("a: b\x85c: d\n", [("TAU107", 1, 5, 1, 6, '"\\u0085" in double quotes')]),
    "line separator in a comment": (
        "a: 1 # safe\u2028privileged: true\n",
        [("TAU107", 1, 12, 1, 13, '"\\u2028" in double quotes')],
    ),
    "paragraph separator": ("a: 'b\u2029c'\n", [("TAU107", 1, 6, 1, 7, '"\\u2029" in double quotes')]),
    # documents
    "no bytes": ("", [("TAU108", 1, 1, 1, 1, "key: value")]),
    "only a mark": ("\ufeff", [("TAU108", 1, 1, 1, 1, "key: value")]),
    "only comments": ("\n# one\n  # two\n", [("TAU108", 1, 1, 1, 1, "key: value")]),
    "only a separator": ("# x\n---\n# y\n", [("TAU108", 1, 1, 1, 1, "key: value")]),
    "two documents": ("a: 1\n---\nb: 2\n", [("TAU109", 2, 1, 2, 4, "a file of its own")]),
    "second one is empty": ("---\na: 1\n---\n", [("TAU109", 3, 1, 3, 4, "remove this line")]),
    "document after the end": ("a: 1\n...\nb: 2\n", [("TAU126", 3, 1, 3, 3, "remove it")]),
    "text after the end": ("{a: 1}\nb: 2\n", [("TAU126", 2, 1, 2, 3, "remove it")]),
    "only an end": ("...\n", [("TAU129", 1, 1, 1, 4, "write a value above it")]),
    "yaml directive": ("%YAML 1.1\n---\na: 1\n", [("TAU110", 1, 1, 1, 10, "remove the line")]),
    "tag directives": (
        "# x\n%TAG ! tag:x,2000:  \n%FOO\n---\na: 1\n",
        [("TAU110", 2, 1, 2, 19, "remove the line"), ("TAU110", 3, 1, 3, 5, "in quotes")],
    ),
    "directive behind a lone CR": ("a: b\r%x\r", [("TAU110", 2, 1, 2, 3, "in quotes")]),
    # markers that Git leaves
    "merge conflict": (
        "a: 1\r\n<<<<<<< HEAD\r\nb: 2\r\n=======\r\nb: 3\r\n>>>>>>> other\r\n",
        [("TAU127", 2, 1, 2, 13, "keep one side, or both")],
    ),
    "merge conflict from the first line on": (
        "<<<<<<< HEAD\na: 1\n=======\n>>>>>>> other\n",
        [("TAU127", 1, 1, 1, 13, "remove the lines")],
    ),
    # tabs
    "tab indents a key": ("a:\n\tb: 1\n", [("TAU111", 2, 1, 2, 2, "indent with spaces")]),
    "tab behind spaces": ("a:\n  \tb: 1\n", [("TAU111", 2, 3, 2, 4, "indent with spaces")]),
    "tab on a blank line": ("a:\n\t\n  b: 1\n", [("TAU111", 2, 1, 2, 2, "indent with spaces")]),
    "tab before the content of a block": ("a: |\n\tx\n", [("TAU111", 2, 1, 2, 2, "indent with spaces")]),
    "tab in the indentation of a block": (
        "a: |\n    x\n \ty\n",
        [("TAU111", 3, 2, 3, 3, "indent with spaces")],
    ),
    "tab in a text over two lines": ("a: b\n\tc\n", [("TAU111", 2, 1, 2, 2, "indent with spaces")]),
    "tab behind a dash": ("-\ta: 1\n", [("TAU111", 1, 2, 1, 3, "indent with spaces")]),
    # tags
    "tags": (
        "a: !!str 1\nb: !foo\n  c: !<tag:x> d\n!e f: [! g, &h !i j, !k &l m]\n",
        [
            ("TAU112", 1, 4, 1, 9, "quotes to make it a string"),
            ("TAU112", 2, 4, 2, 8, "remove the tag"),
            ("TAU112", 3, 6, 3, 14, "remove the tag"),
            ("TAU112", 4, 1, 4, 3, "remove the tag"),
            ("TAU112", 4, 8, 4, 9, "remove the tag"),
            ("TAU112", 4, 16, 4, 18, "remove the tag"),
            ("TAU112", 4, 22, 4, 24, "remove the tag"),
        ],
    ),
    "tag of an unknown family": ("a: !x!y z\n", [("TAU112", 1, 4, 1, 8, "remove the tag")]),
    "tag left open": ("a: !<x\n", [("TAU112", 1, 4, 1, 7, "remove the tag")]),
    "tag that is not utf-8": ("b: 1\na: !%C0%80 x\n", [("TAU112", 2, 4, 2, 11, "remove the tag")]),
    # keys
    "duplicate keys": (
        "a: 1\nb:\n  c: 1\n  'c': 2\na: 3\n\"a\": 4\n1: x\n1: y\n",
        [
            ("TAU113", 4, 3, 4, 6, "keep one"),
            ("TAU113", 5, 1, 5, 2, "keep one"),
            ("TAU113", 6, 1, 6, 4, "keep one"),
            ("TAU113", 8, 1, 8, 2, "keep one"),
        ],
    ),
    "two merges": ("a: &a {}\nb:\n  <<: *a\n  <<: *a\n", [("TAU113", 4, 3, 4, 5, "`<<: [*one, *two]`")]),
    "list as a key": ("? [a]\n: b\n", [("TAU114", 1, 3, 1, 4, "in quotes")]),
    "mapping as a key": ("? a: b\n: c\n", [("TAU114", 1, 3, 1, 4, "use a name as the key")]),
    "template braces": ("a: {{ x }}\n", [("TAU114", 1, 5, 1, 6, "begins with { or [ in quotes")]),
    "alias of a list as a key": ("a: &l [b]\n*l : c\n", [("TAU114", 2, 1, 2, 3, "use a name")]),
    "key left out": ("? \n: x\n", [("TAU114", 1, 2, 1, 2, "before the colon")]),
    "key left out in a list": ("a: [b, # c\n  ? : x]\n", [("TAU114", 2, 4, 2, 4, "before the colon")]),
    # aliases
    "undefined alias": ("a: *b\n", [("TAU115", 1, 4, 1, 6, "write &b before the value")]),
    "anchor below": ("a: *b\nc: &b d\n", [("TAU115", 1, 4, 1, 6, "above this line")]),
    "alias in itself": ("a: &b\n  c: [*b]\n", [("TAU116", 2, 7, 2, 9, "write the value out")]),
    "merge of itself": ("a: &b\n  <<: *b\n", [("TAU116", 2, 7, 2, 9, "write the value out")]),
    "merge of a text": ("a: &s x\nb:\n  <<: *s\n", [("TAU117", 3, 7, 3, 9, "`<<: *name`")]),
    "merge of nothing": ("<<:\na: 1\n", [("TAU117", 1, 4, 1, 4, "merge a mapping")]),
    "merge of a list of texts": ("<<: [{a: 1}, b]\n", [("TAU117", 1, 5, 1, 16, "list of mappings")]),
    # quotes and brackets
    "double quote open": ('a: "x\nb: 2\n', [("TAU118", 1, 4, 1, 5, 'add the closing "')]),
    "single quote open": ("a: 1\nb: 'x\n", [("TAU118", 2, 4, 2, 5, "add the closing '")]),
    "document mark in a text": ('a: "x\n---\ny"\n', [("TAU118", 1, 4, 1, 5, 'add the closing "')]),
    "bracket open": ("a: [1, 2", [("TAU119", 1, 4, 1, 5, "add the closing ]")]),
    "bracket open above": ("a: [1, 2\nb: 3\n", [("TAU119", 1, 4, 1, 5, "add the closing ]")]),
    "brace open behind a comma": ("a: {b: 1,\n", [("TAU119", 1, 4, 1, 5, "add the closing }")]),
    "comma missing": ('a: [1, "x" y]\n', [("TAU119", 1, 12, 1, 13, "put commas between items")]),
    "value missing": ("a: [,]\n", [("TAU119", 1, 5, 1, 6, "put commas between items")]),
    "wrong bracket": ("a: {b: 1]\n", [("TAU119", 1, 9, 1, 10, "} at the end")]),
    "colon at once": ("a: [b:[c]]\n", [("TAU123", 1, 6, 1, 7, "space after the colon")]),
    "unknown escape": ('a: "\\q"\n', [("TAU120", 1, 5, 1, 7, "\\\\ for a backslash")]),
    "windows path": ('a: "C:\\Users"\n', [("TAU120", 1, 7, 1, 9, "\\\\ for a backslash")]),
    "half of a pair": ('a: "x\\ud83d\\ude00"\n', [("TAU120", 1, 6, 1, 8, "8 for one character")]),
    "beyond unicode": ('a: "\\U00110000"\n', [("TAU120", 1, 5, 1, 7, "8 for one character")]),
    "backslash at the end": ('a: "\\', [("TAU120", 1, 5, 1, 6, "\\\\ for a backslash")]),
    # plain values
    "second colon": ("a: b: c\n", [("TAU121", 1, 5, 1, 6, "put the whole value in quotes")]),
    "at sign": ("a: @x\n", [("TAU122", 1, 4, 1, 6, "put the whole value in quotes")]),
    "backtick": ("a: `x`\n", [("TAU122", 1, 4, 1, 7, "put the whole value in quotes")]),
    "per cent": ("a: %x\n", [("TAU122", 1, 4, 1, 6, "put the whole value in quotes")]),
    "glob": ("a: *.txt\n", [("TAU122", 1, 4, 1, 9, "put the whole value in quotes")]),
    "two ampersands": ("a: &&x\n", [("TAU122", 1, 4, 1, 7, "put the whole value in quotes")]),
    "closing bracket": ("a: ]\n", [("TAU122", 1, 4, 1, 5, "put the whole value in quotes")]),
    # layout
    "no colon": ("a: 1\nb\nc: 2\n", [("TAU123", 2, 1, 2, 2, "write `key: value`")]),
    "no space behind the colon": ("a: 1\nb:2\nc: 3\n", [("TAU123", 2, 1, 2, 4, "a space after the colon")]),
    "text behind a block sign": ("a: |x\n  y\n", [("TAU124", 1, 4, 1, 6, "on the next line")]),
    "indented by nothing": ("a: >0\n  y\n", [("TAU124", 1, 4, 1, 6, "a digit 1-9")]),
    "indented below a value": ("a: 1\n b: 2\n", [("TAU125", 2, 3, 2, 4, "align the two lines")]),
    "no colon above": ("name x\nimage: y\n", [("TAU125", 2, 6, 2, 7, "the line above its `: `")]),
    "between two columns": ("a:\n    b: 1\n  c: 2\n", [("TAU125", 3, 3, 3, 5, "column 1")]),
    "key below a list": ("- a\nb: 1\n", [("TAU125", 2, 1, 2, 3, "begin it with `- `")]),
    "item below a mapping": ("a: b\n- c\n", [("TAU125", 2, 1, 2, 2, "indent a list below its key")]),
    "item behind a key": ("a: - b\n", [("TAU125", 1, 4, 1, 5, "on a line of its own")]),
    "colon at the beginning": ("a: 1\n: x\n", [("TAU125", 2, 1, 2, 2, "write it behind its key")]),
    "text behind quotes": ('a: "x" y\n', [("TAU126", 1, 8, 1, 9, "put the whole value in quotes")]),
    "apostrophe": ("a: 'it's'\n", [("TAU126", 1, 8, 1, 10, "'' for one quote")]),
    "bracket too many": ("a: [1]]\n", [("TAU126", 1, 7, 1, 8, "put the whole value in quotes")]),
}


def found(diagnostics: tuple[Diagnostic, ...]) -> list[tuple[str, int, int, int, int]]:
    return [(d.id, *d.span[1:]) for d in diagnostics if d.span]


@pytest.mark.parametrize("loader", ["c", "python"])
@pytest.mark.parametrize("name", CASES)
def test_refusal(name: str, loader: str) -> None:
    text, expected = CASES[name]
    data = text.encode() if isinstance(text, str) else text
    result = read(data, "tau.yaml", loader=loader)  # type: ignore[arg-type]
    assert found(result.diagnostics) == [row[:5] for row in expected]
    for diagnostic, row in zip(result.diagnostics, expected, strict=True):
        assert diagnostic.span is not None
        assert diagnostic.span.file == "tau.yaml"
        assert diagnostic.severity == "error"
        assert row[5] in diagnostic.hint


def test_every_reading_id_is_provoked() -> None:
    ids = {row[0] for _, expected in CASES.values() for row in expected}
    by_limits = {"TAU101", "TAU102", "TAU103"}  # in test_reader_hostile
    assert ids | by_limits == {code for code in CODES if "TAU100" < code < "TAU140"}


def test_a_duplicate_key_shows_the_first_and_leaves_it_in_the_tree() -> None:
    result = read(b"a: 1\na: 2\na: 3\n", "f")
    assert [[tuple(r.span) for r in d.related] for d in result.diagnostics] == [[("f", 1, 1, 1, 2)]] * 2
    assert result.node is not None
    assert len(result.node.entries) == 1  # type: ignore[union-attr]


def test_all_mistakes_are_told_at_once_in_the_order_of_the_text() -> None:
    result = read(b"b: &x 1\na: !t 1\nb: *y\nc: {<<: *x}\na: 2\nd: [\n", "f")
    expected = ["TAU112", "TAU113", "TAU115", "TAU117", "TAU113", "TAU119"]
    assert [d.id for d in result.diagnostics] == expected
    assert result.node is None


def test_what_takes_part_is_shown() -> None:
    related = [
        ("a: [1\nb: 2\n", "reading stopped here", (2, 2)),
        ('a: ["b" c]\n', "the list begins here", (1, 4)),
        ("a: &b\n  c: *b\n", "the value that would hold itself", (2, 3)),
        ("a: &b x\nc: {<<: *b}\n", "this is what it stands for", (1, 7)),
        ("a:\n   b: 1\n  c: 2\n", "the mapping begins here", (1, 1)),
    ]
    for text, words, place in related:
        (diagnostic,) = read(text.encode(), "f").diagnostics
        assert [(r.message, r.span[1:3]) for r in diagnostic.related] == [(words, place)], text


def test_names_in_messages_are_short_and_printable() -> None:
    (clash,) = read(b'"\\e[31m\\nx": 1\n"\\e[31m\\nx": 2\n', "f").diagnostics
    assert clash.message == "the key `\\x1b[31m\\nx` is given twice"
    name = "k" * 500
    (long,) = read(f"{name}: 1\n{name}: 2\n".encode(), "f").diagnostics
    assert len(long.message) < 100


def test_a_file_full_of_mistakes_is_not_read_to_the_end() -> None:
    result = read(b"a: 1\n" * 1000, "f", Limits(diagnostics=7))
    assert [d.id for d in result.diagnostics] == ["TAU113"] * 7
    assert result.node is None
    assert len(read(b"\x01" * 1000, "f").diagnostics) == 10

"""Diagnostics on a terminal: marks under what is meant, and nothing of anybody's text that could drive the terminal."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_compile.diagnostics import Diagnostic, Related, Span, error, warning
from tau_compile.printers import as_json, as_text, json_text
from tau_compile.source.reader import read


def at(line: int, column: int, end: int | None = None, file: str = "tau.yaml") -> Span:
    return Span(file, line, column, line, end if end is not None else column + 1)


def text(d: Diagnostic, source: str | bytes) -> list[str]:
    data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    return as_text([d], {"tau.yaml": data}).split("\n")


def test_a_block() -> None:
    found = error(
        "TAU201", "unknown key `gpu`", at(2, 3, 6), "write `gpus`", (Related(at(1, 1, 8), "in this section"),)
    )
    assert text(found, "compute:\n  gpu: 1\n") == [
        "tau.yaml:2:3: error TAU201: unknown key `gpu`",
        "  2 |   gpu: 1",
        "    |   ^^^",
        "  help: write `gpus`",
        "  see tau.yaml:1:1: in this section",
        "  1 | compute:",
        "    | ^^^^^^^",
        "",
    ]


def test_without_a_place_or_a_source() -> None:
    assert as_text([warning("TAU901", "m", None)], {}) == "warning TAU901: m\n"
    assert as_text([error("TAU201", "m", at(1, 1))], {}) == "tau.yaml:1:1: error TAU201: m\n"
    assert (
        as_text([error("TAU201", "m", at(9, 1))], {"tau.yaml": b"a\n"}) == "tau.yaml:9:1: error TAU201: m\n"
    )


def test_they_are_sorted_and_told_once() -> None:
    said = [
        error("TAU205", "c", at(2, 1)),
        error("TAU201", "b", at(1, 5)),
        warning("TAU201", "a", at(1, 1)),
        error("TAU205", "c", at(2, 1)),
    ]
    lines = [line for line in as_text(said, {}).split("\n") if line]
    assert [line.rpartition(" ")[2] for line in lines] == ["a", "b", "c"]


def test_colour_is_ours_alone() -> None:
    found = error("TAU201", "\x1b[31mred\x1b[0m", at(1, 1))
    coloured = as_text([found], {"tau.yaml": b"\x1b[31m\n"}, colour=True)
    assert coloured.count("\x1b") == 2
    assert "\x1b[1;31merror\x1b[0m" in coloured


# --- marks


@pytest.mark.parametrize(
    "line, column, end, shown, mark",
    [
        ("name: x", 7, 8, "name: x", "      ^"),
        ("\tname: x", 1, 2, " name: x", "^"),
        ("a\tb: x", 3, 4, "a b: x", "  ^"),
        ("名前: wert", 1, 3, "名前: wert", "^^^^"),
        ("名前: wert", 5, 9, "名前: wert", "      ^^^^"),
        ("e\u0301e\u0301: x", 6, 7, "e\u0301e\u0301: x", "   ^"),
        ("😀: x", 4, 5, "😀: x", "    ^"),
        ("\x1b[31m: x", 8, 9, " [31m: x", "       ^"),
        ("a\u202eb: x", 5, 6, "a b: x", "    ^"),
        ("a\u200bb: x", 3, 4, "a b: x", "  ^"),
        ("name:", 6, 6, "name:", "     ^"),
    ],
)
def test_marks_stand_below_what_is_meant(line: str, column: int, end: int, shown: str, mark: str) -> None:
    lines = text(error("TAU201", "m", at(1, column, end)), line + "\n")
    assert lines[1:3] == [f"  1 | {shown}", f"    | {mark}"]


def columns(shown: str) -> int:
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in shown
    )


@given(st.text(max_size=400), st.data())
def test_the_mark_begins_where_the_character_is(line: str, data: st.DataObject) -> None:
    line = "".join(c for c in line if c not in "\r\n\ufeff" and not "\ud800" <= c <= "\udfff") + "x"
    column = data.draw(st.integers(1, len(line)))
    lines = text(error("TAU201", "m", at(1, column, column + 1)), line + "\n")
    shown, mark = lines[1].removeprefix("  1 | "), lines[2].removeprefix("    | ")
    wanted = line[column - 1] if line[column - 1].isprintable() else " "
    position = 0
    for character in shown + " ":
        if position == len(mark) - len(mark.lstrip()) and character == wanted:
            return
        position += columns(character)
    raise AssertionError((shown, mark, wanted))


def test_long_lines_are_cut_around_the_place() -> None:
    line = "a" * 5000 + "HERE" + "b" * 5000
    for place, word in ((5001, "HERE"), (1, "aaaa"), (10001, "bbbb"), (150, "aaaa")):
        lines = text(error("TAU201", "m", at(1, place, place + 4)), line)
        assert len(lines[1]) < 200
        start = lines[2].index("^")
        assert lines[1][start : start + 4] == word
    assert "^" * 300 not in "".join(text(error("TAU201", "m", at(1, 1, 9000)), line))


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_the_reader_counts_them(ending: str) -> None:
    source = ending.join(["a: 1", "b: 2", "a: 3", ""])
    (found,) = read(source.encode(), "tau.yaml").diagnostics
    assert text(found, source)[1:3] == ["  3 | a: 3", "    | ^"]


def test_a_place_of_several_lines_is_marked_in_its_first() -> None:
    found = error("TAU201", "m", Span("tau.yaml", 1, 3, 3, 2))
    assert text(found, "a: [\n 1\n]\n")[1:3] == ["  1 | a: [", "    |   ^^"]


# --- hostile text

HOSTILE = [
    "\x1b]0;title\x07",
    "\x9b31m",
    "\x00",
    "\x07",
    "\r",
    "\n",
    "\x7f",
    "\u202e",
    "\u2028",
    "\x85",
    "\ud800",
    "\u200b",
    "\ufeff",
    "\U000e0001",
]


@pytest.mark.parametrize("bad", HOSTILE, ids=lambda bad: f"U+{ord(bad[0]):04X}")
def test_nothing_of_a_text_reaches_the_terminal_raw(bad: str) -> None:
    found = error(
        "TAU201",
        f"m{bad}",
        at(1, 1, file=f"a{bad}.yaml"),
        f"h{bad}",
        (Related(at(1, 1, file=f"b{bad}.yaml"), f"r{bad}"),),
    )
    source = f"x{bad}y\n".encode("utf-8", "surrogatepass")
    printed = as_text([found], {f"a{bad}.yaml": source, f"b{bad}.yaml": source})
    assert all(c.isprintable() for c in printed.replace("\n", ""))
    assert printed.count("\n") == 7


@given(
    st.text(), st.text(), st.binary(max_size=200), st.integers(1, 5), st.integers(1, 300), st.integers(0, 300)
)
def test_any_text_is_printable(
    message: str, hint: str, source: bytes, line: int, column: int, length: int
) -> None:
    found = error("TAU201", message, Span("f", line, column, line, column + length), hint)
    printed = as_text([found], {"f": source})
    assert all(c.isprintable() or c == "\n" for c in printed)
    assert printed.endswith("\n")


@given(st.text())
def test_json_is_whole_and_drives_no_terminal(message: str) -> None:
    printed = as_json([error("TAU201", message, at(1, 1), message)])
    body = json.loads(printed)
    assert body["diagnostics"][0]["message"] == message
    assert body["summary"] == {"errors": 1, "warnings": 0}
    assert not [
        c
        for c in printed
        if (not c.isprintable() and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp"))
        and c != "\n"
        and ord(c) < 0x10000
    ]
    printed.encode()


def test_json_keeps_what_people_read() -> None:
    assert json_text({"a": "größe 名前 😀"}) == '{\n  "a": "größe 名前 😀"\n}\n'


def test_a_credential_is_not_shown_again() -> None:
    printed = text(error("TAU801", "m", at(1, 4, 10), "h"), "a: s3cret\n")
    assert printed == ["tau.yaml:1:4: error TAU801: m", "  help: h", ""]

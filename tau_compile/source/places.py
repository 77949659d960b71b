"""Places in a text: from an index to a line and column, and words for what stands there.

A line ends at LF, CR LF or CR, as in YAML 1.2. The other breaks of YAML 1.1 (U+0085, U+2028, U+2029) never
get this far: ``decode`` refuses them.
"""

from __future__ import annotations

from typing import Protocol

from tau_compile.diagnostics import Span

BLANKS = " \t\r\n"


class Mark(Protocol):
    """A place as PyYAML reports it: all three count from 0, in code points."""

    index: int
    line: int
    column: int


class Origin:
    """The start of the text, as a mark."""

    index = 0
    line = 0
    column = 0


def advance(line: int, column: int, passed: str) -> tuple[int, int]:
    """Return the line and column after ``passed``, a text that starts at ``line`` and ``column``."""
    last = max(passed.rfind("\n"), passed.rfind("\r"))
    if last < 0:
        return line, column + len(passed)
    breaks = passed.count("\n") + passed.count("\r") - passed.count("\r\n")
    return line + breaks, len(passed) - last


def span_of(text: str, file: str, start: int, end: int) -> Span:
    """Return the span of ``text[start:end]``, reading from the start: for errors, not for every node."""
    line, column = advance(1, 1, text[:start])
    return Span(file, line, column, *advance(line, column, text[start:end]))


def line_prefix(text: str, index: int) -> str:
    """Return the part of the line before ``index``."""
    return text[max(text.rfind("\n", 0, index), text.rfind("\r", 0, index)) + 1 : index]


def line_end(text: str, index: int) -> int:
    """Return the index at which the line of ``index`` ends, its break excluded."""
    ends = [at for at in (text.find("\n", index), text.find("\r", index)) if at >= 0]
    return min(ends, default=len(text))


def show(text: str, width: int = 60) -> str:
    """Quote the user's text in a message: on one line, without control characters, cut when long."""
    if len(text) > width:
        text = text[: width - 1] + "…"
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return f"`{text}`"

"""Diagnostics as text for people and as JSON for programs."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Span, ordered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_COLOURS = {"error": "31", "warning": "33", "info": "36"}
_WIDTH = 160  # characters of a source line that are shown
_BEFORE = 40  # of them before the place, where the line is longer
_LINE_END = re.compile("\r\n|\r|\n")
_SECRETS = ("TAU398", "TAU80")  # ids of diagnostics whose line holds what must not be shown again
# What JSON leaves as it is and could drive a terminal or reorder what it shows, and halves of characters.
_UNSAFE = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\uffff]"
)


def as_text(diagnostics: Iterable[Diagnostic], sources: Mapping[str, bytes], colour: bool = False) -> str:
    """One block a diagnostic: ``file:line:col: error TAU201: message``, the source line with a mark, and the hint."""
    return "".join(_block(d, sources, colour) for d in ordered(diagnostics))


def _block(d: Diagnostic, sources: Mapping[str, bytes], colour: bool) -> str:
    word = f"\x1b[1;{_COLOURS[d.severity]}m{d.severity}\x1b[0m" if colour else d.severity
    lines = [f"{_place(d.span)}{word} {d.id}: {printable(d.message)}"]
    if not d.id.startswith(_SECRETS):
        lines += _excerpt(d.span, sources)
    if d.hint:
        lines.append(f"  help: {printable(d.hint)}")
    for related in d.related:
        lines.append(f"  see {_place(related.span)}{printable(related.message)}")
        lines += _excerpt(related.span, sources)
    return "\n".join(lines) + "\n"


def _place(span: Span | None) -> str:
    return f"{printable(span.file)}:{span.line}:{span.column}: " if span else ""


def _excerpt(span: Span | None, sources: Mapping[str, bytes]) -> list[str]:
    data = sources.get(span.file) if span else None
    if span is None or data is None:
        return []
    lines = _lines(data)
    if not 0 < span.line <= len(lines):
        return []
    line, start = lines[span.line - 1], span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    first = start - _BEFORE if start > _WIDTH - _BEFORE else 0
    cut = "…" if first else ""
    shown = "".join(c if c.isprintable() else " " for c in line[first : first + _WIDTH])
    mark = " " * _columns(cut + shown[: start - first])
    mark += "^" * max(1, _columns(shown[start - first : max(end - first, 0)]))
    number = str(span.line)
    return [f"  {number} | {cut}{shown}".rstrip(), f"  {' ' * len(number)} | {mark}"]


@lru_cache(maxsize=4)  # a large file with many mistakes is taken apart once
def _lines(data: bytes) -> list[str]:
    return _LINE_END.split(data.decode("utf-8-sig", "replace"))


def _columns(text: str) -> int:
    """The columns that a terminal needs: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def printable(text: str) -> str:
    """The text without anything that could drive a terminal."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def as_json(diagnostics: Iterable[Diagnostic]) -> str:
    """A JSON object with ``diagnostics`` (places count from 1, ends are exclusive) and ``summary``."""
    found = ordered(diagnostics)
    body = {
        "diagnostics": [
            {
                "id": d.id,
                "severity": d.severity,
                "message": d.message,
                "hint": d.hint,
                **({"span": d.span._asdict()} if d.span else {}),
                "related": [{"span": r.span._asdict(), "message": r.message} for r in d.related],
            }
            for d in found
        ],
        "summary": {
            severity + "s": sum(d.severity == severity for d in found) for severity in ("error", "warning")
        },
    }
    return json_text(body)


def json_text(body: Any) -> str:
    """A value as indented JSON, with everything escaped that could drive a terminal."""
    import json

    text = json.dumps(body, ensure_ascii=False, indent=2)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def table(rows: Sequence[tuple[str, ...]], margin: str = "") -> str:
    """Rows of texts as lines of columns, nothing in them that could drive a terminal."""
    if not rows:
        return ""
    safe = [tuple(map(printable, row)) for row in rows]
    widths = [max(len(row[column]) for row in safe) for column in range(len(safe[0]))]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in safe)
    return "".join(f"{margin}{line}".rstrip() + "\n" for line in lines)

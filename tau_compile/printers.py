"""Diagnostics as text for people and as JSON for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Span, ordered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_COLOURS = {"error": "31", "warning": "33", "info": "36"}
_WIDTH = 160  # characters of a source line that are shown


def as_text(diagnostics: Iterable[Diagnostic], sources: Mapping[str, bytes], colour: bool = False) -> str:
    """One block a diagnostic: ``file:line:col: error TAU201: message``, the source line with a mark, and the hint."""
    return "".join(_block(d, sources, colour) for d in ordered(diagnostics))


def _block(d: Diagnostic, sources: Mapping[str, bytes], colour: bool) -> str:
    word = f"\x1b[1;{_COLOURS[d.severity]}m{d.severity}\x1b[0m" if colour else d.severity
    lines = [f"{_place(d.span)}{word} {d.id}: {_printable(d.message)}"]
    lines += _excerpt(d.span, sources)
    if d.hint:
        lines.append(f"  help: {_printable(d.hint)}")
    for related in d.related:
        lines.append(f"  see {_place(related.span)}{_printable(related.message)}")
        lines += _excerpt(related.span, sources)
    return "\n".join(lines) + "\n"


def _place(span: Span | None) -> str:
    return f"{_printable(span.file)}:{span.line}:{span.column}: " if span else ""


def _excerpt(span: Span | None, sources: Mapping[str, bytes]) -> list[str]:
    data = sources.get(span.file) if span else None
    if span is None or data is None:
        return []
    lines = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
    if not 0 < span.line <= len(lines):
        return []
    line = lines[span.line - 1]
    start = span.column - 1
    if start > _WIDTH:
        return []
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    shown = "".join(c if c.isprintable() else " " for c in line[:_WIDTH])
    mark = " " * start + "^" * max(1, min(end, len(shown)) - start)
    number = str(span.line)
    return [f"  {number} | {shown}", f"  {' ' * len(number)} | {mark}"]


def _printable(text: str) -> str:
    """The text without anything that could drive a terminal."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def as_json(diagnostics: Iterable[Diagnostic]) -> str:
    """A JSON object with ``diagnostics`` (places count from 1, ends are exclusive) and ``summary``."""
    import json

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
    return json.dumps(body, ensure_ascii=False, indent=2) + "\n"

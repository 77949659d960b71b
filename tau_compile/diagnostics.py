"""What the compiler says to people: a diagnostic is a value with an id, a place, a reason and a cure.

Rooms yield diagnostics and never print or raise them; ``cli`` prints them all at once, sorted by place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

Severity = Literal["error", "warning", "info"]

_SHOWN = 60  # characters of a text that a message quotes


class Span(NamedTuple):
    """A stretch of one file: lines and columns count from 1, columns are code points, the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class Related(NamedTuple):
    """A second place that takes part in the problem, such as the policy line that was contradicted."""

    span: Span
    message: str


class Diagnostic(NamedTuple):
    """One problem. ``message`` says what is wrong, ``hint`` what to write instead."""

    id: str
    severity: Severity
    message: str
    span: Span | None
    hint: str = ""
    related: tuple[Related, ...] = ()


def error(
    id: str, message: str, span: Span | None, hint: str = "", related: tuple[Related, ...] = ()
) -> Diagnostic:
    """A diagnostic that stops the compilation: nothing is written."""
    return Diagnostic(id, "error", message, span, hint, related)


def warning(
    id: str, message: str, span: Span | None, hint: str = "", related: tuple[Related, ...] = ()
) -> Diagnostic:
    """A diagnostic that is shown and lets the compilation go on."""
    return Diagnostic(id, "warning", message, span, hint, related)


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any of them stops the compilation."""
    return any(d.severity == "error" for d in diagnostics)


def ordered(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sorted by place, then id, without exact repetitions; those without a place come last."""
    unique = dict.fromkeys(diagnostics)
    far = Span("\U0010ffff", 0, 0, 0, 0)
    return sorted(unique, key=lambda d: (d.span or far, d.id, d.message))


def shown(text: str) -> str:
    """User text as a message quotes it: on one line, printable and not too long."""
    cut = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return '"' + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut) + '"'

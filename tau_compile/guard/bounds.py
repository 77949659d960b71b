"""One limit against one value."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from tau_compile.guard.fields import ORDERED, kind_of
from tau_compile.guard.values import Value, amount_of, read_scalar
from tau_compile.named import NamedTuple
from tau_compile.source.nodes import Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.policy.guards import Limit

LONGEST = 512
"""Characters of a value that a pattern is tried on; a longer one is refused (a pattern may take its time)."""


class Breach(NamedTuple):
    """Why a value breaks a limit, in words that follow it; what to write; and the place in the limit."""

    why: str
    cure: str
    check: Scalar


def breaches(limit: Limit, value: Value) -> Iterator[Breach]:
    """Every check of a limit that a value fails; not whether it is there at all."""
    if limit.forbidden is not None:
        yield Breach("is forbidden", "remove it", limit.forbidden)
    kind = kind_of(value.path)
    if kind in ORDERED and isinstance(value.same, int | float) and not isinstance(value.same, bool):
        yield from _range(limit, kind, value.same)
    inner = "any" if kind == "any" else "text"
    if isinstance(value.node, Sequence):
        for item, same in zip(value.node.items, value.same, strict=True):
            if isinstance(item, Scalar):
                yield from _text(limit, value.path, inner, item, same, "holds", len(value.node.items) > 1)
    elif isinstance(value.node, Scalar):
        yield from _text(limit, value.path, kind, value.node, value.same, "is", False)


def _range(limit: Limit, kind: str, amount: float) -> Iterator[Breach]:
    low = amount_of(kind, limit.minimum.text) if limit.minimum else None
    high = amount_of(kind, limit.maximum.text) if limit.maximum else None
    if limit.minimum and low is not None and amount < low:
        yield Breach(
            f"is below the minimum of {limit.minimum.text}",
            f"write at least {limit.minimum.text}",
            limit.minimum,
        )
    if limit.maximum and high is not None and amount > high:
        yield Breach(
            f"is above the maximum of {limit.maximum.text}",
            f"write at most {limit.maximum.text}",
            limit.maximum,
        )


def _text(
    limit: Limit, path: str, kind: str, node: Scalar, same: Any, verb: str, several: bool
) -> Iterator[Breach]:
    named = f" `{_cut(node.text)}`," if several else ""
    if limit.one_of is not None and same not in allowed(limit, path, kind):
        words = [f"`{_cut(option.text)}`" for option in limit.one_of]
        more = f" and {len(words) - 8} more" if len(words) > 8 else ""
        yield Breach(
            f"{verb}{named} none of those allowed",
            f"write {'one of ' * (len(words) > 1)}{', '.join(words[:8])}{more}",
            limit.one_of[0],
        )
    if limit.pattern is not None and not fits(limit.pattern.text, node.text):
        if len(node.text) > LONGEST:
            why = f"{verb}{named} longer than the {LONGEST} characters that a pattern is tried on"
        else:
            why = f"{verb}{named} not of the form that is allowed"
        yield Breach(why, "write a value of that form", limit.pattern)


def allowed(limit: Limit, path: str, kind: str) -> list[Any]:
    """The values of ``oneOf`` in normal form."""
    return [read_scalar(path, kind, option) for option in limit.one_of or ()]


def fits(pattern: str, text: str) -> bool:
    """Whether the whole text matches. A pattern that is no expression matches nothing: it is refused elsewhere."""
    compiled = _compiled(pattern)
    return compiled is not None and len(text) <= LONGEST and compiled.fullmatch(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return None


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"

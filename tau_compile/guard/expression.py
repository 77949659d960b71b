"""Whether a pattern is a regular expression, and one that cannot take for ever.

Python's engine backtracks: a repetition inside a repetition takes exponential time on some texts, and several in a row take
polynomial time. The first is refused, the second bounded, together with the length of the text. And so is what many small
choices in a row make together.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

MOST = 3
"""Repetitions without a bound in one pattern: on a text of 512 characters that is some 20 million steps at most."""
WAYS = 2**23
"""Ways in which a text may be tried; a repetition without a bound counts as 128. It is two seconds or so at most."""
_LONG = 64  # a repetition of more counts as one without a bound


def fault(pattern: str) -> str:
    """What is wrong with a pattern, in words that follow "the pattern", or an empty text."""
    try:
        parsed = importlib.import_module("re._parser").parse(pattern)
        re.compile(pattern)
    except re.error as problem:
        return f"is no regular expression: {problem.msg}" + (
            f" at character {problem.pos + 1}" if problem.pos is not None else ""
        )
    except (OverflowError, RecursionError, ValueError):
        return "is no regular expression that can be used: it is too large"
    found = _repeats(parsed, False)
    if found < 0:
        return "repeats a repetition, an alternative or a back reference, and could take for ever"
    if found > MOST:
        return f"has {found} repetitions without a bound; {MOST} can be judged in time"
    return "leaves more choices than can be judged in time" if _ways(parsed) > WAYS else ""


def _ways(parsed: Any) -> int:
    """In how many ways a text may be tried; more than ``WAYS`` when there is no telling."""
    ways = 1
    for operation, argument in parsed:
        name = str(operation)
        inner = [_ways(part) for part in _parts(name, argument)]
        here = 1
        for one in inner:
            here *= one
        if name == "BRANCH":
            here = sum(inner)
        elif name.endswith("_REPEAT"):
            least, most = int(argument[0]), int(argument[1])
            few = min(here**most, WAYS + 1) * (most - least + 1) if most <= _LONG else 0
            here = few or (128 if here == 1 else WAYS + 1)
        ways = min(ways * here, WAYS + 1)
    return ways


def _repeats(parsed: Any, inside: bool) -> int:
    """Count repetitions without a bound; -1 for one inside another, or for what else may take exponential time."""
    count = 0
    for operation, argument in parsed:
        name = str(operation)
        if name == "GROUPREF" or (inside and name == "BRANCH"):
            return -1
        repeats = name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and int(argument[1]) > _LONG
        # A repetition of few is many copies: what repeats inside it counts as inside.
        few = name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and int(argument[1]) > 1
        if repeats and inside:
            return -1
        count += repeats
        for part in _parts(name, argument):
            below = _repeats(part, inside or repeats or few)
            if below < 0:
                return -1
            count += below
    return count


def _parts(name: str, argument: Any) -> list[Any]:
    """The expressions inside one operation."""
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return [argument[2]]
    if name == "SUBPATTERN":
        return [argument[3]]
    if name == "BRANCH":
        return list(argument[1])
    if name in ("ASSERT", "ASSERT_NOT"):
        return [argument[1]]
    if name == "ATOMIC_GROUP":
        return [argument]
    if name == "GROUPREF_EXISTS":
        return [part for part in argument[1:] if part is not None]
    return []

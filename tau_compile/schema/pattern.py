"""Regular expressions of JSON Schema (ECMA 262) in Python's dialect."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_"}


def translate(pattern: str) -> str:
    r"""``pattern`` such that Python reads it as ECMA 262 and Go's RE2 do.

    Two differences would let values through: Python's ``$`` also matches before a final newline, and its
    ``\d`` and ``\w`` take digits and letters of every script.
    """
    out: list[str] = []
    inside = False
    index = 0
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            following = pattern[index + 1 : index + 2]
            members = _CLASSES.get(following)
            out.append((members if inside else f"[{members}]") if members else char + following)
            index += 2
            continue
        if char == "[":
            inside = True
        elif char == "]":
            inside = False
        out.append("\\Z" if char == "$" and not inside else char)
        index += 1
    return "".join(out)


def searcher(pattern: str) -> Callable[[str], object]:
    """A function that tells (truthy or None) whether ``pattern`` occurs in a text."""
    return re.compile(translate(pattern)).search

"""Did you mean …? The nearest of some known words, by edit distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def distance(left: str, right: str) -> int:
    """Levenshtein distance."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word closest to ``word``, or "" when none is close enough; letter case counts for nothing (B-13)."""
    low, best, found = word.casefold(), max(2, min(6, len(word) // 3)) + 1, ""
    if len(word) > 100:
        return ""
    for candidate in sorted(known):
        if abs(len(candidate) - len(word)) >= best:
            continue
        far = distance(low, candidate.casefold())
        if far < best:
            best, found = far, candidate
    return found

"""Patterns with wildcards, matched in a time that no pattern and no text can stretch.

A regular expression of few wildcards is quick; of many it may try all ways to share a text out among them, and they are without
number. Then all ways are followed at once, a character at a time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FEW = 3
"""Wildcards with which a regular expression takes no more than the cube of the text's length."""


class Part(NamedTuple):
    """A literal text, or a wildcard for characters that are not in ``barred``.

    ``many``: for any number of them, else for one. ``then``: what follows them, where they are; both may be missing.
    """

    text: str = ""
    wild: bool = False
    barred: str = ""
    many: bool = True
    then: str = ""


def matcher(parts: Sequence[Part]) -> Callable[[str], bool]:
    """Whether a whole text is what the parts mean, one after the other."""
    if sum(part.wild and part.many for part in parts) > FEW:
        return _Machine(parts)
    search = re.compile("".join(map(_expression, parts)), re.DOTALL).fullmatch
    return lambda text: search(text) is not None


def _expression(part: Part) -> str:
    if not part.wild:
        return re.escape(part.text)
    some = (f"[^{re.escape(part.barred)}]" if part.barred else ".") + "*" * part.many
    return f"(?:{some}{re.escape(part.then)})?" if part.then else some


class _Machine:
    """All ways at once. A step is a character, or a wildcard; ``_skips`` leads from one to those that may come in its place."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._steps: list[
            tuple[str, bool, bool]
        ] = []  # (the character, or those that are barred; wild; many)
        self._skips: dict[int, tuple[int, ...]] = {}
        for part in parts:
            start = len(self._steps)
            if part.then:  # a step of its own: what was begun is not left out any more
                self._steps.append(("", False, False))
            if part.wild:
                if part.many:
                    self._skips[len(self._steps)] = (len(self._steps) + 1,)
                self._steps.append((part.barred, True, part.many))
            self._steps += [(character, False, False) for character in part.text + part.then]
            if part.then:
                self._skips[start] = (start + 1, len(self._steps))

    def __call__(self, text: str) -> bool:
        here = self._opened({0})
        for character in text:
            after = set()
            for at in here:
                characters, wild, many = self._steps[at] if at < len(self._steps) else ("", False, False)
                if wild and character not in characters:
                    after.add(at if many else at + 1)
                elif not wild and character == characters:
                    after.add(at + 1)
            here = self._opened(after)
        return len(self._steps) in here

    def _opened(self, found: set[int]) -> set[int]:
        """With the steps that may come in the place of others."""
        left = list(found)
        while left:
            for more in self._skips.get(left.pop(), ()):
                if more not in found:
                    found.add(more)
                    left.append(more)
        return found

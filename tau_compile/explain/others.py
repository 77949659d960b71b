"""Other values of the same class: what to put in the place of an input to see what depends on it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tau_compile.source.nodes import Scalar

_AMOUNT = re.compile(r"([0-9]+)((?:\.[0-9]+)?[A-Za-z]{0,2})").fullmatch  # a number, a quantity, a duration
_WORD = re.compile(r"[A-Za-z0-9]+")
_NUMBER = re.compile(r"[0-9]+")
MOST = 6


def others(scalar: Scalar, words: Iterable[str] | None, names: Iterable[str]) -> list[str]:
    """At most `MOST` texts like the scalar's, likely legal ones first.

    ``words`` are the only texts the schema allows there, ``names`` those of what stands beside the thing that the text names.
    """
    found = dict.fromkeys(_others(scalar, words, names))
    found.pop(scalar.text, None)
    return list(found)[:MOST]


def _others(scalar: Scalar, words: Iterable[str] | None, names: Iterable[str]) -> Iterator[str]:
    text = scalar.text
    if scalar.plain and text.lower() in ("true", "false"):
        yield "false" if text.lower() == "true" else "true"
        return
    if words:
        yield from sorted(words)
        return
    yield from list(names)[:3]
    amount = _AMOUNT(text)
    if amount:
        number, unit = int(amount[1]), amount[2]
        yield from (f"{number + 1}{unit}", f"{number * 2}{unit}")
        if number > 0:
            yield f"{number - 1}{unit}"
    elif text:
        yield from similar(text)


def similar(text: str) -> Iterator[str]:
    """Texts that differ in the last name, in every word, in the last character, in a number, or in length."""
    start = text.rfind("/", 0, len(text) - 1) + 1
    dot = text.find(".", start + 1)
    yield _turned(text, _last(text, start, dot if dot > 0 else len(text)))
    yield _WORD.sub(lambda word: _turned(word[0], len(word[0]) - 1), text)
    yield _turned(text, _last(text, 0, len(text)))
    number = _NUMBER.search(text)
    if number:
        yield f"{text[: number.start()]}{int(number[0]) + 1}{text[number.end() :]}"
    yield f"{text}x"


def _last(text: str, start: int, end: int) -> int | None:
    for place in range(end - 1, start - 1, -1):
        if text[place].isascii() and text[place].isalnum():
            return place
    return None


def _turned(text: str, place: int | None) -> str:
    """The text with another character of the same class; hexadecimal stays hexadecimal."""
    if place is None:
        return text
    old = text[place]
    if old.isdigit():
        new = "3" if old == "2" else "2"
    elif old.isupper():
        new = "B" if old == "A" else "A"
    else:
        new = "b" if old == "a" else "a"
    return text[:place] + new + text[place + 1 :]

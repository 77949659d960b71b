"""Phrases for messages: types, values, lists of choices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9/._@=-]*(:[A-Za-z0-9/._@=-]+)*").fullmatch
_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "`true` or `false`",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}
_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (str, "string"),
    (int, "integer"),
    (float, "number"),
    (list, "array"),
    (dict, "object"),
)


def type_of(value: Any) -> str:
    """The JSON type of a value."""
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "null")


def types(names: Iterable[str]) -> str:
    """What is expected: ``a whole number or text``."""
    chosen = set(names)
    if "number" in chosen:
        chosen.discard("integer")
    return either(_TYPES[name] for name in _TYPES if name in chosen and (name != "null" or len(chosen) == 1))


def value(found: Any, sensitive: bool = False) -> str:
    """A value for a message: short, on one line, without control characters; not shown if ``sensitive``."""
    if sensitive and not isinstance(found, list | dict | None):
        return "the value given"
    if isinstance(found, bool):
        return f"`{str(found).lower()}`"
    if isinstance(found, int | float):
        return f"`{found}`" if abs(found) < 1e30 or found != found else "a huge number"
    if isinstance(found, str):
        return quoted(found) if found else "empty text"
    return _TYPES[type_of(found)]


def quoted(text: str, width: int = 60) -> str:
    """Text in quotes, cut when long, control characters escaped."""
    if len(text) > width:
        text = text[: width - 1] + "…"
    safe = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
    return '"' + safe.replace('"', '\\"') + '"'


def either(items: Iterable[str], word: str = "or") -> str:
    """``a``, ``a or b``, ``a, b or c``."""
    parts = list(dict.fromkeys(items))
    return f" {word} ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def choices(values: Iterable[Any], most: int = 12, word: str = "or") -> str:
    """Values that are allowed, in backticks."""
    shown = [
        f"`{'null' if item is None else str(item).lower() if isinstance(item, bool) else item}`"
        for item in values
    ]
    if len(shown) > most:
        return ", ".join(shown[:most]) + f" and {len(shown) - most} more"
    return either(shown, word)


def count(number: int, noun: str) -> str:
    """``1 item``, ``2 items``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1] + 'ies' if noun.endswith('y') and noun != 'key' else noun + 's'}"


def spelled(found: Any) -> str:
    """An example as one would write it in YAML."""
    if isinstance(found, str):
        return found if _PLAIN(found) else quoted(found)
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, list):
        return f"[{', '.join(map(spelled, found))}]"
    if isinstance(found, dict):
        return "{" + ", ".join(f"{spelled(key)}: {spelled(item)}" for key, item in found.items()) + "}"
    return "null" if found is None else str(found)


def between(least: int | None, most: int | None, noun: str) -> str:
    """``1 to 63 characters``, ``at most 8 items``."""
    if least and most is not None:
        return count(least, noun) if least == most else f"{least:,} to {count(most, noun)}"
    return f"at most {count(most, noun)}" if most is not None else f"at least {count(least or 0, noun)}"

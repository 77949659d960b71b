"""Text of ours and of users as parts of CEL expressions. What a user writes becomes one literal and can become nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def quoted(text: str) -> str:
    r"""A CEL string literal that stands for ``text``.

    Only printable ASCII stands for itself; all else is escaped, so that neither CEL nor YAML nor an editor reads it differently.
    So is the dollar, for Flux puts something else in the place of ``${...}`` (G14).
    A lone surrogate, which no UTF-8 has, becomes U+FFFD.
    """
    return "'" + "".join(map(_escaped, text)) + "'"


def listed(texts: Iterable[str]) -> str:
    """A CEL list of string literals, each once."""
    return "[" + ", ".join(quoted(text) for text in dict.fromkeys(texts)) + "]"


def spoken(texts: Iterable[str]) -> str:
    """Names in a message of a policy, which may not have more than one line."""
    return ", ".join("".join(c if " " <= c <= "~" else "?" for c in text) for text in dict.fromkeys(texts))


def _escaped(character: str) -> str:
    number = ord(character)
    if character in "'\\":
        return "\\" + character
    if " " <= character <= "~" and character != "$":
        return character
    if 0xD800 <= number <= 0xDFFF:
        return "\\ufffd"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"

"""What the kubelet and the shell of a container do to text, after their documented rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def expand(text: str, variables: Mapping[str, str]) -> str:
    """`$(NAME)` becomes the variable's value, or stays if there is none; `$$` is one `$` and begins no reference.

    Any other `$` stands for itself; a `$(` that no `)` follows does too.
    """
    out, at = "", 0
    while at < len(text):
        if text[at] != "$" or at + 1 == len(text):
            out += text[at]
            at += 1
        elif text[at + 1] == "$":
            out += "$"
            at += 2
        elif text[at + 1] == "(":
            end = text.find(")", at + 2)
            if end < 0:
                out += "$("
                at += 2
                continue
            name = text[at + 2 : end]
            out += variables.get(name, f"$({name})")
            at = end + 1
        else:
            out += "$" + text[at + 1]
            at += 2
    return out

"""The file that carries a command to the launcher script (templates/scripts/run.sh): one argument a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def encode(arguments: Sequence[str]) -> str:
    r"""Text of the `argv` file: backslash as `\\`, newline as `\n`, everything else as it is; a line each.

    The shell decodes a line with `read -r` and `printf %b`, so any text arrives as exactly one argument and is
    never evaluated. Arguments must not hold NUL (no command line can); the caller has refused it.
    """
    return "".join(argument.replace("\\", "\\\\").replace("\n", "\\n") + "\n" for argument in arguments)

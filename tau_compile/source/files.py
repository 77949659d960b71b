"""Reading files that others put into a repository: never through a link that leaves it, never from what is no file."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Span, error
from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from tau_compile.source.nodes import Node

MAX_BYTES = (1 << 20) + 1  # what the reader refuses need not be read


class SourceFile(NamedTuple):
    """One input file: the path shown to people, and its bytes; or why there are none.

    ``node`` stands for the bytes where they were read already.
    """

    path: str
    data: bytes
    problem: Diagnostic | None = None
    node: Node | None = None


def read_regular(path: str, most: int = MAX_BYTES) -> bytes:
    """At most ``most`` bytes of a regular file. Raises OSError; a pipe or a device is refused and never waited for."""
    _assert_regular(os.stat(path).st_mode)
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(number, "rb") as file:
        _assert_regular(os.fstat(number).st_mode)
        return file.read(most)


def read_inside(root: str, path: str) -> bytes | Diagnostic:
    """A file of the repository at ``root``, ``path`` counting from there; or why it is not read."""
    full = os.path.join(root, path)
    top = os.path.realpath(root)
    if not os.path.realpath(full).startswith(top.rstrip(os.sep) + os.sep):
        return error(
            "TAU326",
            f"`{path}` leads out of the repository through a link",
            Span(path, 1, 1, 1, 1),
            "put the file itself here, or link to a file of the repository",
        )
    try:
        return read_regular(full)
    except OSError as problem:
        return error(
            "TAU327",
            f"`{path}` cannot be read: {reason(problem)}",
            Span(path, 1, 1, 1, 1),
            "put a file that can be read in its place, or remove it",
        )


def reason(problem: OSError) -> str:
    """What the system said, without the path."""
    return (problem.strerror or str(problem)).lower()


def _assert_regular(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise OSError(0, "it is a folder")
    if not stat.S_ISREG(mode):
        raise OSError(0, "it is no regular file")

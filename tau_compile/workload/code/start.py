"""How an entrypoint is started: by its ``#!`` line, or as Python.

The interpreter is named in the command, so the file needs no exec bit, and neither a read-only mount nor one
without exec permission is in the way.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, error
from tau_compile.named import NamedTuple
from tau_compile.workload.code.model import CODE_ROOT
from tau_compile.workload.code.text import quoted

if TYPE_CHECKING:
    from tau_compile.diagnostics import Span

_PYTHON = re.compile(r"(python|pypy)[0-9.]*")
_BOM = b"\xef\xbb\xbf"
MAX_LINE = 1024


class Start(NamedTuple):
    """The command that starts the entrypoint, and whether Python runs it (so that torchrun or Ray may)."""

    argv: tuple[str, ...]
    python: bool


def entry_kind(
    content: bytes, path: str, launcher: str | None, span: Span | None
) -> tuple[Start | None, list[Diagnostic]]:
    """How to start the file ``path`` of the bundle, or None and why not.

    ``launcher`` is what the user wrote (``python``, ``torchrun``, ``ray-train``, ``ray-tune``), None if
    nothing: then a ``#!`` line wins, and a ``.py`` file without one is Python. ``#!/usr/bin/env bash -e`` is
    split into words, as its author meant it; the kernel alone would look for a program called ``bash -e``.
    """
    file = f"{CODE_ROOT}/{path}"
    words = _words(content)
    if isinstance(words, str):
        return None, [_refuse(path, words, span, "write one such as `#!/bin/sh` or `#!/usr/bin/env python3`")]
    python = Start(("python3", file), True)
    by_line = _is_python(words)
    if launcher in ("torchrun", "ray-tune"):
        said = python_only(path, launcher, span)
        return (None if said else python), said
    if launcher == "python":
        if not words or by_line:
            return python, []
        return None, [
            _refuse(
                path,
                f"has a #! line for {quoted(words[0])}, and the launcher is python",
                span,
                "leave `execution.launcher` out, or name a Python file",
            )
        ]
    if words:
        if content.startswith(_BOM) and not by_line:
            return None, [
                _refuse(
                    path,
                    "begins with a byte order mark, which hides its #! line",
                    span,
                    "save the file as UTF-8 without a byte order mark",
                )
            ]
        return Start((*words, file), by_line), []
    if path.endswith(".py"):
        return python, []
    return None, [
        _refuse(
            path,
            "has no #! line and is not a .py file, so it is unknown what runs it",
            span,
            "begin the file with a line such as `#!/bin/sh`, or set `execution.launcher: python`",
        )
    ]


def python_only(path: str, launcher: str, span: Span | None) -> list[Diagnostic]:
    """Refuse a file that ``torchrun`` or ``ray-tune`` cannot start: they start .py files."""
    if path.endswith(".py"):
        return []
    why = f"is not a .py file, and {launcher} starts only those"
    return [_refuse(path, why, span, "name a .py file, or leave `execution.launcher` out")]


def _words(content: bytes) -> tuple[str, ...] | str:
    """Split the ``#!`` line into words, none if there is no such line; or say what is wrong with it."""
    content = content.removeprefix(_BOM)
    if not content.startswith(b"#!"):
        return ()
    line = content[2 : 2 + MAX_LINE].partition(b"\n")[0]
    try:
        text = line.decode("utf-8").strip(" \t\r")
    except UnicodeDecodeError:
        return "has a #! line that is not UTF-8"
    if not text:
        return "has an empty #! line"
    if len(line) >= MAX_LINE or any(c != "\t" and not " " <= c <= "~" for c in text):
        return "has a #! line that no system understands"
    words = text.split()
    if posixpath.basename(words[0]) == "env" and len(words) > 1 and words[1] == "-S":
        rest = text.partition("-S")[2].strip()
        if any(c in rest for c in "\"'\\$"):
            return (words[0], "-S", rest)
        words = [words[0], *rest.split()]
    if posixpath.basename(words[0]) == "env" and len(words) == 1:
        return "has a #! line that names no interpreter"
    return tuple(words)


def _is_python(words: tuple[str, ...]) -> bool:
    if not words:
        return False
    program, rest = words[0], list(words[1:])
    if posixpath.basename(program) == "env":
        rest = [word for word in rest if not word.startswith("-") and "=" not in word]
        program = rest[0] if rest else ""
    return _PYTHON.fullmatch(posixpath.basename(program)) is not None


def _refuse(path: str, why: str, span: Span | None, hint: str) -> Diagnostic:
    return error("TAU718", f"the entrypoint {quoted(path)} {why}", span, hint)

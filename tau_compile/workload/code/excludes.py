"""Which files below a working directory stay at home.

The built-in list is part of run identity 1 and frozen: with another list, code that nobody touched would get
another digest and run again.

A user's pattern is matched as ``.gitignore`` would match it, in a subset: ``*`` and ``?`` stand for
characters of one path segment, ``**`` for any number of segments; a pattern without an inner ``/`` matches a
name at any depth, one with counts from the working directory; a trailing ``/`` matches folders only; a
folder that matches hides all below it. There is no negation, no character class and no escape. A pattern
that matches nothing is fine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.named import NamedTuple
from tau_compile.workload.code.text import shippable

if TYPE_CHECKING:
    from collections.abc import Iterable

# Frozen (v1).
NAMES = frozenset(
    # version control
    {".git", ".gitattributes", ".gitignore", ".hg", ".svn"}
    # environments and caches
    | {
        ".hypothesis",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".tau",
        ".tox",
    }
    | {".DS_Store", ".venv", "__pycache__", "node_modules", "venv"}
    # credentials
    | {".aws", ".env", ".kube", ".netrc", ".ssh"}
    # workloads: the code of one must not change because a sibling's settings did
    | {".tau.yaml", "tau.yaml", "tau.yml"}
)
SUFFIXES = (".pyc", ".pyo", ".egg-info")
# Frozen (v1), in the repository root: what tau-compile writes itself. Shipped, it would give every build
# another digest.
GENERATED = frozenset({"rendered", "runs", "evidence"})


class Pattern(NamedTuple):
    """A parsed pattern: its segments, counted from the working directory."""

    segments: tuple[str, ...]
    folders_only: bool


def parse(text: str) -> Pattern | str:
    """Read a pattern; or say what is wrong with it, in words that follow "the exclude pattern"."""
    if "\\" in text:
        return "has a backslash; folders are written with /"
    if text.startswith("!"):
        return "begins with !, and files cannot be taken back in"
    if "[" in text or "]" in text:
        return "has a character class; only *, ** and ? are understood"
    if not shippable(text):
        return "has a character that no file name should have"
    segments = [segment for segment in text.split("/") if segment]
    if not segments:
        return "is empty"
    if "." in segments or ".." in segments:
        return "has a . or .. segment; patterns count from the working directory"
    if "/" not in text.rstrip("/"):
        segments.insert(0, "**")
    if segments[-1] == "**":
        segments.append("*")
    return Pattern(tuple(segments), text.endswith("/"))


def built_in(path: str) -> bool:
    """Whether the frozen list hides a path below the working directory."""
    return any(name in NAMES or name.endswith(SUFFIXES) for name in path.split("/"))


def generated(path: str) -> bool:
    """Whether a path from the repository root lies in a folder that tau-compile writes."""
    return path.partition("/")[0] in GENERATED


def hidden(path: str, patterns: Iterable[Pattern], folder: bool = False) -> bool:
    """Whether the built-in list or a pattern hides ``path`` or a folder above it."""
    if built_in(path):
        return True
    parts = path.split("/")
    return any(
        _matches(pattern.segments, parts[:length])
        for pattern in patterns
        for length in range(1, len(parts) + 1)
        if length < len(parts) or folder or not pattern.folders_only
    )


def _matches(pattern: tuple[str, ...], parts: list[str]) -> bool:
    """Match segments; after a mismatch the last ``**`` takes one more: the product of lengths at worst."""
    at = place = 0
    star = mark = -1
    while place < len(parts):
        if at < len(pattern) and pattern[at] == "**":
            star, mark = at, place
            at += 1
        elif at < len(pattern) and _segment(pattern[at], parts[place]):
            at += 1
            place += 1
        elif star >= 0:
            mark += 1
            at, place = star + 1, mark
        else:
            return False
    return all(rest == "**" for rest in pattern[at:])


def _segment(pattern: str, name: str) -> bool:
    """Match the characters of one segment in the same way."""
    at = place = 0
    star = mark = -1
    while place < len(name):
        if at < len(pattern) and pattern[at] == "*":
            star, mark = at, place
            at += 1
        elif at < len(pattern) and pattern[at] in ("?", name[place]):
            at += 1
            place += 1
        elif star >= 0:
            mark += 1
            at, place = star + 1, mark
        else:
            return False
    return not pattern[at:].strip("*")

"""Globs over repository paths: ``*`` and ``?`` stay within a folder, ``**`` crosses folders."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from tau_compile.source.wildcards import Part, matcher

if TYPE_CHECKING:
    from collections.abc import Callable

_WILD = re.compile(r"[*?]")


_PARTS = {
    "**/": Part(wild=True, then="/"),
    "**": Part(wild=True),
    "*": Part(wild=True, barred="/"),
    "?": Part(wild=True, barred="/", many=False),
}


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> Callable[[str], bool]:
    words = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return matcher([_PARTS.get(word) or Part(word) for word in words if word])


def matches(path: str, pattern: str) -> bool:
    """Whether a path from the root, with ``/``, matches a glob such as ``workloads/**/tau.yaml``."""
    return _compiled(pattern)(path)


def may_match_below(folder: str, pattern: str) -> bool:
    """Whether a file below a folder could match; a walk need not enter the others."""
    head = _WILD.split(pattern, maxsplit=1)[0]
    if "**" not in pattern and folder.count("/") + 1 > pattern.count("/"):
        return False
    return f"{folder}/".startswith(head) or head.startswith(f"{folder}/")

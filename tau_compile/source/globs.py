"""Globs over repository paths: ``*`` and ``?`` stay within a folder, ``**`` crosses folders."""

from __future__ import annotations

import re
from functools import lru_cache

_WILD = re.compile(r"[*?]")


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    text = ""
    for part in re.split(r"(\*\*/|\*\*|\*|\?)", pattern):
        text += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
    return re.compile(text + r"\Z")


def matches(path: str, pattern: str) -> bool:
    """Whether a path from the root, with ``/``, matches a glob such as ``workloads/**/tau.yaml``."""
    return _compiled(pattern).match(path) is not None


def may_match_below(folder: str, pattern: str) -> bool:
    """Whether a file below a folder could match; a walk need not enter the others."""
    head = _WILD.split(pattern, maxsplit=1)[0]
    if "**" not in pattern and folder.count("/") + 1 > pattern.count("/"):
        return False
    return f"{folder}/".startswith(head) or head.startswith(f"{folder}/")

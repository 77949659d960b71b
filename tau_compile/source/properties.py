"""The parts of the text that yield no node of their own: anchors, tags, comments."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"#[^\r\n]*")
_SPACE = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)*")
_BEFORE_KEY = re.compile(r"(?:[ \t\r\n,-]+|#[^\r\n]*)*\??")
_PROPERTY = re.compile(r"&[0-9A-Za-z_-]+|!(?:<[^>]*>|[^ \t\r\n,\[\]{}]*)")


def skip_properties(text: str, index: int, count: int) -> tuple[int, tuple[int, int] | None]:
    """Return the index behind ``count`` anchors and tags from ``index`` on, and the extent of the tag."""
    tag = None
    for _ in range(count):
        match = _PROPERTY.match(text, index)
        if match is None:
            break
        if match[0].startswith("!"):
            tag = match.span()
        space = _SPACE.match(text, match.end())
        index = space.end() if space else match.end()
    return index, tag


def skip_to_key(text: str, index: int) -> int:
    """Return the index behind what may stand between two entries: `,`, `-`, `?` and comments."""
    match = _BEFORE_KEY.match(text, index)
    return match.end() if match else index


def blank_comments(gap: str) -> str:
    """Return ``gap``, a text between two tokens, with spaces in the place of its comments."""
    return _COMMENT.sub(lambda comment: " " * len(comment[0]), gap) if "#" in gap else gap

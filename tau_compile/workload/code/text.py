"""Words of messages: file names and sizes."""

from __future__ import annotations

import re

# Control characters, line and paragraph separators, and the surrogates that stand for bytes that are not
# UTF-8. Not ``str.isprintable``: its answer depends on the Unicode version of the Python at hand.
_ODD = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def shippable(path: str) -> bool:
    """Whether every character of a path may be in a file name of a bundle."""
    return "\\" not in path and not _ODD.search(path)


def quoted(path: str) -> str:
    """Quote a path for a message, with everything escaped that would disturb the line."""
    return f"`{_ODD.sub(lambda odd: _escape(odd[0]), path)}`"


def size(count: int) -> str:
    """Write a number of bytes for people."""
    if count >= 10 * 1024 * 1024:
        return f"{count // (1024 * 1024)} MiB"
    return f"{count / 1024:.1f} KiB" if count >= 1024 else f"{count} B"


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

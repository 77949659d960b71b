"""Go durations (``30s``, ``1h30m``), the spelling TauGrid uses, in whole seconds."""

from __future__ import annotations

import re

_PART = re.compile(r"([0-9]+)(?:\.([0-9]+))?(ns|us|µs|ms|s|m|h)")
_NANOS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}


def seconds(text: str) -> int | None:
    """Whole seconds, rounded up; None for what is not a duration."""
    if not text or len(text) > 64:
        return None
    total, place = 0, 0
    for part in _PART.finditer(text):
        if part.start() != place:
            return None
        place = part.end()
        fraction = part[2] or ""
        total += int(part[1] + fraction) * _NANOS[part[3]] // 10 ** len(fraction)
    return -(-total // 10**9) if place == len(text) else None

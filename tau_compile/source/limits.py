"""The caps that keep a hostile or mistaken file from costing time or memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost: ``size`` in bytes, ``depth`` in nested collections, ``nodes`` (keys, values and
    collections) and ``characters`` of text, both counted after aliases are expanded.
    """  # noqa: D205

    size: int = 1 << 20
    depth: int = 50
    nodes: int = 100_000
    characters: int = 4 << 20
    diagnostics: int = 100

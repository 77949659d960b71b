"""The caps that keep a hostile or mistaken file from costing time or memory."""

from __future__ import annotations

from tau_compile.named import NamedTuple


class Limits(NamedTuple):
    """What one file may cost."""

    size: int = 1 << 20
    """Bytes."""
    depth: int = 50
    """Lists and mappings inside each other, aliases expanded."""
    nodes: int = 100_000
    """Keys, values, lists and mappings, aliases expanded."""
    characters: int = 4 << 20
    """Characters of source text that aliases repeat: a long text can be copied often with few nodes."""
    diagnostics: int = 100
    """Diagnostics after which the rest of the file is not read."""

"""What the composer keeps of collections that are still open, and of nodes with an anchor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Span
from tau_compile.named import NamedTuple
from tau_compile.source.nodes import Entry, Key, Mapping, Node, Sequence

if TYPE_CHECKING:
    from typing import Final

NO_KEY: Final = Key("", Span("", 0, 0, 0, 0))
"""Stands for a key that was refused, while its value is read. Compared by identity."""


class Anchored(NamedTuple):
    """A node with an anchor, and what a copy of it costs. ``node`` is None while it is still being read."""

    node: Node | None
    place: Span
    nodes: int = 0
    characters: int = 0
    height: int = 0


class Frame:
    """A collection that is being read.

    ``nodes`` and ``characters`` are the totals before it; ``height`` is 1 plus that of its highest member.
    """

    height = 1
    bracket: int | None = None
    anchor: str | None = None
    open: Anchored | None = None
    key: Key | None = None
    merge: Key | None = None
    merge_at = 0
    sources: tuple[Mapping, ...] = ()

    def __init__(self, is_mapping: bool, line: int, column: int, nodes: int, characters: int) -> None:
        self.is_mapping = is_mapping
        self.line = line
        self.column = column
        self.nodes = nodes
        self.characters = characters
        self.items: list[Node] = []
        self.entries: list[Entry] = []
        self.seen: dict[str, Key] = {}

    def add_source(self, node: Node) -> bool:
        """Merge ``node`` when the mapping is complete; False if it holds anything but mappings."""
        nodes = node.items if isinstance(node, Sequence) else (node,)
        mappings = [n for n in nodes if isinstance(n, Mapping)]
        self.sources += tuple(mappings)
        return len(mappings) == len(nodes)

    def merged(self) -> tuple[Entry, ...]:
        """Return the entries, merged ones in the place of `<<`: own ones win, then the first source."""
        if not self.sources:
            return tuple(self.entries)
        names = set(self.seen)
        added: list[Entry] = []
        for source in self.sources:
            for entry in source.entries:
                if entry.key.name not in names:
                    names.add(entry.key.name)
                    added.append(entry)
        at = self.merge_at
        return (*self.entries[:at], *added, *self.entries[at:])

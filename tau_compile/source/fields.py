"""A tau.yaml opened up into its fields, so that a front end can move them about without losing their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.source.nodes import Entry, Key, Mapping, Scalar

if TYPE_CHECKING:
    from tau_compile.diagnostics import Span
    from tau_compile.source.nodes import Node


class Fields:
    """The fields of one document by dotted path, two levels deep (``name``, ``run.entrypoint``)."""

    def __init__(self, node: Mapping) -> None:
        self.span = node.span
        self.moves: list[tuple[str, str]] = []
        self.added: list[tuple[str, str]] = []
        self.dropped: list[str] = []
        self._sections: dict[str, Entry] = {}
        self._entries: dict[str, Entry] = {}
        for entry in node.entries:
            if isinstance(entry.value, Mapping):
                self._sections[entry.key.name] = entry
                for inner in entry.value.entries:
                    self._entries[f"{entry.key.name}.{inner.key.name}"] = inner
            else:
                self._entries[entry.key.name] = entry

    def get(self, path: str) -> Node | None:
        """The value at a path, or None."""
        entry = self._entries.get(path)
        return entry.value if entry else None

    def entry(self, path: str) -> Entry:
        """The entry at a path that is known to be there."""
        return self._entries[path]

    def remove(self, path: str) -> None:
        """Take a field out."""
        self._entries.pop(path, None)

    def drop(self, path: str) -> None:
        """Take a field out that has no effect of its own."""
        self.dropped.append(path)
        self.remove(path)

    def move(self, source: str, target: str, value: Node | None = None) -> None:
        """Give a field another path; its key remembers the one that was written."""
        entry = self._entries.pop(source)
        if source != target:
            self.moves.append((source, target))
        key = Key(target.rpartition(".")[2], entry.key.span, entry.key.written or source)
        self._entries[target] = Entry(key, value or entry.value)

    def copy(self, source: str, target: str) -> None:
        """Give a field a second path."""
        entry = self._entries[source]
        self.moves.append((source, target))
        key = Key(target.rpartition(".")[2], entry.key.span, entry.key.written or source)
        self._entries[target] = Entry(key, entry.value)

    def replace(self, path: str, value: Node, key: Span | None = None) -> None:
        """Set a field to another node."""
        old = self._entries.get(path)
        span = old.key.span if old else (key or value.span)
        self._entries[path] = Entry(Key(path.rpartition(".")[2], span), value)

    def add(self, path: str, text: str, span: Span) -> None:
        """Add a value that the form implies; its place is the document's own."""
        self.added.append((path, text))
        self._entries[path] = Entry(Key(path.rpartition(".")[2], span), Scalar(span, text, True))

    def build(self) -> Mapping:
        """The document again, sections in the order written and added ones after them."""
        sections: dict[str, list[Entry]] = {}
        entries: dict[str, Entry] = {}
        for path, entry in self._entries.items():
            section, dot, _ = path.rpartition(".")
            if dot:
                sections.setdefault(section, []).append(entry)
            else:
                entries[path] = entry
        for name, inner in sections.items():
            known = self._sections.get(name)
            key = known.key if known else Key(name, inner[0].key.span)
            span = known.value.span if known else inner[0].value.span
            entries[name] = Entry(key, Mapping(span, tuple(inner)))
        order = {name: place for place, name in enumerate([*self._sections, *entries])}
        return Mapping(
            self.span, tuple(sorted(entries.values(), key=lambda e: order.get(e.key.name, len(order))))
        )

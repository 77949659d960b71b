"""Where a value stands in a document, in the words of its author."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tau_compile.diagnostics import Span
from tau_compile.named import NamedTuple
from tau_compile.schema.words import quoted
from tau_compile.source.nodes import Mapping, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.source.nodes import Key, Node

_PLAIN = re.compile(r"[A-Za-z0-9_/-]{1,80}").fullmatch


class Place(NamedTuple):
    """One value: its path as the user wrote it (list items as ``[0]``), its key if it has one, its node."""

    path: str
    key: Key | None
    node: Node

    @property
    def span(self) -> Span:
        """The value, or its key where the value is empty."""
        span = self.node.span
        empty = (span.line, span.column) == (span.end_line, span.end_column)
        return self.key.span if empty and self.key else span

    @property
    def head(self) -> Span:
        """The key that holds the value, else the point where the value starts."""
        if self.key:
            return self.key.span
        file, line, column, _, _ = self.node.span
        return Span(file, line, column, line, column)


def join(path: str, key: Key) -> str:
    """``path`` and one more key; a key that a front end moved brings its own path along."""
    if key.written:
        return key.written
    return f"{path}.{shown(key.name)}" if path else shown(key.name)


def shown(name: str) -> str:
    """A key for a message: as it is when it is a plain word, else quoted and without control characters."""
    return name if _PLAIN(name) else quoted(name)


def trail(root: Node, path: Iterable[str | int]) -> list[Place]:
    """The places from ``root`` to the value at ``path``; the list ends early if there is no such value."""
    places = [Place("", None, root)]
    for step in path:
        place = places[-1]
        if isinstance(place.node, Mapping) and isinstance(step, str):
            entry = place.node.entry(step)
            if entry is None:
                break
            places.append(Place(join(place.path, entry.key), entry.key, entry.value))
        elif isinstance(place.node, Sequence) and isinstance(step, int) and step < len(place.node.items):
            places.append(Place(f"{place.path}[{step}]", None, place.node.items[step]))
        else:
            break
    return places

"""Positioned documents: a YAML document as an immutable tree in which every value knows its place.

Overlay layers and a tau.yaml are merged as trees of these nodes, so a value's origin travels with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.diagnostics import Span


class Key(NamedTuple):
    """A mapping key. ``written`` is the dotted path the user wrote, where a front end moved the value."""

    name: str
    span: Span
    written: str = ""


class Entry(NamedTuple):
    """One ``key: value`` of a mapping."""

    key: Key
    value: Node


class Scalar(NamedTuple):
    """A scalar as spelled. ``plain`` is true for one written without quotes and not as a block."""

    span: Span
    text: str
    plain: bool


class Sequence(NamedTuple):
    """A list."""

    span: Span
    items: tuple[Node, ...]


class Mapping(NamedTuple):
    """A mapping with unique string keys, in the order written."""

    span: Span
    entries: tuple[Entry, ...]

    def entry(self, name: str) -> Entry | None:
        """The entry called ``name``, if there is one."""
        for entry in self.entries:
            if entry.key.name == name:
                return entry
        return None

    def get(self, name: str) -> Node | None:
        """The value of ``name``, if there is one."""
        entry = self.entry(name)
        return entry.value if entry else None


Node = Scalar | Sequence | Mapping


def find(node: Node | None, path: str) -> Node | None:
    """The node at a dotted path of mapping keys, or None."""
    for name in path.split("."):
        if type(node) is not Mapping:
            return None
        # As `get` does, without its calls: this is asked a hundred times a workload.
        for key, value in node.entries:
            if key.name == name:
                node = value
                break
        else:
            return None
    return node


def find_entry(node: Node | None, path: str) -> Entry | None:
    """The entry at a dotted path of mapping keys, or None."""
    section, _, name = path.rpartition(".")
    inner = find(node, section) if section else node
    return inner.entry(name) if isinstance(inner, Mapping) else None


def spelled(node: Node | None, path: str) -> str:
    """The dotted path as the user wrote it: a front end may have moved the value to ``path``."""
    entry = find_entry(node, path)
    return (entry.key.written or path) if entry else path


def text_of(node: object) -> str:
    """The text of a scalar; empty for anything else."""
    return node.text if isinstance(node, Scalar) else ""


def scalars(node: Node, path: str = "", item: str = "") -> Iterator[tuple[str, Scalar]]:
    """(dotted path, scalar) of everything below a node; ``item`` is what the path of a list's item ends with."""
    if isinstance(node, Scalar):
        yield path, node
    elif isinstance(node, Mapping):
        for key, value in node.entries:
            yield from scalars(value, f"{path}.{key.name}" if path else key.name, item)
    else:
        for inner in node.items:
            yield from scalars(inner, f"{path}{item}", item)

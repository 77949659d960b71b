"""Positioned trees made of plain data, for tests of what works on trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Span
from tau_compile.source.nodes import Entry, Key, Mapping, Node, Scalar, Sequence
from tau_compile.source.reader import read

if TYPE_CHECKING:
    from collections.abc import Iterator


def parse(text: str, file: str = "tau.yaml") -> Mapping:
    """A text as a tree; it must be a mapping without faults."""
    result = read(text.encode(), file)
    assert not result.diagnostics, result.diagnostics
    assert isinstance(result.node, Mapping)
    return result.node


def tree(data: Any, file: str = "tau.yaml") -> Node:
    """Plain data as a tree; each node has a line of its own."""
    lines = iter(range(1, 1_000_000))

    def build(value: Any) -> Node:
        line = next(lines)
        span = Span(file, line, 1, line, 2)
        if isinstance(value, dict):
            return Mapping(span, tuple(Entry(Key(name, span), build(inner)) for name, inner in value.items()))
        if isinstance(value, list):
            return Sequence(span, tuple(build(inner) for inner in value))
        return Scalar(span, str(value), not isinstance(value, str))

    return build(data)


def plain(node: Node) -> Any:
    """A tree as data, every scalar as its text, whatever the order of keys."""
    if isinstance(node, Mapping):
        return {entry.key.name: plain(entry.value) for entry in node.entries}
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return node.text


def leaves(node: Node, path: str = "") -> Iterator[tuple[str, Node]]:
    """(path, node) of every scalar and list."""
    if isinstance(node, Mapping):
        for entry in node.entries:
            yield from leaves(entry.value, f"{path}.{entry.key.name}" if path else entry.key.name)
    else:
        yield path, node

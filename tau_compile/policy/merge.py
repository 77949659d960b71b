"""Layers of partial tau.yaml trees merged into one, every value with its origin.

Maps merge, lists replace; ``runtime.env`` (already a map by name) and ``storage.mounts`` merge by name. The winning node
keeps its span, so the origin of a value is simply where its node stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.named import NamedTuple
from tau_compile.source.nodes import Entry, Mapping, Node, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENV, _MOUNTS = "runtime.env", "storage.mounts"


class Layer(NamedTuple):
    """One layer: its name as shown to people, such as ``workspace vision``, and its partial canonical tree."""

    name: str
    node: Mapping


class Lost(NamedTuple):
    """A value that a higher layer replaced."""

    path: str
    layer: str
    node: Node


class Merged(NamedTuple):
    """The merged tree, and the layers it was made of."""

    node: Mapping
    layers: tuple[Layer, ...]

    @property
    def lost(self) -> tuple[Lost, ...]:
        """What was overridden, the highest layer first."""
        found: list[Lost] = []
        above: dict[str, None] = {}  # paths that higher layers set
        for layer in reversed(self.layers):
            values = list(_values(layer.node, ""))
            found += [Lost(path, layer.name, node) for path, node in values if _covered(path, above)]
            above |= dict.fromkeys(path for path, _ in values)
        return tuple(found)


def merge(layers: list[Layer]) -> Merged:
    """Merge layers, the lowest first. At least one layer is given."""
    node = layers[0].node
    for layer in layers[1:]:
        node = _maps(node, layer.node, "")
    return Merged(node, tuple(layers))


def _maps(low: Mapping, high: Mapping, path: str) -> Mapping:
    entries = {entry.key.name: entry for entry in low.entries}
    for entry in high.entries:
        under = entries.get(entry.key.name)
        if under is not None:
            entry = Entry(entry.key, _nodes(under.value, entry.value, _below(path, entry.key.name)))
        entries[entry.key.name] = entry
    return Mapping(high.span, tuple(entries.values()))


def _nodes(low: Node, high: Node, path: str) -> Node:
    if path.startswith(f"{_ENV}."):  # one variable is one value, even when it is a reference
        return high
    if isinstance(low, Mapping) and isinstance(high, Mapping):
        return _maps(low, high, path)
    if path == _MOUNTS and isinstance(low, Sequence) and isinstance(high, Sequence):
        items = {_name(item): item for item in low.items} | {_name(item): item for item in high.items}
        return Sequence(high.span, tuple(items.values()))
    return high


def _values(node: Node, path: str) -> Iterator[tuple[str, Node]]:
    """Everything below a node that is replaced as a whole."""
    if isinstance(node, Mapping) and not path.startswith(f"{_ENV}."):
        for entry in node.entries:
            yield from _values(entry.value, _below(path, entry.key.name))
    elif isinstance(node, Sequence) and path == _MOUNTS:
        yield from ((f"{path}[{_name(item)}]", item) for item in node.items)
    else:
        yield path, node


def _covered(path: str, above: dict[str, None]) -> bool:
    """Whether a higher layer sets the path, what it lies in, or what lies in it."""
    return any(
        path == other
        or path.startswith((f"{other}.", f"{other}["))
        or other.startswith((f"{path}.", f"{path}["))
        for other in above
    )


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _name(item: Node) -> str:
    name = item.get("name") if isinstance(item, Mapping) else None
    return name.text if isinstance(name, Scalar) else ""


def values(node: Mapping) -> Iterator[tuple[str, Node]]:
    """(path, node) of everything in a tree that a layer sets as a whole."""
    return _values(node, "")

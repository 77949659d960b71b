"""Layers of partial tau.yaml trees merged into one, every value with its origin.

Maps merge, lists replace; ``runtime.env`` (already a map by name) and ``storage.mounts`` merge by name. The winning node
keeps its span, so the origin of a value is simply where its node stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tau_compile.source.nodes import Entry, Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from tau_compile.source.nodes import Node


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
    """The merged tree; ``origins`` names the layer of each file, ``lost`` lists what was overridden."""

    node: Mapping
    lost: tuple[Lost, ...]


def merge(layers: list[Layer]) -> Merged:
    """Merge layers, the lowest first. At least one layer is given."""
    lost: list[Lost] = []
    node, below = layers[0].node, layers[0].name
    for layer in layers[1:]:
        node = _maps(node, layer.node, "", below, lost)
        below = layer.name
    return Merged(node, tuple(lost))


def _maps(low: Mapping, high: Mapping, path: str, layer: str, lost: list[Lost]) -> Mapping:
    entries = {entry.key.name: entry for entry in low.entries}
    for entry in high.entries:
        name = entry.key.name
        under = entries.get(name)
        if under is not None:
            value = _nodes(under.value, entry.value, f"{path}.{name}" if path else name, layer, lost)
            entry = Entry(entry.key, value)
        entries[name] = entry
    return Mapping(high.span, tuple(entries.values()))


def _nodes(low: Node, high: Node, path: str, layer: str, lost: list[Lost]) -> Node:
    if path.startswith("runtime.env."):  # one variable is one value, even when it is a reference
        lost.append(Lost(path, layer, low))
        return high
    if isinstance(low, Mapping) and isinstance(high, Mapping):
        return _maps(low, high, path, layer, lost)
    if path == "storage.mounts" and isinstance(low, Sequence) and isinstance(high, Sequence):
        return _by_name(low, high, path, layer, lost)
    lost.append(Lost(path, layer, low))
    return high


def _by_name(low: Sequence, high: Sequence, path: str, layer: str, lost: list[Lost]) -> Sequence:
    items = {_name(item): item for item in low.items}
    for item in high.items:
        name = _name(item)
        if name in items:
            lost.append(Lost(f"{path}[{name}]", layer, items[name]))
        items[name] = item
    return Sequence(high.span, tuple(items.values()))


def _name(item: Node) -> str:
    name = item.get("name") if isinstance(item, Mapping) else None
    return name.text if isinstance(name, Scalar) else ""

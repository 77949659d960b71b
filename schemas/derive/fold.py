"""Folds a large schema: what occurs more than once becomes a local definition, referred to by ``$ref``.

A RayJob holds three pod templates, each with three lists of containers; written out it is a megabyte.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from .convert import NAME, Schema

# Shorter repeated parts stay where they are: a reference would save little and make readers jump.
_WORTH_SHARING = 100
_UNNAMED = (2, "Shared")


def fold(root: Schema) -> Schema:
    """Return the same schema with ``definitions``. Names and order come from the content alone."""
    table = _Table()
    top = table.intern(root)
    shared = table.share(top)
    folded = {key: value for key, value in shared.body(top).items() if key != NAME}
    if shared.definitions:
        folded["definitions"] = dict(sorted(shared.definitions.items()))
    return folded


def compact(value: Any) -> str:
    """Canonical one-line JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class _Table:
    """Every distinct subschema once, by number; children come before their parents."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.nodes: list[Schema] = []  # subschemas inside are replaced by their number
        self.names: list[tuple[int, str]] = []  # the best one met

    def intern(self, node: Schema) -> int:
        flat: Schema = {key: self._flatten(key, value) for key, value in node.items() if key != NAME}
        number = self._numbers.setdefault(compact(flat), len(self.nodes))
        name = node.get(NAME, _UNNAMED)
        if number == len(self.nodes):
            self.nodes.append(flat)
            self.names.append(name)
        self.names[number] = min(self.names[number], name)
        return number

    def _flatten(self, key: str, value: Any) -> Any:
        if key == "properties":
            return {name: self.intern(value[name]) for name in sorted(value)}
        if key == "items" or (key == "additionalProperties" and isinstance(value, dict)):
            return self.intern(value)
        return value

    def share(self, top: int) -> _Shared:
        """Decide what is shared. A list is no type of its own: the type of its items is."""
        uses = Counter(
            self._through_lists(child)
            for node in self.nodes
            if "items" not in node
            for child in _children(node)
        )
        return _Shared(self, {number for number, count in uses.items() if count > 1} - {top})

    def _through_lists(self, number: int) -> int:
        while "items" in self.nodes[number]:
            number = self.nodes[number]["items"]
        return number


class _Shared:
    """Writes the nodes out, putting the repeated ones that are worth it among the definitions."""

    def __init__(self, table: _Table, repeated: set[int]) -> None:
        self._table = table
        self.definitions: dict[str, Schema] = {}
        self._written: list[Schema] = []
        for number in range(len(table.nodes)):
            body = self.body(number)
            if number in repeated and len(compact(body)) >= _WORTH_SHARING:
                name = self._free_name(table.names[number][1])
                self.definitions[name] = body
                body = {"$ref": f"#/definitions/{name}"}
            self._written.append(body)

    def body(self, number: int) -> Schema:
        """Return the node with its children as they are written."""
        node = dict(self._table.nodes[number])
        if "properties" in node:
            node["properties"] = {name: self._written[child] for name, child in node["properties"].items()}
        if "items" in node:
            node["items"] = self._written[node["items"]]
        if _is_node(node.get("additionalProperties")):
            node["additionalProperties"] = self._written[node["additionalProperties"]]
        return node

    def _free_name(self, name: str) -> str:
        candidate, suffix = name, 2
        while candidate in self.definitions:
            candidate, suffix = f"{name}{suffix}", suffix + 1
        return candidate


def _is_node(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _children(node: Schema) -> list[int]:
    values = node.get("additionalProperties")
    return [*node.get("properties", {}).values(), *([values] if _is_node(values) else [])]

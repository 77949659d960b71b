"""The values of one workload's tree, read as limits and locks ask for them: most ask for a few of a hundred."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tau_compile.guard.fields import FREE, NAMED, matcher
from tau_compile.guard.values import Value, below
from tau_compile.schema import store
from tau_compile.schema.coerce import read_as
from tau_compile.source.nodes import Mapping, find

if TYPE_CHECKING:
    from tau_compile.schema.shape import Shape


class Tree:
    """One canonical tree."""

    __slots__ = ("_known", "node")

    def __init__(self, node: Mapping) -> None:
        self.node = node
        self._known: dict[str, dict[str, Value]] = {}

    def get(self, path: str) -> Value | None:
        """The value at a path."""
        return self._under(_root(path)).get(path)

    def matching(self, field: str) -> list[Value]:
        """The values that a field or a pattern means."""
        if "*" not in field:
            found = self.get(field)
            return [found] if found else []
        fits = matcher(field)
        return [value for path, value in self._under(_root(field)).items() if fits(path)]

    def _under(self, root: str) -> dict[str, Value]:
        """Everything at and below a root, which is empty for the whole tree."""
        found = self._known.get(root)
        if found is None:
            found = self._known[root] = self._read(root)
        return found

    def _read(self, root: str) -> dict[str, Value]:
        section, _, name = root.rpartition(".")
        node = find(self.node, section) if section else self.node
        entry = node.entry(name) if name and isinstance(node, Mapping) else None
        if name and entry is None:
            return {}
        if entry is None:
            return {
                value.path: value for value in below(self.node, read_as(self.node, _shape("")).data, "", None)
            }
        # Read inside its section: what the schema says of a key is said there.
        data = read_as(Mapping(self.node.span, (entry,)), _shape(section)).data
        inner = data.get(name) if isinstance(data, dict) else None
        return {value.path: value for value in below(entry.value, inner, root, entry.key)}


@cache
def _shape(path: str) -> Shape:
    """What the schema expects of a section."""
    shape = store.prepared("tau.schema.json#/$defs/canonical").shape
    for name in path.split(".") if path else ():
        shape = shape.child(name)
    return shape


@cache
def _root(field: str) -> str:
    """The part of a path or pattern that is looked up by name: up to a list, a map of the user's own, or a ``*``."""
    for whole in (*FREE, *NAMED):
        if field == whole or field.startswith(f"{whole}."):
            return whole
    head = field.split("*")[0]
    return field if head == field else head.rpartition(".")[0]

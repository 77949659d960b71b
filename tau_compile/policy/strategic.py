"""A patch merged into an object: strategically, as Kubernetes merges, and the same on every kind.

Maps merge; `null` deletes a key; the items of lists that ``list_keys`` knows are merged one by one, and stay where they are, new
ones behind them; any other list is replaced, with a warning when something is lost (B21). `$patch: delete` takes an item away,
`$patch: replace` puts what is written in the place of what was there. What a patch does not speak of stays as it is, empty maps,
empty lists and nulls too (B23 to B25).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import warning
from tau_compile.named import NamedTuple
from tau_compile.policy.list_keys import ITEM, VERSIONS, is_whole, list_keys, shown, union_at
from tau_compile.policy.patch_body import DIRECTIVE, directive, identity, is_marker, is_null
from tau_compile.schema import store
from tau_compile.schema.coerce import complaint_of
from tau_compile.schema.document import SchemaError
from tau_compile.schema.place import Place
from tau_compile.schema.reading import read
from tau_compile.schema.shape import ANY
from tau_compile.source.nodes import Key, Mapping, Scalar, Sequence
from tau_compile.source.scalars import resolve

if TYPE_CHECKING:
    from tau_compile.diagnostics import Diagnostic, Span
    from tau_compile.policy.list_keys import ListKey, Path
    from tau_compile.policy.patches import Patch
    from tau_compile.schema.shape import Shape
    from tau_compile.source.nodes import Node

Steps = tuple[str | int, ...]
_ABSENT = object()
# Numbers or names, which the schemas do not tell apart from other unions of text and number.
_PORTS = ("port", "targetPort")


class Patched(NamedTuple):
    """An object after a patch. The one before is as it was: what did not change is common to both.

    ``wrote`` leads from the path of each value that the patch set to its place in the patch; ``done`` are the places of those
    deletions that deleted something.
    """

    made: dict[str, Any]
    wrote: dict[Steps, Span]
    done: frozenset[Span]
    diagnostics: tuple[Diagnostic, ...]


def apply(made: dict[str, Any], patch: Patch) -> Patched:
    """Merge ``patch``, which ``check_body`` found nothing wrong with, into an object of its kind."""
    kind = patch.target.kind
    name = store.kubernetes_name(str(made.get("apiVersion", VERSIONS[kind])), kind)
    merge = _Merge(kind, patch.layer)
    result = merge.mapping(made, patch.body, store.prepared(name).shape if name else ANY, (), (), None)
    return Patched(result, merge.wrote, frozenset(merge.done), tuple(merge.said))


class _Merge:
    """One patch on one object. ``at`` is a place in the result, ``path`` the same with `[]` for items."""

    def __init__(self, kind: str, layer: str) -> None:
        self.keys, self.layer = list_keys(kind), layer
        self.wrote: dict[Steps, Span] = {}
        self.done: set[Span] = set()
        self.said: list[Diagnostic] = []

    def value(self, low: Any, node: Node, key: Key | None, shape: Shape, at: Steps, path: Path) -> Any:
        if isinstance(node, Mapping):
            return self.mapping(low if isinstance(low, dict) else {}, node, shape, at, path, None)
        if isinstance(node, Sequence):
            return self.sequence(low, node, shape, at, path)
        self.wrote[at] = node.span
        return self.scalar(node, key, shape, path)

    def mapping(
        self, low: dict[str, Any], node: Mapping, shape: Shape, at: Steps, path: Path, key: ListKey | None
    ) -> dict[str, Any]:
        out = {} if directive(node) == "replace" else dict(low)
        union = union_at(path, key)
        if union is not None:
            given = {e.key.name for e in node.entries if not is_null(e.value)} - {DIRECTIVE}
            given = {name for name in given if union(name)}
            for name in [name for name in out if given and union(name) and name not in given]:
                del out[name]
        if not node.entries:
            self.wrote[at] = node.span
        for entry in node.entries:
            name = entry.key.name
            if name == DIRECTIVE:
                continue
            if is_null(entry.value) or directive(entry.value) == "delete":
                if name in out:
                    del out[name]
                    self.done.add(entry.key.span)
                continue
            below = _inner(shape, name, entry.value)
            value = self.value(out.get(name), entry.value, entry.key, below, (*at, name), (*path, name))
            if value or name in out or not _only_deletes(entry.value):
                out[name] = value
        return out

    def sequence(self, low: Any, node: Sequence, shape: Shape, at: Steps, path: Path) -> list[Any]:
        before: list[Any] = low if isinstance(low, list) else []
        items = [item for item in node.items if not is_marker(item)]
        if len(items) < len(node.items):
            before = []
        elif before and path not in self.keys:
            after = self.items(items, shape, at, path)
            if after != before and not is_whole(path):
                self.said.append(
                    warning(
                        "TAU354",
                        f"patch of {self.layer}: the list `{shown(path)}` is replaced as a whole: nothing tells its items apart",
                        node.span._replace(end_line=node.span.line, end_column=node.span.column + 1),
                        "make `- $patch: replace` its first item if that is meant",
                    )
                )
            return after
        if not node.items or not items:
            self.wrote[at] = node.span
        key = self.keys.get(path)
        return (
            self.items(items, shape, at, path)
            if key is None
            else self.merged(before, items, key, shape, at, path)
        )

    def items(self, items: list[Node], shape: Shape, at: Steps, path: Path) -> list[Any]:
        return [
            self.value(_ABSENT, item, None, _inner(shape, 0, item), (*at, place), (*path, ITEM))
            for place, item in enumerate(items)
        ]

    def merged(
        self, before: list[Any], items: list[Node], key: ListKey, shape: Shape, at: Steps, path: Path
    ) -> list[Any]:
        slots: list[tuple[Any, Mapping | None]] = [(item, None) for item in before]
        known: dict[tuple[str, ...], int] = {}
        for place, item in enumerate(before):
            known.setdefault(_known_by(item, key), place)
        gone: set[int] = set()
        for item in items:
            if not isinstance(item, Mapping):
                continue  # `check_body` said so
            found = known.get(identity(item, key))
            if directive(item) == "delete":
                if found is not None:
                    gone.add(found)
                    self.done.add(_directive_span(item))
            elif found is None:
                slots.append((_ABSENT, item))
            else:
                slots[found] = (slots[found][0], item)
        out: list[Any] = []
        for place, (low, patch) in enumerate(slots):
            if place in gone:
                continue
            if patch is not None:
                under = low if isinstance(low, dict) else {}
                below = _inner(shape, 0, patch)
                low = self.mapping(under, patch, below, (*at, len(out)), (*path, ITEM), key)
            out.append(low)
        return out

    def scalar(self, node: Scalar, key: Key | None, shape: Shape, path: Path) -> Any:
        """The value as the schema of the kind wants it: what is spelled `1` is a text in a label and a number elsewhere (B28)."""
        if path[-1] in _PORTS and node.plain:
            return resolve(node)
        value, complaint = read(node, shape)
        if complaint is not None:
            self.said.append(complaint_of(Place(shown(path), key, node), shape, complaint))
        return value


def deletions(node: Node) -> list[Span]:
    """The places of all deletions in a patch."""
    if isinstance(node, Scalar):
        return []
    if isinstance(node, Sequence):
        here = [
            _directive_span(item)
            for item in node.items
            if isinstance(item, Mapping) and directive(item) == "delete"
        ]
        return here + [span for item in node.items if directive(item) != "delete" for span in deletions(item)]
    found = []
    for entry in node.entries:
        if is_null(entry.value) or directive(entry.value) == "delete":
            found.append(entry.key.span)
        else:
            found += deletions(entry.value)
    return found


def _only_deletes(node: Node) -> bool:
    """Whether a patch has nothing to put there: what it deletes inside of it is not made for that."""
    if isinstance(node, Mapping):
        return bool(node.entries) and DIRECTIVE not in (e.key.name for e in node.entries)
    return isinstance(node, Sequence) and bool(node.items) and not any(map(is_marker, node.items))


def _directive_span(item: Mapping) -> Span:
    entry = item.entry(DIRECTIVE)
    return entry.key.span if entry else item.span


def _known_by(item: Any, key: ListKey) -> tuple[str, ...]:
    given = dict(key.defaults)
    held = item if isinstance(item, dict) else {}
    return tuple(str(held.get(field, given.get(field, ""))) for field in key.fields)


def _inner(shape: Shape, step: str | int, node: Node) -> Shape:
    """What the schema expects below; a union of text and bounded numbers cannot be told, and then nothing is expected."""
    try:
        below = shape.item(step) if isinstance(step, int) else shape.child(step)
        return below.at(node) if below.varies else below
    except SchemaError:
        return ANY

"""A positioned document as plain data, each scalar read as the schema expects it there.

Where text is expected a plain scalar keeps its spelling (``010``, ``1e3``, ``yes``, ``1.10``; B-43). Where a
number or a boolean may be meant, a spelling that YAML 1.1 and 1.2 read differently is refused. A union of
text and number is text, unless the schema says ``x-tau-spelling: resolve``; one with booleans is typed,
unless it says ``keep``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, error, warning
from tau_compile.named import NamedTuple
from tau_compile.schema.place import Place, trail
from tau_compile.schema.reading import FALSE, NULLS, TEXT, TRUE, Complaint, read, readings
from tau_compile.schema.shape import SILENT, Shape, build
from tau_compile.schema.words import either, types
from tau_compile.source.nodes import Mapping, Scalar

if TYPE_CHECKING:
    from tau_compile.schema.document import Document, Schema
    from tau_compile.source.nodes import Node

_NAMES = {"object": "a mapping", "array": "a list"}
_MANY = 200  # complaints about one file; a person fixes a few and tries again


class Coerced(NamedTuple):
    """The data, what is wrong with its scalars and keys, and the nodes (by id) already complained of."""

    data: Any
    diagnostics: tuple[Diagnostic, ...]
    settled: frozenset[int]


def coerce(node: Node, schema: Schema, document: Document) -> Coerced:
    """Read ``node`` as one (sub)schema of ``document`` expects it. Never raises for any node."""
    return read_as(node, build(schema, document))


def read_as(node: Node, shape: Shape) -> Coerced:
    """Read ``node`` as ``shape`` expects it."""
    reader = _Reader(node)
    data = reader.read(node, shape.at(node), ())
    return Coerced(data, tuple(reader.diagnostics), frozenset(reader.settled))


_Trail = tuple[
    Any, ...
]  # (trail of the parent, key or index), or () at the root: costs less than whole paths


class _Reader:
    """One pass over one document."""

    __slots__ = ("diagnostics", "root", "settled")

    def __init__(self, root: Node) -> None:
        self.root = root
        self.diagnostics: list[Diagnostic] = []
        self.settled: set[int] = set()

    def read(self, node: Node, shape: Shape, at: _Trail) -> Any:
        """The data of ``node``; ``shape`` does not vary any more."""
        kind = type(node)
        if kind is Scalar:
            value, complaint = read(node, shape)  # type: ignore[arg-type]
            if complaint is not None:
                self._complain(node, shape, complaint, at)
            return value
        if kind is Mapping:
            data: dict[str, Any] = {}
            child = shape.child
            for key, value in node.entries:  # type: ignore[union-attr]
                name = key.name
                inner = child(name)
                if inner.varies:
                    inner = inner.at(value)
                if inner.notes:
                    data[name] = self._noted(value, inner, (at, name))
                elif type(value) is Scalar and (
                    not value.plain or (inner.mode == TEXT and value.text not in NULLS)
                ):
                    data[name] = value.text  # what `read` would say, without the calls: most values are this
                else:
                    data[name] = self.read(value, inner, (at, name))
            return data
        items = []
        for index, item in enumerate(node.items):  # type: ignore[union-attr]
            inner = shape.item(index)
            if inner.varies:
                inner = inner.at(item)
            if inner.notes:
                items.append(self._noted(item, inner, (at, index)))
            else:
                items.append(self.read(item, inner, (at, index)))
        return items

    def _noted(self, node: Node, shape: Shape, at: _Trail) -> Any:
        """Read a value whose schema has something to say about its being there."""
        for note in shape.notes:
            refused = note.get("x-tau-refused")
            if refused:
                self.settled.add(id(node))
                place = self._place(at)
                self._say(error(refused["id"], refused["message"], place.head, refused.get("hint", "")))
                return self.read(node, SILENT, at)
            renamed = note.get("x-tau-renamed")
            if renamed:
                place = self._place(at)
                self._say(
                    warning(
                        "TAU210", f"`{place.path}` is an older spelling", place.head, f"write `{renamed}`"
                    )
                )
        value = self.read(node, shape, at)
        if isinstance(value, str) and any(note.get("x-tau-fold") for note in shape.notes) and shape.words:
            folded = value.strip().casefold()
            return next((word for word in sorted(shape.words) if word.casefold() == folded), value)
        return value

    def _complain(self, node: Node, shape: Shape, complaint: Complaint, at: _Trail) -> None:
        if shape.silent:
            return
        self.settled.add(id(node))
        if len(self.diagnostics) < _MANY:
            self._say(complaint_of(self._place(at), shape, complaint))

    def _say(self, diagnostic: Diagnostic) -> None:
        if len(self.diagnostics) < _MANY:
            self.diagnostics.append(diagnostic)

    def _place(self, at: _Trail) -> Place:
        steps: list[str | int] = []
        while at:
            at, step = at
            steps.append(step)
        return trail(self.root, reversed(steps))[-1]


def complaint_of(place: Place, shape: Shape, complaint: Complaint) -> Diagnostic:
    """What is wrong with the scalar at ``place``, for people."""
    name = f"`{place.path}`" if place.path else "the document"
    text = place.node.text if isinstance(place.node, Scalar) else ""
    if complaint.kind == "null":
        what = next((phrase for kind, phrase in _NAMES.items() if shape.types == {kind}), "a value")
        return error("TAU206", f"{name} has no value", place.span, f"remove the key or write {what}")
    if complaint.kind == "infinite":
        return error("TAU141", f"{name} must be a finite number, not `{text}`", place.span, "write a number")
    return error("TAU140", f"{name}: {complaint.reason}", place.span, _rewrites(shape, text))


def _rewrites(shape: Shape, text: str) -> str:
    """Every unmistakable spelling that ``text`` can have been meant as, of those that are allowed here."""
    spellings: list[str] = []
    word = text.lower()
    if "boolean" in shape.types and word in TRUE | FALSE:
        spellings.append(f"`{str(word in TRUE).lower()}`")
    if shape.types & {"integer", "number"}:
        spellings += [f"`{number}`" for number in readings(text)]
    if "string" in shape.types:
        spellings.append(f'`"{text}"` for text')
    return f"write {either(spellings)}" if spellings else f"{types(shape.types)} is expected here"

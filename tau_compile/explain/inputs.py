"""The inputs of a compilation as single places: every value and every free name of the documents that take part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tau_compile.named import NamedTuple
from tau_compile.schema.shape import ANY, SILENT
from tau_compile.source.nodes import Entry, Mapping, Node, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.diagnostics import Span
    from tau_compile.schema.shape import Shape

What = Literal["value", "name", "code", "intent"]
# They say what a document is, and nothing else; without the version a tau.yaml is of another form.
_HEAD = ("apiVersion", "kind", "schema_version")

LONG = 16  # items of a list that are looked at one by one


class Input(NamedTuple):
    """One place of a document. ``what``: a value, a name that the writer chose, a file that ships, or the whole intent.

    ``path`` is the dotted path as written; ``words`` are the only texts that the schema allows; ``holder`` is the place of the
    key or list item that may be taken out with the value.
    """

    file: str
    span: Span
    path: str
    text: str
    what: What
    words: frozenset[str] | None = None
    plain: bool = True
    holder: Span | None = None


class Edit(NamedTuple):
    """A change of one document: a scalar set, a name changed, or an entry or item taken out, all at one place."""

    file: str
    action: Literal["set", "rename", "remove", "content", "executable", "move", "digest"]
    span: Span
    text: str = ""
    twin: str = ""  # a file that must exist under a second name: the path from the root


def inputs(node: Node, file: str, shape: Shape) -> list[Input]:
    """All inputs of one document, in the order written; one place counts once, however often an alias repeats it."""
    found: dict[tuple[Span, str], Input] = {}
    for one in _walk(node, shape, "", None, shape is not ANY):
        if one.path not in _HEAD:
            found.setdefault((one.span, one.what), one._replace(file=file))
    return list(found.values())


def _walk(node: Node, shape: Shape, path: str, holder: Span | None, free: bool) -> Iterator[Input]:
    shape = shape.at(node)
    if isinstance(node, Mapping):
        for key, value in node.entries:
            below = f"{path}.{key.name}" if path else key.name
            inner = free and below != "patches"  # the keys of a patch are those of Kubernetes
            if inner and shape.child(f"{key.name}x") is not SILENT and path:
                yield Input("", key.span, below, key.name, "name")
            yield from _walk(value, shape.child(key.name), below, key.span, inner)
    elif isinstance(node, Sequence):
        for place, item in enumerate(node.items):
            yield from _walk(item, shape.item(place), f"{path}[{place}]", item.span, free)
    elif isinstance(node, Scalar):
        yield Input("", node.span, path, node.text, "value", shape.words, node.plain, holder)


def long_lists(node: Node, path: str = "") -> Iterator[dict[str, Span]]:
    """The lists of a document with many items: the place of each item by its path."""
    if isinstance(node, Mapping):
        for key, value in node.entries:
            yield from long_lists(value, f"{path}.{key.name}" if path else key.name)
    elif isinstance(node, Sequence):
        if len(node.items) > LONG:
            yield {f"{path}[{place}]": item.span for place, item in enumerate(node.items)}
        for place, item in enumerate(node.items):
            yield from long_lists(item, f"{path}[{place}]")


def edited(node: Node, edit: Edit) -> Node:
    """The document after a change."""
    if isinstance(node, Scalar):
        same = edit.action == "set" and node.span == edit.span
        return Scalar(node.span, edit.text, node.plain) if same else node
    if isinstance(node, Sequence):
        kept = [item for item in node.items if not (edit.action == "remove" and item.span == edit.span)]
        return Sequence(node.span, tuple(edited(item, edit) for item in kept))
    entries = []
    for key, value in node.entries:
        if key.span == edit.span and edit.action == "remove":
            continue
        if key.span == edit.span and edit.action == "rename":
            key = key._replace(name=edit.text)
        entries.append(Entry(key, edited(value, edit)))
    return Mapping(node.span, tuple(entries))


def names_beside(documents: list[Node]) -> dict[str, list[str]]:
    """For each name that things in the documents have, the names of the other things of its kind."""
    found: dict[str, list[str]] = {}
    for document in documents:
        for names in _named_lists(document):
            for name in names:
                found.setdefault(name, []).extend(other for other in names if other != name)
    return found


def _named_lists(node: Node) -> Iterator[list[str]]:
    if isinstance(node, Mapping):
        for entry in node.entries:
            yield from _named_lists(entry.value)
    elif isinstance(node, Sequence):
        names = [item.get("name") for item in node.items if isinstance(item, Mapping)]
        texts = [name.text for name in names if isinstance(name, Scalar)]
        if len(texts) > 1:
            yield texts
        for item in node.items:
            yield from _named_lists(item)

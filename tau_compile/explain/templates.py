"""Which line of which template printed a leaf.

The templates are rendered once more with a mark in front of every piece of their text, which no value can contain because
values are not in the text. The marks are taken out again while it is noted where they stood.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from jinja2 import nodes

from tau_compile.explain.leaves import Key, Leaf, Naming, leaves, named
from tau_compile.named import NamedTuple
from tau_compile.render.engine import Sandbox
from tau_compile.render.values import TooLarge
from tau_compile.source.nodes import Mapping, Sequence
from tau_compile.source.reader import Limits, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Mapping as Dict

    from tau_compile.source.nodes import Node

_MARK = re.compile("\ue000([0-9]+)\ue001")
_LIMITS = Limits(size=1 << 25, depth=64, nodes=1_000_000)


class Line(NamedTuple):
    """A line of a template; ``own``: the repository's."""

    template: str
    number: int
    own: bool

    @property
    def shown(self) -> str:
        """``templates/job.yaml.j2:7``, with ``built-in:`` in front of a packaged one."""
        return f"{'' if self.own else 'built-in:'}templates/{self.template}:{self.number}"


class Rendered(NamedTuple):
    """What a template was given, and what it made."""

    template: str
    context: dict[str, Any]
    made: dict[str, Any]


class Printed(NamedTuple):
    """Where a leaf was printed, and what the template made of it there."""

    line: Line
    value: Any


def printed(rendered: Iterable[Rendered], own: Dict[str, str], names: Naming = named) -> dict[Key, Printed]:
    """For each leaf that a template made, its line."""
    marked = _Marked(own)
    every = list(rendered)
    steps = list(names(one.made for one in every))
    found: dict[Key, Printed] = {}
    for kind, (template, context, made) in zip(steps, every, strict=True):
        lines = _lines(marked, template, context)
        for key, leaf in leaves([made]).items():
            line = _nearest(lines, leaf) or Line(template, 1, template in own)
            found[(kind, *key[1:])] = Printed(line, leaf.value)
    return found


def _nearest(lines: dict[tuple[str | int, ...], Line], leaf: Leaf) -> Line | None:
    """The line of the leaf, or of the value that it is part of."""
    for length in range(len(leaf.raw), 0, -1):
        if leaf.raw[:length] in lines:
            return lines[leaf.raw[:length]]
    return None


class _Marked(Sandbox):
    """Renders with marks; ``marks`` are what they stand for."""

    def __init__(self, own: Dict[str, str]) -> None:
        self.marks: list[Line] = []
        super().__init__(own)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for output in tree.find_all(nodes.Output):
            pieces: list[nodes.Expr] = []
            for piece in output.nodes:
                if not isinstance(piece, nodes.TemplateData):
                    pieces += (self._mark(name or "", piece.lineno), piece)
                    continue
                line = piece.lineno
                for text in piece.data.splitlines(keepends=True):
                    pieces += (self._mark(name or "", line), nodes.TemplateData(text, lineno=line))
                    line += 1
            output.nodes = pieces
        return tree

    def _mark(self, name: str, line: int) -> nodes.TemplateData:
        self.marks.append(Line(name, line, name in self.own))
        return nodes.TemplateData(f"\ue000{len(self.marks) - 1}\ue001", lineno=line)


def _lines(marked: _Marked, name: str, context: dict[str, Any]) -> dict[tuple[str | int, ...], Line]:
    """For each value of a template's output, by path, the line that printed it."""
    try:
        text, _ = marked.text(name, context)
    except TooLarge:  # with the marks
        return {}
    parts: list[str] = []
    places: list[tuple[int, int]] = []  # line and column in the text without marks
    found: list[Line] = []
    line, column = 1, 1
    for index, part in enumerate(_MARK.split(text)):
        if index % 2:
            places.append((line, column))
            found.append(marked.marks[int(part)])
            continue
        parts.append(part)
        breaks = part.count("\n")
        line, column = (line + breaks, len(part) - part.rfind("\n")) if breaks else (line, column + len(part))
    node = read("".join(parts).encode("utf-8", "surrogatepass"), name, _LIMITS).node
    if node is None:
        return {}
    lines = {}
    for path, inner in _walk(node, ()):
        place = bisect_right(places, (inner.span.line, inner.span.column)) - 1
        if place >= 0:
            lines[path] = found[place]
    return lines


def _walk(node: Node, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Node]]:
    if path and not (isinstance(node, Mapping) and node.entries):
        yield path, node
    if isinstance(node, Mapping):
        for key, value in node.entries:
            yield from _walk(value, (*path, key.name))
    elif isinstance(node, Sequence):
        for place, item in enumerate(node.items):
            yield from _walk(item, (*path, place))

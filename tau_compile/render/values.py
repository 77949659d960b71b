"""The values of one rendering, kept apart from its text, and the two brought together again as an object.

Where a template says ``{{ value }}``, a token comes out that stands for the whole value. What is left is a skeleton that only
the shape of the workload decides: it is read as YAML once and then filled. Where a token is not a value of its own (a key,
part of a longer text, in a comment), the values are written out as JSON and the whole text is read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tau_compile.source.nodes import Mapping, Scalar, Sequence
from tau_compile.source.scalars import resolve

if TYPE_CHECKING:
    from tau_compile.source.nodes import Node

MAX_OUTPUT = 8 * 1024 * 1024  # characters of one rendered manifest
_TOKEN = re.compile("<tau-value-([0-9]{1,9})>")


class TooLarge(Exception):  # noqa: N818
    """A template makes more than MAX_OUTPUT."""


class Values:
    """The values that came out so far, in order, as plain data of their own; ``size`` counts characters, roughly."""

    __slots__ = ("found", "size")

    def __init__(self) -> None:
        self.found: list[Any] = []
        self.size = 0

    def token(self, value: Any) -> str:
        """Keep ``value`` and return what stands for it. Raises TypeError for what JSON cannot say."""
        self.found.append(self._plain(value))
        if self.size > MAX_OUTPUT:
            raise TooLarge
        return f"<tau-value-{len(self.found) - 1}>"

    def _plain(self, value: Any) -> Any:
        self.size += 4
        kind = type(value)
        if kind is str:
            self.size += len(value)
            return value
        if kind is dict:
            if not all(type(key) is str for key in value):
                raise TypeError("a mapping has a key that is not a text")
            self.size += sum(map(len, value))
            return {key: self._plain(inner) for key, inner in value.items()}
        if kind is list or kind is tuple:
            return [self._plain(item) for item in value]
        if value is None or kind is bool or kind is int:
            return value
        if kind is float and value - value == 0:
            return value
        raise TypeError(
            f"a manifest cannot hold {value!r}"
            if kind is float
            else f"a manifest cannot hold a {kind.__name__}"
        )


class Slot(int):
    """The place of a value in a skeleton."""


def skeleton(node: Node, count: int) -> Any | None:
    """A rendered document as plain data with a `Slot` in place of each of ``count`` tokens.

    None if some token is no value of its own, or does not stand in the document exactly once.
    """
    places: list[int] = []
    shape = _shape(node, places)
    return shape if sorted(places) == list(range(count)) else None


def _shape(node: Node, places: list[int]) -> Any:
    if isinstance(node, Scalar):
        token = _TOKEN.fullmatch(node.text) if node.plain else None
        if token is None:
            return resolve(node)
        places.append(int(token[1]))
        return Slot(token[1])
    if isinstance(node, Mapping):
        return {entry.key.name: _shape(entry.value, places) for entry in node.entries}
    assert isinstance(node, Sequence)
    return [_shape(item, places) for item in node.items]


def filled(shape: Any, values: list[Any]) -> Any:
    """The object: a skeleton with its values."""
    kind = type(shape)
    if kind is dict:
        return {key: filled(inner, values) for key, inner in shape.items()}
    if kind is list:
        return [filled(item, values) for item in shape]
    return values[shape] if kind is Slot else shape


def written(text: str, values: list[Any]) -> str:
    """The text with each value in its place as JSON on one line, readable by every YAML reader."""
    import json

    # What JSON leaves as it is and some YAML reader does not: DEL and C1 controls, line and paragraph separators, the
    # byte order mark, and code points that are not characters.
    unsafe = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")

    def value(found: re.Match[str]) -> str:
        index = int(found[1])
        if index >= len(values):
            return found[0]  # no token of ours
        shown = json.dumps(values[index], ensure_ascii=False, allow_nan=False)
        return unsafe.sub(lambda odd: f"\\u{ord(odd[0]):04x}", shown)

    return _TOKEN.sub(value, text)

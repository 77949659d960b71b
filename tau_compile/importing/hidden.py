"""Where an export holds credentials: no message may show them again, not even in the line that it quotes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tau_compile.rules.credential_names import promises_secret
from tau_compile.rules.credential_shapes import find_shapes
from tau_compile.source.nodes import Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tau_compile.diagnostics import Span
    from tau_compile.source.nodes import Node

_LINE = re.compile("(\r\n|\r|\n)")


def places(node: Node) -> Iterator[Span]:
    """The spans of all values of an object that look like credentials."""
    if isinstance(node, Scalar):
        if any(True for _ in find_shapes(node.text)):
            yield node.span
        return
    if isinstance(node, Sequence):
        for item in node.items:
            yield from places(item)
        return
    name, value, kind = node.get("name"), node.get("value"), node.get("kind")
    if isinstance(name, Scalar) and isinstance(value, Scalar) and promises_secret(name.text, value.text):
        yield value.span
    secret = isinstance(kind, Scalar) and kind.text == "Secret"
    for key, inner in node.entries:
        if isinstance(inner, Scalar) and promises_secret(key.name, inner.text):
            yield inner.span
        elif secret and key.name in ("data", "stringData") and isinstance(inner, Mapping):
            yield from (below.span for _, below in inner.entries)
        else:
            yield from places(inner)


def masked(data: bytes, spans: Iterable[Span]) -> bytes:
    """The text of a file with asterisks in those places."""
    parts = _LINE.split(data.decode("utf-8-sig", "replace"))
    ranges: dict[int, list[tuple[int, int]]] = {}
    for span in spans:
        for line in range(span.line, span.end_line + 1):
            start = span.column - 1 if line == span.line else 0
            end = span.end_column - 1 if line == span.end_line else 1 << 30
            ranges.setdefault(2 * (line - 1), []).append((start, end))
    for place, found in ranges.items():
        if not 0 <= place < len(parts):
            continue
        text, pieces, at = parts[place], [], 0
        for start, end in sorted(found):
            first, last = max(start, at), min(end, len(text))
            if last > first:
                pieces += [text[at:first], "*" * (last - first)]
                at = last
        parts[place] = "".join([*pieces, text[at:]])
    return "".join(parts).encode("utf-8", "replace")

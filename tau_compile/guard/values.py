"""The values of a canonical tree by path, in a normal form: two spellings of one value are equal (B-13, B-43)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.guard.fields import FREE, NAMED, kinds
from tau_compile.named import NamedTuple
from tau_compile.quantity import NANO, try_parse
from tau_compile.runs.identity import SYNONYMS
from tau_compile.schema import store
from tau_compile.schema.coerce import read_as
from tau_compile.source.nodes import Key, Mapping, Node, Scalar, Sequence
from tau_compile.workload.duration import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.diagnostics import Span


class Value(NamedTuple):
    """One value. ``whole``: layers replace it as a whole. ``same`` is its normal form. ``span`` is the value's."""

    path: str
    written: str
    node: Node
    whole: bool
    same: Any

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.node.span


def values(document: Mapping) -> dict[str, Value]:
    """Everything in a canonical tree, sections too, by path. Never raises for any tree."""
    data = read_as(document, store.prepared("tau.schema.json#/$defs/canonical").shape).data
    return {value.path: value for value in below(document, data, "", None)}


def wholes(document: Mapping) -> list[Value]:
    """The values that layers replace as a whole."""
    return [value for value in values(document).values() if value.whole]


def below(node: Node, data: Any, path: str, key: Key | None) -> Iterator[Value]:
    """The value at ``path`` and all inside it; ``data`` is the node as the schema reads it."""
    variable = path.startswith("runtime.env.")
    named = path in NAMED and isinstance(node, Sequence)
    open_map = isinstance(node, Mapping) and not variable
    if path:
        whole = not open_map and path != "storage.mounts" and not _in_item(path)
        yield Value(path, (key.written if key else "") or path, node, whole, normal(path, data))
    if isinstance(node, Mapping) and isinstance(data, dict):
        for entry in node.entries:
            name = entry.key.name
            if not variable:
                inside = f"{path}.{name}" if path else name
                yield from below(entry.value, data.get(name), inside, entry.key)
    elif named and isinstance(node, Sequence) and isinstance(data, list):
        for item, inner in zip(node.items, data, strict=True):
            called = item.get("name") if isinstance(item, Mapping) else None
            inside = f"{path}.{called.text if isinstance(called, Scalar) else ''}"
            yield Value(inside, inside, item, path == "storage.mounts", normal(inside, inner))
            if isinstance(item, Mapping) and isinstance(inner, dict):
                for entry in item.entries:
                    yield from below(
                        entry.value, inner.get(entry.key.name), f"{inside}.{entry.key.name}", entry.key
                    )


def _in_item(path: str) -> bool:
    return any(path.startswith(f"{named}.") for named in NAMED)


def normal(path: str, data: Any) -> Any:
    """A value in its normal form; something hashable that equals the form of every other spelling."""
    if isinstance(data, dict):
        return tuple(sorted((k, normal("", v)) for k, v in data.items() if (k, v) != ("readOnly", False)))
    if isinstance(data, list):
        return tuple(normal(path, item) for item in data)
    amount = amount_of(kinds().get(path, ""), data)
    if amount is not None:
        return amount
    if isinstance(data, str):
        return SYNONYMS.get(path, {}).get(data, data)
    return repr(data) if data is None or isinstance(data, bool) else data


def amount_of(kind: str, data: Any) -> int | None:
    """A number, quantity or duration in billionths; None for what is none."""
    text = data if isinstance(data, str) else str(data)
    if isinstance(data, bool):
        return None
    if kind == "duration":
        found = seconds(text)
        return None if found is None else found * NANO
    if kind not in ("quantity", "integer", "number"):
        return None
    if kind != "quantity" and isinstance(data, int):
        return data * NANO
    quantity = try_parse(text)
    return None if quantity is None else quantity.nanos


def read_scalar(path: str, kind: str, node: Scalar) -> Any:
    """A scalar of a limit in the normal form of the field that it limits."""
    if kind in ("quantity", "integer", "number", "duration"):
        return amount_of(kind, node.text.strip())
    if kind == "boolean":
        return repr(node.text.lower() == "true") if node.text.lower() in ("true", "false") else None
    if kind == "any":
        from tau_compile.source.scalars import resolve

        return normal(path, resolve(node))
    return SYNONYMS.get(path, {}).get(node.text, node.text)


def shown(value: Value) -> str:
    """``path: value`` for a message; of an environment variable and of what is no scalar, the path alone."""
    node = value.node
    if not isinstance(node, Scalar) or is_hidden(value) or not node.text:
        return f"`{value.written}`"
    text = node.text if len(node.text) <= 60 else node.text[:59] + "…"
    return f"`{value.written}: {text}`"


def is_hidden(value: Value) -> bool:
    """Whether messages do not repeat the value: an environment variable may hold what is nobody's business."""
    return value.path.startswith(f"{FREE[0]}.")

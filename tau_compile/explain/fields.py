"""Resolved fields: the value, the layer and place that set it, and the values that lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.explain.defaults import defaults
from tau_compile.explain.others import others
from tau_compile.named import NamedTuple
from tau_compile.policy.merge import values
from tau_compile.source.nodes import Mapping, Node, Scalar, Sequence, find, find_entry
from tau_compile.source.scalars import plain_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.diagnostics import Span
    from tau_compile.explain.bench import Bench
    from tau_compile.policy.merge import Merged
    from tau_compile.runs.record import Record

BUILT_IN = "built-in default"
OWN = "tau.yaml"


# What a profile calls the fields that it fixes.
_PROFILE = {
    "compute.gpus": "gpusPerWorker",
    "compute.workers": "workerCount",
    "execution.nodes": "workerCount",
    "policy.mode": "mode",
    "policy.topology": "placement",
    "policy.queue": "defaultLocalQueue",
    "policy.disable_default_priorities": "disableDefaultPriorities",
}


class Set(NamedTuple):
    """A value somebody set: the layer, the value, and where; ``place`` is ``file:line:column``, empty for a default."""

    layer: str
    value: Any
    place: str


class Field(NamedTuple):
    """One canonical field. ``written`` is the user's own spelling of the path, where it is another one."""

    path: str
    written: str
    by: Set
    lost: tuple[Set, ...] = ()


def place_of(span: Span) -> str:
    """``file:line:column``."""
    return f"{span.file}:{span.line}:{span.column}"


def resolved_fields(bench: Bench) -> list[Field]:
    """The fields of a workload, by path: what layers set, what the platform decides, and defaults that have an effect."""
    found = {field.path: field for field in _merged(bench)}
    for field in (*_decided(bench), *_defaulted(bench)):
        found.setdefault(field.path, field)
    return [found[path] for path in sorted(found)]


def _merged(bench: Bench) -> Iterator[Field]:
    document = bench.resolved.document.span
    for field, node in merged_fields(bench.resolved.merged):
        entry = find_entry(bench.resolved.merged.node, field.path)
        written = entry.key.written if entry else ""
        by = field.by
        if node.span == document:
            by = by._replace(layer=f"{by.layer}, implied")
        by = by._replace(place=place_of(_in_profile(bench, field.path, node.span)))
        yield field._replace(written="" if written == field.path else written, by=by)


def merged_fields(merged: Merged) -> Iterator[tuple[Field, Node]]:
    """What layers set, each with its node, and what lost."""
    setters: dict[tuple[str, Span], str] = {}
    for layer in merged.layers:
        for path, node in values(layer.node):
            setters[path, node.span] = layer.name
    lost = merged.lost
    for path, node in values(merged.node):
        if isinstance(node, Mapping) and not node.entries:
            continue
        under = tuple(
            Set(other.layer, plain_data(other.node), place_of(other.node.span))
            for other in lost
            if _overlap(other.path, path) and other.node is not node and other.node.span != node.span
        )
        by = Set(setters.get((path, node.span), OWN), plain_data(node), place_of(node.span))
        yield Field(path, "", by, under), node


def _in_profile(bench: Bench, path: str, span: Span) -> Span:
    """Where a profile says what it fixes; all of that stands at the profile's name otherwise."""
    profile = bench.resolved.profile
    if profile is None or span != profile.span:
        return span
    for node in _around(bench.documents.get(span.file), span):
        found = find(node, _PROFILE.get(path, ""))
        if found is not None:
            return found.span
    return span


def _around(node: Node | None, span: Span) -> Iterator[Node]:
    """The mappings that the name at a place belongs to, the innermost first."""
    inner = [e.value for e in node.entries] if isinstance(node, Mapping) else list(getattr(node, "items", ()))
    for value in inner:
        if value.span == span:
            yield node  # type: ignore[misc]
        below = list(_around(value, span))
        yield from below
        if below and isinstance(node, Mapping):
            yield node


def _overlap(one: str, other: str) -> bool:
    return (
        one == other or one.startswith((f"{other}.", f"{other}[")) or other.startswith((f"{one}.", f"{one}["))
    )


def _decided(bench: Bench) -> Iterator[Field]:
    """What overlays say elsewhere than in their defaults."""
    resolved = bench.resolved
    space, cluster, profile = resolved.workspace, resolved.cluster, resolved.profile
    where = f"workspace `{space.name}`"
    yield Field("policy.workspace", "", Set(where, space.name, place_of(space.span)))
    yield _from(bench, "policy.namespace", where, space.namespace, space.span, "namespace")
    if resolved.queue == space.queue or profile is None:
        yield _from(bench, "policy.queue", where, resolved.queue, space.queue_span or space.span, "queue")
    for path, name in (
        ("policy.workload_priority_class", resolved.workload_priority),
        ("policy.pod_priority_class", resolved.pod_priority),
    ):
        if name:
            node = _class(bench.documents.get(cluster.span.file), name)
            span = node.span if node else cluster.span
            yield Field(path, "", Set(f"cluster `{cluster.name}`", name, place_of(span)))
    platform = resolved.platform
    workload = bench.compiled.workload
    if workload is not None and workload.kind == "rayjob":
        key = "ray.image" if workload.image == platform.ray_image else "ray.cpuImage"
        for file in (platform.span.file, *bench.documents):
            node = find(bench.documents.get(file), key)
            if isinstance(node, Scalar) and node.text == workload.image:
                yield Field(
                    "runtime.image", "", Set(f"platform `{platform.name}`", node.text, place_of(node.span))
                )
                return


def _from(bench: Bench, path: str, layer: str, value: str, span: Span, key: str) -> Field:
    node = find(bench.documents.get(span.file), key)
    return Field(path, "", Set(layer, value, place_of(node.span if node else span)))


def _class(node: Node | None, name: str) -> Node | None:
    items = find(node, "priorityClasses")
    for item in items.items if isinstance(items, Sequence) else ():
        found = find(item, "name")
        if isinstance(found, Scalar) and found.text == name:
            return found
    return None


def _defaulted(bench: Bench) -> Iterator[Field]:
    """Defaults of the schema for what no layer sets, if another value would make another manifest."""
    merged = bench.resolved.merged.node
    for path, known in defaults().items():
        if find(merged, path) is None and _matters(bench, path, known.value, known.words):
            yield Field(path, "", Set(BUILT_IN, known.value, ""))


def _matters(bench: Bench, path: str, value: Any, words: frozenset[str] | None) -> bool:
    span = bench.intent.document.span
    text = str(value).lower() if isinstance(value, bool) else str(value)
    same: Node = Scalar(span, text, True)
    options: list[Node] = [Scalar(span, other, True) for other in others(Scalar(span, text, True), words, ())]
    if isinstance(value, list):
        items = tuple(Scalar(span, str(item), True) for item in value)
        same, options = Sequence(span, items), [Sequence(span, items[:1])]
    made = [bench.with_field(path, node) for node in (same, *options[:2])]
    as_is, *changed = [None if one is None else one.leaves for one in made]
    return as_is == bench.leaves and any(one not in (None, as_is) for one in changed)


def recorded_fields(record: Record) -> list[Field]:
    """The fields of a run as they were when it was launched; what lost then is not recorded."""
    found = []
    for path, place in record.origins.items():
        file = place.rsplit(":", 2)[0]
        layer = (
            OWN
            if file == record.source
            else "built-in overlay"
            if file.startswith("built-in:")
            else "overlay"
        )
        found.append(Field(path, "", Set(layer, _at(record.resolved, path), place)))
    return sorted(found)


def _at(data: Any, path: str) -> Any:
    """The value at a path of the record; a name may hold dots."""
    if not path:
        return data
    if isinstance(data, list) and path.startswith("["):
        index, _, rest = path[1:].partition("]")
        return (
            _at(data[int(index)], rest.removeprefix("."))
            if index.isdigit() and int(index) < len(data)
            else None
        )
    for name in data if isinstance(data, dict) else ():
        rest = path.removeprefix(name)
        if path.startswith(name) and (not rest or rest[0] in ".["):
            value = _at(data[name], rest.removeprefix("."))
            if value is not None:
                return value
    return None


def asked(fields: list[Field], path: str) -> list[Field]:
    """The fields at or below a path, or above an item of a list, in either spelling."""
    return [
        field
        for field in fields
        if any(name and _overlap(name, path) for name in (field.path, field.written))
        and (field.path.startswith(path) or field.written.startswith(path) or "[" in path)
    ]

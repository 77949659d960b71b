"""Layers that enforce different values, and defaults that never have an effect, found on the overlays alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, error, warning
from tau_compile.guard.fit import is_off, rivals
from tau_compile.guard.values import Value, is_hidden, shown, wholes
from tau_compile.guard.waivers import covers, kind_of, label
from tau_compile.named import NamedTuple
from tau_compile.policy.fit import LAUNCHERS
from tau_compile.policy.profile import layer as fixed_layer
from tau_compile.source.nodes import Entry, Key, Mapping, Scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.diagnostics import Span
    from tau_compile.guard.waivers import Document
    from tau_compile.policy.model import Cluster, Overlays, Profile, Workspace


class _Said(NamedTuple):
    """What one document enforces; for a profile also what it fixes."""

    document: Document
    values: dict[str, Value]


def documents(overlays: Overlays) -> tuple[Document, ...]:
    """All overlay documents, the highest authority first."""
    return (overlays.platform, *overlays.clusters, *overlays.workspaces, *overlays.profiles)


def conflicts(overlays: Overlays) -> Iterator[Diagnostic]:
    """Every pair of layers that can meet in one workload."""
    said = {id(d): _Said(d, found) for d in documents(overlays) if (found := _enforced(d))}
    for low in said.values():
        yield from _pair(
            _Said(low.document, _fixed(low.document)), _Said(low.document, _locked(low.document))
        )
        for document in _above(overlays, low.document):
            high = said.get(id(document))
            if high is not None:
                yield from _pair(high, low)
    waived = tuple(
        path.text for d in documents(overlays) if d.guards for w in d.guards.waivers for path in w.enforce
    )
    for owner in documents(overlays):
        if owner.defaults is not None:
            sure = [d for d in (*_above(overlays, owner), owner) if _always(overlays, d, owner)]
            above = [said[id(document)] for document in sure if id(document) in said]
            own = wholes(owner.defaults) if above else []
            for high in above:
                yield from _idle(high, owner, own, waived)


def _enforced(document: Document) -> dict[str, Value]:
    return _fixed(document) | _locked(document)


def _locked(document: Document) -> dict[str, Value]:
    enforce = document.guards.enforce if document.guards else None
    return {value.path: value for value in wholes(enforce)} if enforce is not None else {}


def _fixed(document: Document) -> dict[str, Value]:
    """What a profile fixes by its own keys; its queue is judged elsewhere."""
    if kind_of(document) != "Profile":
        return {}
    layers = [fixed_layer(document, _of_kind(kind, document.span)) for kind in ("job", "rayjob")]  # type: ignore[arg-type]
    return {value.path: value for layer in layers for value in wholes(layer) if value.path != "policy.queue"}


def _of_kind(kind: str, span: Span) -> Mapping:
    section = Mapping(span, (Entry(Key("workload_kind", span), Scalar(span, kind, False)),))
    return Mapping(span, (Entry(Key("run", span), section),))


def _above(overlays: Overlays, low: Document) -> list[Document]:
    """The documents of more authority with which a workload of the layer ``low`` may have to do."""
    kind = kind_of(low)
    found: list[Document] = [] if kind == "Platform" else [overlays.platform]
    if kind == "Workspace":
        cluster = _cluster(overlays, low)  # type: ignore[arg-type]
        found += [cluster] if cluster else []
    elif kind == "Profile":
        spaces = [space for space in overlays.workspaces if _has(space, low)]
        clusters = {id(cluster): cluster for space in spaces if (cluster := _cluster(overlays, space))}
        found += [*clusters.values(), *spaces]
    return found


def _has(space: Workspace, document: Document) -> bool:
    """Whether a workload of the workspace may have the profile."""
    profile: Profile = document  # type: ignore[assignment]
    return not profile.namespaces or space.namespace in profile.namespaces


def _cluster(overlays: Overlays, space: Workspace) -> Cluster | None:
    if not space.cluster:
        return overlays.clusters[0] if len(overlays.clusters) == 1 else None
    return next((cluster for cluster in overlays.clusters if cluster.name == space.cluster), None)


def _always(overlays: Overlays, high: Document, low: Document) -> bool:
    """Whether every workload with the layer ``low`` has ``high`` too."""
    if high is low or kind_of(high) == "Platform":
        return True
    return kind_of(low) == "Workspace" and high is _cluster(overlays, low)  # type: ignore[arg-type]


def _pair(high: _Said, low: _Said) -> Iterator[Diagnostic]:
    for path, value in low.values.items():
        other = high.values.get(path)
        if other is not None and other.same != value.same and _of_one_kind(path, value, other):
            yield _conflict(high, low, other, value)
        for rival in rivals(value):  # the same decision by another field
            other = high.values.get(rival)
            if other is not None and path not in high.values and not (is_off(other) or is_off(value)):
                yield _conflict(high, low, other, value)


def _conflict(high: _Said, low: _Said, other: Value, value: Value) -> Diagnostic:
    return error(
        "TAU332",
        f"{label(low.document)} enforces {shown(value)}, and {label(high.document)} {_other(other)}",
        value.span,
        "for the platform team: keep one of the two",
        (Related(other.span, f"enforced by {label(high.document)}"),),
    )


def _idle(high: _Said, owner: Document, own: list[Value], waived: tuple[str, ...]) -> Iterator[Diagnostic]:
    for value in own:
        other = high.values.get(value.path)
        if other is None or other.same == value.same or covers(waived, value.path):
            continue
        if value.path.startswith("execution.configs") or not _of_one_kind(value.path, value, other):
            continue
        yield warning(
            "TAU333",
            f"{shown(value)} under `defaults` of {label(owner)} never has an effect: {label(high.document)} "
            f"enforces {_other(other)}",
            value.span,
            "remove it",
            (Related(other.span, f"enforced by {label(high.document)}"),),
        )


def _of_one_kind(path: str, one: Value, other: Value) -> bool:
    """Whether two values can meet: a launcher of Jobs and one of RayJobs cannot."""
    if path != "execution.launcher":
        return True
    kinds = [
        {kind for kind, words in LAUNCHERS.items() if isinstance(v.node, Scalar) and v.node.text in words}
        for v in (one, other)
    ]
    return not kinds[0].isdisjoint(kinds[1])


def _other(value: Value) -> str:
    return "another value" if is_hidden(value) or not isinstance(value.node, Scalar) else shown(value)

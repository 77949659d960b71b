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
    enforced = [_Said(d, found) for d in documents(overlays) if (found := _enforced(d))]
    for place, low in enumerate(enforced):
        for high in enforced[:place]:
            if _meet(overlays, high.document, low.document):
                yield from _pair(high, low)
    waived = tuple(
        path.text for d in documents(overlays) if d.guards for w in d.guards.waivers for path in w.enforce
    )
    for owner in documents(overlays):
        above = [high for high in enforced if _always(overlays, high.document, owner)]
        if owner.defaults is not None and above:
            own = wholes(owner.defaults)
            for high in above:
                yield from _idle(high, owner, own, waived)


def _enforced(document: Document) -> dict[str, Value]:
    guards = document.guards
    found: dict[str, Value] = {}
    if kind_of(document) == "Profile":
        for kind in ("job", "rayjob"):
            for value in wholes(fixed_layer(document, _of_kind(kind, document.span))):  # type: ignore[arg-type]
                if value.path != "policy.queue":
                    found[value.path] = value
    if guards is not None and guards.enforce is not None:
        found |= {value.path: value for value in wholes(guards.enforce)}
    return found


def _of_kind(kind: str, span: Span) -> Mapping:
    section = Mapping(span, (Entry(Key("workload_kind", span), Scalar(span, kind, False)),))
    return Mapping(span, (Entry(Key("run", span), section),))


def _meet(overlays: Overlays, high: Document, low: Document) -> bool:
    """Whether a workload may have both layers. The kinds differ, or it is one document with another."""
    kinds = (kind_of(high), kind_of(low))
    if kinds[0] == kinds[1]:
        return False
    if kinds[0] == "Platform":
        return True
    spaces = [one for one in (high, low) if kind_of(one) == "Workspace"] or overlays.workspaces
    return any(_has(overlays, space, high) and _has(overlays, space, low) for space in spaces)  # type: ignore[arg-type]


def _has(overlays: Overlays, space: Workspace, document: Document) -> bool:
    """Whether a workload of the workspace may have the layer."""
    if kind_of(document) == "Workspace":
        return document is space
    if kind_of(document) == "Cluster":
        return document is _cluster(overlays, space)
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

"""Active runs that today's catalogue would not have: they are kept as they are, and their owner is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Span, warning
from tau_compile.runs.identity import SYNONYMS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.policy.model import Cluster, Overlays
    from tau_compile.runs.record import Record

_SHOWN = 3


def gone(records: Iterable[Record], overlays: Overlays) -> list[Diagnostic]:
    """One warning for each queue, GPU class or cluster that active runs need and that is no longer there."""
    clusters = {cluster.name: cluster for cluster in overlays.clusters}
    answers: dict[tuple[str, str, str, str], str] = {}
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.state != "active":
            continue
        key = (record.cluster, record.namespace, record.queue, _gpu_class(record))
        if key not in answers:
            answers[key] = _missing(clusters.get(record.cluster), *key)
        if answers[key]:
            found.setdefault(answers[key], []).append(record)
    return [_warning(why, runs) for why, runs in sorted(found.items())]


def _gpu_class(record: Record) -> str:
    policy = record.resolved.get("policy")
    name = policy.get("gpu_class", "") if isinstance(policy, dict) and record.gpus else ""
    return SYNONYMS["policy.gpu_class"].get(name, name) if isinstance(name, str) else ""


def _missing(cluster: Cluster | None, name: str, namespace: str, queue: str, gpu_class: str) -> str:
    """What is not there, in words that follow the run's name; or an empty text."""
    if cluster is None:
        return f"runs on cluster `{name}`, which no overlay describes"
    leading = [q for q in cluster.queues if (namespace, queue) in q.local_queues]
    if cluster.queues and not leading:
        return f"waits in queue `{queue}` of namespace `{namespace}`, which cluster `{name}` no longer has"
    if gpu_class and cluster.gpu_classes:
        if cluster.gpu_class(gpu_class) is None:
            return f"needs GPUs of class `{gpu_class}`, which cluster `{name}` no longer has"
        serving = {f.name for f in cluster.flavors if f.gpu_class == gpu_class}
        offered = {flavor for q in leading for flavor in q.flavors}
        if serving and offered and serving.isdisjoint(offered):
            return f"needs GPUs of class `{gpu_class}`, which queue `{queue}` of cluster `{name}` no longer offers"
    return ""


def _warning(why: str, runs: list[Record]) -> Diagnostic:
    names = ", ".join(record.run for record in runs[:_SHOWN])
    others = f" and {len(runs) - _SHOWN} more" if len(runs) > _SHOWN else ""
    message = f"{names}{others} {why}" if len(runs) == 1 else f"each of {names}{others} {why}"
    hint = f"bring it back, or `tau-compile cancel {runs[0].run}` and run it again"
    return warning("TAU737", message, Span(runs[0].path, 1, 1, 1, 1), hint)

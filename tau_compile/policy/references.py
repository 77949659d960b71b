"""Names inside one Cluster document that lead nowhere: a flavor's class and topology, a queue's flavors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Span, error
from tau_compile.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.policy.model import Cluster


def cluster_references(cluster: Cluster) -> list[Diagnostic]:
    """Kueue accepts a queue whose flavor is missing, and never admits anything through it (K27)."""
    classes = [c.name for c in cluster.gpu_classes]
    topologies = [t.name for t in cluster.topologies]
    flavors = [f.name for f in cluster.flavors]
    said: list[Diagnostic] = []
    for flavor in cluster.flavors:
        if flavor.gpu_class and flavor.gpu_class not in classes:
            said.append(_lost("GPU class", flavor.gpu_class, "gpuClasses", classes, flavor.span))
        if flavor.topology and flavor.topology not in topologies:
            said.append(_lost("topology", flavor.topology, "topologies", topologies, flavor.span))
    for queue in cluster.queues:
        said += [
            _lost("flavor", name, "flavors", flavors, queue.span)
            for name in queue.flavors
            if name not in flavors
        ]
    return said


def _lost(what: str, name: str, section: str, known: Iterable[str], span: Span) -> Diagnostic:
    close = nearest(name, known)
    return error(
        "TAU323",
        f"this names a {what} `{name}`, which is not under `{section}` of the cluster",
        span,
        f"did you mean `{close}`?" if close else f"add it under `{section}`",
    )

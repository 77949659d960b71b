"""Labels and annotations of the objects of one run (design: fixed keys, on which collector and policies select)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tau_compile.render.plan import Run

# Kueue and KubeRay write into atomic lists of what they start, and Flux would put Git's version back (G8). Text in the
# manifests may hold ${...}, which Flux would otherwise substitute (G14).
APPLY_ONCE = {
    "kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent",
    "kustomize.toolkit.fluxcd.io/substitute": "disabled",
}


def own_labels(run: Run) -> dict[str, str]:
    """Labels of every object of the run."""
    return {**dict(run.workload.labels), "tau-compile/run-id": run.id}


def run_labels(run: Run) -> dict[str, str]:
    """Labels of the Job or RayJob: Kueue's stand here and never on a pod template (K50, K94)."""
    found = {**own_labels(run), "kueue.x-k8s.io/queue-name": run.resolved.queue}
    if run.resolved.workload_priority:
        found["kueue.x-k8s.io/priority-class"] = run.resolved.workload_priority
    return found


def run_annotations(run: Run) -> dict[str, str]:
    """Annotations of the Job or RayJob."""
    workload = run.workload
    found = {**APPLY_ONCE, **dict(workload.annotations)}
    if workload.storage.output:
        found["tau-compile/output"] = workload.storage.output
    if workload.storage.checkpoint:
        found["tau-compile/checkpoint"] = workload.storage.checkpoint
    if workload.history:
        found["tau-compile/metrics-history"] = _json(list(workload.history))
    if workload.retry:
        retry = workload.retry
        found["tau-compile/retry"] = _json(
            {
                "backoff-initial-seconds": retry.first_wait,
                "backoff-max-seconds": retry.longest_wait,
                "checkpoint": retry.checkpoint,
                "max-retries": retry.attempts,
                "retry-on": list(retry.reasons),
            }
        )
    return found


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

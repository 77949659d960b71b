"""``experiment``, ``research`` and ``model``: labels to select by, annotations with the exact words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.workload.names import label_value
from tau_compile.workload.view import scalar

if TYPE_CHECKING:
    from tau_compile.policy.resolve import Resolved
    from tau_compile.workload.model import Gpu, Kind
    from tau_compile.workload.view import View

PREFIX = "tau-compile/"
_EXACT = (
    ("project", "experiment.project"),
    ("experiment", "experiment.name"),
    ("group", "experiment.group"),
)
_MODEL = ("name", "base", "task", "primary_metric", "metric_direction")


def read_labels(
    view: View, resolved: Resolved, kind: Kind, name: str, gpu: Gpu
) -> tuple[tuple[str, str], ...]:
    """Labels of the workload and its pods, without the queue's, sorted by key."""
    labels = {
        "app.kubernetes.io/managed-by": "tau-compile",
        f"{PREFIX}name": name,
        f"{PREFIX}workspace": label_value(resolved.workspace.name),
        f"{PREFIX}workload-kind": kind,
    }
    if resolved.profile:
        labels[f"{PREFIX}profile"] = label_value(resolved.profile.name)
    for key, path in _EXACT:
        value = _experiment(view) if key == "experiment" else view.text(path)
        if value:
            labels[f"{PREFIX}{key}"] = label_value(value)
    if view.text("model.name"):
        labels[f"{PREFIX}model"] = label_value(view.text("model.name"))
    if gpu.gpu_class:
        labels[f"{PREFIX}gpu-class"] = gpu.gpu_class
    return tuple(sorted(labels.items()))


def read_annotations(view: View) -> tuple[tuple[str, str], ...]:
    """Annotations with the user's exact words, sorted by key."""
    found: dict[str, str] = {}
    for key, path in _EXACT:
        value = _experiment(view) if key == "experiment" else view.text(path)
        if value:
            found[f"{PREFIX}{key}"] = value
    for field in _MODEL:
        if view.text(f"model.{field}"):
            found[f"{PREFIX}model-{field.replace('_', '-')}"] = view.text(f"model.{field}")
    tags = [scalar(item) for item in view.items("model.tags")]
    if tags:
        import json

        found[f"{PREFIX}model-tags"] = json.dumps(tags, ensure_ascii=False)
    return tuple(sorted(found.items()))


def _experiment(view: View) -> str:
    return view.text("experiment.name") or view.text("research.experiment")


def read_experiment(view: View) -> tuple[str, str]:
    """(experiment, group) for TAU_EXPERIMENT and TAU_GROUP (taugrid-config 1.8)."""
    return _experiment(view), view.text("experiment.group")

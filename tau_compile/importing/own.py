"""Objects that tau-compile rendered itself → the tau.yaml they came from, as far as they tell.

What the platform added (service account, tolerations, labels of pods) and what every run gets (TAU_ variables, scripts) is not
reported: rendering adds it again.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tau_compile.importing.documents import Object, text
from tau_compile.source.nodes import Mapping, Sequence, find

if TYPE_CHECKING:
    from tau_compile.importing.draft import Draft
    from tau_compile.importing.ledger import At
    from tau_compile.source.nodes import Node

_PREFIX = "tau-compile/"
# Annotation → field, for what a run's annotations repeat in the user's words.
_WORDS = {
    "project": "experiment.project",
    "experiment": "experiment.name",
    "group": "experiment.group",
    "model-name": "model.name",
    "model-base": "model.base",
    "model-task": "model.task",
    "model-primary-metric": "model.primary_metric",
    "model-metric-direction": "model.metric_direction",
    "checkpoint": "artifacts.checkpoint",
}
_RAY_DEFAULTS = {"HF_HOME": "/tmp/hf", "NCCL_DEBUG": "WARN", "NCCL_SOCKET_IFNAME": "eth0"}  # noqa: S108


def is_ours(item: Object) -> bool:
    """Whether tau-compile rendered the object."""
    labels = find(item.node, "metadata.labels")
    return isinstance(labels, Mapping) and bool(text(labels.get(f"{_PREFIX}run-id")))


def name(draft: Draft) -> str:
    """The workload's name."""
    labels = draft.ledger.root.get("metadata.labels")
    return labels.key(f"{_PREFIX}name").peek() or draft.item.name[:-9]


def labels(draft: Draft) -> None:
    """What labels and annotations of a run tell."""
    root = draft.ledger.root
    found, notes = root.get("metadata.labels"), root.get("metadata.annotations")
    draft.put("policy.gpu_class", found.key(f"{_PREFIX}gpu-class").node)
    draft.put("policy.workspace", found.key(f"{_PREFIX}workspace").node)
    draft.put("policy.profile", found.key(f"{_PREFIX}profile").node)
    for key, path in _WORDS.items():
        draft.put(path, notes.key(_PREFIX + key).node)
    output = notes.key(f"{_PREFIX}output").peek()
    draft.put("storage.output", notes.key(f"{_PREFIX}output").node)
    history = parsed(notes.key(f"{_PREFIX}metrics-history").peek())
    if isinstance(history, list):
        draft.put("metrics.history", [str(item).removeprefix(f"{output}/") for item in history])
    tags = parsed(notes.key(f"{_PREFIX}model-tags").peek())
    draft.put("model.tags", [str(tag) for tag in tags] if isinstance(tags, list) else None)
    retry = parsed(notes.key(f"{_PREFIX}retry").peek())
    if isinstance(retry, dict):
        _retry(draft, retry)
    for at in (found, notes):
        for entry, value in at.entries():
            if entry.name.startswith((_PREFIX, "kustomize.toolkit.fluxcd.io/")) or entry.name.endswith(
                "/managed-by"
            ):
                value.skip()


def _retry(draft: Draft, retry: dict[str, Any]) -> None:
    draft.put("resilience.max_retries", retry.get("max-retries"))
    reasons = retry.get("retry-on")
    draft.put("resilience.retry_on", [str(r) for r in reasons] if isinstance(reasons, list) else None)
    draft.put("resilience.checkpoint_path", retry.get("checkpoint"))
    for key in ("initial", "max"):
        draft.put(f"resilience.backoff_{key}", f"{retry.get(f'backoff-{key}-seconds')}s")


def parsed(word: str) -> Any:
    """What a JSON text says; None if it is none."""
    try:
        return json.loads(word) if word else None
    except (ValueError, RecursionError):
        return None


def sets(draft: Draft, item: At) -> bool:
    """Whether a variable is one that tau-compile or the platform sets."""
    name, value = item.key("name").peek(), item.key("value").peek()
    if name.startswith("TAU_"):
        return name not in ("TAU_RESUME_FROM", "TAU_RETRY_ATTEMPT", "TAU_RETRY_MAX", "TAU_RETRY_REASON")
    if draft.document.get("execution", {}).get("launcher") == "torchrun" and (
        name.startswith("PET_")
        or name in ("MASTER_ADDR", "MASTER_PORT")
        or (name, value) == ("OMP_NUM_THREADS", "1")
    ):
        return True
    if draft.ray:
        return _RAY_DEFAULTS.get(name) == value or (
            name == "PYTHONPATH" and value in ("/tau/code", "/tau/source")
        )
    return False


def users(draft: Draft, name: str, value: str) -> str:
    """The user's part of a variable that begins with the folder of the code."""
    if draft.own and draft.ray and name == "PYTHONPATH":
        return re.sub(r"\A/tau/(?:code|source):", "", value)
    return value


def mounts(draft: Draft, volume: At, mount: At) -> bool:
    """Whether a volume is one that every such run has."""
    name = volume.key("name").peek()
    if name == "dshm" and draft.document.get("runtime", {}).get("rdma"):
        draft.put("runtime.rdma.shm_size", volume.get("emptyDir.sizeLimit").node)
    return name.startswith("tau-") or name == "dshm" or (name == "data" and bool(volume.key("emptyDir")))


def runtime_env(draft: Draft, name: str, value: Node) -> bool:
    """A part of Ray's runtime environment that tau-compile writes."""
    if name == "nsight" and isinstance(value, Mapping):
        draft.put("profiler.mode", "nsys")
        for key, field in (("delay", "warmup"), ("duration", "duration")):
            seconds = text(value.get(key))
            draft.put(f"profiler.{field}", f"{seconds}s" if seconds not in ("", "0") else None)
        return True
    return name == "working_dir" and not isinstance(value, Sequence)

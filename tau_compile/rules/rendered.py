"""What a template may never, or must always, render on a run (design, section 5), although the schema of the kind lets it.

Each function judges one sentence and yields what contradicts it: (id, key to point at, message, cure).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tau_compile.named import NamedTuple
from tau_compile.quantity import try_parse
from tau_compile.rules.parts import mapping, maps, part

if TYPE_CHECKING:
    from collections.abc import Iterator

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?").fullmatch
_QUEUE = "kueue.x-k8s.io/queue-name"
_APPLY_ONCE = "kustomize.toolkit.fluxcd.io/ssa"
_HOOKS = ("argocd.argoproj.io/hook", "argocd.argoproj.io/hook-delete-policy", "helm.sh/hook")
_OPTIONS, _FORCE = "argocd.argoproj.io/sync-options", "kustomize.toolkit.fluxcd.io/force"
_SIZES = ("cpu", "memory", "ephemeral-storage")


class Wrong(NamedTuple):
    """One contradiction."""

    id: str
    key: str
    message: str
    cure: str


def wrong(made: dict[str, Any]) -> Iterator[Wrong]:
    """Everything that is wrong with a Job or RayJob."""
    for judge in (_hooks, _apply_once, *(_RAY if made.get("kind") == "RayJob" else _JOB)):
        yield from judge(made)
    for where, pod in pods(made):
        yield from _queue_label(where, pod)
        for container in containers(pod):
            what = f"container `{container.get('name')}` {where}"
            yield from _privileged(what, container)
            yield from _env_twice(what, container)
            yield from _resources(what, container)


def _hooks(made: dict[str, Any]) -> Iterator[Wrong]:
    for key in _HOOKS:
        if key in mapping(made, "metadata", "annotations"):
            yield Wrong("TAU724", key, f"`{key}` makes the run again at every sync", "remove the annotation")
    for section in ("annotations", "labels"):  # A41, F6: what cannot be changed is deleted and made again
        held = mapping(made, "metadata", section)
        options = str(held.get(_OPTIONS, "")).replace(" ", "").casefold().split(",")
        forced = str(held.get(_FORCE, "")).casefold() == "enabled"
        for key in (
            *([_FORCE] * forced),
            *([_OPTIONS] * (not {"replace=true", "force=true"}.isdisjoint(options))),
        ):
            yield Wrong(
                "TAU724", key, f"`{key}` lets the agent delete the run and make it again", "remove it"
            )


def _apply_once(made: dict[str, Any]) -> Iterator[Wrong]:
    # G8
    if mapping(made, "metadata", "annotations").get(_APPLY_ONCE) != "IfNotPresent":
        yield Wrong(
            "TAU725",
            "annotations",
            f"without `{_APPLY_ONCE}: IfNotPresent` Flux would fight with Kueue over the run",
            "render `annotations: {{ run.annotations }}` in its metadata",
        )


def _shutdown(made: dict[str, Any]) -> Iterator[Wrong]:
    # K82
    if part(made, "spec", "shutdownAfterJobFinishes") is not True:
        yield Wrong(
            "TAU612",
            "shutdownAfterJobFinishes",
            "Kueue takes no RayJob whose cluster stays after the end",
            "render `shutdownAfterJobFinishes: true`",
        )


def _mode(made: dict[str, Any]) -> Iterator[Wrong]:
    # R9
    mode = part(made, "spec", "submissionMode")
    if mode not in ("K8sJobMode", "HTTPMode"):
        yield Wrong(
            "TAU613",
            "submissionMode",
            f"`submissionMode: {mode}` is none that submits the program: the cluster would wait for ever",
            "render `submissionMode: {{ ray.submission_mode }}`",
        )


def _replicas(made: dict[str, Any]) -> Iterator[Wrong]:
    # K88
    for group in _groups(made):
        counts = [group.get(key) for key in ("minReplicas", "replicas", "maxReplicas")]
        whole = [n for n in counts if isinstance(n, int) and not isinstance(n, bool)]
        if len(whole) < len(counts) or whole != sorted(whole):
            yield Wrong(
                "TAU614",
                "replicas",
                f"worker group `{group.get('groupName')}` must say minReplicas ≤ replicas ≤ maxReplicas: else Kueue counts "
                "other pods than run",
                "render `{{ ray.workers }}` for all three",
            )


def _group_names(made: dict[str, Any]) -> Iterator[Wrong]:
    # K84, K85, R58
    names = [str(group.get("groupName")) for group in _groups(made)]
    for name in dict.fromkeys(names):
        if name in ("head", "headgroup", "submitter") or not _LABEL(name) or names.count(name) > 1:
            yield Wrong(
                "TAU615",
                "groupName",
                f"worker group `{name}`: a name that is reserved, given twice or no DNS label",
                "render `groupName: {{ ray.group }}`",
            )


def _restart(made: dict[str, Any]) -> Iterator[Wrong]:
    # J10, R41
    path = ("spec", "template") if made.get("kind") == "Job" else ("spec", "submitterPodTemplate")
    template = part(made, *path)
    policy = part(template, "spec", "restartPolicy")
    if isinstance(template, dict) and policy not in ("Never", "OnFailure"):
        yield Wrong(
            "TAU433",
            "restartPolicy",
            "the pod template of a Job needs `restartPolicy: Never` or `OnFailure`",
            "render `restartPolicy: Never`",
        )


def _selector(made: dict[str, Any]) -> Iterator[Wrong]:
    # J15, K49, K81
    for key in ("selector", "manualSelector", "managedBy", "clusterSelector"):
        if key in mapping(made, "spec"):
            yield Wrong("TAU434", key, f"`spec.{key}` belongs to controllers", f"remove `{key}`")


def _queue_label(where: str, pod: dict[str, Any]) -> Iterator[Wrong]:
    # K94
    if _QUEUE in mapping(pod, "metadata", "labels"):
        yield Wrong(
            "TAU511",
            _QUEUE,
            f"the pod template {where} has a queue label: its pods would be queued a second time",
            "render `labels: {{ pod.labels }}` on pod templates",
        )


def _privileged(what: str, container: dict[str, Any]) -> Iterator[Wrong]:
    if part(container, "securityContext", "privileged") is True:
        yield Wrong(
            "TAU810", "privileged", f"{what} is privileged: it would own its node", "remove `privileged`"
        )


def _env_twice(what: str, container: dict[str, Any]) -> Iterator[Wrong]:
    # R11; of a Job's the last would win without a word
    names = [part(item, "name") for item in maps(container, "env")]
    for name in dict.fromkeys(n for n in names if names.count(n) > 1):
        yield Wrong("TAU435", "env", f"{what} has the variable `{name}` twice", "keep one of the two")


def _resources(what: str, container: dict[str, Any]) -> Iterator[Wrong]:
    # J41, J42
    requests, limits = (
        mapping(container, "resources", "requests"),
        mapping(container, "resources", "limits"),
    )
    for name in sorted({str(key) for key in (*requests, *limits)}):
        asked, most = (
            try_parse(str(amounts[name])) if name in amounts else None for amounts in (requests, limits)
        )
        if name in _SIZES and asked and most and asked > most:
            message = f"{what} asks for {requests[name]} of {name} and may have {limits[name]}"
        elif name not in _SIZES and name in requests and asked != most:
            message = f"{what} must have the same request and limit of {name}"
        else:
            continue
        yield Wrong("TAU436", "resources", message, "render `resources: {{ container.resources }}`")


_RAY = (_shutdown, _mode, _replicas, _group_names, _restart, _selector)
_JOB = (_restart, _selector)


def _groups(made: dict[str, Any]) -> list[dict[str, Any]]:
    return maps(mapping(made, "spec", "rayClusterSpec"), "workerGroupSpecs")


def pods(made: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The pod templates of a Job or RayJob, each with the words that say which it is; none of other objects."""
    if made.get("kind") not in ("Job", "RayJob"):
        return
    if made.get("kind") == "Job":
        yield "of the Job", mapping(made, "spec", "template")
        return
    yield "of the submitter", mapping(made, "spec", "submitterPodTemplate")
    yield "of the head", mapping(made, "spec", "rayClusterSpec", "headGroupSpec", "template")
    for group in _groups(made):
        yield f"of the group `{group.get('groupName')}`", mapping(group, "template")


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    """All containers of a pod template, init containers first."""
    spec = mapping(pod, "spec")
    return [*maps(spec, "initContainers"), *maps(spec, "containers")]

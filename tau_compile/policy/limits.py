"""What an overlay document may not say although its schema lets it: it would take runs out of Kueue's hands, or is unproven."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, error, warning
from tau_compile.source.nodes import Mapping, Scalar, find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.policy.model import Cluster, Profile, Workspace
    from tau_compile.source.nodes import Entry

# Label keys that Kueue, Kubernetes, KubeRay and tau-compile write themselves (K61, J15, R58).
_OWNED = {
    "kueue.x-k8s.io/": "Kueue",
    "batch.kubernetes.io/": "Kubernetes",
    "ray.io/": "KubeRay",
    "tau-compile/": "tau-compile",
    "job-name": "Kubernetes",
    "controller-uid": "Kubernetes",
}
# Namespaces that Kueue leaves alone, in a default installation (K53).
_UNMANAGED = ("kube-system", "kueue-system")
# Chosen for one workload or by its workspace: meaningless as a default of a whole overlay.
_NO_DEFAULTS = {
    "policy.workspace": "a workload's folder or its own `policy.workspace` says where it belongs",
    "policy.namespace": "write the Workspace's `namespace`",
    "policy.queue": "write the Workspace's `queue`, or the Profile's `defaultLocalQueue`",
}
# The versions that the validators were run for: the first and the last of each.
_PROVED = {
    "kubernetes": ("Kubernetes", (1, 29), (1, 36)),
    "kueue": ("Kueue", (0, 19), (0, 19)),
    "kuberay": ("KubeRay", (1, 6), (1, 6)),
}


def workspace_limits(space: Workspace, node: Mapping) -> Iterator[Diagnostic]:
    """Pod labels that belong to a controller, and a namespace in which nothing is queued."""
    labels = node.get("podLabels")
    for entry in labels.entries if isinstance(labels, Mapping) else ():
        name = entry.key.name
        prefix, slash, _ = name.partition("/")
        owner = _OWNED.get(prefix + slash)
        if owner:
            yield error(
                "TAU324",
                f"the label `{name}` is {owner}'s own: a run that brings another value could not start, or would be lost",
                entry.key.span,
                "remove it, or use a key of your own such as example.com/team",
            )
    if space.namespace in _UNMANAGED:
        place = find(node, "namespace") or find(node, "spec.target.namespace") or find(node, "metadata.name")
        yield error(
            "TAU328",
            f"Kueue does not manage the namespace `{space.namespace}`: runs there would start outside of every quota",
            place.span if place else space.span,
            "give the workspace a namespace of its own, with a LocalQueue",
        )


def default_limits(defaults: Mapping) -> Iterator[Diagnostic]:
    """Defaults of any overlay that only make sense in one tau.yaml."""
    for path, cure in _NO_DEFAULTS.items():
        section, _, name = path.partition(".")
        inner = defaults.get(section)
        entry = inner.entry(name) if isinstance(inner, Mapping) else None
        if entry is not None:
            yield error("TAU301", f"an overlay may not set `{path}` for all", entry.key.span, cure)


def idle_defaults(defaults: Mapping) -> Iterator[Diagnostic]:
    """Defaults that nothing reads: whether a file launches, it says itself."""
    for path in ("run.launch", "run.on_change"):
        found = find(defaults, path)
        if found is not None:
            yield warning(
                "TAU341",
                f"`{path}` has no effect in an overlay: only the workload's own file says when it launches",
                found.span,
                "remove it here, and set it in the workload's tau.yaml",
            )


def profile_limits(profile: Profile, defaults: Mapping) -> Iterator[Diagnostic]:
    """Defaults of a Profile that contradict the numbers it stands for."""
    numbers = (
        ("compute.gpus", profile.gpus_per_worker, "gpusPerWorker"),
        ("compute.workers", profile.worker_count, "workerCount"),
        ("execution.nodes", profile.worker_count, "workerCount"),
    )
    for path, number, key in numbers:
        found = find(defaults, path)
        text = found.text.removeprefix("+") if isinstance(found, Scalar) else ""
        if found is not None and text.isdigit() and int(text) != number:
            yield error(
                "TAU301",
                f"`{path}: {text}` contradicts the profile's own `{key}: {number}`",
                found.span,
                f"remove it: `{key}` says how many",
            )


def cluster_limits(cluster: Cluster, node: Mapping) -> Iterator[Diagnostic]:
    """Versions that nothing was proved for; one warning for the cluster."""
    versions = node.get("versions")
    odd = [e for e in versions.entries if _unproved(e)] if isinstance(versions, Mapping) else []
    if odd:
        shown = " and ".join(f"{_PROVED[e.key.name][0]} {_text(e)}" for e in odd)
        proved = ", ".join(
            f"{name} {_series(low)}" + (f"–{_series(high)}" if high != low else "")
            for name, low, high in _PROVED.values()
        )
        yield warning(
            "TAU910",
            f"unproven: cluster `{cluster.name}` runs {shown}, and what compiles was never checked against that",
            odd[0].value.span,
            f"proved are {proved}; try one run before you rely on it",
        )


def _unproved(entry: Entry) -> bool:
    known, text = _PROVED.get(entry.key.name), _text(entry)
    if known is None or not text:
        return False
    series = tuple(int(part) for part in text.split(".")[:2])
    return not known[1] <= series <= known[2]


def _series(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def _text(entry: Entry) -> str:
    return entry.value.text if isinstance(entry.value, Scalar) else ""

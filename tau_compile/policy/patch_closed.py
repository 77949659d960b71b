"""What no patch may touch, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.policy.list_keys import SPACE, TEMPLATES

if TYPE_CHECKING:
    from tau_compile.policy.list_keys import Path

_ID = "it is what the object is known by"
_PRIORITY = "a class that is not there would keep the run in the queue for ever"
_AGENT = "it decides what the GitOps agent does to runs that are under way"
_PLACEMENT = "a placement that no flavor of the queue can give would keep the run in the queue for ever"
# Kind, or "" for all → path → why no patch may touch it.
_CLOSED: dict[str, dict[Path, str]] = {
    "": {
        ("apiVersion",): _ID,
        ("kind",): _ID,
        ("status",): "the cluster writes it",
    },
    "ConfigMap": {
        ("data",): "it is the code of the run, which its id stands for",
        ("binaryData",): "it is the code of the run, which its id stands for",
        ("immutable",): "the code of a run never changes",
    },
    "RayJob": {
        ("spec", "deletionStrategy"): "it would delete what Git brings back, and so run it again",
        ("spec", "entrypoint"): "it starts the program of the run, which its id stands for",
        ("spec", "runtimeEnvYAML"): "it is made of what tau.yaml asks for",
        ("spec", "submissionMode"): "`ray.submissionMode` of the Platform decides it, and more depends on it",
    },
    "Service": {
        ("spec", "selector"): "the nodes of the Job find each other by it",
        ("spec", "clusterIP"): "the nodes of the Job find each other by it",
        ("spec", "publishNotReadyAddresses"): "the nodes of the Job find each other by it",
    },
    "ExternalSecret": {
        ("spec", "target", "name"): "it is the Secret that runs ask for",
    },
    "LimitRange": {
        ("spec",): "runs are judged by what `limitRange` says",
    },
    "LocalQueue": {
        ("spec", "clusterQueue"): "the queues of the Cluster say where it leads, and runs are judged by that",
    },
    "Namespace": {
        ("spec",): "the cluster writes it",
    },
    "RoleBinding": {
        ("roleRef",): "the API server lets nobody change it",
    },
}
# Beginnings of labels that no patch gives a namespace; an overlay's `labels` may not, either.
NAMESPACE_LABELS = ("pod-security.kubernetes.io/", "kubernetes.io/")
_PRECIOUS = ("Namespace", "PersistentVolumeClaim")
_PRUNING = ("argocd.argoproj.io/sync-options", "kustomize.toolkit.fluxcd.io/prune")
_OWNER = "app.kubernetes.io/managed-by"
_KEYS = {
    "kueue.x-k8s.io/queue-name": "the queue is the workspace's or the profile's",
    "kueue.x-k8s.io/priority-class": _PRIORITY,
    "kueue.x-k8s.io/job-min-parallelism": "it would start with fewer pods than it has",
    "kueue.x-k8s.io/elastic-job": "it could change its size",
    "argocd.argoproj.io/sync-options": _AGENT,
}
_BEGINNINGS = {
    "kustomize.toolkit.fluxcd.io/": _AGENT,
    "kueue.x-k8s.io/podset-": _PLACEMENT,
}
_INSTEAD = {
    "kueue.x-k8s.io/queue-name": "set `queue` of the workspace, or `defaultLocalQueue` of a profile",
    "pod-security": "write `podSecurity` under `manage`: runs are judged by it",
    "kueue.x-k8s.io/priority-class": "set `policy.workload_priority_class` under the overlay's `defaults`",
}
_OWN = "tau-compile/"


class Closed:
    """What is closed on objects of one kind. ``holders`` are the steps on the way to labels and annotations of ours."""

    def __init__(self, kind: str) -> None:
        self._paths = {**_CLOSED[""], **_CLOSED.get(kind, {})}
        self._kind = kind
        pods = [(*template, "metadata") for template in TEMPLATES[kind]]
        self._metadata = {("metadata",), *pods}
        ours = [("metadata", "labels"), ("metadata", "annotations"), *((*path, "labels") for path in pods)]
        self.holders = {path[:end] for path in ours for end in range(1, len(path) + 1)}

    def why(self, path: Path) -> tuple[str, str]:
        """Why the key at ``path`` is closed and what to write instead; empty when it is open."""
        name, hint = path[-1], "remove it from the patch"
        if path[:-1] in self._metadata and name not in ("labels", "annotations"):
            named = name in ("name", "generateName", "namespace")
            return _ID if named else "of metadata only labels and annotations are open", hint
        if path[:-2] in self._metadata and path[-2] in ("labels", "annotations"):
            if name.startswith(_OWN):
                return (
                    "collector and policies find runs by the keys that begin so",
                    "choose a key with a prefix of your own",
                )
            if name.startswith("kueue.x-k8s.io/podset-"):
                hint = "set `policy.topology` under the overlay's `defaults`"
            why = self._of_space(path) if self._kind in SPACE else self._of_run(name)
            return why, _INSTEAD.get(name.partition(".")[0], _INSTEAD.get(name, hint))
        return self._paths.get(path, ""), hint

    @staticmethod
    def _of_run(name: str) -> str:
        """Why a label or an annotation of a run is closed."""
        begins = next((why for start, why in _BEGINNINGS.items() if name.startswith(start)), "")
        return _KEYS.get(name, begins)

    def _of_space(self, path: Path) -> str:
        """Why a label or an annotation of a workspace's object is closed."""
        section, name = path[-2:]
        if self._kind in _PRECIOUS and name in _PRUNING:
            return (
                "without it an agent would delete the object, and all that lies in it, when its manifest goes"
            )
        if section != "labels":
            return ""
        if name == _OWNER:
            return "by it a build knows its own objects"
        given = self._kind == "Namespace" and name.startswith(NAMESPACE_LABELS)
        return "it decides what may run in the namespace" if given else ""

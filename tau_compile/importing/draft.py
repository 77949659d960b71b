"""A tau.yaml in the making, and the reasons why parts of a Job or RayJob are no part of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tau_compile.importing.documents import Object
    from tau_compile.importing.ledger import Ledger, Why
    from tau_compile.policy.model import Cluster

SECTIONS = (
    "schema_version",
    "name",
    "run",
    "execution",
    "compute",
    "policy",
    "runtime",
    "storage",
    "artifacts",
    "metrics",
    "profiler",
    "resilience",
    "workflow",
    "experiment",
    "research",
    "model",
)
_TEMPLATE = "the platform team can add it in a template of its own (templates/), if the run needs it"
_LABELS = "labels of all pods of a team stand in its Workspace, under `podLabels`"
_RAY = "nothing need be done: tau-compile sets this for every Ray cluster"
NONE: Why = ("is not carried over: tau.yaml has no field for it", _TEMPLATE)
_RETIRED: Why = (
    "is not carried over: deleting a finished Job would make the GitOps agent run it again",
    "nothing need be done: a run that ended leaves the repository by being retired",
)
_RETRY: Why = (
    "is not carried over: tau-compile starts a failed run anew instead of its pod",
    "write `resilience: {max_retries: 2}` with the number of further attempts, if there shall be any",
)
_TOLERATIONS: Why = (
    "is not carried over: pods tolerate the taints that the Cluster overlay names",
    "write the taint under `gpuTaints`, or at the flavor or GPU class, of the Cluster overlay",
)
_ACCOUNT: Why = (
    "is not carried over: it belongs to the workspace",
    "write it as `serviceAccount` of the Workspace",
)
_PULL: Why = (
    "is not carried over: it belongs to the workspace",
    "write it under `imagePullSecrets` of the Workspace",
)
_SECURITY: Why = (
    "is not carried over: tau-compile gives pods the least rights",
    "write `runtime: {security: {mode: restricted}}` for pods that must not run as root; " + _TEMPLATE,
)
_PODS: Why = (
    "is not carried over: a Job runs one pod, or one pod on each node of a torchrun group",
    "write a tau.yaml for each piece of work; or start it with torchrun and write `execution: {launcher: torchrun, nodes: 4}`",
)
_CONTAINER: Why = (
    "is not carried over: a run has one container",
    "put what it does into the program, or into the image; " + _TEMPLATE,
)
_ENV_FROM: Why = (
    "is not carried over: tau.yaml names variables one by one",
    "write a Secret under `envFromSecrets` of the Workspace, or the variables under `runtime.env` and `runtime.env_secret`",
)
_NOT_NEEDED: Why = ("is not carried over: tau-compile sets it", "nothing need be done")
_POD: dict[str, Why] = {
    "tolerations": _TOLERATIONS,
    "serviceAccountName": _ACCOUNT,
    "serviceAccount": _ACCOUNT,
    "imagePullSecrets": _PULL,
    "securityContext": _SECURITY,
    "containers[]": _CONTAINER,
    "initContainers": _CONTAINER,
    "initContainers[]": _CONTAINER,
    "terminationGracePeriodSeconds": (
        "is not carried over: every program gets 600 seconds for a last checkpoint",
        "nothing need be done",
    ),
    "restartPolicy": _RETRY,
    "enableServiceLinks": _NOT_NEEDED,
}
_OF_CONTAINER: dict[str, Why] = {
    "": NONE,
    ".name": ("is not carried over: the container is called `main`", "nothing need be done"),
    ".ports": (
        "is not carried over: a run serves nothing",
        "nothing need be done: ports are open without being listed",
    ),
    ".envFrom": _ENV_FROM,
    ".securityContext": _SECURITY,
    ".imagePullPolicy": (
        "is not carried over: it follows from the image",
        "name the image by a version or a digest, so that it is the same everywhere",
    ),
    ".volumeMounts[]": NONE,
}
_META: dict[str, Why] = {
    "metadata.labels": ("is not carried over: labels come from tau.yaml and the workspace", _LABELS),
    "metadata.annotations": NONE,
    "metadata.ownerReferences": (
        "is not carried over: a run has no owner but its record",
        "stop what makes such objects, or both will run",
    ),
}


def _pods(prefix: str) -> dict[str, Why]:
    found = {f"{prefix}.spec.{path}": why for path, why in _POD.items()}
    found |= {f"{prefix}.spec.containers[]{path}": why for path, why in _OF_CONTAINER.items() if path}
    return found | {f"{prefix}.{path}": why for path, why in _META.items()}


WHYS: dict[str, dict[str, Why]] = {
    "Job": {
        "": NONE,
        **_META,
        **_pods("spec.template"),
        "spec.ttlSecondsAfterFinished": _RETIRED,
        "spec.backoffLimit": _RETRY,
        "spec.backoffLimitPerIndex": _RETRY,
        "spec.podFailurePolicy": _RETRY,
        "spec.completions": _PODS,
        "spec.parallelism": _PODS,
        "spec.completionMode": _PODS,
        "spec.suspend": ("is not carried over: Kueue starts every run", "nothing need be done"),
    },
    "RayJob": {
        "": NONE,
        **_META,
        **_pods("spec.submitterPodTemplate"),
        **_pods("spec.rayClusterSpec.headGroupSpec.template"),
        **_pods("spec.rayClusterSpec.workerGroupSpecs[].template"),
        "spec.ttlSecondsAfterFinished": _RETIRED,
        "spec.backoffLimit": _RETRY,
        "spec.shutdownAfterJobFinishes": (
            "is not carried over: the Ray cluster of a run is taken down when it ends",
            "nothing need be done",
        ),
        "spec.submissionMode": ("is not carried over: the platform decides it",
                               "write `ray: {submissionMode: HTTPMode}` or another in the Platform"),
        "spec.suspend": ("is not carried over: Kueue starts every run", "nothing need be done"),
        "spec.submitterPodTemplate": (
            "is not carried over: tau-compile makes the pod that submits the program",
            "nothing need be done",
        ),
        "spec.rayClusterSpec.rayVersion": ("is not carried over: it is read from the image's tag", "nothing need be done"),
        "spec.rayClusterSpec.headGroupSpec.rayStartParams": ("is not carried over: tau-compile sets it", _RAY),
        "spec.rayClusterSpec.workerGroupSpecs[].rayStartParams": ("is not carried over: tau-compile sets it", _RAY),
        "spec.rayClusterSpec.enableInTreeAutoscaling": (
            "is not carried over: runs have a fixed number of workers",
            "write the number as `compute.workers`",
        ),
        "spec.rayClusterSpec.workerGroupSpecs[].minReplicas": (
            "is not carried over: runs have a fixed number of workers",
            "write the number as `compute.workers`",
        ),
        "spec.rayClusterSpec.workerGroupSpecs[].maxReplicas": (
            "is not carried over: runs have a fixed number of workers",
            "write the number as `compute.workers`",
        ),
        "spec.rayClusterSpec.workerGroupSpecs[]": (
            "is not carried over: a run has one group of workers",
            "give all workers one shape, or make two workloads of it",
        ),
    },
}  # fmt: skip


class Draft:
    """The tau.yaml that a Job or RayJob becomes. ``code`` are the files of ConfigMaps, by the ConfigMap's name and by key.

    ``variables`` are (from a Secret, text) by name, those of a pod that was read before among them; ``size`` is their length.
    """

    def __init__(
        self,
        item: Object,
        ledger: Ledger,
        clusters: tuple[Cluster, ...],
        code: dict[str, dict[str, str | bytes]],
    ) -> None:
        self.item = item
        self.ledger = ledger
        self.clusters = clusters
        self.code = code
        self.ray = item.kind == "RayJob"
        self.own = False
        self.document: dict[Any, Any] = {"schema_version": 1}
        self.env: dict[Any, Any] = {}
        self.secrets: dict[Any, Any] = {}
        self.variables: dict[str, tuple[bool, str]] = {}
        self.carried: set[str] = set()
        self.size = 0
        self.shipped = 0
        self.mounts: list[dict[str, Any]] = []
        self.files: dict[str, str | bytes] = {}
        self.programs: set[str] = set()

    def put(self, path: str, value: Any) -> None:
        """Set a field; None and empty values say nothing."""
        if value is None or value in ("", [], {}):
            return
        *sections, name = path.split(".")
        here = self.document
        for section in sections:
            here = here.setdefault(section, {})
        here[name] = value

    def finished(self) -> dict[Any, Any]:
        """The document in the order in which people read it."""
        self.put("runtime.env", self.env)
        self.put("runtime.env_secret", self.secrets)
        self.put("storage.mounts", self.mounts)
        return {name: self.document[name] for name in SECTIONS if name in self.document}

"""TauGrid's TauCluster and TauWorkspace → overlays in our own kinds (taugrid-config 4.1, 4.2).

``policy.taugrid`` reads the same objects in place of overlays; this writes what it makes of them, for a platform that moves over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, has_errors, warning
from tau_compile.emit.yaml import dump
from tau_compile.importing import kueue, managing
from tau_compile.importing.documents import Object, objects, wanted
from tau_compile.importing.ledger import Ledger
from tau_compile.importing.result import Made, checked, made
from tau_compile.schema import store
from tau_compile.source.nodes import Scalar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.importing.ledger import At

KINDS = {"TauCluster": "tau.azure.com", "TauWorkspace": "tau.azure.com"}
# What TauGrid's GPU nodes carry (taugrid-config 3.3, 4.4).
_GPU_TAINTS = [
    {"key": "nvidia.com/gpu", "effect": "NoSchedule"},
    {"key": "sku", "value": "gpu", "effect": "NoSchedule"},
]
_CONTROLLER = "is not carried over: it steers TauGrid's controller"
_ACCESS = (
    "is not carried over: who may see a workspace is said in its `manage`, which needs the catalogue of its queue",
    "give Kueue's objects too; or keep the RoleBinding that gives the group its access to the namespace",
)
_WHYS = {
    "": (
        "is not carried over: an overlay has no place for it",
        "nothing need be done, unless something reads it",
    ),
    "spec.deletionPolicy": (_CONTROLLER, "nothing need be done: Git says what exists"),
    "spec.managementMode": (_CONTROLLER, "nothing need be done: Git says what exists"),
    "spec.nodes": (
        "is not carried over: tau-compile labels no nodes",
        "let the node pools set these labels, and name them under `gpuClasses` and `flavors` of the Cluster",
    ),
    "spec.queues": (
        "is not carried over: a TauCluster has only the names of Kueue's objects",
        "give the objects too: `kubectl get clusterqueues,localqueues,resourceflavors,topologies.kueue.x-k8s.io -A -o yaml`",
    ),
    "spec.workspaceDefaults.defaultQueue": (
        "is not carried over: every workspace names a queue of its own",
        "nothing need be done; a new Workspace says its `queue`",
    ),
    "spec.authorization": _ACCESS,
    "spec.principalRef": (
        "is not carried over: it is what the identity provider calls whom `kubernetesSubject` stands for",
        "nothing need be done: the cluster knows the other name",
    ),
    "spec.kubernetesSubject": _ACCESS,
    "spec.role": _ACCESS,
    "spec.target.createNamespace": (
        "is not carried over: without `manage` an overlay describes a namespace that exists",
        "give Kueue's objects too; or keep the Namespace",
    ),
    "spec.defaults.ttlSecondsAfterFinished": (
        "is not carried over: deleting a finished Job would make the GitOps agent run it again",
        "nothing need be done: a run that ended leaves the repository by being retired",
    ),
    "spec.workloadIdentity.clientId": (
        "is not carried over: without `manage` somebody else makes the ServiceAccount",
        "give Kueue's objects too; or keep the annotation `azure.workload.identity/client-id` on the ServiceAccount",
    ),
    "spec.teamRef": (
        "is not carried over: a team's quota is the cohort of its ClusterQueue",
        "nothing need be done: Kueue's objects stay in the cluster as they are",
    ),
    "spec.quota": (
        "is not carried over: Kueue holds the quota",
        "nothing need be done: Kueue's objects stay in the cluster as they are",
    ),
}
_NAMES = (
    "is not carried over: the catalogue is made from Kueue's own objects, which are among the files",
    "nothing need be done",
)
_PROFILE = (
    "description",
    "applicability",
    "gpusPerWorker",
    "workerCount",
    "mode",
    "placement",
    "defaultLocalQueue",
    "executionTarget",
    "priorities",
    "disableDefaultPriorities",
)


def import_taugrid(files: Iterable[tuple[str, bytes]], name: str = "") -> Made:
    """Overlays from exported objects; ``name`` is the cluster's, else the TauCluster's own.

    Kueue's objects may be among them: they fill the Cluster's catalogue.
    """
    said: list[Diagnostic] = []
    found: list[Object] = []
    for label, data in files:
        found += objects(data, label, said)
    kept = wanted(found, {**KINDS, **kueue.KINDS}, "taugrid", said)
    own = [item for item in kept if item.kind in KINDS]
    if kept and not own:
        wanted(kept, KINDS, "taugrid", said)  # says what else to use
    if has_errors(said) or not own:
        return made((), found, said)
    written: dict[str, str | bytes] = {}
    first = next((item for item in own if item.kind == "TauCluster"), None)
    others = [item for item in kept if item.kind not in KINDS]
    ledger = None
    if first is not None:
        ledger = Ledger(first, said, {**_WHYS, "spec.queues": _NAMES} if others else _WHYS)
        ledger.root.get("metadata.name").text()
        ledger.root.key("spec").skip(lambda at: not at.below() and not at.peek())
        name = name or first.name or "cluster"
    if first is not None or others:
        _cluster(ledger, others, name or "cluster", written, said)
    for item in own:
        if item.kind == "TauWorkspace":
            _workspace(item, name, ledger, written, said)
        elif item is not first:
            message = f"{item.title} is left out: a repository has one TauCluster"
            said.append(warning("TAU395", message, item.node.span, "import it apart"))
    if ledger is not None:
        ledger.rest()
    return made(written.items(), found, said)


def _cluster(
    ledger: Ledger | None,
    others: list[Object],
    name: str,
    written: dict[str, str | bytes],
    said: list[Diagnostic],
) -> None:
    """Write the Cluster, with Kueue's objects as its catalogue, and the TauCluster's Profiles."""
    more: dict[str, Any] = {}
    if ledger is not None:
        more = {"gpuTaints": _GPU_TAINTS, "priorityClasses": _profiles(ledger.root, written, said)}
    if others:
        document = kueue.cluster(others, name, more, said)
    else:
        assert ledger is not None
        head = {"apiVersion": "tau-compile/v1", "kind": "Cluster", "metadata": {"name": name}, **more}
        document = checked(head, ledger.root.span, store.overlay("Cluster"), "Cluster", said)
    if document is not None:
        written[f"overlays/clusters/{name}.yaml"] = dump(document, keep_order=True)


def _profiles(root: At, written: dict[str, str | bytes], said: list[Diagnostic]) -> list[dict[str, Any]]:
    """Write the Profiles; the priority classes that they name."""
    classes: dict[str, None] = {}
    for item in root.get("spec.workloadProfiles").items():
        name = item.key("name")
        if not name.peek():
            item.drop("is not carried over: it has no name", "give each profile a `name`")
            continue
        document = {
            "apiVersion": "tau-compile/v1",
            "kind": "Profile",
            "metadata": {"name": name.scalar()},
            **{key: _known(item.key(key)) for key in _PROFILE},
        }
        data = checked(document, item.span, store.overlay("Profile"), "Profile", said)
        if data is None:
            continue
        path = f"overlays/profiles/{data['metadata']['name']}.yaml"
        if path in written:
            item.ledger.said.append(
                warning(
                    "TAU395",
                    f"the profile `{name.peek()}` is given twice; this one is left out",
                    name.span,
                    "rename it",
                )
            )
            continue
        written[path] = dump(data, keep_order=True)
        classes.update(dict.fromkeys(data.get("priorities", {}).values()))
    return [{"name": name} for name in sorted(classes)]


def _known(at: At) -> Any:
    """A part of a profile: its own fields are those of a Profile; an unknown one stays open."""
    if at.path[-1] == "applicability":
        return {key: at.key(key).take() for key in ("teams", "lanes", "namespaces")}
    if at.path[-1] == "priorities":
        return {key: at.key(key).scalar() for key in ("workloadPriorityClassName", "podPriorityClassName")}
    return at.scalar()


def _workspace(
    item: Object,
    cluster: str,
    of_cluster: Ledger | None,
    written: dict[str, str | bytes],
    said: list[Diagnostic],
) -> None:
    ledger = Ledger(item, said, _WHYS)
    root = ledger.root
    root.get("metadata.namespace").skip()  # where TauGrid keeps its objects
    spec = root.get("spec")
    queue = spec.key("queue").scalar()
    if queue is None and of_cluster is not None:
        queue = of_cluster.root.get("spec.workspaceDefaults.defaultQueue").scalar()
    if queue is None:
        said.append(
            warning(
                "TAU397",
                f"{item.title} names no queue; `jobqueue` is what TauGrid uses then",
                item.node.span,
                "write the LocalQueue of its namespace as `queue`",
            )
        )
    tier = spec.get("defaults.priority")
    word = {"normal": "default"}.get(tier.peek(), tier.peek())
    account = spec.get("workloadIdentity.serviceAccountName")
    named = root.get("metadata.name").scalar()
    document = {
        "apiVersion": "tau-compile/v1",
        "kind": "Workspace",
        "metadata": {"name": named},
        "cluster": cluster or None,
        "namespace": spec.get("target.namespace").scalar(),
        "queue": queue or "jobqueue",
        "serviceAccount": account.scalar(),
        "outputRoot": spec.get("defaults.outputRoot").scalar(),
        "podLabels": {"azure.workload.identity/use": _yes(account)} if account.peek() else None,
        "defaults": {"policy": {"priority_tier": _word(tier, word)}} if tier.scalar() else None,
    }
    _manage(document, item, spec, written, said)
    ledger.rest()
    data = checked(document, item.node.span, store.overlay("Workspace"), "Workspace", said)
    if data is None:
        return
    path = f"overlays/workspaces/{data['metadata']['name']}.yaml"
    if path in written:
        said.append(
            warning(
                "TAU395", f"{item.title} is given twice; this one is left out", item.node.span, "rename it"
            )
        )
        return
    written[path] = dump(data, keep_order=True)


def _manage(
    document: dict[str, Any], item: Object, spec: At, written: dict[str, str | bytes], said: list[Diagnostic]
) -> None:
    """Let the workspace be rendered, if the cluster's catalogue has its queue."""
    if not any(path.startswith("overlays/clusters/") for path in written):
        return
    more = {"manage": managing.section(spec)}
    whole = checked({**document, **more}, item.node.span, store.overlay("Workspace"), "Workspace", [])
    why = managing.refusal(written, whole) if whole else ""
    if why:
        message = f"{item.title} gets no `manage`: {why}"
        said.append(
            warning(
                "TAU397",
                message,
                item.node.span,
                "give Kueue's objects too, or mend that; then `manage` makes the namespace and who may see it",
            )
        )
    elif whole:
        document |= more
        managing.carried(spec)


def _yes(at: At) -> Any:
    return at.node._replace(text="true", plain=False) if isinstance(at.node, Scalar) else None


def _word(at: At, word: str) -> Any:
    return at.node._replace(text=word) if isinstance(at.node, Scalar) else None

"""Kueue's objects of a running cluster → the catalogue of a Cluster overlay (K27, K88, K118; v1alpha1 to v1beta2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Span, has_errors, warning
from tau_compile.emit.yaml import dump
from tau_compile.importing import gpus, priorities
from tau_compile.importing.documents import Object, objects, wanted
from tau_compile.importing.ledger import Ledger
from tau_compile.importing.result import Made, checked, made
from tau_compile.schema import store

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.importing.ledger import At

GROUP = "kueue.x-k8s.io"
KINDS = {
    "ClusterQueue": GROUP,
    "Cohort": GROUP,
    "LocalQueue": GROUP,
    "ResourceFlavor": GROUP,
    "Topology": GROUP,
    "WorkloadPriorityClass": GROUP,
    "PriorityClass": "scheduling.k8s.io",
}
_STAYS = "nothing need be done: it stays in the cluster as it is, and tau-compile does not change queues"
_WHYS = {
    "": ("is not carried over: a Cluster overlay has no place for it", _STAYS),
    "spec.resourceGroups[].flavors[].resources": (
        "is not carried over: the catalogue says which flavors a queue offers, and Kueue knows how much of each",
        _STAYS,
    ),
    "metadata.namespace": ("is not carried over: the object belongs to no namespace", "remove it"),
}
_EXPRESSIONS = (
    "is not carried over: a Cluster overlay says which labels a namespace needs, and has no other conditions",
    "give the namespaces labels that match, under `manage: {labels: …}` of their Workspaces",
)
# Levels of a topology whose label tells which word of `policy.topology` means them.
_PLACEMENTS = {
    "kubernetes.io/hostname": "same-host",
    "tau.azure.com/accelerator-domain": "same-accelerator-domain",
    "nvidia.com/gpu.clique": "same-accelerator-domain",
    "tau.azure.com/network-domain": "same-network-domain",
    "tau.azure.com/site": "same-site",
    "topology.kubernetes.io/zone": "same-site",
}


def import_kueue(files: Iterable[tuple[str, bytes]], name: str) -> Made:
    """The Cluster overlay called ``name`` from exported objects; ``files`` are (label, content)."""
    said: list[Diagnostic] = []
    found: list[Object] = []
    for label, data in files:
        found += objects(data, label, said)
    kept = wanted(found, KINDS, "kueue", said)
    if has_errors(said) or not kept:
        return made((), found, said)
    document = cluster(kept, name, {}, said)
    if document is None:
        return made((), found, said)
    return made([(f"overlays/clusters/{name}.yaml", dump(document, keep_order=True))], found, said)


def cluster(
    found: list[Object], name: str, more: dict[str, Any], said: list[Diagnostic]
) -> dict[str, Any] | None:
    """A Cluster overlay as plain data; ``more`` are parts of it that come from elsewhere."""
    kept = _once(found, said)
    ledgers = [Ledger(item, said, _WHYS) for item in kept]
    kinds: dict[str, list[Ledger]] = {kind: [] for kind in KINDS}
    for ledger in ledgers:
        ledger.root.get("metadata.name").text()
        kinds[ledger.item.kind].append(ledger)
    topologies = [_topology(ledger) for ledger in kinds["Topology"]]
    quotas = gpus.quotas(kinds["ClusterQueue"])
    flavors = [
        _flavor(ledger, {t.item.name for t in kinds["Topology"]}) for ledger in kinds["ResourceFlavor"]
    ]
    taints, classes = gpus.classes(kinds["ResourceFlavor"], flavors, quotas)
    queues = _queues(kinds, said)
    span = found[0].node.span if found else Span("", 1, 1, 1, 1)
    document = {
        "apiVersion": "tau-compile/v1",
        "kind": "Cluster",
        "metadata": {"name": name},
        "gpuTaints": taints or more.get("gpuTaints"),
        "gpuClasses": classes,
        "flavors": flavors,
        "queues": queues,
        "priorityClasses": priorities.classes(kinds["WorkloadPriorityClass"], kinds["PriorityClass"], said)
        or more.get("priorityClasses"),
        "topologies": topologies,
    }
    for ledger in ledgers:
        ledger.rest()
    data = checked(document, span, store.overlay("Cluster"), "Cluster", said)
    return _without_loose_ends(data) if data else None


def _once(found: list[Object], said: list[Diagnostic]) -> list[Object]:
    """Each object once, sorted by kind, namespace and name; a second one of a name is reported."""
    from tau_compile.diagnostics import Related

    first: dict[tuple[str, str, str], Object] = {}
    for item in found:
        key = (item.kind, item.namespace if item.kind == "LocalQueue" else "", item.name)
        other = first.setdefault(key, item)
        if other is not item:
            said.append(
                warning(
                    "TAU395",
                    f"{item.title} is given twice; this one is left out",
                    item.node.span,
                    "export each object once",
                    (Related(other.node.span, "the one that counts"),),
                )
            )
    return [first[key] for key in sorted(first)]


def _flavor(ledger: Ledger, topologies: set[str]) -> dict[str, Any]:
    spec = ledger.root.get("spec")
    spec.skip(lambda at: not at.below() and not at.peek())
    topology = spec.get("topologyName")
    if topology.peek() and topology.peek() not in topologies:
        topology.drop(
            f"is not carried over: no file has the Topology `{topology.peek()}`",
            "export it too: `kubectl get topologies.kueue.x-k8s.io -o yaml`",
        )
    return {
        "name": ledger.root.get("metadata.name").node,
        "gpuClass": None,  # see gpus.classes
        "nodeLabels": spec.get("nodeLabels").take(),
        "taints": [_part(taint, ("key", "value", "effect")) for taint in spec.get("nodeTaints").items()],
        "tolerations": [
            _part(item, ("key", "operator", "value", "effect")) for item in spec.get("tolerations").items()
        ],
        "topology": topology.scalar() if topology.peek() in topologies else None,
    }


def _part(at: At, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: at.key(name).scalar() for name in names}


def _topology(ledger: Ledger) -> dict[str, Any]:
    levels, used = [], set()
    for level in ledger.root.get("spec.levels").items():
        label = level.key("nodeLabel")
        word = _PLACEMENTS.get(label.peek(), "")
        if word in used or not word:
            word = ""
            ledger.said.append(_unnamed(label))
        used.add(word)
        levels.append({"nodeLabel": label.scalar(), "placement": word or None})
    return {"name": ledger.root.get("metadata.name").node, "levels": levels}


def _unnamed(label: At) -> Diagnostic:
    from tau_compile.importing.ledger import shown

    return warning(
        "TAU397",
        f"which word of `policy.topology` means the level `{shown(label.path)}` cannot be told from its label",
        label.span,
        "add `placement: same-network-domain` or another word to the level, if workloads may ask for it",
    )


def _queues(kinds: dict[str, list[Ledger]], said: list[Diagnostic]) -> list[dict[str, Any]]:
    flavors = {ledger.item.name for ledger in kinds["ResourceFlavor"]}
    places: dict[str, list[dict[str, Any]]] = {ledger.item.name: [] for ledger in kinds["ClusterQueue"]}
    for ledger in kinds["LocalQueue"]:
        root = ledger.root
        target = root.get("spec.clusterQueue")
        if target.peek() not in places:
            target.drop(
                f"is not carried over, nor is the queue: no file has the ClusterQueue `{target.peek()}`",
                "export it too: `kubectl get clusterqueues -o yaml`",
            )
            root.get("metadata.namespace").skip()
            continue
        places[target.text()].append(
            {"namespace": root.get("metadata.namespace").scalar(), "name": root.get("metadata.name").node}
        )
    queues = []
    for ledger in kinds["ClusterQueue"]:
        names: dict[str, Any] = {}
        for group in ledger.root.get("spec.resourceGroups").items():
            for flavor in group.key("flavors").items():
                name = flavor.key("name")
                if name.peek() in flavors:
                    names.setdefault(name.peek(), name.scalar())
                    name.take()
                else:
                    name.drop(
                        f"is not carried over: no file has the ResourceFlavor `{name.peek()}`",
                        "export it too: `kubectl get resourceflavors -o yaml`",
                    )
        queues.append(
            {
                "name": ledger.root.get("metadata.name").node,
                "flavors": list(names.values()),
                "namespaceLabels": _looked_for(ledger, bool(places[ledger.item.name])),
                "localQueues": places[ledger.item.name],
            }
        )
    return queues


def _looked_for(ledger: Ledger, used: bool) -> Any:
    """Labels that namespaces of this queue need. `{}` lets in all of them, and nothing at all lets in none (K23)."""
    selector = ledger.root.get("spec.namespaceSelector")
    selector.skip(lambda at: not at.below() and not at.peek())
    if not selector and used:
        ledger.said.append(
            warning(
                "TAU397",
                f"{ledger.item.title} has no `namespaceSelector`: it admits from no namespace, and runs would wait for ever",
                ledger.item.node.span,
                "write `namespaceSelector: {}` into the ClusterQueue, or the labels of its namespaces",
            )
        )
    selector.key("matchExpressions").drop(*_EXPRESSIONS)
    return selector.key("matchLabels").take()


def _without_loose_ends(data: dict[str, Any]) -> dict[str, Any]:
    """The catalogue without names that lead to what its schema refused."""
    flavors = {flavor["name"] for flavor in data.get("flavors", ())}
    classes = {known["name"] for known in data.get("gpuClasses", ())}
    topologies = {topology["name"] for topology in data.get("topologies", ())}
    for flavor in data.get("flavors", ()):
        if flavor.get("gpuClass", "") not in classes:
            flavor.pop("gpuClass", None)
        if flavor.get("topology", "") not in topologies:
            flavor.pop("topology", None)
    for queue in data.get("queues", ()):
        if "flavors" in queue:
            queue["flavors"] = [name for name in queue["flavors"] if name in flavors]
    return data

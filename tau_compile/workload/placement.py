"""Where pods may land: tolerations, node labels and Kueue's topology annotation (taugrid-config 3.2; K118, K140–K147)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.policy.profile import OLDER_PLACEMENTS, placement_word
from tau_compile.source.nodes import Mapping, find
from tau_compile.workload.model import Gpu, Plain, Toleration
from tau_compile.workload.view import scalar

if TYPE_CHECKING:
    from tau_compile.policy.model import Cluster, Flavor, Taint, Topology
    from tau_compile.policy.resolve import Resolved
    from tau_compile.workload.view import View

_PREFIX = "kueue.x-k8s.io/podset-"


def read_tolerations(cluster: Cluster, flavors: tuple[Flavor, ...], gpu: Gpu) -> tuple[Toleration, ...]:
    """Tolerations of pods: the taints of the flavors they may get, and with GPUs those of the cluster and the class.

    They stand on the pod itself: for some Kueue versions a flavor's own tolerations do not count (B-03).
    """
    known = cluster.gpu_class(gpu.gpu_class)
    taints: list[Taint] = []
    if gpu.number:
        taints = [*cluster.gpu_taints, *(known.taints if known else ())]
    for flavor in flavors:
        taints += flavor.taints
    found = dict.fromkeys(
        Toleration(t.key, t.value, t.effect) for t in taints if t.effect != "PreferNoSchedule"
    )
    return tuple(found)


def candidate_flavors(resolved: Resolved, gpu: Gpu) -> tuple[Flavor, ...]:
    """The flavors of the workload's queue, in its order, that pods with these GPUs could get.

    A tainted flavor of GPU nodes is none for pods without GPUs (K118): they stay off the GPUs' quota.
    """
    cluster = resolved.cluster
    place = (resolved.workspace.namespace, resolved.queue)
    known = {flavor.name: flavor for flavor in cluster.flavors}
    names = dict.fromkeys(name for q in cluster.queues if place in q.local_queues for name in q.flavors)
    fits = _has_gpus if gpu.number else _is_open
    return tuple(known[name] for name in names if name in known and fits(cluster, known[name], gpu))


def _has_gpus(cluster: Cluster, flavor: Flavor, gpu: Gpu) -> bool:
    if flavor.gpu_class:
        return gpu.gpu_class in ("", "any", flavor.gpu_class)
    return not cluster.gpu_classes


def _is_open(cluster: Cluster, flavor: Flavor, gpu: Gpu) -> bool:
    if not flavor.gpu_class:
        return not {taint.key for taint in cluster.gpu_taints} & {taint.key for taint in flavor.taints}
    known = cluster.gpu_class(flavor.gpu_class)
    of_nodes = (*cluster.gpu_taints, *(known.taints if known else ()))
    return all(taint.effect == "PreferNoSchedule" for taint in (*flavor.taints, *of_nodes))


def read_plain(resolved: Resolved) -> Plain:
    """Where the pods without GPUs of a Ray cluster may land: its head, and the pod that submits the program.

    They ask for no closeness; but where all they can get has a topology, Kueue wants that said (K147).
    """
    none = Gpu("", 0, "", ())
    # A queue may have nothing but GPU nodes; then they have to do.
    flavors = candidate_flavors(resolved, none) or candidate_flavors(resolved, Gpu("", 1, "any", ()))
    wired = bool(flavors) and all(flavor.topology for flavor in flavors)
    topology = (f"{_PREFIX}unconstrained-topology", "true") if wired else None
    return Plain(read_tolerations(resolved.cluster, flavors, none), topology)


def read_node_selector(view: View, document: Mapping, gpu: Gpu) -> tuple[tuple[str, str], ...]:
    """The class's node labels and ``policy.node_selector``, sorted by key."""
    labels = dict(gpu.node_labels)
    clear = view.flag("policy.clear_node_selector")
    source = find(document, "policy.node_selector") if clear else view.mapping("policy.node_selector")
    if clear:
        labels = {}
    for entry in source.entries if isinstance(source, Mapping) else ():
        value = scalar(entry.value)
        if gpu.gpu_class not in ("", "any") and labels.get(entry.key.name, value) != value:
            view.error(
                "TAU293",
                f"`{entry.key.name}: {value}` contradicts GPU class `{gpu.gpu_class}`, whose nodes carry "
                f"`{labels[entry.key.name]}`",
                entry.value.span,
                "remove the label, or choose another class",
            )
        labels[entry.key.name] = value
    return tuple(sorted(labels.items()))


def read_topology(view: View, resolved: Resolved, flavors: tuple[Flavor, ...]) -> tuple[str, str] | None:
    """The topology annotation, when a flavor of the queue has a topology; a placement that needs one and has none is refused."""
    written = view.text("policy.topology")
    if written in OLDER_PLACEMENTS and find(resolved.document, "policy.topology") is not None:
        view.warning(
            "TAU212",
            f"`policy.topology: {written}` is an older word",
            view.span("policy.topology"),
            f"write `{placement_word(written)}`",
        )
    if written == "elastic-workers" or view.word("policy.mode") == "elastic":
        path = "policy.mode" if view.word("policy.mode") == "elastic" else "policy.topology"
        view.error(
            "TAU225",
            "elastic workloads are not compiled",
            view.span(path),
            "write `policy: {mode: fixed}` and a fixed number of workers, or choose a fixed profile",
        )
        return None
    word = placement_word(written) or "unconstrained"
    topologies = [t for t in resolved.cluster.topologies if t.name in {f.topology for f in flavors}]
    if word == "unconstrained":
        return (f"{_PREFIX}unconstrained-topology", "true") if topologies else None
    level = _level(topologies, word)
    if level:
        return (f"{_PREFIX}required-topology", level)
    if not topologies and word == "same-host" and _one_pod(view):
        return None  # a single pod is on one host by itself
    # Kueue would never admit it (K146).
    offered = sorted({name for t in topologies for name, _ in t.levels if name})
    view.error(
        "TAU504",
        f"placement `{word}` needs a topology, and queue `{resolved.queue}` of cluster "
        f"`{resolved.cluster.name}` offers {', '.join(offered) if offered else 'none'}",
        view.span("policy.topology"),
        "write `unconstrained`, "
        + (
            f"or one of {', '.join(offered)}"
            if offered
            else "or ask the platform team to give a flavor of the queue a topology with that level"
        ),
    )
    return None


def _level(topologies: list[Topology], word: str) -> str:
    for topology in topologies:
        for name, label in topology.levels:
            if name == word:
                return label
    return ""


def _one_pod(view: View) -> bool:
    return view.integer("compute.workers", 1) == 1 and view.integer("execution.nodes", 1) == 1

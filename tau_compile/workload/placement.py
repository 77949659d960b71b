"""Where pods may land: tolerations, node labels and Kueue's topology annotation (taugrid-config 3.2; K118, K140–K147)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Related
from tau_compile.policy.profile import OLDER_PLACEMENTS, fixed_values, placement_word
from tau_compile.source.nodes import Mapping, find
from tau_compile.workload.model import Gpu, Plain, Toleration
from tau_compile.workload.view import scalar

if TYPE_CHECKING:
    from tau_compile.policy.model import Cluster, Flavor, Taint, Topology
    from tau_compile.policy.resolve import Resolved
    from tau_compile.workload.view import View

_PREFIX = "kueue.x-k8s.io/podset-"
_ANY = Gpu("", 1, "any", ())


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
        own = cluster.gpu_class(flavor.gpu_class)
        if own and not gpu.number:
            taints += (*cluster.gpu_taints, *own.taints)
    found = dict.fromkeys(
        Toleration(t.key, t.value, t.effect) for t in taints if t.effect != "PreferNoSchedule"
    )
    return tuple(found)


def candidate_flavors(resolved: Resolved, gpu: Gpu) -> tuple[Flavor, ...]:
    """The flavors of the workload's queue, in its order, that pods with these GPUs could get.

    A tainted flavor of GPU nodes is none for pods without GPUs (K118): they stay off the GPUs' quota. But a queue may have
    nothing else; then it has to do.
    """
    cluster, offered = resolved.cluster, _offered(resolved)
    fits = _has_gpus if gpu.number else _is_open
    found = tuple(flavor for flavor in offered if fits(cluster, flavor, gpu))
    return found if found or gpu.number else candidate_flavors(resolved, _ANY)


def _offered(resolved: Resolved) -> tuple[Flavor, ...]:
    """The flavors of the workload's queue, in its order."""
    place = (resolved.workspace.namespace, resolved.queue)
    known = {flavor.name: flavor for flavor in resolved.cluster.flavors}
    queues = [queue for queue in resolved.cluster.queues if place in queue.local_queues]
    names = dict.fromkeys(name for queue in queues for name in queue.flavors)
    return tuple(known[name] for name in names if name in known)


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
    flavors = candidate_flavors(resolved, none)
    return Plain(read_tolerations(resolved.cluster, flavors, none), _unconstrained(flavors, none))


def _unconstrained(flavors: tuple[Flavor, ...], gpu: Gpu) -> tuple[str, str] | None:
    """Kueue's word for "anywhere", without which a flavor with a topology is passed over, and with it one without (K147)."""
    deciding = flavors[:1] if gpu.number else flavors  # pods with GPUs go by the flavor that is tried first
    wired = bool(deciding) and all(flavor.topology for flavor in deciding)
    return (f"{_PREFIX}unconstrained-topology", "true") if wired else None


def check_flavors(
    view: View,
    resolved: Resolved,
    gpu: Gpu,
    flavors: tuple[Flavor, ...],
    selector: tuple[tuple[str, str], ...],
) -> None:
    """Refuse pods that Kueue would never admit: no flavor of their queue has such nodes (K117)."""
    cluster, offered = resolved.cluster, _offered(resolved)
    path = "policy.gpu_class" if view.has("policy.gpu_class") else "policy.shape"
    unknown = gpu.gpu_class not in ("", "any") and cluster.gpu_class(gpu.gpu_class) is None
    if offered and gpu.number and not flavors and not unknown:
        classes = ", ".join(sorted({flavor.gpu_class for flavor in offered if flavor.gpu_class}))
        of_class = f" of class `{gpu.gpu_class}`" if gpu.gpu_class not in ("", "any") else ""
        view.error(
            "TAU506",
            f"queue `{resolved.queue}` of cluster `{cluster.name}` has no GPUs{of_class}: "
            "the workload would wait for ever",
            view.span(path if view.has(path) else "compute.gpus"),
            f"classes it offers: {classes}"
            if classes
            else "remove the GPUs, or choose a workspace with a GPU queue",
        )
    labels = dict(selector)
    against = [
        (flavor, key, value)
        for flavor in flavors
        for key, value in flavor.node_labels
        if labels.get(key, value) != value
    ]
    if flavors and {flavor.name for flavor, _, _ in against} == {flavor.name for flavor in flavors}:
        flavor, key, value = against[0]
        view.error(
            "TAU508",
            f"no flavor of queue `{resolved.queue}` has nodes with `{key}: {labels[key]}`: "
            "the workload would wait for ever",
            view.span("policy.node_selector" if view.has("policy.node_selector") else path),
            f"remove the label, or write one that a flavor has, such as `{key}: {value}`",
            (Related(flavor.span, f"flavor `{flavor.name}` has `{key}: {value}`"),),
        )


def check_together(view: View, resolved: Resolved, gpu: Gpu, flavors: tuple[Flavor, ...], pods: int) -> None:
    """Refuse pods that are to share one node and need more GPUs than it has."""
    if placement_word(view.text("policy.topology")) != "same-host" or pods == 1 or "/mig-" in gpu.resource:
        return
    names = [gpu.gpu_class] if gpu.gpu_class not in ("", "any") else [f.gpu_class for f in flavors]
    known = [resolved.cluster.gpu_class(name) for name in names]
    sizes = [found.gpus_per_node for found in known if found and found.gpus_per_node is not None]
    if gpu.number and sizes and len(sizes) == len(names) and pods * gpu.number > max(sizes):
        view.error(
            "TAU505",
            f"{pods} pods with {gpu.number} GPU{'s' if gpu.number > 1 else ''} each do not fit on one node, "
            f"which has {max(sizes)}, and placement `same-host` wants that",
            view.span("policy.topology"),
            "write another placement, such as `unconstrained`, or ask for fewer GPUs",
        )


def read_node_selector(view: View, resolved: Resolved, gpu: Gpu) -> tuple[tuple[str, str], ...]:
    """The class's node labels and ``policy.node_selector``, sorted by key."""
    labels = dict(gpu.node_labels)
    clear = view.flag("policy.clear_node_selector")
    source = (
        find(resolved.document, "policy.node_selector") if clear else view.mapping("policy.node_selector")
    )
    if clear:
        merged = view.mapping("policy.node_selector")
        below = [e for e in (merged.entries if merged else ()) if e.key.span.file != view.node.span.file]
        own = view.own("policy.clear_node_selector") and resolved.profile is None
        if own and not labels and not below:
            view.warning(
                "TAU903",
                f"`{view.name('policy.clear_node_selector')}` has no effect: the platform sets no node labels",
                view.key_span("policy.clear_node_selector"),
                "remove the line",
            )
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


def read_topology(
    view: View, resolved: Resolved, flavors: tuple[Flavor, ...], gpu: Gpu
) -> tuple[str, str] | None:
    """The topology annotation, when a flavor of the queue has a topology; a placement that needs one and has none is refused."""
    written = view.text("policy.topology")
    if written in OLDER_PLACEMENTS and find(resolved.document, "policy.topology") is not None:
        view.warning(
            "TAU212",
            f"`policy.topology: {written}` is an older word",
            view.span("policy.topology"),
            f"write `{placement_word(written)}`",
        )
    # A lane may also stand for a profile with a fixed number of workers.
    fixed = resolved.profile is not None and "elastic" in resolved.profile.lanes
    elastic = [
        path for path in ("policy.mode", *(() if fixed else ("policy.lane",))) if view.word(path) == "elastic"
    ]
    if elastic or written == "elastic-workers":
        path = elastic[0] if elastic else "policy.topology"
        view.error(
            "TAU225",
            "elastic workloads are not compiled",
            view.span(path),
            "remove the lane, and write a fixed number of workers"
            if path == "policy.lane"
            else "choose a fixed profile with policy.profile, or ask the platform team for one"
            if _of_profile(resolved, path)
            else "write `policy: {mode: fixed}` and a fixed number of workers, or choose a fixed profile",
            fixed=_of_profile(resolved, path),
        )
        return None
    word = placement_word(written) or "unconstrained"
    topologies = [t for t in resolved.cluster.topologies if t.name in {f.topology for f in flavors}]
    if word == "unconstrained":
        return _unconstrained(flavors, gpu)
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
        "choose another profile with policy.profile, or ask the platform team to give a flavor of the queue a topology "
        "with that level"
        if _of_profile(resolved, "policy.topology")
        else "write `unconstrained`, "
        + (
            f"or one of {', '.join(offered)}"
            if offered
            else "or ask the platform team to give a flavor of the queue a topology with that level"
        ),
        fixed=_of_profile(resolved, "policy.topology"),
    )
    return None


def _of_profile(resolved: Resolved, path: str) -> bool:
    """Whether a profile fixes what stands at a path: then no other value may be written."""
    return resolved.profile is not None and path in fixed_values(resolved.profile, resolved.document)


def _level(topologies: list[Topology], word: str) -> str:
    for topology in topologies:
        for name, label in topology.levels:
            if name == word:
                return label
    return ""


def _one_pod(view: View) -> bool:
    return view.integer("compute.workers", 1) == 1 and view.integer("execution.nodes", 1) == 1

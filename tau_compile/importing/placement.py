"""Where the pods of an imported object land → ``policy``: priority class, GPU class, node labels, topology (K140 to K147)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.source.nodes import Mapping, Scalar

if TYPE_CHECKING:
    from tau_compile.importing.draft import Draft
    from tau_compile.importing.ledger import At


def placement(draft: Draft, template: At, spec: At) -> None:
    """Priority class, node labels and how close together the pods are."""
    draft.put("policy.pod_priority_class", spec.key("priorityClassName").scalar())
    selector = spec.key("nodeSelector")
    values = {key.name: value.peek() for key, value in selector.entries()}
    known = [
        c
        for cluster in draft.clusters
        for c in cluster.gpu_classes
        if c.node_labels and all(values.get(key) == value for key, value in c.node_labels)
    ]
    inside = dict(known[0].node_labels) if known else {}
    if known and isinstance(selector.node, Mapping) and draft.document.get("compute", {}).get("gpus"):
        draft.put("policy.gpu_class", Scalar(selector.node.span, known[0].name, False))
    else:
        inside = {}
    labels = {key: value.scalar() for key, value in selector.entries() if key.name not in inside}
    for name in inside:
        selector.key(name).take()
    draft.put("policy.node_selector", {key: value for key, value in labels.items() if value is not None})
    notes = template.get("metadata.annotations")
    for prefix in ("required", "preferred"):
        level = notes.key(f"kueue.x-k8s.io/podset-{prefix}-topology")
        word = _word(draft, level.peek())
        if word and prefix == "required" and isinstance(level.node, Scalar):
            level.take()
            draft.put("policy.topology", Scalar(level.node.span, word, False))
        else:
            level.drop(
                "is not carried over: no topology of the repository's clusters has this level"
                if prefix == "required"
                else "is not carried over: closeness is required or unconstrained",
                "write `policy: {topology: same-host}` or another word; the Cluster overlay says what it means",
            )
    notes.key("kueue.x-k8s.io/podset-unconstrained-topology").same("true")


def _word(draft: Draft, label: str) -> str:
    if label == "kubernetes.io/hostname":
        return "same-host"
    for cluster in draft.clusters:
        for topology in cluster.topologies:
            for word, name in topology.levels:
                if word and name == label:
                    return word
    return ""

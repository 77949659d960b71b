"""GPU classes of a cluster, told from the labels of its flavors and the resources that its queues cover."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tau_compile.source.nodes import Mapping, Scalar, Sequence, find

if TYPE_CHECKING:
    from tau_compile.importing.ledger import Ledger

# Labels whose value names the GPU model, the plainest first, and the resource of such a GPU.
_LABELS = (
    ("tau.azure.com/gpu-class", "nvidia.com/gpu"),
    ("nvidia.com/gpu.product", "nvidia.com/gpu"),
    ("cloud.google.com/gke-accelerator", "nvidia.com/gpu"),
    ("karpenter.k8s.aws/instance-gpu-name", "nvidia.com/gpu"),
    ("gpu.nvidia.com/class", "nvidia.com/gpu"),
    ("amd.com/gpu.product-name", "amd.com/gpu"),
)
_COUNTS = ("nvidia.com/gpu.count", "karpenter.k8s.aws/instance-gpu-count")
# Words of a product's name that say who makes it and how it is built in, not which one it is.
_DROPPED = re.compile(
    r"nvidia|tesla|geforce|quadro|amd|instinct|sxm[0-9]*|pcie|nvl|hbm[0-9]*e?|oam|shared|tensor|core|gpu|mig|[0-9]+g|"
)
_MIG = re.compile(r"nvidia\.com/mig-([1-9][0-9]*g\.[1-9][0-9]*gb(?:\.me)?)")
_WHOLE = ("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe")


def quotas(queues: list[Ledger]) -> dict[str, set[str]]:
    """Flavor → resources of which some queue offers more than none."""
    found: dict[str, set[str]] = {}
    for ledger in queues:
        groups = find(ledger.item.node, "spec.resourceGroups")
        for group in groups.items if isinstance(groups, Sequence) else ():
            flavors = find(group, "flavors")
            for flavor in flavors.items if isinstance(flavors, Sequence) else ():
                name, resources = find(flavor, "name"), find(flavor, "resources")
                for item in resources.items if isinstance(resources, Sequence) else ():
                    resource, quota = find(item, "name"), find(item, "nominalQuota")
                    if (
                        isinstance(name, Scalar)
                        and isinstance(resource, Scalar)
                        and isinstance(quota, Scalar)
                    ) and quota.text not in ("", "0"):
                        found.setdefault(name.text, set()).add(resource.text)
    return found


def classes(
    ledgers: list[Ledger], flavors: list[dict[str, Any]], offered: dict[str, set[str]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(taints that all GPU flavors carry, the classes); each GPU flavor is given its ``gpuClass``."""
    known: dict[str, dict[str, Any]] = {}
    of_class: dict[str, list[dict[str, Any]]] = {}
    for ledger, flavor in zip(ledgers, flavors, strict=True):
        resources = offered.get(ledger.item.name, set())
        labels = find(ledger.item.node, "spec.nodeLabels")
        values = {
            e.key.name: e.value.text
            for e in (labels.entries if isinstance(labels, Mapping) else ())
            if isinstance(e.value, Scalar)
        }
        name, label, resource = _class(ledger.item.name, values, resources)
        if not name:
            continue
        flavor["gpuClass"] = name
        made = known.setdefault(name, {"name": name, "resource": None, "nodeLabels": {}, "migProfiles": []})
        if resource != "nvidia.com/gpu":
            made["resource"] = resource
        selected = {label: values[label]} if label else values
        same = not of_class.get(name) or made["nodeLabels"] == selected
        made["nodeLabels"] = selected if same else _shared(made["nodeLabels"], selected)
        count = next((values[key] for key in _COUNTS if values.get(key, "").isdigit()), "")
        if count and len(count) < 4:
            made["gpusPerNode"] = int(count)
        profiles = {found[1] for found in map(_MIG.fullmatch, resources) if found}
        made["migProfiles"] = sorted({*made["migProfiles"], *profiles})
        of_class.setdefault(name, []).append(flavor)
    everywhere = _common([f for group in of_class.values() for f in group])
    for name, group in of_class.items():
        known[name]["taints"] = [taint for taint in _common(group) if not _in(taint, everywhere)]
    return everywhere, [known[name] for name in sorted(known)]


def _class(flavor: str, labels: dict[str, str], resources: set[str]) -> tuple[str, str, str]:
    """(class, the label that names it, the resource), or empty for a flavor of CPU nodes."""
    whole = next((word for word in _WHOLE if word in resources), "")
    for label, resource in _LABELS:
        name = class_name(labels[label]) if labels.get(label) else ""
        if name:
            return name, label, whole or resource
    if whole or any(_MIG.fullmatch(word) for word in resources):
        name = re.sub(r"[^a-z0-9]+", "-", flavor.lower()).strip("-")[:63].strip("-")
        return name, "", whole or "nvidia.com/gpu"
    return "", "", ""


def class_name(product: str) -> str:
    """``NVIDIA-H100-80GB-HBM3`` → ``h100-80gb``; empty where nothing is left."""
    words = re.split(r"[^a-z0-9]+", product.lower())
    kept = "-".join(word for word in words if not _DROPPED.fullmatch(word))
    return kept[:63].strip("-")


def _shared(one: dict[str, str], other: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in one.items() if other.get(key) == value}


def _common(flavors: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The taints that all flavors carry."""
    if not flavors:
        return []
    first, *others = [flavor["taints"] for flavor in flavors]
    return [taint for taint in first if all(_in(taint, other) for other in others)]


def _in(taint: dict[str, Any], others: list[dict[str, Any]]) -> bool:
    return _words(taint) in [_words(other) for other in others]


def _words(taint: dict[str, Any]) -> tuple[str, ...]:
    return tuple(taint[key].text if taint[key] else "" for key in ("key", "value", "effect"))

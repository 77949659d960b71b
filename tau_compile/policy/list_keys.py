"""By what a patch tells the items of a list apart: the one table.

Where Kubernetes says it, this is what Kubernetes says: ``patchMergeKey`` of its own types (k8s.io/api v0.30, `core/v1/types.go`),
and for ports also the protocol, which is part of ``+listMapKey`` there. Kubernetes reads no such marks on custom resources (B21);
a RayJob's pod templates are pod templates here all the same (B19, B20). Two rows are ours: worker groups go by their name, which
KubeRay wants unique (R58), and tolerations by everything that makes one, so that a patch adds to those that the platform set.
Of the objects of a workspace only the Secrets of a ServiceAccount have a key; every other list there is one value.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

Path = tuple[str, ...]  # of keys; `[]` stands for the items of a list
ITEM = "[]"


class ListKey(NamedTuple):
    """The fields that make an item; ``defaults`` of those that may be left out; an item has one ``union`` field at most."""

    fields: tuple[str, ...]
    defaults: tuple[tuple[str, str], ...] = ()
    union: Callable[[str], bool] | None = None

    @property
    def required(self) -> tuple[str, ...]:
        """The fields that an item cannot do without."""
        given = dict(self.defaults)
        return tuple(field for field in self.fields if field not in given)


# A volume is of one kind, a variable has one source: what a patch says takes the place of what was there.
_NAME = ListKey(("name",))
_VOLUME = ListKey(("name",), (), lambda field: field != "name")
_VARIABLE = ListKey(("name",), (), lambda field: field in ("value", "valueFrom"))
_TCP = (("protocol", "TCP"),)
_CONTAINER = {
    "env": _VARIABLE,
    "ports": ListKey(("containerPort", "protocol"), _TCP),
    "volumeDevices": ListKey(("devicePath",)),
    "volumeMounts": ListKey(("mountPath",)),
}
_POD = {
    "containers": _NAME,
    "initContainers": _NAME,
    "volumes": _VOLUME,
    "imagePullSecrets": _NAME,
    "hostAliases": ListKey(("ip",)),
    "resourceClaims": _NAME,
    "schedulingGates": _NAME,
    "topologySpreadConstraints": ListKey(("topologyKey",)),
    "tolerations": ListKey(
        ("key", "operator", "value", "effect"),
        (("key", ""), ("operator", "Equal"), ("value", ""), ("effect", "")),
    ),
}
_SERVICE_PORT = ListKey(("port", "protocol"), _TCP)
_GROUPS = ("spec", "rayClusterSpec", "workerGroupSpecs")
_SCALER = ("spec", "rayClusterSpec", "autoscalerOptions")
# Kind of a workspace's object → its version. An object of a cluster with an older one keeps that.
SPACE = {
    "ExternalSecret": "external-secrets.io/v1",
    "LimitRange": "v1",
    "LocalQueue": "kueue.x-k8s.io/v1beta2",
    "Namespace": "v1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "PersistentVolumeClaim": "v1",
    "ResourceQuota": "v1",
    "Role": "rbac.authorization.k8s.io/v1",
    "RoleBinding": "rbac.authorization.k8s.io/v1",
    "ServiceAccount": "v1",
}
VERSIONS = {"Job": "batch/v1", "RayJob": "ray.io/v1", "Service": "v1", "ConfigMap": "v1", **SPACE}
# Kind → its pod templates; every kind that a patch can be for is here.
TEMPLATES: dict[str, tuple[Path, ...]] = {
    "Job": (("spec", "template"),),
    "RayJob": (
        ("spec", "submitterPodTemplate"),
        ("spec", "rayClusterSpec", "headGroupSpec", "template"),
        (*_GROUPS, ITEM, "template"),
    ),
    **dict.fromkeys(("Service", "ConfigMap", *SPACE), ()),
}
_OTHERS: dict[str, dict[Path, ListKey]] = {
    "RayJob": {
        _GROUPS: ListKey(("groupName",)),
        (*_SCALER, "env"): _VARIABLE,
        (*_SCALER, "volumeMounts"): _CONTAINER["volumeMounts"],
        ("spec", "rayClusterSpec", "headGroupSpec", "headService", "spec", "ports"): _SERVICE_PORT,
    },
    "Service": {("spec", "ports"): _SERVICE_PORT},
    "ServiceAccount": {("secrets",): _NAME},
}
# A command line is one value.
_WHOLE = ("command", "args")


@cache
def list_keys(kind: str) -> dict[Path, ListKey]:
    """The lists of a kind whose items are merged, by path."""
    found = dict(_OTHERS.get(kind, {}))
    for template in TEMPLATES[kind]:
        for name, key in _POD.items():
            found[(*template, "spec", name)] = key
        for name in ("containers", "initContainers"):
            for inner, key in _CONTAINER.items():
                found[(*template, "spec", name, ITEM, inner)] = key
    return found


def union_at(path: Path, key: ListKey | None) -> Callable[[str], bool] | None:
    """Which of the fields of a mapping exclude each other: those of an item, or the kinds of source of a variable."""
    if key is not None:
        return key.union
    return _any if path[-1:] == ("valueFrom",) else None


def _any(field: str) -> bool:
    return True


def is_whole(path: Path) -> bool:
    """Whether the list at ``path`` is one value, which nobody expects to be merged."""
    return path[-1] in _WHOLE


def shown(path: Path) -> str:
    """A path for a message."""
    text = ""
    for step in path:
        text += step if step == ITEM else f".{step}" if text else step
    return text

"""A workspace with a ``manage`` section → its Kubernetes objects, rendered from ``templates/workspace``.

Mutable objects with stable names: none of them has a name that a run's objects could have, which end in a run id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.named import NamedTuple
from tau_compile.quantity import try_parse
from tau_compile.render.openings import policies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.diagnostics import Diagnostic
    from tau_compile.policy.manage import Managed
    from tau_compile.render.templates import Templates

FOLDER = "workspace"
# Text in annotations may hold ${...}, which Flux would otherwise substitute (G14).
_AS_IS = {"kustomize.toolkit.fluxcd.io/substitute": "disabled"}
# What lies in a namespace or in a claim is worth more than its manifest: no agent prunes it (A41, F6).
_KEPT = {
    **_AS_IS,
    "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
    "kustomize.toolkit.fluxcd.io/prune": "disabled",
}
# What the API server fills in. Parts of lists, which Argo CD compares as they are: left out, they would differ for ever.
_REMOTE = {"conversionStrategy": "Default", "decodingStrategy": "None", "metadataPolicy": "None"}
# Far more than a team has at a time: against a script that runs away. Nothing here counts pods or compute, which are
# Kueue's: a pod that takes ten minutes to stop would keep the next run from starting.
_COUNTS = {
    "count/configmaps": "2000",
    "count/jobs.batch": "2000",
    "count/persistentvolumeclaims": "100",
    "count/rayclusters.ray.io": "500",
    "count/rayjobs.ray.io": "1000",
    "count/secrets": "500",
    "count/services": "1000",
}
_SECURITY = {"enforce": "baseline", "warn": "restricted", "audit": "restricted", "version": "latest"}
# What holds where no layer of `manage` says anything, by path.
DEFAULTS: dict[str, Any] = {
    "network.isolate": True,
    "quota": _COUNTS,
    **{f"podSecurity.{name}": value for name, value in _SECURITY.items()},
}
_RESEARCHERS = "tau-compile-researchers"
_LOOK = ["get", "list", "watch"]
# No Secrets; nothing that starts, changes or enters anything. Logs are read with `get`.
_RULES = [
    {
        "apiGroups": [""],
        "resources": ["configmaps", "events", "persistentvolumeclaims", "pods", "resourcequotas", "services"],
        "verbs": _LOOK,
    },
    {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": _LOOK},
    {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": _LOOK},
    {"apiGroups": ["kueue.x-k8s.io"], "resources": ["localqueues", "workloads"], "verbs": _LOOK},
    {"apiGroups": ["ray.io"], "resources": ["rayclusters", "rayjobs", "rayservices"], "verbs": _LOOK},
]


class Wanted(NamedTuple):
    """An object to render: its kind, its name, and what its template is told beside ``space``."""

    kind: str
    name: str
    context: dict[str, Any]

    @property
    def template(self) -> str:
        """The template's path below ``templates/``."""
        return f"{FOLDER}/{self.kind.lower()}.yaml.j2"


def wanted(one: Managed) -> list[Wanted]:
    """Every object of a workspace, the namespace first. This is the list: what a workspace has stands here."""
    return [
        _namespace(one),
        *_accounts(one),
        *_researchers(one),
        *_queues(one),
        *_limits(one),
        *(Wanted("NetworkPolicy", p["name"], {"policy": p}) for p in policies(one.data.get("network", {}))),
        *_claims(one),
        *_secrets(one),
    ]


def render(
    one: Managed, templates: Templates
) -> tuple[list[tuple[Wanted, dict[str, Any]]], list[Diagnostic]]:
    """The objects of a workspace, each with what was wanted, and what is wrong with a template."""
    space = {
        "name": one.space.name,
        "namespace": one.space.namespace,
        "labels": labels(one),
        "annotations": dict(_AS_IS),
    }
    made: list[tuple[Wanted, dict[str, Any]]] = []
    said: list[Diagnostic] = []
    for want in wanted(one):
        found, problems = templates.render(want.template, {"space": space, **want.context})
        said += problems
        if found is not None:
            made.append((want, found))
    return made, said


def labels(one: Managed) -> dict[str, str]:
    """Labels of every object."""
    found = {"app.kubernetes.io/managed-by": "tau-compile"}
    if len(one.space.name) <= 63:  # a label's value; the longest names are none
        found["tau-compile/workspace"] = one.space.name
    return found


def _namespace(one: Managed) -> Wanted:
    security = _SECURITY | one.data.get("podSecurity", {})
    prefix = "pod-security.kubernetes.io"
    levels = {f"{prefix}/{mode}": security[mode] for mode in ("enforce", "warn", "audit")}
    versions = {f"{prefix}/{mode}-version": security["version"] for mode in ("enforce", "warn", "audit")}
    context = {
        "labels": {**one.labels, **levels, **versions, **labels(one)},
        "annotations": {**one.data.get("annotations", {}), **_KEPT},
    }
    return Wanted("Namespace", one.space.namespace, {"namespace": context})


def _accounts(one: Managed) -> Iterator[Wanted]:
    listed = {item["name"]: item for item in one.data.get("serviceAccounts", ())}
    name = one.space.service_account
    if name and name != "default":  # the cluster makes that one
        listed.setdefault(name, {"name": name})
    for name, item in sorted(listed.items()):
        account = {
            "name": name,
            "labels": {**item.get("labels", {}), **labels(one)},
            "annotations": {**item.get("annotations", {}), **_AS_IS},
        }
        yield Wanted("ServiceAccount", name, {"account": account})


def _researchers(one: Managed) -> Iterator[Wanted]:
    groups = one.data.get("researchers", ())
    if not groups:
        return
    subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": name} for name in groups]
    role = {"name": _RESEARCHERS, "rules": _RULES, "subjects": subjects}
    yield Wanted("Role", _RESEARCHERS, {"role": role})
    yield Wanted("RoleBinding", _RESEARCHERS, {"role": role})


def _queues(one: Managed) -> Iterator[Wanted]:
    # K1
    series = [int(part) for part in one.cluster.kueue.split(".")[:2]] if one.cluster.kueue else [0, 15]
    version = "kueue.x-k8s.io/v1beta2" if series >= [0, 15] else "kueue.x-k8s.io/v1beta1"
    for name, leads_to in one.queues:
        queue = {"name": name, "leads_to": leads_to, "api_version": version}
        yield Wanted("LocalQueue", name, {"queue": queue})


def _limits(one: Managed) -> Iterator[Wanted]:
    hard = one.data.get("quota", _COUNTS)
    if hard:
        name = "tau-compile-counts"
        yield Wanted("ResourceQuota", name, {"quota": {"name": name, "hard": _amounts(hard)}})
    items = one.data.get("limitRange", ())
    if items:
        name = "tau-compile-limits"
        limits = [{k: _amounts(v) if isinstance(v, dict) else v for k, v in item.items()} for item in items]
        yield Wanted("LimitRange", name, {"limit_range": {"name": name, "limits": limits}})


def _claims(one: Managed) -> Iterator[Wanted]:
    for item in sorted(one.data.get("claims", ()), key=lambda item: str(item["name"])):
        claim = {
            "name": item["name"],
            "annotations": dict(_KEPT),
            "modes": item.get("accessModes", ["ReadWriteMany"]),
            "storage_class": item.get("storageClass", ""),
            "size": _amount(item["size"]),
        }
        yield Wanted("PersistentVolumeClaim", item["name"], {"claim": claim})


def _secrets(one: Managed) -> Iterator[Wanted]:
    items = one.data.get("secrets", {}).get("external", ())
    for item in sorted(items, key=lambda item: str(item["name"])):
        store = item["store"]
        secret = {
            "name": item["name"],
            "refresh": item.get("refresh", "1h"),
            "store": store["name"],
            "store_kind": store.get("kind", "ClusterSecretStore"),
            "type": item.get("type", ""),
            "data": [
                {"secretKey": key, "remoteRef": {**_REMOTE, **ref}}
                for key, ref in sorted(item.get("data", {}).items())
            ],
            "extract": [{"extract": {**_REMOTE, "key": key}} for key in item.get("extract", ())],
        }
        yield Wanted("ExternalSecret", item["name"], {"secret": secret})


def _amounts(amounts: dict[str, str]) -> dict[str, str]:
    return {name: _amount(text) for name, text in sorted(amounts.items())}


def _amount(text: str) -> str:
    """As the API server would write it (G10)."""
    found = try_parse(text)
    return found.canonical() if found else text

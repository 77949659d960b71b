"""Workspaces made of texts: one cluster, and a ``manage`` section as plain data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.compiling import repository

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tau_compile.spaces import Spaces

OPERATOR = {"network": {"rayOperator": "kuberay-system"}}
EVERYTHING: dict[str, Any] = {
    "labels": {"example.com/cost-center": "r-17"},
    "annotations": {"example.com/owner": "ada ${x}"},
    "podSecurity": {"enforce": "restricted", "version": "v1.30"},
    "researchers": ["vision-team", "oidc:guests"],
    "serviceAccounts": [
        {"name": "training", "labels": {"azure.workload.identity/use": "true"}, "annotations": {"a/b": "1"}}
    ],
    "quota": {"count/jobs.batch": "50", "requests.storage": "5000Gi"},
    "limitRange": [{"type": "Container", "max": {"cpu": "64"}, "defaultRequest": {"cpu": "100m"}}],
    "network": {
        "rayOperator": "kuberay-system",
        "dns": {"namespaces": ["kube-system"], "cidrs": ["169.254.20.10/32"], "ports": [53, 5353]},
        "scrapers": ["monitoring"],
        "egress": [
            {"cidrs": ["10.0.0.0/8"], "except": ["10.1.0.0/16"], "ports": [443, 9000]},
            {"namespaces": ["minio"], "ports": [9000]},
        ],
        "ingress": [{"namespaces": ["notebooks"], "ports": [8265]}],
    },
    "claims": [
        {"name": "data", "size": "1024Gi", "storageClass": "shared"},
        {"name": "scratch", "size": "10Gi", "accessModes": ["ReadWriteOnce"]},
    ],
    "secrets": {
        "existing": ["registry-login"],
        "external": [
            {
                "name": "hub-token",
                "store": {"name": "vault"},
                "data": {"HF_TOKEN": {"key": "hub", "property": "token"}},
            },
            {
                "name": "all",
                "store": {"name": "local", "kind": "SecretStore"},
                "extract": ["team/all"],
                "type": "Opaque",
                "refresh": "30m",
            },
        ],
        "sops": ["secrets/one.yaml"],
    },
}
SEALED = b"""apiVersion: v1
kind: Secret
metadata: {name: one, namespace: vision}
data:
  a: ENC[AES256_GCM,data:x,iv:y,tag:z,type:str] # as SOPS left it
sops: {mac: "ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]"}
"""


def spaces(
    manage: Mapping[str, Any],
    cluster: Mapping[str, Any] = OPERATOR,
    platform: Mapping[str, Any] | None = None,
    templates: Mapping[str, str] | None = None,
    kueue: str = "0.19.2",
    queue: Mapping[str, Any] | None = None,
    layers: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Spaces:
    """The workspace ``vision`` compiled; ``cluster`` and ``platform`` are their sections ``workspaces``.

    ``layers`` are the patches of the Platform and the Cluster, by kind.
    """
    head = {"apiVersion": "tau-compile/v1"}
    local = [{"namespace": "vision", "name": "jobqueue"}, {"namespace": "vision", "name": "urgent"}]
    documents = {
        "overlays/platform.yaml": {
            **head,
            "kind": "Platform",
            "metadata": {"name": "lab"},
            "workspaces": platform or {},
            "patches": (layers or {}).get("Platform", []),
        },
        "overlays/clusters/east.yaml": {
            **head,
            "kind": "Cluster",
            "metadata": {"name": "east"},
            "versions": {"kueue": kueue},
            "queues": [{"name": "research", "localQueues": local, **(queue or {})}],
            "workspaces": dict(cluster),
            "patches": (layers or {}).get("Cluster", []),
        },
        "overlays/workspaces/vision.yaml": {
            **head,
            "kind": "Workspace",
            "metadata": {"name": "vision"},
            "queue": "jobqueue",
            "serviceAccount": "training",
            "manage": dict(manage),
            **fields,
        },
    }
    texts = {path: json.dumps(document) for path, document in documents.items()}
    return repository(texts, templates, {"secrets/one.yaml": SEALED}).spaces


def objects(made: Spaces) -> dict[str, dict[str, Any]]:
    """Rendered objects by file name, the kustomization and encrypted files left out."""
    from tau_compile.source.nodes import Mapping as Tree
    from tau_compile.source.reader import read
    from tau_compile.source.scalars import plain_data

    assert not [d for d in made.diagnostics if d.severity == "error"], made.diagnostics
    found = {}
    for name, content in made.folders[0].files.items():
        node = read(content, name).node
        assert isinstance(node, Tree)
        if node.get("sops") is None and name != "kustomization.yaml":
            found[name] = plain_data(node)
    return found


def of_kind(made: Spaces, kind: str) -> dict[str, dict[str, Any]]:
    """Rendered objects of one kind by name."""
    return {o["metadata"]["name"]: o for o in objects(made).values() if o["kind"] == kind}

"""The layout of runs in the rendered tree: one folder a run, one anchor a workspace, and nothing that lists two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.emit.yaml import dump

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tau_compile.runs.record import Record

KUSTOMIZATION = "kustomization.yaml"
ANCHOR = "anchor"
_ANCHOR_LABELS = {"app.kubernetes.io/managed-by": "tau-compile", "tau-compile/role": "anchor"}


def runs_folder(cluster: str, workspace: str) -> str:
    """The folder of all runs of a workspace on a cluster, which an agent syncs."""
    return f"rendered/{cluster}/runs/{workspace}"


def folder(record: Record) -> str:
    """The folder of one run."""
    return f"{runs_folder(record.cluster, record.workspace)}/{record.run}"


def file_name(made: Mapping[str, Any]) -> str:
    """``job-train-1a2b3c4d.yaml``: kind and name, lower case."""
    return f"{made['kind']}-{made['metadata']['name']}.yaml".lower()


def files_of(objects: Iterable[Mapping[str, Any]]) -> dict[str, bytes]:
    """The files of one folder by name, with the kustomization that lists them."""
    found = {file_name(made): dump(made).encode() for made in objects}
    return {**found, KUSTOMIZATION: _kustomization(found)}


def anchor(cluster: str, workspace: str, namespace: str) -> dict[str, bytes]:
    """An object that stays when the last run has left, by path from the root: an agent refuses to empty a folder (A57)."""
    made = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": f"tau-compile-runs-{workspace}",
            "namespace": namespace,
            "labels": _ANCHOR_LABELS,
        },
        "data": {"workspace": workspace},
    }
    place = f"{runs_folder(cluster, workspace)}/{ANCHOR}"
    return {f"{place}/{name}": content for name, content in files_of([made]).items()}


def digest(content: bytes) -> str:
    """``sha256:<64 hex>`` of a manifest, line ends as committed, so that a checkout with CRLF is no difference."""
    from hashlib import sha256

    committed = content.replace(b"\r\n", b"\n")
    return f"sha256:{sha256(committed).hexdigest()}"


def _kustomization(names: Iterable[str]) -> bytes:
    return dump(
        {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": sorted(names),
        }
    ).encode()

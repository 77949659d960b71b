"""The layout of runs in the rendered tree: one folder a run, one anchor a workspace, and nothing that lists two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.emit.yaml import dump

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tau_compile.runs.record import Record

TOP = "rendered"
KUSTOMIZATION = "kustomization.yaml"
ANCHOR = "anchor"
_ANCHOR_LABELS = {"app.kubernetes.io/managed-by": "tau-compile", "tau-compile/role": "anchor"}


def runs_folder(cluster: str, workspace: str) -> str:
    """The folder of all runs of a workspace on a cluster, which an agent syncs."""
    return f"{TOP}/{cluster}/runs/{workspace}"


def folder(record: Record) -> str:
    """The folder of one run."""
    return f"{runs_folder(record.cluster, record.workspace)}/{record.run}"


def manifest_paths(record: Record) -> list[str]:
    """The files in the rendered tree that a record owns, from the root; none of a run that is over."""
    place = folder(record)
    return [f"{place}/{name}" for name in record.manifests]


def file_name(made: Mapping[str, Any]) -> str:
    """``job-train-1a2b3c4d.yaml``: kind and name, lower case."""
    return f"{made['kind']}-{made['metadata']['name']}.yaml".lower()


def files_of(objects: Iterable[Mapping[str, Any]]) -> dict[str, bytes]:
    """The files of one folder by name, with the kustomization that lists them."""
    found = {file_name(made): _bytes(made) for made in objects}
    return {**found, KUSTOMIZATION: kustomization(found)}


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


def committed(content: bytes) -> bytes:
    """A text as Git stores it: a checkout with CRLF is no difference. Not for what may be binary."""
    return content.replace(b"\r\n", b"\n") if b"\r" in content else content


def digest(content: bytes) -> str:
    """``sha256:<64 hex>`` of a text as committed."""
    return f"sha256:{sha256_hex(committed(content))}"


def sha256_hex(content: bytes) -> str:
    """The 64 hex digits of a file."""
    from hashlib import sha256

    return sha256(content).hexdigest()


def _bytes(made: Mapping[str, Any]) -> bytes:
    return dump(made).encode()


def kustomization(names: Iterable[str]) -> bytes:
    """The file that lists the others of its folder."""
    return _bytes(
        {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": sorted(names),
        }
    )

"""Overlays with admission checks, the policies that follow, and objects to judge."""

from __future__ import annotations

import copy
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from tau_compile.policy.overlays import load
from tau_compile.render.admission import policies_of
from tau_compile.source.files import SourceFile
from tests.support.compiling import packaged
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.policy.model import Overlays

Object = dict[str, Any]

CHECKS = """
admission:
  queue: Deny
  priority: Deny
  ttl: Deny
  images:
    registries: [docker.io/pytorch, docker.io/library, mcr.microsoft.com, registry.example.com]
  gpusPerRun:
    max: 32
"""
CLUSTER = """
apiVersion: tau-compile/v1
kind: Cluster
metadata: {name: east}
versions: {kubernetes: "1.30", kueue: 0.19.2, kuberay: 1.6.2}
gpuClasses:
- {name: a100, gpusPerNode: 8}
- {name: gaudi, resource: habana.ai/gaudi}
queues:
- name: q
  localQueues:
  - {namespace: vision, name: jobqueue}
  - {namespace: vision, name: overflow}
  - {namespace: language, name: theirs}
priorityClasses:
- {name: research, value: 1000, tier: default}
- {name: urgent, value: 2000}
"""
WORKSPACE = """
apiVersion: tau-compile/v1
kind: Workspace
metadata: {name: vision}
queue: jobqueue
"""
PLATFORM = "apiVersion: tau-compile/v1\nkind: Platform\nmetadata: {name: lab}\n"


def overlays(*texts: str) -> Overlays:
    """Overlay documents that load without a word."""
    loaded = load(
        [SourceFile(f"overlays/{n}.yaml", text.encode()) for n, text in enumerate(texts)], packaged()
    )
    assert loaded.diagnostics == (), loaded.diagnostics
    assert loaded.overlays is not None
    return loaded.overlays


def made(checks: str = CHECKS, workspace: str = WORKSPACE, cluster: str = CLUSTER) -> list[Object]:
    """The policies and bindings of the one workspace of such overlays."""
    found = overlays(PLATFORM + checks, cluster, workspace)
    return policies_of(found, found.clusters[0], found.workspaces[0])


def example_overlays(*folders: str) -> Overlays:
    """The overlays of an example repository, with checks added to a Platform that has none."""
    texts = []
    for path in sorted((ROOT / "examples").joinpath(*folders, "overlays").rglob("*.yaml")):
        text = path.read_text()
        texts.append(text + (CHECKS if path.name == "platform.yaml" and "\nadmission:" not in text else ""))
    return overlays(*texts)


@cache
def runs(pattern: str) -> tuple[Object, ...]:
    """The Jobs and RayJobs in committed manifests."""
    found = [
        made
        for path in sorted(ROOT.glob(pattern))
        for made in yaml.safe_load_all(path.read_text())
        if made and made["kind"] in ("Job", "RayJob")
    ]
    assert len(found) >= 8
    return tuple(found)


def job() -> Object:
    """A Job that everything is right with: two pods with four GPUs each."""
    limits = {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "4"}
    container = {
        "name": "main",
        "image": "pytorch/pytorch:2.6.0",
        "resources": {"limits": limits, "requests": dict(limits)},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "train",
            "namespace": "vision",
            "labels": {
                "kueue.x-k8s.io/queue-name": "jobqueue",
                "kueue.x-k8s.io/priority-class": "research",
            },
        },
        "spec": {
            "parallelism": 2,
            "completions": 2,
            "completionMode": "Indexed",
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "priorityClassName": "research",
                    "containers": [container],
                }
            },
        },
    }


def cluster_spec() -> Object:
    """A Ray cluster with two groups of two workers, four GPUs each."""
    pod = job()["spec"]["template"]["spec"]
    head = copy.deepcopy(pod)
    del head["containers"][0]["resources"]["limits"]["nvidia.com/gpu"]
    group = {"replicas": 2, "minReplicas": 2, "maxReplicas": 2, "rayStartParams": {}}
    return {
        "headGroupSpec": {"rayStartParams": {}, "template": {"spec": head}},
        "workerGroupSpecs": [
            {"groupName": name, **group, "template": {"spec": copy.deepcopy(pod)}} for name in ("a", "b")
        ],
    }


def ray(kind: str = "RayJob") -> Object:
    """A Ray object that everything is right with."""
    head = copy.deepcopy(cluster_spec()["headGroupSpec"]["template"])
    spec = {
        "RayJob": {"rayClusterSpec": cluster_spec(), "submitterPodTemplate": head},
        "RayCluster": cluster_spec(),
        "RayService": {"rayClusterConfig": cluster_spec()},
    }[kind]
    return {"apiVersion": "ray.io/v1", "kind": kind, "metadata": job()["metadata"], "spec": spec}


def pod(*, gpus: int = 0) -> Object:
    """A bare Pod; with GPUs it has a queue."""
    spec = job()["spec"]["template"]["spec"]
    spec["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)} if gpus else {}}
    metadata = job()["metadata"]
    if not gpus:
        del metadata["labels"]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def good() -> Iterator[Object]:
    """One of each kind that everything is right with."""
    yield from (job(), ray("RayJob"), ray("RayCluster"), ray("RayService"), pod(), pod(gpus=8))


GONE = object()


def changed(original: Object, path: str, value: Any) -> Object:
    """A copy with one value put at ``a/b/0/c``, or taken out."""
    found = copy.deepcopy(original)
    *steps, last = [int(step) if step.isdigit() else step.replace("|", "/") for step in path.split("/")]
    node: Any = found
    for step in steps:
        node = node.setdefault(step, {}) if isinstance(node, dict) else node[step]
    if value is GONE:
        del node[last]
    else:
        node[last] = value
    return found

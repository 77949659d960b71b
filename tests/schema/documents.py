"""Documents that are valid, and a strategy that damages them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import yaml
from hypothesis import strategies as st

from tau_compile.schema import store
from tau_compile.schema.coerce import read_as
from tau_compile.source.reader import read

if TYPE_CHECKING:
    from tau_compile.source.nodes import Node

CANONICAL = """\
schema_version: 1
name: llama-finetune
run:
  entrypoint: train.py
  workload_kind: rayjob
  max_duration: 12h
compute:
  gpus: 8
  workers: 4
  cpus: 64
  memory: 512Gi
  worker_cpus: 1.10
runtime:
  image: pytorch/pytorch:2.4.0
  pip: [torch>=2.4.0, transformers==4.44]
  env:
    NCCL_DEBUG: INFO
    LEADING: 010
    FLAG: yes
    FLOAT: 1e3
  rdma: {enabled: true, count: 1}
storage:
  data_pvc: team-data
  output: /data/outputs/llama
  mounts:
    - {name: scratch, mountPath: /scratch, pvc: scratch, readOnly: false}
policy:
  workspace: nlp
  priority_tier: priority
execution:
  launcher: ray-tune
  configs: {lr: [0.001, 1e-4], batch: 32, tag: "010"}
resilience:
  max_retries: 3
  retry_on: [Preempted, evicted]
model: {name: llama, tags: [a, b], metric_direction: lower}
"""

DIRECT = """\
name: tune-smoke
engine: Job
entrypoint: train.py
compute:
  gpus: 1
  cpu_request: 500m
  memory_limit: 4Gi
runtime:
  image: pytorch/pytorch:2.4.0
  env:
    - {name: A, value: 1.10}
    - name: B
      valueFrom: {secretKeyRef: {name: s, key: k}}
  env_secret: {TOKEN: "hf:token"}
storage:
  volumes: [data=pvc:team]
  mounts: [data:/data, {name: m, mountPath: /m, pvc: m}]
profiler: {mode: nsys, rank: 0, warmup: 30s}
"""

CLUSTER = """\
apiVersion: tau-compile/v1
kind: Cluster
metadata: {name: east}
versions: {kubernetes: 1.30, kueue: "0.18"}
gpuClasses:
  - name: h100-80gb
    nodeLabels: {gpu: h100}
    taints: [{key: nvidia.com/gpu, value: yes, effect: NoSchedule}]
    gpusPerNode: 8
flavors: [{name: h100, gpuClass: h100-80gb, topology: racks}]
queues: [{name: gpu, flavors: [h100], localQueues: [{namespace: nlp, name: jobqueue}]}]
priorityClasses: [{name: high, value: 1000, tier: priority}]
topologies: [{name: racks, levels: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname, placement: same-host}]}]
defaults: {compute: {gpus: 1}, runtime: {env: {A: no}}}
"""

WORKSPACE = """\
apiVersion: tau-compile/v1
kind: Workspace
metadata: {name: nlp}
cluster: east
queue: jobqueue
outputRoot: /data/nlp
imagePullSecrets: [registry]
defaults: {policy: {priority_tier: default}}
"""

PROFILE = """\
apiVersion: tau-compile/v1
kind: Profile
metadata: {name: h100-2x8}
gpusPerWorker: 8
workerCount: 2
placement: same-network-domain
applicability: {teams: [nlp], lanes: []}
disableDefaultPriorities: true
"""

PLATFORM = """\
apiVersion: tau-compile/v1
kind: Platform
metadata: {name: acme}
ray: {submissionMode: HTTPMode, image: rayproject/ray:2.46.0}
"""

PROJECT = """\
required_version: ">=0.1,<1"
include: ["workloads/**/tau.yaml"]
"""

ALL = {
    "canonical": (CANONICAL, "tau.schema.json"),
    "direct": (DIRECT, "tau.schema.json"),
    "cluster": (CLUSTER, "cluster.schema.json"),
    "workspace": (WORKSPACE, "workspace.schema.json"),
    "profile": (PROFILE, "profile.schema.json"),
    "platform": (PLATFORM, "platform.schema.json"),
    "project": (PROJECT, "project.schema.json"),
}


def parse(text: str) -> Node:
    """The document's node; the text is one that the reader accepts."""
    result = read(text.encode(), "f.yaml")
    assert result.diagnostics == ()
    assert result.node is not None
    return result.node


def data(label: str) -> Any:
    """The plain data of one of `ALL`."""
    text, schema = ALL[label]
    return read_as(parse(text), store.prepared(schema).shape).data


_VALUES = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        1,
        -1,
        1.0,
        2.5,
        10**6,
        "",
        "x",
        "X y",
        "a\n",
        "8",
        "1g.10gb",
        "/data",
        "Job",
        "5m",
    ]
) | st.sampled_from([[], {}, ["x"], ["x", "x"], {"name": "x"}, {"x": None}, [{}], [None]])
_NAMES = st.sampled_from(
    ["name", "value", "valueFrom", "engine", "schema_version", "workers", "gpu", "x", "1x", ""]
)


@st.composite
def damaged(draw: st.DrawFn, base: Any) -> Any:
    """``base`` with one to four changes: values replaced, keys and items taken out or put in."""
    value = copy.deepcopy(base)
    for _ in range(draw(st.integers(1, 4))):
        holders = list(_holders(value))
        holder = holders[draw(st.integers(0, len(holders) - 1))]
        keys: list[Any] = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        change = draw(st.sampled_from(["replace", "remove", "add", "copy"]))
        if change == "add" or not keys:
            if isinstance(holder, dict):
                holder[draw(_NAMES)] = copy.deepcopy(draw(_VALUES))
            else:
                holder.append(copy.deepcopy(draw(_VALUES)))
            continue
        key = keys[draw(st.integers(0, len(keys) - 1))]
        if change == "remove":
            del holder[key]
        elif change == "replace":
            holder[key] = copy.deepcopy(draw(_VALUES))
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        else:
            holder[draw(_NAMES)] = copy.deepcopy(holder[key])
    return value


def _holders(value: Any) -> Any:
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _holders(inner)


def written(value: Any) -> str:
    """``value`` as YAML text."""
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)

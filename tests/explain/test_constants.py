"""A constant is no way out: where every input holds a word of its own, no constant holds any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tau_compile.compiler import compile_file
from tau_compile.explain.bench import Bench, bench
from tau_compile.explain.probe import Effect, effects
from tests.support.compiling import repository

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.explain.leaves import Key

PLATFORM = """\
apiVersion: tau-compile/v1
kind: Platform
metadata: {name: zqplatform}
ray: {image: "zqrepo/zqray:2.9.0-gpu", cpuImage: "zqrepo/zqcpu:2.9.0"}
defaults:
  runtime: {env: {ZQPLATFORM: zqplatvalue}}
"""
CLUSTER = """\
apiVersion: tau-compile/v1
kind: Cluster
metadata: {name: zqcluster}
gpuTaints: [{key: zqtaint, value: zqtaintvalue, effect: NoSchedule}]
gpuClasses:
- name: zqclass
  resource: zqvendor.com/zqgpu
  gpusPerNode: 8
  nodeLabels: {zqnode: zqnodevalue}
  taints: [{key: zqown, value: zqownvalue, effect: NoSchedule}]
flavors:
- name: zqflavor
  gpuClass: zqclass
  topology: zqtopology
  nodeLabels: {zqnode: zqnodevalue}
  taints:
  - {key: zqtaint, value: zqtaintvalue, effect: NoSchedule}
  - {key: zqown, value: zqownvalue, effect: NoSchedule}
queues:
- name: zqqueue
  flavors: [zqflavor]
  localQueues: [{namespace: zqspace, name: zqlocal}]
priorityClasses: [{name: zqpriority, value: 10, tier: default}]
topologies:
- name: zqtopology
  levels:
  - {nodeLabel: zqblock, placement: same-network-domain}
  - {nodeLabel: kubernetes.io/hostname, placement: same-host}
"""
WORKSPACE = """\
apiVersion: tau-compile/v1
kind: Workspace
metadata: {name: zqworkspace}
cluster: zqcluster
namespace: zqspace
queue: zqlocal
serviceAccount: zqaccount
outputRoot: /data/zqroot
imagePullSecrets: [zqpull]
envFromSecrets: [zqsecret]
podLabels: {zqlabel: zqlabelvalue}
defaults:
  experiment: {project: zqproject}
  storage: {data_pvc: zqdata}
"""
JOB = """\
schema_version: 1
name: zqname
run:
  entrypoint: zqtrain.py
  max_duration: 7311s
execution: {launcher: torchrun, nodes: 3, processes_per_node: 2}
compute: {gpus: 4, cpus: 7313, memory: 7314Mi}
policy: {gpu_class: zqclass, topology: same-network-domain}
runtime:
  image: zqrepo/zqimage:zqtag
  env:
    ZQNAME: zqvalue
  env_secret: {ZQSECRET: "zqtoken:zqkey"}
storage:
  output: /data/zqroot/zqout
  mounts: [{name: zqmount, mountPath: /zqpath, pvc: zqclaim}]
artifacts: {checkpoint: zqcheckpoint}
experiment: {name: zqexperiment, group: zqgroup}
resilience: {max_retries: 91, retry_on: [Preempted], backoff_initial: 7316s, backoff_max: 7317s}
"""
RAYJOB = """\
schema_version: 1
name: zqname
run: {workload_kind: rayjob, entrypoint: zqtrain.py}
compute: {gpus: 2, workers: 3, cpus: 7313, memory: 7314Mi, head_cpus: 7315, head_memory: 7316Mi}
policy: {gpu_class: zqclass}
runtime:
  pip: [zqpip==1.2]
  env: {ZQNAME: zqvalue}
storage: {output: /data/zqroot/zqout}
"""


def seeded(text: str) -> Bench:
    """A workload in which every free text is a word of its own."""
    repo = repository(
        {
            "overlays/platform.yaml": PLATFORM,
            "overlays/clusters/zqcluster.yaml": CLUSTER,
            "overlays/workspaces/zqworkspace.yaml": WORKSPACE,
        },
        files={"zqtrain.py": b"print('zqcode')\n"},
    )
    assert compile_file(repo, "tau.yaml", text.encode()).objects, "nothing is wrong with it"
    made = bench(repo, "tau.yaml", text.encode(), "")
    assert made is not None
    return made


def constants(made: Bench, found: dict[Key, list[Effect]]) -> Iterator[tuple[str, str]]:
    """(path, value) of each constant."""
    for key, of in found.items():
        if not any(effect.kind == "value" for effect in of):
            yield made.leaves[key].name, str(made.leaves[key].value)


@pytest.mark.parametrize("text", [JOB, RAYJOB], ids=["job", "rayjob"])
def test_no_constant_holds_what_came_from_input(text: str) -> None:
    made = seeded(text)
    everything = str([leaf.value for leaf in made.leaves.values()]).casefold()
    assert everything.count("zq") > 30
    found = effects(made)
    leaked = [
        (path, value)
        for path, value in constants(made, found)
        if "zq" in value.casefold() or any(f"73{n}" in value for n in range(11, 18))
    ]
    assert leaked == []


def test_one_asked_leaf_is_explained_as_among_all() -> None:
    made = seeded(JOB)
    key = next(k for k, leaf in made.leaves.items() if leaf.name == "Job:spec.completions")
    (effect,) = effects(made, [key])[key]
    assert (effect.input.path, effect.input.text, effect.kind) == ("execution.nodes", "3", "value")


def test_a_value_that_is_written_twice_names_both_places() -> None:
    made = seeded(JOB)
    key = next(k for k, leaf in made.leaves.items() if leaf.value == "zqownvalue")
    paths = {effect.input.path for effect in effects(made, [key])[key] if effect.kind == "value"}
    assert paths == {"gpuClasses[0].taints[0].value", "flavors[0].taints[1].value"}

"""Tolerations, node labels and Kueue's topology annotation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policy.documents import cluster, profile, workspace
from tests.support.compiling import JOB, RAYJOB, accepted, compiled, ids, pods, said, workload

GPU = JOB + "compute: {gpus: 1}\n"
RAY_GPU = RAYJOB + "compute: {gpus: 1}\n"
TOPOLOGIES = (
    "[{name: racks, levels: [{nodeLabel: example.com/site, placement: same-site}, {nodeLabel: example.com/rack,"
    " placement: same-network-domain}, {nodeLabel: kubernetes.io/hostname, placement: same-host}]}]"
)
FLAVORS = (
    "[{name: a, gpuClass: a100, topology: racks, taints: [{key: flavor, value: a}]},"
    " {name: h, gpuClass: h100, taints: [{key: flavor, value: h, effect: PreferNoSchedule}]},"
    " {name: other, gpuClass: a100, taints: [{key: other}]}, {name: cpu, taints: [{key: cpu}]}]"
)


def catalogue(**fields: str) -> list[str]:
    given = {
        "gpuTaints": "[{key: nvidia.com/gpu}]",
        "gpuClasses": "[{name: a100, nodeLabels: {pool: a}, taints: [{key: sku, value: gpu}]},"
        " {name: h100, nodeLabels: {pool: h}}]",
        "flavors": FLAVORS,
        "queues": "[{name: q, flavors: [a, h, cpu], localQueues: [{namespace: w, name: jobqueue}]}]",
        "topologies": TOPOLOGIES,
        **fields,
    }
    return [cluster("c", **given), workspace("w")]


def tolerations(text: str, pod: str, overlays: list[str]) -> list[str]:
    spec = pods(workload(accepted(text, overlays)))[pod]["spec"]
    return [f"{t['key']}={t.get('value', '')}:{t['effect']}" for t in spec.get("tolerations", [])]


@pytest.mark.parametrize(
    "policy, expected",
    [
        ("{}", ["nvidia.com/gpu=:NoSchedule", "flavor=a:NoSchedule"]),
        ("{gpu_class: any}", ["nvidia.com/gpu=:NoSchedule", "flavor=a:NoSchedule"]),
        ("{gpu_class: a100}", ["nvidia.com/gpu=:NoSchedule", "sku=gpu:NoSchedule", "flavor=a:NoSchedule"]),
        ("{gpu_class: h100}", ["nvidia.com/gpu=:NoSchedule"]),
    ],
)
def test_pods_with_gpus_tolerate_what_their_nodes_may_carry(policy: str, expected: list[str]) -> None:
    text = f"policy: {policy}\n"
    assert tolerations(GPU + text, "main", catalogue()) == expected
    assert tolerations(RAY_GPU + text, "worker", catalogue()) == expected
    cpu = ["cpu=:NoSchedule"]
    assert tolerations(RAY_GPU + text, "head", catalogue()) == cpu
    assert tolerations(RAY_GPU + text, "submitter", catalogue()) == [*cpu, *expected], (
        "so that any flavor serves"
    )


def test_pods_without_gpus_stay_off_the_nodes_with_gpus() -> None:
    assert tolerations(JOB, "main", catalogue()) == ["cpu=:NoSchedule"]
    assert tolerations(JOB, "main", []) == []


def test_a_head_in_a_queue_of_gpu_nodes_only_has_to_go_there() -> None:
    gpus_only = catalogue(queues="[{name: q, flavors: [a], localQueues: [{namespace: w, name: jobqueue}]}]")
    assert tolerations(RAY_GPU, "head", gpus_only) == [
        "flavor=a:NoSchedule",
        "nvidia.com/gpu=:NoSchedule",
        "sku=gpu:NoSchedule",
    ]


def test_a_toleration_with_a_value_is_equal_and_one_without_exists() -> None:
    spec = pods(workload(accepted(GPU + "policy: {gpu_class: a100}\n", catalogue())))["main"]["spec"]
    assert spec["tolerations"][:2] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
    ]


def selector(text: str, overlays: list[str], pod: str = "main") -> dict[str, str]:
    found: dict[str, str] = pods(workload(accepted(text, overlays)))[pod]["spec"].get("nodeSelector", {})
    return found


MINE = [*catalogue()[:1], workspace("w", defaults="{policy: {node_selector: {zone: b}}}")]


@pytest.mark.parametrize(
    "policy, overlays, expected",
    [
        ("{}", catalogue(), {}),
        ("{gpu_class: any}", catalogue(), {}),
        ("{gpu_class: a100}", catalogue(), {"pool": "a"}),
        ("{gpu_class: a100, node_selector: {zone: a}}", catalogue(), {"pool": "a", "zone": "a"}),
        ("{gpu_class: a100, node_selector: {pool: a}}", catalogue(), {"pool": "a"}),
        ("{node_selector: {pool: z}}", catalogue(), {"pool": "z"}),
        ("{}", MINE, {"zone": "b"}),
        ("{node_selector: {disk: ssd}}", MINE, {"zone": "b", "disk": "ssd"}),
        ("{clear_node_selector: true}", MINE, {}),
        ("{clear_node_selector: true, gpu_class: a100}", MINE, {}),
        ("{clear_node_selector: true, node_selector: {disk: ssd}}", MINE, {"disk": "ssd"}),
    ],
)
def test_node_labels(policy: str, overlays: list[str], expected: dict[str, str]) -> None:
    assert selector(GPU + f"policy: {policy}\n", overlays) == expected
    assert selector(RAY_GPU + f"policy: {policy}\n", overlays, "worker") == expected
    assert selector(RAY_GPU + f"policy: {policy}\n", overlays, "head") == {}


def test_a_label_that_contradicts_the_class() -> None:
    assert ids(GPU + "policy: {gpu_class: a100, node_selector: {pool: z}}\n", catalogue()) == ["TAU293"]


# --- topology

_KEY = "kueue.x-k8s.io/podset-"


def kueue_annotations(text: str, overlays: list[str], pod: str = "main") -> dict[str, str]:
    found: dict[str, str] = pods(workload(accepted(text, overlays)))[pod]["metadata"].get("annotations", {})
    return {key: value for key, value in found.items() if key.startswith("kueue")}


A100 = "policy: {{gpu_class: a100{}}}\n"


@pytest.mark.parametrize(
    "topology, expected",
    [
        ("", {_KEY + "unconstrained-topology": "true"}),
        (", topology: unconstrained", {_KEY + "unconstrained-topology": "true"}),
        (", topology: same-host", {_KEY + "required-topology": "kubernetes.io/hostname"}),
        (", topology: same-network-domain", {_KEY + "required-topology": "example.com/rack"}),
        (", topology: same-site", {_KEY + "required-topology": "example.com/site"}),
    ],
)
def test_placements(topology: str, expected: dict[str, str]) -> None:
    text = A100.format(topology)
    assert kueue_annotations(GPU + text, catalogue()) == expected
    assert kueue_annotations(RAY_GPU + text, catalogue(), "worker") == expected
    for pod in ("head", "submitter"):
        assert kueue_annotations(RAY_GPU + text, catalogue(), pod) == {}, "only the pods with the program"


@pytest.mark.parametrize(
    "older, newer",
    [
        ("independent", "unconstrained"),
        ("single-node-nvlink", "same-host"),
        ("multi-node-nccl", "same-network-domain"),
    ],
)
def test_older_words_for_placements(older: str, newer: str) -> None:
    (found,) = said(compiled(GPU + A100.format(f", topology: {older}"), catalogue()))
    assert (found.id, found.hint) == ("TAU212", f"write `{newer}`")


def test_a_flavor_without_a_topology_gets_no_annotation() -> None:
    assert kueue_annotations(GPU + "policy: {gpu_class: h100}\n", catalogue()) == {}
    assert kueue_annotations(JOB, catalogue()) == {}, "the CPU flavor has none"
    assert kueue_annotations(GPU, []) == {}


@pytest.mark.parametrize(
    "text, overlays, refused",
    [
        (GPU + A100.format(", topology: same-accelerator-domain"), catalogue(), ["TAU504"]),
        (GPU + "policy: {gpu_class: h100, topology: same-site}\n", catalogue(), ["TAU504"]),
        (GPU + "policy: {topology: same-site}\n", [], ["TAU504"]),
        (GPU + "policy: {topology: same-host}\n", [], []),
        (
            RAY_GPU.replace("gpus: 1", "gpus: 1, workers: 2") + "policy: {topology: same-host}\n",
            [],
            ["TAU504"],
        ),
        (GPU + "policy: {mode: elastic}\n", [], ["TAU225"]),
        (GPU + "policy: {topology: elastic-workers}\n", [], ["TAU225"]),
        (GPU + "policy: {mode: fixed}\n", [], []),
    ],
)
def test_placements_that_cannot_be(text: str, overlays: list[str], refused: list[str]) -> None:
    assert ids(text, overlays) == refused


def test_nodes_of_one_run_do_not_share_a_node_unless_each_takes_a_whole_one() -> None:
    def affinity(text: str, overlays: list[str]) -> Any:
        return pods(workload(accepted(text, overlays)))["main"]["spec"].get("affinity")

    several = "compute: {gpus: 8}\nexecution: {launcher: torchrun, nodes: 2}\npolicy: {gpu_class: a100}\n"
    whole = catalogue(gpuClasses="[{name: a100, gpusPerNode: 8}, {name: h100}]")
    assert affinity(JOB + several, catalogue())["podAntiAffinity"]
    assert affinity(JOB + several, whole) is None
    assert affinity(JOB + several.replace("gpus: 8", "gpus: 4"), whole)["podAntiAffinity"]
    assert affinity(GPU, catalogue()) is None


WIRED = (
    "[{name: a, gpuClass: a100, topology: racks}, {name: h, gpuClass: h100},"
    " {name: cpu}, {name: wired, topology: racks}]"
)


@pytest.mark.parametrize(
    "text, flavors, annotated",
    [
        (GPU, "[a, h]", True),  # the flavor that is tried first decides
        (GPU, "[h, a]", False),
        (JOB, "[wired]", True),
        (JOB, "[wired, cpu]", False),  # with the annotation, Kueue would pass over the other one
        (JOB, "[cpu, wired]", False),
        (JOB, "[a]", True),  # no GPU nodes with taints: open to all
    ],
)
def test_anywhere_is_said_where_the_flavors_want_it(text: str, flavors: str, annotated: bool) -> None:
    overlays = catalogue(
        gpuTaints="[]",
        gpuClasses="[{name: a100}, {name: h100}]",
        flavors=WIRED,
        queues=f"[{{name: q, flavors: {flavors}, localQueues: [{{namespace: w, name: jobqueue}}]}}]",
    )
    metadata = pods(workload(accepted(text, overlays)))["main"]["metadata"]
    found = metadata.get("annotations", {})
    assert ("kueue.x-k8s.io/podset-unconstrained-topology" in found) is annotated


def test_a_queue_of_gpu_nodes_only_takes_programs_without_gpus_too() -> None:
    gpus_only = catalogue(queues="[{name: q, flavors: [a], localQueues: [{namespace: w, name: jobqueue}]}]")
    expected = ["flavor=a:NoSchedule", "nvidia.com/gpu=:NoSchedule", "sku=gpu:NoSchedule"]
    assert tolerations(JOB, "main", gpus_only) == expected
    assert tolerations(RAYJOB, "worker", gpus_only) == expected


def test_nodes_of_one_host_are_not_kept_apart() -> None:
    text = GPU + "policy: {gpu_class: a100, topology: WORD}\nexecution: {launcher: torchrun, nodes: 2}\n"
    for word, apart in (("same-network-domain", True), ("same-host", False)):
        spec = pods(workload(accepted(text.replace("WORD", word), catalogue())))["main"]["spec"]
        assert ("affinity" in spec) is apart, word


@pytest.mark.parametrize(
    "policy, gpus, expected",
    [
        ("gpu_class: a100", 4, []),
        ("gpu_class: a100", 5, ["TAU505"]),
        ("gpu_class: any", 4, []),
        ("gpu_class: any", 5, ["TAU505"]),
    ],
)
def test_pods_of_one_host_fit_on_it(policy: str, gpus: int, expected: list[str]) -> None:
    known = catalogue(
        gpuClasses="[{name: a100, gpusPerNode: 8}, {name: h100, gpusPerNode: 4}]",
    )
    text = f"compute: {{gpus: {gpus}, workers: 2}}\npolicy: {{{policy}, topology: same-host}}\n"
    assert ids(RAYJOB + text, known) == expected


def test_a_lane_that_a_fixed_profile_is_meant_for() -> None:
    text = RAYJOB + "policy: {lane: elastic}\n"
    fixed = profile("p", applicability="{lanes: [elastic]}")
    assert ids(text) == ["TAU225"]
    assert ids(text, [fixed]) == []


@pytest.mark.parametrize(
    "labels, expected",
    [("{zone: one}", []), ("{zone: two}", []), ("{zone: three}", ["TAU508"]), ("{other: x}", [])],
)
def test_labels_that_a_flavor_has(labels: str, expected: list[str]) -> None:
    known = catalogue(
        flavors="[{name: a, nodeLabels: {zone: one}}, {name: h, nodeLabels: {zone: two}}]",
        queues="[{name: q, flavors: [a, h], localQueues: [{namespace: w, name: jobqueue}]}]",
    )
    assert ids(JOB + f"policy: {{node_selector: {labels}}}\n", known) == expected

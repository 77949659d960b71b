"""Which field sizes which pod, in either form; limits; GPUs, MIG and classes."""

from __future__ import annotations

import pytest

from tests.policy.documents import cluster, workspace
from tests.support.compiling import (
    DIRECT,
    IMAGE,
    JOB,
    RAY,
    RAYJOB,
    accepted,
    compiled,
    container,
    ids,
    pods,
    said,
    workload,
)

Numbers = tuple[str, str, str, str]
DIRECT_JOB = DIRECT + f"engine: job\nimage: {IMAGE}\n"
DIRECT_RAY = DIRECT + f"engine: rayjob\nimage: {RAY}\n"


def sizes(text: str, pod: str = "main", overlays: list[str] | None = None) -> Numbers:
    """(CPU, its limit, memory, its limit) of a pod."""
    found = container(workload(accepted(text, overlays or [])), pod)["resources"]
    requests, limits = found["requests"], found["limits"]
    return requests["cpu"], limits["cpu"], requests["memory"], limits["memory"]


@pytest.mark.parametrize(
    "compute, expected",
    [
        ("{}", ("1", "1", "2Gi", "2Gi")),
        ("{gpus: 1}", ("8", "8", "64Gi", "64Gi")),
        ("{cpus: 4}", ("4", "4", "2Gi", "2Gi")),
        ("{cpus: 500m}", ("500m", "1", "2Gi", "2Gi")),
        ("{cpus: 1500m}", ("1500m", "2", "2Gi", "2Gi")),
        ('{cpus: "0.25"}', ("250m", "1", "2Gi", "2Gi")),
        ("{cpus: 2, cpu_limit: 2500m}", ("2", "2500m", "2Gi", "2Gi")),
        ("{memory: 8Gi}", ("1", "1", "8Gi", "8Gi")),
        ("{memory: 8Gi, memory_limit: 12Gi}", ("1", "1", "8Gi", "12Gi")),
        ("{memory_limit: 4Gi}", ("1", "1", "2Gi", "4Gi")),
        ("{cpu_limit: 4}", ("1", "4", "2Gi", "2Gi")),
        ("{memory: 1024Mi}", ("1", "1", "1Gi", "1Gi")),
        ("{memory: 1e9}", ("1", "1", "1e9", "1e9")),
    ],
)
def test_sizes_of_a_job(compute: str, expected: Numbers) -> None:
    assert sizes(JOB + f"compute: {compute}\n") == expected


@pytest.mark.parametrize(
    "compute, expected",
    [
        ("{gpus: 0}", ("1", "1", "2Gi", "2Gi")),
        ("{gpus: 2}", ("8", "8", "64Gi", "64Gi")),
        ("{gpus: 0, cpu_request: 4, memory_request: 8Gi}", ("4", "4", "8Gi", "8Gi")),
        (
            "{gpus: 0, cpu_request: 4, cpu_limit: 6, memory_request: 8Gi, memory_limit: 9Gi}",
            ("4", "6", "8Gi", "9Gi"),
        ),
    ],
)
def test_sizes_of_a_job_in_the_direct_form(compute: str, expected: Numbers) -> None:
    assert sizes(DIRECT_JOB + f"compute: {compute}\n") == expected


HEAD, CPU_WORKER, GPU_WORKER = ("2", "2", "8Gi", "8Gi"), ("2", "2", "8Gi", "8Gi"), ("8", "8", "64Gi", "64Gi")


@pytest.mark.parametrize(
    "compute, head, worker",
    [
        ("{}", HEAD, CPU_WORKER),
        ("{gpus: 1}", HEAD, GPU_WORKER),
        # Without worker_*, the shared fields size the workers ...
        ("{cpus: 4}", HEAD, ("4", "4", "8Gi", "8Gi")),
        ("{cpus: 500m}", HEAD, ("500m", "500m", "8Gi", "8Gi")),
        ("{cpus: 4, cpu_limit: 6}", HEAD, ("4", "6", "8Gi", "8Gi")),
        ("{memory: 16Gi, gpus: 1}", HEAD, ("8", "8", "16Gi", "16Gi")),
        ("{memory: 16Gi, memory_limit: 20Gi}", HEAD, ("2", "2", "16Gi", "20Gi")),
        # ... with any of them, the head; and the workers where they have no field of their own.
        ("{cpus: 4, worker_cpus: 12}", ("4", "4", "8Gi", "8Gi"), ("12", "12", "8Gi", "8Gi")),
        ("{cpus: 4, cpu_limit: 5, worker_cpus: 12}", ("4", "5", "8Gi", "8Gi"), ("12", "12", "8Gi", "8Gi")),
        ("{cpus: 4, worker_memory: 32Gi}", ("4", "4", "8Gi", "8Gi"), ("4", "4", "32Gi", "32Gi")),
        ("{memory: 9Gi, worker_cpus: 3}", ("2", "2", "9Gi", "9Gi"), ("3", "3", "9Gi", "9Gi")),
        ("{worker_cpus: 3, worker_cpu_limit: 4}", HEAD, ("3", "4", "8Gi", "8Gi")),
        ("{worker_memory: 3Gi, worker_memory_limit: 4Gi}", HEAD, ("2", "2", "3Gi", "4Gi")),
        # head_* always size the head.
        ("{head_cpus: 1, head_memory: 4Gi}", ("1", "1", "4Gi", "4Gi"), CPU_WORKER),
        ("{head_cpu_limit: 4, head_memory_limit: 10Gi}", ("2", "4", "8Gi", "10Gi"), CPU_WORKER),
        ("{cpus: 4, head_cpus: 1}", ("1", "1", "8Gi", "8Gi"), ("4", "4", "8Gi", "8Gi")),
        (
            "{cpus: 4, worker_memory: 32Gi, head_cpus: 1}",
            ("1", "1", "8Gi", "8Gi"),
            ("4", "4", "32Gi", "32Gi"),
        ),
    ],
)
def test_sizes_of_a_rayjob(compute: str, head: Numbers, worker: Numbers) -> None:
    text = RAYJOB + f"compute: {compute}\n"
    assert (sizes(text, "head"), sizes(text, "worker")) == (head, worker)
    assert not compiled(text).diagnostics


@pytest.mark.parametrize(
    "compute, head, worker",
    [
        ("{gpus_per_worker: 0}", HEAD, CPU_WORKER),
        ("{}", HEAD, GPU_WORKER),
        # The shared fields size the head and the workers alike, each where it has no field of its own.
        ("{gpus_per_worker: 0, cpu_request: 4}", ("4", "4", "8Gi", "8Gi"), ("4", "4", "8Gi", "8Gi")),
        ("{memory_request: 9Gi}", ("2", "2", "9Gi", "9Gi"), ("8", "8", "9Gi", "9Gi")),
        (
            "{gpus_per_worker: 0, cpu_request: 4, cpu_limit: 8, head_cpu_request: 1}",
            ("1", "1", "8Gi", "8Gi"),
            ("4", "8", "8Gi", "8Gi"),
        ),
        (
            "{gpus_per_worker: 0, cpu_request: 4, worker_cpu_request: 16, worker_memory_request: 32Gi}",
            ("4", "4", "8Gi", "8Gi"),
            ("16", "16", "32Gi", "32Gi"),
        ),
        (
            "{gpus_per_worker: 0, memory_limit: 10Gi, head_memory_limit: 9Gi}",
            ("2", "2", "8Gi", "9Gi"),
            ("2", "2", "8Gi", "10Gi"),
        ),
    ],
)
def test_sizes_of_a_rayjob_in_the_direct_form(compute: str, head: Numbers, worker: Numbers) -> None:
    text = DIRECT_RAY + f"compute: {compute}\n"
    assert (sizes(text, "head"), sizes(text, "worker")) == (head, worker)
    assert not compiled(text).diagnostics


@pytest.mark.parametrize(
    "text, path",
    [
        (RAYJOB + "compute: {cpus: 4, head_cpus: 1, worker_cpus: 2}\n", "compute.cpus"),
        (RAYJOB + "compute: {cpu_limit: 4, head_cpus: 1, worker_cpus: 2}\n", "compute.cpu_limit"),
        (RAYJOB + "compute: {memory: 4Gi, head_memory: 1Gi, worker_memory: 2Gi}\n", "compute.memory"),
        (
            DIRECT_RAY + "compute: {cpu_request: 4, head_cpu_request: 1, worker_cpu_request: 2}\n",
            "compute.cpu_request",
        ),
        (
            DIRECT_RAY + "compute: {memory_limit: 4Gi, head_memory_limit: 8Gi, worker_memory_request: 2Gi}\n",
            "compute.memory_limit",
        ),
    ],
)
def test_a_size_that_nothing_takes_is_told(text: str, path: str) -> None:
    (found,) = said(compiled(text))
    assert found.id == "TAU903"
    assert found.text.startswith(f"`{path}` has no effect")


@pytest.mark.parametrize(
    "text, path, request_path",
    [
        (JOB + "compute: {cpus: 4, cpu_limit: 2}\n", "compute.cpu_limit", "compute.cpus"),
        (JOB + "compute: {memory: 4Gi, memory_limit: 4G}\n", "compute.memory_limit", "compute.memory"),
        (JOB + "compute: {memory_limit: 1Gi}\n", "compute.memory_limit", "compute.memory"),
        (JOB + "compute: {cpu_limit: 500m}\n", "compute.cpu_limit", "compute.cpus"),
        (RAYJOB + "compute: {head_cpu_limit: 1}\n", "compute.head_cpu_limit", "compute.head_cpus"),
        (RAYJOB + "compute: {worker_cpus: 4, worker_cpu_limit: 2}\n", "compute.worker_cpu_limit", ""),
        (
            DIRECT_JOB + "compute: {gpus: 1, memory_limit: 8Gi}\n",
            "compute.memory_limit",
            "compute.memory_request",
        ),
        (DIRECT_RAY + "compute: {head_cpu_limit: 1}\n", "compute.head_cpu_limit", "compute.head_cpu_request"),
    ],
)
def test_a_limit_below_the_request(text: str, path: str, request_path: str) -> None:
    (found,) = said(compiled(text))
    assert found.id == "TAU288"
    assert found.text.startswith(f"`{path}` is ")
    assert ("default request" in found.text) == (f"`{request_path}`" in found.hint)


@pytest.mark.parametrize(
    "field", ["head_cpus: 1", "worker_cpus: 1", "worker_memory_limit: 1Gi", "head_memory: 1Gi"]
)
def test_sizes_of_ray_on_a_job(field: str) -> None:
    (found,) = said(compiled(JOB + f"compute: {{{field}}}\n"))
    assert (found.id, found.hint) == ("TAU256", "write `compute.cpus` and `compute.memory`")


def test_sizes_of_ray_on_a_direct_job() -> None:
    (found,) = said(compiled(DIRECT_JOB + "compute: {gpus: 0, worker_memory_request: 1Gi}\n"))
    assert found.id == "TAU256"
    assert found.text.startswith("`compute.worker_memory_request` ")
    assert found.hint == "write `compute.cpu_request` and `compute.memory_request`"


# --- GPUs

CLASSES = (
    "[{name: a100-80gb, gpusPerNode: 8, nodeLabels: {pool: a}, migProfiles: [1g.10gb], taints: [{key: sku, value: gpu}]},"
    " {name: mi300, resource: amd.com/gpu, nodeLabels: {pool: m}}]"
)
GPUS = [cluster("c", gpuClasses=CLASSES), workspace("w")]


def gpus(text: str, overlays: list[str]) -> dict[str, str]:
    made = workload(accepted(text, overlays))
    pod = "worker" if made["kind"] == "RayJob" else "main"
    resources = container(made, pod)["resources"]
    found = {name: n for name, n in resources["limits"].items() if "/" in name}
    assert found == {name: n for name, n in resources["requests"].items() if "/" in name}
    return found


@pytest.mark.parametrize(
    "lines, expected",
    [
        ("", {}),
        ("compute: {gpus: 0}\n", {}),
        ("compute: {gpus: 2}\n", {"nvidia.com/gpu": "2"}),
        ("compute: {gpus: 2}\npolicy: {gpu_class: any}\n", {"nvidia.com/gpu": "2"}),
        ("compute: {gpus: 2}\npolicy: {gpu_class: mi300}\n", {"amd.com/gpu": "2"}),
        ("policy: {shape: 8xa100-80gb}\n", {"nvidia.com/gpu": "8"}),
        ("compute: {gpus: 8}\npolicy: {shape: 8xa100-80gb}\n", {"nvidia.com/gpu": "8"}),
        ("policy: {shape: 4xany}\n", {"nvidia.com/gpu": "4"}),
        ("compute: {gpus: 2, mig_profile: 1g.10gb}\n", {"nvidia.com/mig-1g.10gb": "2"}),
        (
            "compute: {gpus: 2, mig_profile: 1g.10gb, gpu_resource_mode: mig-slice}\n",
            {"nvidia.com/mig-1g.10gb": "2"},
        ),
        (
            "compute: {gpus: 1, mig_profile: 1g.10gb}\npolicy: {gpu_class: a100-80gb}\n",
            {"nvidia.com/mig-1g.10gb": "1"},
        ),
        ("compute: {gpus: 1, gpu_resource_mode: gpu}\n", {"nvidia.com/gpu": "1"}),
    ],
)
def test_gpus(lines: str, expected: dict[str, str]) -> None:
    for text in (JOB, RAYJOB):
        assert gpus(text + lines, GPUS) == expected


@pytest.mark.parametrize(
    "lines, refused",
    [
        ("compute: {gpus: 9}\npolicy: {gpu_class: a100-80gb}\n", ["TAU505"]),
        ("compute: {gpus: 9, mig_profile: 1g.10gb}\npolicy: {gpu_class: a100-80gb}\n", []),
        ("compute: {gpus: 9}\npolicy: {gpu_class: mi300}\n", []),
        ("policy: {shape: 9xa100-80gb}\n", ["TAU505"]),
        ("policy: {shape: 2xh100}\n", ["TAU279"]),
        ("compute: {gpus: 1}\npolicy: {gpu_class: h100}\n", ["TAU279"]),
        ("compute: {gpus: 1}\npolicy: {gpu_class: mi300, shape: 1xa100-80gb}\n", ["TAU280"]),
        ("compute: {gpus: 1, mig_profile: 2g.20gb}\npolicy: {gpu_class: a100-80gb}\n", ["TAU281"]),
        ("compute: {gpus: 1, gpu_resource_mode: mig}\n", ["TAU276"]),
        ("compute: {gpus: 1, gpu_resource_mode: gpu, mig_profile: 1g.10gb}\n", ["TAU277"]),
        ("compute: {mig_profile: 1g.10gb}\n", ["TAU278"]),
        ("policy: {gpu_class: a100-80gb}\n", ["TAU902"]),
        ("policy: {gpu_class: any}\n", []),
    ],
)
def test_gpus_that_cannot_be(lines: str, refused: list[str]) -> None:
    for text in (JOB, RAYJOB):
        assert ids(text + lines, GPUS) == refused


def test_a_class_that_an_overlay_chooses_says_nothing_about_cpu_jobs() -> None:
    chosen = [GPUS[0], workspace("w", defaults="{policy: {gpu_class: a100-80gb}}")]
    assert ids(JOB, chosen) == []
    made = workload(accepted(JOB + "compute: {gpus: 1}\n", chosen))
    assert pods(made)["main"]["spec"]["nodeSelector"] == {"pool": "a"}


@pytest.mark.parametrize("older, newer", [("a100-nvlink-80gb", "a100-80gb")])
def test_older_names_of_classes(older: str, newer: str) -> None:
    for policy in (f"{{gpu_class: {older}}}", f"{{shape: 1x{older}}}"):
        text = JOB + f"compute: {{gpus: 1}}\npolicy: {policy}\n"
        (found,) = said(compiled(text, GPUS))
        assert (found.id, found.hint) == ("TAU212", f"write `{newer}`")
        assert pods(workload(accepted(text, GPUS)))["main"]["spec"]["nodeSelector"] == {"pool": "a"}


def test_counts() -> None:
    assert ids(JOB + "compute: {workers: 1}\n") == []
    (found,) = said(compiled(JOB + "compute: {workers: 3}\n"))
    assert found.id == "TAU254"
    assert "nodes: 3" in found.hint
    made = workload(accepted(RAYJOB + "compute: {workers: 3}\n"))
    group = made["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]
    assert (group["replicas"], group["minReplicas"], group["maxReplicas"]) == (3, 3, 3)
    assert group["rayStartParams"] == {"num-gpus": "0"}
    assert made["spec"]["rayClusterSpec"]["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"

"""Profiler, retries, RDMA, shared memory, and the limits on a run's life."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from tests.policy.documents import platform
from tests.support.compiling import (
    JOB,
    RAY,
    RAYJOB,
    accepted,
    compiled,
    container,
    env,
    ids,
    pods,
    said,
    workload,
)

CLAIM = "storage: {data_pvc: team}\n"
HTTP = [platform(ray=f"{{submissionMode: HTTPMode, image: {RAY}}}")]


def run(text: str, fields: str) -> str:
    return text.replace("run: {", f"run: {{{fields}, ")


# --- deadlines


@pytest.mark.parametrize("duration, seconds", [("30s", 30), ("72h", 259200), ("1500ms", 2), ("1h30m", 5400)])
def test_a_run_has_the_time_that_it_is_given(duration: str, seconds: int) -> None:
    for text in (JOB, RAYJOB):
        made = workload(accepted(run(text, f"max_duration: {duration}")))
        assert made["spec"]["activeDeadlineSeconds"] == seconds
    assert "activeDeadlineSeconds" not in workload(accepted(JOB))["spec"]


@pytest.mark.parametrize("duration", ["0s", "0h0m", "87601h", "99999999999h"])
def test_times_that_cannot_be(duration: str) -> None:
    assert ids(run(JOB, f"max_duration: {duration}")) == ["TAU295"]
    assert ids(JOB + f"resilience: {{max_retries: 1, backoff_max: {duration}, backoff_initial: 1s}}\n")[
        :1
    ] == ["TAU295"]


def test_ray_over_http_needs_a_deadline() -> None:
    assert ids(RAYJOB, HTTP) == ["TAU610"]
    made = workload(accepted(run(RAYJOB, "max_duration: 1h"), HTTP))
    assert made["spec"]["submissionMode"] == "HTTPMode"
    assert "submitterPodTemplate" not in made["spec"]
    assert ids(JOB, HTTP) == []
    assert ids(run(RAYJOB, "max_duration: 0s"), HTTP) == ["TAU295"]


def test_a_ttl_is_answered() -> None:
    assert ids(run(JOB, "ttl_seconds_after_finished: 60")) == ["TAU720"]
    assert (
        "ttlSecondsAfterFinished"
        not in workload(accepted(run(JOB, "ttl_seconds_after_finished: 60")))["spec"]
    )
    assert ids(run(RAYJOB, "ttl_seconds_after_finished: 60")) == ["TAU299"]


def test_what_is_never_and_what_is_always_rendered_on_a_run() -> None:
    job, ray = workload(accepted(JOB)), workload(accepted(RAYJOB))
    for made in (job, ray):
        assert "suspend" not in made["spec"]
        assert made["spec"]["backoffLimit"] == 0
        assert "generateName" not in made["metadata"]
        assert made["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/ssa"] == "IfNotPresent"
        assert made["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/substitute"] == "disabled"
    assert "ttlSecondsAfterFinished" not in job["spec"]
    assert ray["spec"]["shutdownAfterJobFinishes"] is True
    assert ray["spec"]["ttlSecondsAfterFinished"] < 60


# --- profiler


def profiled(text: str, profiler: str) -> dict[str, Any]:
    return workload(accepted(text + CLAIM + f"profiler: {profiler}\n"))


@pytest.mark.parametrize(
    "profiler, expected",
    [
        ("{mode: nsys}", {"MODE": "nsys", "RANK": "0", "WARMUP_SEC": "0", "ACTIVE_SEC": "120"}),
        (
            "{mode: nsys, rank: all, warmup: 1m, duration: 90s}",
            {"MODE": "nsys", "RANK": "all", "WARMUP_SEC": "60", "ACTIVE_SEC": "90"},
        ),
        ("{mode: ncu, rank: '0'}", {"MODE": "ncu", "RANK": "0"}),
    ],
)
def test_profilers_of_a_job(profiler: str, expected: dict[str, str]) -> None:
    found = env(profiled(JOB, profiler))
    told = {
        name.removeprefix("TAU_PROFILE_"): value
        for name, value in found.items()
        if name.startswith("TAU_PROFILE_")
    }
    assert told.pop("OUT_DIR") == "/data/checkpoints/workflows/train/profile"
    assert told == expected


def test_a_profiler_of_ray_is_a_runtime_environment() -> None:
    made = profiled(RAYJOB, "{mode: nsys, warmup: 10s}")
    found = yaml.safe_load(made["spec"]["runtimeEnvYAML"])["nsight"]
    assert (found["delay"], found["duration"]) == ("10", "120")
    assert found["o"].startswith("/data/")
    assert not any(name.startswith("TAU_PROFILE_") for name in env(made, "head"))


@pytest.mark.parametrize(
    "text, profiler, refused",
    [
        (JOB, "{mode: nsys}", ["TAU289"]),
        (JOB + CLAIM + "compute: {gpus: 1}\nexecution: {launcher: torchrun}\n", "{mode: nsys}", ["TAU261"]),
        (JOB + CLAIM, "{mode: ncu, warmup: 1s, duration: 1s}", ["TAU289", "TAU289"]),
        (JOB + CLAIM, "{mode: nsys, duration: 0s}", ["TAU295"]),
        (JOB + CLAIM, "{mode: nsys, warmup: 0s}", []),
        (RAYJOB + CLAIM, "{mode: ncu}", ["TAU289"]),
        (RAYJOB + CLAIM, "{mode: nsys, rank: '0'}", ["TAU289"]),
        (RAYJOB + CLAIM, "{mode: nsys, rank: all}", []),
    ],
)
def test_profilers_that_cannot_be(text: str, profiler: str, refused: list[str]) -> None:
    assert ids(text + f"profiler: {profiler}\n") == refused


# --- retries


def retry(resilience: str) -> dict[str, Any] | None:
    annotations = workload(accepted(JOB + CLAIM + f"resilience: {resilience}\n"))["metadata"]["annotations"]
    found: dict[str, Any] | None = json.loads(annotations.get("tau-compile/retry", "null"))
    return found


def test_retries_are_recorded_with_their_defaults() -> None:
    assert retry("{max_retries: 0}") is None
    assert retry("{max_retries: 2}") == {
        "max-retries": 2,
        "retry-on": ["Preempted", "Evicted"],
        "checkpoint": "",
        "backoff-initial-seconds": 30,
        "backoff-max-seconds": 300,
    }
    found = retry(
        "{max_retries: 1, retry_on: [oomkilled, PREEMPTED], checkpoint_path: /data/c, backoff_initial: 1m, backoff_max: 1m}"
    )
    assert found == {
        "max-retries": 1,
        "retry-on": ["OOMKilled", "Preempted"],
        "checkpoint": "/data/c",
        "backoff-initial-seconds": 60,
        "backoff-max-seconds": 60,
    }


@pytest.mark.parametrize(
    "resilience, expected",
    [
        ("{retry_on: [Evicted]}", ["TAU903"]),
        ("{max_retries: 0, checkpoint_path: /c, backoff_initial: 1s}", ["TAU903", "TAU903"]),
        ("{max_retries: 1, backoff_initial: 301s}", ["TAU291"]),
        ("{max_retries: 1, backoff_initial: 2m, backoff_max: 1m}", ["TAU291"]),
        ("{max_retries: 1, backoff_max: 10s}", ["TAU291"]),
    ],
)
def test_retries_that_cannot_be(resilience: str, expected: list[str]) -> None:
    assert ids(JOB + f"resilience: {resilience}\n") == expected


# --- RDMA and shared memory


def shm(text: str, pod: str = "main") -> str | None:
    volumes = pods(workload(accepted(text)))[pod]["spec"].get("volumes", [])
    sizes = [v["emptyDir"]["sizeLimit"] for v in volumes if v["name"] == "dshm"]
    assert len(sizes) <= 1
    return sizes[0] if sizes else None


RDMA = "runtime:\n  rdma: {{enabled: true{}}}\n"


@pytest.mark.parametrize(
    "text, expected",
    [
        (JOB, None),
        (JOB + "compute: {gpus: 1}\n", None),
        (JOB + "compute: {gpus: 2}\n", "16Gi"),
        (JOB + "compute: {gpus: 2, memory: 8Gi}\n", "4Gi"),
        (JOB + "compute: {gpus: 2, memory: 8Gi, memory_limit: 64Gi}\n", "16Gi"),
        (JOB + "execution: {launcher: torchrun, processes_per_node: 2}\n", "1Gi"),
        (JOB + "compute: {gpus: 1}\nexecution: {launcher: torchrun, nodes: 2}\n", "16Gi"),
    ],
)
def test_shared_memory(text: str, expected: str | None) -> None:
    assert shm(text) == expected


@pytest.mark.parametrize(
    "rdma, expected",
    [("", "32Gi"), (", shm_size: 8Gi", "8Gi"), (", shm_size: 64Gi", "64Gi")],
)
def test_shared_memory_with_rdma(rdma: str, expected: str) -> None:
    for text, pod in ((JOB, "main"), (RAYJOB, "worker")):
        given = text.replace("runtime:\n", RDMA.format(rdma)) + "compute: {gpus: 1}\n"
        assert shm(given, pod) == expected


def test_rdma_asks_for_the_device_and_the_rights_it_needs() -> None:
    for text, pod in ((JOB, "main"), (RAYJOB, "worker")):
        made = workload(
            accepted(
                text.replace("runtime:\n", RDMA.format(", resource_name: rdma/hca, count: 4"))
                + "compute: {gpus: 1}\n"
            )
        )
        found = container(made, pod)
        assert found["resources"]["requests"]["rdma/hca"] == found["resources"]["limits"]["rdma/hca"] == "4"
        assert found["securityContext"]["capabilities"] == {
            "drop": ["ALL"],
            "add": ["DAC_OVERRIDE", "IPC_LOCK", "SYS_RESOURCE"],
        }
        assert found["securityContext"]["allowPrivilegeEscalation"] is False
    head = container(
        workload(accepted(RAYJOB.replace("runtime:\n", RDMA.format("")) + "compute: {gpus: 1}\n")), "head"
    )
    assert "capabilities" not in head["securityContext"]


@pytest.mark.parametrize(
    "rdma, expected",
    [
        ("{enabled: false}", []),
        ("{enabled: false, count: 2}", ["TAU903"]),
        ("{resource_name: rdma/hca, shm_size: 1Gi}", ["TAU903", "TAU903"]),
        ("{enabled: true, resource_name: x.kubernetes.io/hca}", ["TAU292"]),
        ("{enabled: true, resource_name: k8s.io/hca}", ["TAU292"]),
        ("{enabled: true, shm_size: 65Gi}", ["TAU292"]),
        ("{enabled: true, shm_size: 64GB}", ["TAU402"]),
    ],
)
def test_rdma_that_cannot_be(rdma: str, expected: list[str]) -> None:
    assert ids(JOB.replace("runtime:\n", f"runtime:\n  rdma: {rdma}\n") + "compute: {gpus: 1}\n") == expected


def test_restricted_pods_have_no_rights_at_all() -> None:
    for text in (JOB, RAYJOB):
        made = workload(accepted(text.replace("runtime:\n", "runtime:\n  security: {mode: restricted}\n")))
        for pod in pods(made).values():
            spec = pod["spec"]
            assert spec["securityContext"]["runAsNonRoot"] is True
            assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
            for each in spec["containers"] + spec.get("initContainers", []):
                assert each["securityContext"]["capabilities"] == {"drop": ["ALL"]}
                assert each["securityContext"]["allowPrivilegeEscalation"] is False
    (found,) = said(
        compiled(
            JOB.replace("runtime:\n", "runtime:\n  security: {mode: restricted}\n  rdma: {enabled: true}\n")
        )
    )
    assert found.id == "TAU292"

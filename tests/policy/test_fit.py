"""Overlay defaults for both kinds of workload: each gets what it can use, and nothing is said about the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.policy.documents import platform, profile, workspace
from tests.support.compiling import JOB, RAYJOB, accepted, compiled, container, ids, workload
from tests.support.tools import ROOT

FOR_RAY = (
    "{compute: {workers: 3, worker_memory: 8Gi, head_cpus: 2}, "
    "execution: {launcher: ray-tune, metric: loss, configs: {lr: [1, 2]}}}"
)
FOR_JOBS = (
    "{execution: {launcher: torchrun, nodes: 2, configs: {max-restarts: 1}}, "
    "profiler: {mode: ncu}, storage: {output: /data/x, data_pvc: c}}"
)


def only_for(engine: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    definitions = json.loads((ROOT / "schemas" / "tau.schema.json").read_text())["$defs"]
    for section in ("run", "compute", "execution"):
        for name, field in definitions[section]["properties"].items():
            if field.get("x-tau-engines") == [engine]:
                found.setdefault(section, []).append(name)
    return found


def test_a_job_beside_defaults_for_ray() -> None:
    for layer in (platform, lambda **f: workspace("w", **f), lambda **f: profile("p", **f)):
        made = compiled(JOB, [layer(defaults=FOR_RAY.replace("workers: 3, ", ""))])
        assert made.objects
        assert not made.diagnostics


def test_a_rayjob_beside_defaults_for_jobs() -> None:
    made = accepted(RAYJOB, [workspace("w", defaults=FOR_JOBS)])
    assert not made.diagnostics
    assert workload(made)["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"] == 1


def test_each_kind_gets_its_own_defaults() -> None:
    made = accepted(RAYJOB, [workspace("w", defaults="{compute: {workers: 3, worker_memory: 8Gi}}")])
    assert workload(made)["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"] == 3
    assert container(workload(made), "worker")["resources"]["requests"]["memory"] == "8Gi"


def test_a_default_kind_decides_too() -> None:
    both = "{run: {workload_kind: rayjob}, compute: {workers: 2}, execution: {nodes: 4}}"
    assert workload(accepted(JOB, [workspace("w", defaults=both)]))["kind"] == "RayJob"


def test_settings_of_a_launcher_go_with_it() -> None:
    defaults = "{execution: {launcher: torchrun, nodes: 2, configs: {max-restarts: 1}}}"
    made = accepted(JOB + "execution: {launcher: python}\n", [workspace("w", defaults=defaults)])
    assert not made.diagnostics
    assert "parallelism" not in workload(made)["spec"]
    twice = workload(accepted(JOB, [workspace("w", defaults=defaults)]))
    assert twice["spec"]["parallelism"] == 2


def test_what_a_user_writes_is_never_left_out() -> None:
    overlay = [workspace("w", defaults="{compute: {worker_memory: 8Gi}}")]
    assert ids(JOB + "compute: {worker_memory: 4Gi}\n", overlay) == ["TAU256"]
    assert ids(JOB + "execution: {launcher: ray-train}\n", overlay) == ["TAU257"]


@pytest.mark.parametrize(("engine", "text"), [("rayjob", JOB), ("job", RAYJOB)])
def test_no_field_of_the_other_kind_says_anything(engine: str, text: str) -> None:
    samples: dict[str, Any] = {"mode": "max", "metric": "loss", "launcher": "torchrun"}
    for section, names in only_for(engine).items():
        for name in names:
            value = samples.get(name, "2Gi" if "memory" in name else "2")
            made = compiled(text, [workspace("w", defaults=f"{{{section}: {{{name}: {value}}}}}")])
            assert made.objects, name
            assert not made.diagnostics, name


def test_a_cure_for_an_overlays_value_is_the_platform_teams() -> None:
    made = compiled(JOB, [workspace("w", defaults="{compute: {cpus: 4, cpu_limit: 2}}")])
    assert made.diagnostics
    assert made.diagnostics[0].hint.startswith("for the platform team: ")

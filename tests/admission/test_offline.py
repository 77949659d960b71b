"""What the compiler says about its own output, against what the cluster's policies would say: the same, with places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tau_compile.rules.admission import judged
from tests.admission.test_policies import FAULTS, FINE
from tests.admission.worlds import CHECKS, CLUSTER, PLATFORM, WORKSPACE, changed, made
from tests.support.celcheck import celcheck
from tests.support.compiling import accepted, compiled, ids, said

if TYPE_CHECKING:
    from tau_compile.compiler import Compiled

JOB = """schema_version: 1
name: train
run: {entrypoint: train.py}
runtime: {image: "pytorch/pytorch:2.4.0"}
compute: {gpus: 8}
policy: {gpu_class: a100}
"""
RAYJOB = JOB.replace("{entrypoint", "{workload_kind: rayjob, entrypoint").replace(
    "pytorch/pytorch:2.4.0", "registry.example.com/ray:2.56.0"
)


def world(checks: str = CHECKS, space: str = WORKSPACE) -> list[str]:
    """Overlays of one workspace; its queue says nothing about flavors."""
    plain = CLUSTER[: CLUSTER.index("queues:")] + CLUSTER[CLUSTER.index("priorityClasses:") :]
    return [PLATFORM + checks, plain, space]


def test_the_same_verdicts_on_images_and_gpus() -> None:
    # The catalogue of a compilation decides about names of GPUs, as it does for the policies.
    result = accepted(JOB, world())
    assert result.resolved is not None
    cases: list[tuple[dict[str, Any], str, Any]] = [*(fault[:3] for fault in FAULTS), *FINE]
    objects = [changed(*case) for case in cases if case[0]["kind"] in ("Job", "RayJob")]
    objects = [o for o in objects if o["kind"] == "Job" or "rayClusterSpec" in o["spec"]]
    answer = celcheck(made(), objects)
    seen = set()
    for number, each in enumerate(objects):
        messages = answer.refusals(number)
        theirs = [m.startswith("images must") for m in messages].count(True)
        theirs_gpus = [m for m in messages if m.startswith("a run may have")]
        ours = list(judged([each], result.resolved))
        found = [d.id for d in ours]
        assert found == ["TAU389"] * theirs + ["TAU390"] * len(theirs_gpus), (messages, found)
        for gpus in theirs_gpus:
            assert f"has {gpus.rpartition(' ')[2]} GPUs" in ours[-1].message
        seen.update(found)
    assert seen == {"TAU389", "TAU390"}


def test_what_is_fine_says_nothing() -> None:
    for text in (JOB, RAYJOB):
        assert said(accepted(text, world())) == []


@pytest.mark.parametrize("action, severity", [("Deny", "error"), ("Audit", "warning")])
def test_an_image_has_its_place_and_the_policys(action: str, severity: str) -> None:
    checks = CHECKS.replace("  images:\n", f"  images:\n    action: {action}\n")
    result = compiled(JOB.replace("pytorch/pytorch:2.4.0", "team/trainer"), world(checks))
    (found,) = _only(result, severity)
    assert found.span is not None
    assert (found.id, found.span.file, found.span.line) == ("TAU389", "tau.yaml", 4)
    assert [r.span.file for r in found.related] == ["overlays/0.yaml"]
    assert bool(result.objects) == (action == "Audit")


def test_an_image_of_the_platform_is_blamed_on_the_platform() -> None:
    platform = PLATFORM + "ray: {image: 'ghcr.io/ray:2.56.0'}\n" + CHECKS
    text = "\n".join(line for line in RAYJOB.split("\n") if "image" not in line)
    found = compiled(text, [platform, *world()[1:]]).diagnostics
    assert [d.id for d in found] == ["TAU389"]
    assert "`ghcr.io/ray:2.56.0`" in found[0].message


def test_a_number_of_gpus_counts_every_pod() -> None:
    many = JOB.replace("policy", "execution: {launcher: torchrun, nodes: 5}\npolicy")
    assert ids(many, world()) == ["TAU390"]
    assert ids(many.replace("nodes: 5", "nodes: 4"), world()) == []
    workers = RAYJOB.replace("gpus: 8", "gpus: 8, workers: 5")
    assert ids(workers, world()) == ["TAU390"]
    assert ids(workers.replace("workers: 5", "workers: 4"), world()) == []


def test_a_workspace_says_otherwise() -> None:
    space = WORKSPACE + "admission: {images: {action: Ignore}, gpusPerRun: {max: 4}}\n"
    assert ids(JOB.replace("pytorch/pytorch:2.4.0", "team/trainer"), world(CHECKS, space)) == ["TAU390"]
    assert ids(JOB, world("", WORKSPACE + "admission: {queue: Audit}\n")) == []


def _only(result: Compiled, severity: str) -> list[Any]:
    assert [d.severity for d in result.diagnostics] == [severity]
    return list(result.diagnostics)

"""Runs against the namespace that their workspace makes: only what is certain to be refused is refused."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from tau_compile.cli.inputs import Inputs
from tau_compile.compiler import compile_file
from tau_compile.diagnostics import Span
from tau_compile.rules.limitrange import beyond
from tau_compile.rules.podsecurity import refused, violations
from tau_compile.rules.rendered import pods
from tests.packaging.environments import training
from tests.packaging.test_imports import called
from tests.support.compiling import JOB, RAYJOB, compiled
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

HERE = Span("x.yaml", 1, 1, 1, 2)
RESTRICTED = "  security: {mode: restricted}\n"
EXAMPLES = sorted(ROOT.glob("examples/*/tau.yaml"))


def made(text: str) -> list[dict[str, Any]]:
    found = compiled(text)
    assert found.objects, found.diagnostics
    return [copy.deepcopy(o) for o in found.objects]


def templates(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [pod for found in objects for _, pod in pods(found)]


@pytest.mark.parametrize("text", [JOB, RAYJOB], ids=["job", "ray"])
def test_restricted_pods_pass_restricted_and_others_do_not(text: str) -> None:
    for pod in templates(made(text + RESTRICTED)):
        assert list(violations(pod, "restricted")) == []
    for pod in templates(made(text)):
        assert list(violations(pod, "baseline")) == []
        assert "`runAsNonRoot` is not true" in violations(pod, "restricted")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_every_example_passes_the_level_that_is_enforced_by_default(path: Path) -> None:
    inputs = Inputs(str(path))
    objects = compile_file(inputs.repository, *inputs.read(str(path))).objects
    assert objects
    assert refused(objects, "baseline", HERE, HERE, "vision") == []


@pytest.mark.parametrize(
    ("level", "path", "value"),
    [
        ("baseline", ("hostNetwork",), True),
        ("baseline", ("volumes",), [{"name": "host", "hostPath": {"path": "/"}}]),
        ("baseline", ("containers", 0, "securityContext", "privileged"), True),
        ("baseline", ("containers", 0, "securityContext", "capabilities"), {"add": ["IPC_LOCK"]}),
        ("baseline", ("containers", 0, "ports"), [{"containerPort": 1, "hostPort": 1}]),
        ("restricted", ("volumes",), [{"name": "disk", "nfs": {"server": "a", "path": "/"}}]),
        ("restricted", ("containers", 0, "securityContext", "runAsUser"), 0),
        ("restricted", ("containers", 0, "securityContext", "runAsNonRoot"), False),
        ("restricted", ("containers", 0, "securityContext", "allowPrivilegeEscalation"), True),
        ("restricted", ("containers", 0, "securityContext", "capabilities"), {"drop": ["NET_RAW"]}),
        ("restricted", ("securityContext", "seccompProfile"), {"type": "Unconfined"}),
    ],
)
def test_seeded_faults_are_found_and_privileged_lets_all_pass(
    level: str, path: tuple[Any, ...], value: Any
) -> None:
    objects = made(JOB + RESTRICTED)
    (pod,) = templates(objects)
    place = pod["spec"]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    (said,) = refused(objects, level, HERE, HERE, "vision")
    assert said.id == "TAU820"
    assert refused(objects, "privileged", HERE, HERE, "vision") == []


@pytest.mark.parametrize(
    ("limit", "count"),
    [
        ({"max": {"memory": "1Gi"}}, 1),
        ({"max": {"memory": "10Ti", "cpu": "1000"}}, 0),
        ({"min": {"cpu": "900"}}, 1),
        ({"min": {"cpu": "1m"}}, 0),
        ({"maxLimitRequestRatio": {"cpu": "100"}}, 0),
        ({"max": {"example.com/other": "1"}}, 0),
    ],
)
def test_bounds_of_a_limit_range(limit: dict[str, Any], count: int) -> None:
    objects = made(JOB)
    assert len(beyond(objects, [{"type": "Container", **limit}], HERE, HERE)) == count
    assert beyond(objects, [{"type": "Pod", **limit}], HERE, HERE) == []  # sums of pods are not judged


def test_a_limit_may_be_only_so_many_times_its_request() -> None:
    objects = made(JOB)
    (pod,) = templates(objects)
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}, "limits": {"cpu": "4"}}
    for ratio, count in (("3", 1), ("4", 0)):
        limits = [{"type": "Container", "maxLimitRequestRatio": {"cpu": ratio}}]
        assert len(beyond(objects, limits, HERE, HERE)) == count


def test_who_manages_no_workspace_loads_nothing_of_it(tmp_path: Path) -> None:
    file = training(tmp_path / "empty")
    for command in (["render", "tau.yaml"], ["validate", "tau.yaml"], ["build"]):
        found = called(command, file.parent)
        assert "tau_compile.compiler" in found
        assert not [
            name
            for name in found
            if name
            in (
                "ipaddress",
                "tau_compile.spaces",
                "tau_compile.checkout.spacetree",
                "tau_compile.checkout.spaceguard",
            )
            or name.startswith(
                ("tau_compile.policy.manage", "tau_compile.render.space", "tau_compile.rules.space")
            )
        ]

"""A patch does not undo what a layer above its own holds."""

from __future__ import annotations

import pytest

from tests.policy.documents import cluster, platform, profile, workspace
from tests.support.compiling import JOB, RAYJOB, compiled, ids

GPU = JOB + "compute: {gpus: 1}\n"
RAY = RAYJOB + "compute: {gpus: 1, workers: 2}\n"


def main(container: str, kind: str = "Job") -> str:
    body = f"{{template: {{spec: {{containers: [{{name: main, {container}}}]}}}}}}"
    return f"[{{target: {{kind: {kind}}}, patch: {{spec: {body}}}}}]"


def worker(container: str) -> str:
    body = f"{{groupName: workers, template: {{spec: {{containers: [{{name: ray-worker, {container}}}]}}}}}}"
    return (
        f"[{{target: {{kind: RayJob}}, patch: {{spec: {{rayClusterSpec: {{workerGroupSpecs: [{body}]}}}}}}}}]"
    )


NCCL = "{runtime: {env: {NCCL_DEBUG: WARN}}}"
INFO = main("env: [{name: NCCL_DEBUG, value: INFO}]")


@pytest.mark.parametrize(
    "layers, found",
    [
        ([platform(enforce=NCCL, patches=INFO)], []),
        ([platform(enforce=NCCL), cluster("c", patches=INFO)], ["TAU359"]),
        ([platform(enforce=NCCL), workspace("v", patches=INFO)], ["TAU359"]),
        ([platform(enforce=NCCL), profile("p", patches=INFO)], ["TAU359"]),
        ([cluster("c", enforce=NCCL), workspace("v", patches=INFO)], ["TAU359"]),
        ([workspace("v", enforce=NCCL), cluster("c", patches=INFO)], []),
        ([workspace("v", enforce=NCCL), profile("p", patches=INFO)], ["TAU359"]),
        ([profile("p", enforce=NCCL), workspace("v", patches=INFO)], []),
    ],
)
def test_by_whom(layers: list[str], found: list[str]) -> None:
    assert ids(GPU, layers) == found


@pytest.mark.parametrize(
    "limit, container, found",
    [
        ("{name: a, field: runtime.env.NCCL_*, forbidden: true}", "env: [{name: NCCL_X, value: a}]", True),
        ("{name: a, field: runtime.env.NCCL_*, forbidden: true}", "env: [{name: OMP_X, value: a}]", False),
        ("{name: a, field: runtime.env.*, pattern: '[a-z]+'}", "env: [{name: A, value: A1}]", True),
        ("{name: a, field: runtime.env.*, pattern: '[a-z]+'}", "env: [{name: A, value: ab}]", False),
        ("{name: a, field: compute.memory_limit, max: 100Gi}", "resources: {limits: {memory: 101Gi}}", True),
        ("{name: a, field: compute.memory_limit, max: 100Gi}", "resources: {limits: {memory: 99Gi}}", False),
        ("{name: a, field: total.memory, max: 100Gi}", "resources: {requests: {memory: 1Gi}}", True),
        (
            "{name: a, field: runtime.security.mode, oneOf: [restricted]}",
            "securityContext: {capabilities: {drop: null}}",
            True,
        ),
    ],
)
def test_limits(limit: str, container: str, found: bool) -> None:
    text = GPU.replace(
        "compute:", "  security: {mode: restricted}\ncompute:" if "security" in limit else "compute:"
    )
    layers = [platform(limits=f"[{limit}]"), workspace("v", patches=main(container))]
    assert ("TAU359" in ids(text, layers)) is found


def test_sizes_of_ray_are_those_of_workers() -> None:
    layers = [
        platform(enforce="{compute: {memory: 32Gi}}"),
        workspace("v", patches=worker("resources: {requests: {memory: 8Gi}}")),
    ]
    result = compiled(RAY, layers)
    assert [d.id for d in result.diagnostics] == ["TAU359"]
    told = result.diagnostics[0]
    assert told.span is not None
    assert told.span.file == "overlays/1.yaml"
    assert [(one.span.file, one.span.line) for one in told.related] == [("overlays/0.yaml", 4)]
    assert "the memory request of the container `ray-worker` of the group `workers` to `8Gi`" in told.message


def test_a_container_that_a_patch_brings_is_its_own_affair() -> None:
    pod = "{initContainers: [{name: s, image: a.io/b:1, restartPolicy: Always}]}"
    side = f"[{{target: {{kind: Job}}, patch: {{spec: {{template: {{spec: {pod}}}}}}}}}]"
    layers = [
        platform(limits="[{name: a, field: runtime.image, pattern: 'pytorch/.+'}]"),
        workspace("v", patches=side),
    ]
    assert ids(GPU, layers) == []


def test_roll_out() -> None:
    limit = "[{name: a, field: runtime.image, pattern: 'pytorch/.+', mode: warn}]"
    result = compiled(GPU, [platform(limits=limit), workspace("v", patches=main("image: 'a.io/b:1'"))])
    assert [(d.id, d.severity) for d in result.diagnostics] == [("TAU359", "warning")]
    assert result.objects

"""A Platform of the repository stands above the packaged one, field by field."""

from __future__ import annotations

from tests.policy.documents import platform
from tests.support.compiling import RAYJOB, accepted, container, workload

NAMELESS = RAYJOB.partition("runtime:")[0]


def test_what_a_platform_leaves_out_is_as_packaged() -> None:
    plain = workload(accepted(NAMELESS))
    assert workload(accepted(NAMELESS, [platform()])) == plain
    other = workload(accepted(NAMELESS, [platform(ray="{image: reg.example.com/ray:2.40.0}")]))
    assert container(other, "worker")["image"] == container(plain, "worker")["image"]
    assert other["spec"]["submissionMode"] == "K8sJobMode"


def test_what_a_platform_says_counts() -> None:
    made = workload(accepted(NAMELESS, [platform(ray="{cpuImage: reg.example.com/ray:2.40.0}")]))
    assert container(made, "worker")["image"] == "reg.example.com/ray:2.40.0"

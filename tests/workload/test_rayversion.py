"""The Ray version that an image's tag tells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_compile.workload.rayversion import DEFAULT, ray_version
from tests.support.compiling import RAY, RAYJOB, accepted, ids, workload


@pytest.mark.parametrize(
    "image, expected",
    [
        ("mcr.example.com/ai/ray:py3.12-ray2.56.0-cuda13.0", "2.56.0"),
        ("mcr.example.com/ai/ray:py3.12-ray2.54.0", "2.54.0"),
        ("rayproject/ray:2.9.0", "2.9.0"),
        ("rayproject/ray:2.9.0-py311-gpu", "2.9.0"),
        ("rayproject/ray-ml:2.9.0", "2.9.0"),
        ("rayproject/ray-llm:2.46.0-py311-cu124", "2.46.0"),
        ("docker.io/rayproject/ray:2.9.0@sha256:" + "0" * 64, "2.9.0"),
        ("localhost:5000/ray:2.40.0", "2.40.0"),
        ("localhost:5000/team/trainer:ray-2.40.0", "2.40.0"),
        ("team/trainer:ray_2.40.0", "2.40.0"),
        ("team/trainer:cu124-ray2.40.0rc1", "2.40.0"),
        # What does not tell.
        ("rayproject/ray", ""),
        ("rayproject/ray:latest", ""),
        ("rayproject/ray:nightly-py311", ""),
        ("rayproject/ray:2.9", ""),
        ("localhost:5000/ray", ""),
        ("team/trainer:2.40.0", ""),
        ("team/trainer:array2.40.0", ""),
        ("team/trainer:ray2.40", ""),
        ("team/trainer:ray2.40.0.1", ""),
        ("team/ray2.40.0:latest", ""),
        ("rayproject/ray@sha256:" + "0" * 64, ""),
        ("", ""),
    ],
)
def test_versions(image: str, expected: str) -> None:
    assert ray_version(image) == expected


@given(st.text(max_size=60))
def test_any_text_is_read(image: str) -> None:
    found = ray_version(image)
    assert found == "" or found in image


def test_the_version_stands_in_the_cluster_and_one_that_is_not_told_is_assumed() -> None:
    assert workload(accepted(RAYJOB))["spec"]["rayClusterSpec"]["rayVersion"] == "2.9.0"
    unknown = RAYJOB.replace(RAY, "team/trainer:7")
    assert ids(unknown) == ["TAU605"]
    assert workload(accepted(unknown))["spec"]["rayClusterSpec"]["rayVersion"] == DEFAULT

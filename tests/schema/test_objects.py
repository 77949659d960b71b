from __future__ import annotations

import copy
from typing import Any

import pytest

from tau_compile.schema.objects import Problem, problems
from tests.schemas.manifests import good

JOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "a"},
    "spec": {
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}},
    },
}


def test_a_good_object() -> None:
    assert problems(JOB) == []


@pytest.mark.parametrize("label", sorted(good()))
def test_good_objects_of_every_kind(label: str) -> None:
    assert problems(good()[label]) == []


def test_every_fault_is_told_with_its_path() -> None:
    wrong = copy.deepcopy(JOB)
    container = wrong["spec"]["template"]["spec"]["containers"][0]
    container |= {"evn": [], "ports": [{"containerPort": "80"}]}
    wrong["specs"] = {}
    del wrong["metadata"]["name"]
    at = "spec.template.spec.containers[0]"
    assert problems(wrong) == [
        Problem("metadata", "`metadata.name` is missing"),
        Problem(f"{at}.evn", f"unknown key `{at}.evn`; did you mean env?"),
        Problem(
            f"{at}.ports[0].containerPort", f'`{at}.ports[0].containerPort` must be a whole number, not "80"'
        ),
        Problem("specs", "unknown key `specs`; did you mean spec?"),
    ]


@pytest.mark.parametrize(
    "names", [("batch/v1", "Jobs"), ("example.com/v1", "Job"), (None, "Job"), ("v1", 3), ("v1", "../x")]
)
def test_unknown_kinds_are_a_problem(names: tuple[Any, Any]) -> None:
    found = problems({"apiVersion": names[0], "kind": names[1]})
    assert [problem.path for problem in found] == ["kind"]

"""What the examples render to: expected text, valid for kubeconform, the same everywhere, and what must never appear."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.examples.repository import EXAMPLES, NAMES, copy, objects, pod_templates, render
from tests.support.cli import run, run_process
from tests.support.tools import ROOT, kubeconform

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EXPECTED = ROOT / "tests" / "golden-examples"


def test_there_are_examples_and_each_is_described() -> None:
    assert len(NAMES) >= 8
    table = (EXAMPLES / "README.md").read_text()
    for name in NAMES:
        assert f"| [{name}]({name}/) |" in table
        assert (
            f"tau-compile render {'' if name == 'one-gpu-ray' else f'examples/{name}/'}tau.yaml"
            in (EXAMPLES / name / "README.md").read_text()
        )
    assert sorted(re.findall(r"^\| \[(.+?)]", table, re.MULTILINE)) == NAMES


@pytest.mark.parametrize("arguments", [["validate"], ["validate", "."]], ids=" ".join)
def test_nothing_is_wrong_with_them(arguments: list[str], repository: Path) -> None:
    outcome = run(arguments, repository)
    overlays = len(list((EXAMPLES / "overlays").rglob("*.yaml")))
    assert (outcome.exit, outcome.stderr) == (0, f"{len(NAMES) + overlays} files: OK\n")


@pytest.mark.parametrize("name", NAMES)
def test_rendered_as_expected(
    name: str, rendered: dict[str, str], golden: Callable[[Path, str], None]
) -> None:
    golden(EXPECTED / f"{name}.yaml", rendered[name])


def test_the_smallest_needs_no_repository(tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    for file in ("tau.yaml", "train.py"):
        shutil.copy(EXAMPLES / "one-gpu-ray" / file, tmp_path)
    outcome = run(["render", "tau.yaml"], tmp_path)
    assert (outcome.exit, outcome.stderr) == (0, "")
    golden(EXPECTED / "one-gpu-ray-alone.yaml", outcome.stdout)
    assert [result.valid for result in kubeconform(outcome.stdout)] == [True, True]
    job = objects(outcome.stdout)[-1]
    worker = job["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]
    asked = worker["template"]["spec"]["containers"][0]["resources"]["requests"]
    assert job["kind"] == "RayJob"
    assert job["metadata"]["namespace"] == "taugrid-default"
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "jobqueue"
    assert (worker["replicas"], asked) == (1, {"cpu": "16", "memory": "64Gi", "nvidia.com/gpu": "1"})
    assert job["spec"]["runtimeEnvYAML"] == 'pip:\n- "torch>=2.4.0"\n'


def test_every_expected_file_has_an_example() -> None:
    assert sorted(path.stem for path in EXPECTED.iterdir()) == sorted([*NAMES, "one-gpu-ray-alone"])


@pytest.mark.parametrize("name", NAMES)
def test_kubeconform_accepts_every_object(name: str, rendered: dict[str, str]) -> None:
    results = kubeconform(rendered[name])
    assert len(results) == len(objects(rendered[name])) >= 2
    assert [result for result in results if not result.valid] == []


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("restartPolicy: Never", "restartPolcy: Never"),
        ("replicas: 1", "replicas: one"),
        ("immutable: true", "immutable: 'yes'"),
        ("kind: RayJob", "kind: RayJobs"),
    ],
)
def test_kubeconform_would_notice(right: str, wrong: str, rendered: dict[str, str]) -> None:
    text = rendered["one-gpu-ray"]
    assert right in text
    assert not all(result.valid for result in kubeconform(text.replace(right, wrong)))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_bytes_everywhere(name: str, rendered: dict[str, str], tmp_path: Path) -> None:
    elsewhere = copy(tmp_path / "a folder with spaces" / "über")
    assert render(elsewhere, name) == rendered[name]
    outcome = run_process(
        ["render", f"{name}/tau.yaml"],
        elsewhere,
        PYTHONHASHSEED="4711",
        TZ="Pacific/Auckland",
        LANG="de_DE.ISO-8859-1",
        LC_ALL="C",
        HOME=str(tmp_path / "home"),
    )
    assert (outcome.exit, outcome.stderr) == (0, "")
    assert outcome.stdout == rendered[name]


def test_the_same_bytes_from_a_git_work_tree(rendered: dict[str, str], tmp_path: Path) -> None:
    # Git would have to track all that ships, with the exec bits that the files have here.
    repository = copy(tmp_path / "clone" / "examples")
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=tmp_path / "clone", check=True, capture_output=True)
    assert {name: render(repository, name) for name in NAMES} == rendered


@pytest.mark.parametrize("name", NAMES)
def test_every_container_says_what_it_needs(name: str, rendered: dict[str, str]) -> None:
    templates = [template for made in objects(rendered[name]) for template in pod_templates(made)]
    containers = [
        container
        for template in templates
        for container in (*template["spec"]["containers"], *template["spec"].get("initContainers", ()))
    ]
    assert len(containers) >= len(templates) >= 1
    for container in containers:
        for side in ("requests", "limits"):
            assert {"cpu", "memory"} <= container["resources"][side].keys(), container["name"]
        assert container["resources"]["requests"]["memory"] == container["resources"]["limits"]["memory"]


@pytest.mark.parametrize("name", NAMES)
def test_what_may_never_be_rendered_on_a_run(name: str, rendered: dict[str, str]) -> None:
    made = objects(rendered[name])
    assert len({o["metadata"]["namespace"] for o in made}) == 1
    for o in made:
        assert "generateName" not in o["metadata"]
        assert "status" not in o
        if o["kind"] not in ("Job", "RayJob"):
            continue
        assert o["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "jobqueue"
        assert "suspend" not in o["spec"]
        assert o["kind"] == "RayJob" or "ttlSecondsAfterFinished" not in o["spec"]
        for template in pod_templates(o):
            assert not any(key.startswith("kueue.x-k8s.io/") for key in template["metadata"]["labels"])

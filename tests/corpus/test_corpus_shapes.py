"""The corpus check on small files of our own, in the shapes that real ones have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.corpus.__main__ import main
from tests.corpus.check import check_folder, prepare, table
from tests.corpus.imports import check_imports
from tests.support.cli import run

if TYPE_CHECKING:
    from pathlib import Path

RAY = "mcr.microsoft.com/aks/ai-runtime/ray:py3.12-ray2.54.0"
SHAPES = {
    # A part of a TauCluster, without apiVersion and kind.
    "kind-profiles.yaml": """\
spec:
  workloadProfiles:
  - name: small-job
    applicability: {lanes: [training], namespaces: [ray]}
    gpusPerWorker: 0
    workerCount: 1
    defaultLocalQueue: kind-cpu
    priorities: {workloadPriorityClassName: low, podPriorityClassName: low}
  - name: small-ray
    applicability: {lanes: [training], namespaces: [ray]}
    gpusPerWorker: 0
    workerCount: 3
    defaultLocalQueue: kind-cpu
    priorities: {workloadPriorityClassName: low, podPriorityClassName: low}
""",
    # The direct form, a shell script, a profile.
    "kind-smoke-job.yaml": """\
name: smoke
engine: job
entrypoint: run.sh
compute: {gpus: 0, cpu_request: 20m, memory_request: 64Mi}
runtime: {image: bash:5.2}
policy: {namespace: ray, profile: small-job, queue: kind-cpu, lane: training}
""",
    # The direct form, Ray with sizes of its own for head and workers.
    "kind-smoke-ray.yaml": f"""\
name: smoke-ray
engine: rayjob
entrypoint: job.py
runtime: {{image: "{RAY}", env: {{MARKER: here}}}}
compute:
  workers: 3
  gpus_per_worker: 0
  head_cpu_request: 30m
  head_memory_request: 1Gi
  head_cpu_limit: "2"
  head_memory_limit: 4Gi
  worker_cpu_request: 40m
  worker_memory_request: 128Mi
policy: {{namespace: ray, profile: small-ray, queue: kind-cpu, lane: training}}
""",
    # The canonical form, a program in a neighbouring folder, a prefix.
    "aks-cpu-quickstart.yaml": f"""\
schema_version: 1
name: neighbours
run: {{entrypoint: ../shared-code/train.py, workload_kind: rayjob}}
resource_naming: {{prefix: lab}}
compute: {{gpus: 0, cpus: 1, memory: 6Gi, workers: 2, worker_cpus: 2, worker_memory: 3Gi}}
runtime: {{image: "{RAY}", pip: ["numpy>=1.26"]}}
""",
    # Ray Tune without storage, more trials at a time than samples.
    "ray-tune-smoke.yaml": f"""\
name: search
engine: rayjob
entrypoint: trial.py
runtime: {{image: "{RAY}"}}
execution:
  launcher: ray-tune
  metric: loss
  max_concurrent_trials: 3
  configs: {{lr: [0.1, 0.2, 0.3]}}
compute: {{workers: 1, gpus_per_worker: 1}}
policy: {{gpu_class: any, disable_default_priorities: true}}
""",
    # Objects of the cluster.
    "kind-kueue-lanes.yaml": """\
---
apiVersion: v1
kind: Namespace
metadata: {name: ray}
---
apiVersion: v1
kind: Namespace
metadata: {name: other}
""",
    # Files that the table does not know: one that compiles, some that are refused.
    "new-good.yaml": "schema_version: 1\nname: new\nrun: {script: a.py}\nruntime: {image: python:3.12}\n",
    "new-typo.yaml": "schema_version: 1\nname: new\nrum: {script: a.py}\nruntime: {image: python:3.12}\n",
    "new-outside.yaml": "name: new\nengine: job\nentrypoint: ../../etc/a.py\ncompute: {gpus: 0}\nruntime: {image: python:3.12}\n",
    "new-broken.yaml": "name: [new\n",
}


def write(folder: Path, shapes: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in shapes.items():
        (folder / name).write_text(text)
    return folder


def rendered(shape: str, folder: Path) -> list[dict[str, Any]]:
    prepare(write(folder / "in", SHAPES) / shape, folder / "in" / "kind-profiles.yaml", folder / "out")
    outcome = run(["render", "config/tau.yaml"], folder / "out")
    assert outcome.exit == 0, outcome.stderr
    return list(yaml.safe_load_all(outcome.stdout))


def test_every_shape_is_judged(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    verdicts = check_folder(write(tmp_path / "in", SHAPES), tmp_path / "scratch")
    assert {v.file: v.got for v in verdicts} == {
        "aks-cpu-quickstart.yaml": "compiles",
        "kind-kueue-lanes.yaml": "TAU109",
        "kind-profiles.yaml": "TAU201",
        "kind-smoke-job.yaml": "compiles",
        "kind-smoke-ray.yaml": "compiles",
        "new-broken.yaml": "TAU119",
        "new-good.yaml": "compiles",
        "new-outside.yaml": "TAU702",
        "new-typo.yaml": "TAU201",
        "ray-tune-smoke.yaml": "compiles",
    }
    assert [v for v in verdicts if not v.passed] == []
    assert table(verdicts).endswith("\n10 passed, 0 failed")


def test_the_objects_of_a_cluster_are_imported(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", SHAPES)
    assert check_imports(folder, tmp_path / "good") == []
    (folder / "kind-smoke-job.yaml").write_text(
        SHAPES["kind-smoke-job.yaml"].replace("small-job", "large-job")
    )
    assert [trouble.partition(":")[0] for trouble in check_imports(folder, tmp_path / "bad")] == [
        "render kind-smoke-job/tau.yaml"
    ]


def test_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(
        tmp_path / "in", {name: SHAPES[name] for name in ("new-good.yaml", "kind-kueue-lanes.yaml")}
    )
    (folder / "README.md").write_text("not a configuration\n")
    monkeypatch.chdir(folder)
    assert main([f"../{folder.name}"]) == 0
    assert capsys.readouterr().out.endswith("\n2 passed, 0 failed\n")
    # A file that is known by name and comes out otherwise.
    (folder / "kind-smoke-job.yaml").write_text(SHAPES["new-typo.yaml"])
    (folder / "kind-kueue-lanes.yaml").write_text(SHAPES["new-good.yaml"])
    assert main([str(folder)]) == 1
    out = capsys.readouterr().out
    assert out.endswith("\n1 passed, 2 failed\n")
    assert out.count("FAILED") == 2


def test_nothing_to_do_is_not_a_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.endswith("\n0 passed, 0 failed\n")
    assert main([]) == 2
    assert main([str(tmp_path / "missing")]) == 2


def test_profiles_of_a_cluster_object(tmp_path: Path) -> None:
    config, job = rendered("kind-smoke-job.yaml", tmp_path)
    assert config["data"]["run.sh"] == "#!/bin/sh\ntrue\n"
    assert job["metadata"]["namespace"] == "ray"
    labels = job["metadata"]["labels"]
    assert (labels["kueue.x-k8s.io/queue-name"], labels["kueue.x-k8s.io/priority-class"]) == (
        "kind-cpu",
        "low",
    )
    assert job["spec"]["template"]["spec"]["priorityClassName"] == "low"
    resources = job["spec"]["template"]["spec"]["containers"][0]["resources"]
    assert resources == {
        "requests": {"cpu": "20m", "memory": "64Mi"},
        "limits": {"cpu": "1", "memory": "64Mi"},
    }


def test_head_and_workers_have_sizes_of_their_own(tmp_path: Path) -> None:
    cluster = rendered("kind-smoke-ray.yaml", tmp_path)[-1]["spec"]["rayClusterSpec"]
    (group,) = cluster["workerGroupSpecs"]
    sizes = [
        part["template"]["spec"]["containers"][0]["resources"] for part in (cluster["headGroupSpec"], group)
    ]
    assert group["replicas"] == 3
    assert sizes == [
        {"requests": {"cpu": "30m", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "4Gi"}},
        {"requests": {"cpu": "40m", "memory": "128Mi"}, "limits": {"cpu": "40m", "memory": "128Mi"}},
    ]


def test_a_prefix_and_a_neighbouring_folder(tmp_path: Path) -> None:
    config, job = rendered("aks-cpu-quickstart.yaml", tmp_path)
    assert job["metadata"]["name"].startswith("lab-neighbours-")
    assert "train.py" in config["data"]
    head = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]
    assert head["resources"]["requests"] == {"cpu": "1", "memory": "6Gi"}


def test_a_search_without_storage_still_has_a_folder(tmp_path: Path) -> None:
    job = rendered("ray-tune-smoke.yaml", tmp_path)[-1]
    head = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    env = {e["name"]: e.get("value") for e in head["containers"][0]["env"]}
    assert env["TAU_OUTPUT_DIR"] == "/data/search"
    assert {"name": "data", "emptyDir": {}} in head["volumes"]


@pytest.mark.parametrize("name", ["new-broken.yaml", "new-outside.yaml"])
def test_a_refusal_names_a_place(name: str, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    (verdict,) = check_folder(write(tmp_path / "in", {name: SHAPES[name]}), tmp_path / "scratch")
    assert verdict.passed
    assert verdict.expected == "any clean verdict"
    outcome = run(["render", "config/tau.yaml"], tmp_path / "scratch" / f"0-{name.removesuffix('.yaml')}")
    assert outcome.stderr.startswith("config/tau.yaml:")

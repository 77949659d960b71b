"""What of a workload does not go together, and what of it only a look at the whole shows."""

from __future__ import annotations

import pytest

from tests.policy.documents import cluster, platform, profile
from tests.support.compiling import (
    IMAGE,
    JOB,
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

IMAGE_JOB = f"schema_version: 1\nname: convert\nruntime:\n  image: {IMAGE}\n"


def test_an_image_job_runs_its_own_entry_point() -> None:
    result = accepted(IMAGE_JOB.replace("runtime:\n", "runtime:\n  working_dir: /opt/x\n"))
    assert [made["kind"] for made in result.objects] == ["Job"]
    main = container(workload(result))
    assert "command" not in main
    assert main["workingDir"] == "/opt/x"


@pytest.mark.parametrize(
    "lines",
    [
        "run: {working_dir: .}\n",
        "workflow: {extra_scripts: [train.py]}\n",
        "artifacts: {checkpoint: a}\nstorage: {data_pvc: c}\n",
        "profiler: {mode: nsys}\nstorage: {data_pvc: c}\n",
        "storage: {data_pvc: c, publish: staged}\n",
        "execution: {launcher: torchrun}\n",
    ],
)
def test_what_needs_a_program(lines: str) -> None:
    assert "TAU272" in ids(IMAGE_JOB + lines)


def test_a_launcher_that_changes_nothing_may_stand() -> None:
    assert ids(IMAGE_JOB + "execution: {launcher: python}\n") == []


def test_an_image() -> None:
    assert ids("schema_version: 1\nname: a\nrun: {entrypoint: train.py}\n") == ["TAU271"]
    ray = "schema_version: 1\nname: a\nrun: {workload_kind: rayjob, entrypoint: train.py}\n"
    assert ids(ray, [platform()]) == [], "the package knows an image for Ray"
    gpu, cpu = (workload(accepted(ray + f"compute: {{gpus: {n}}}\n")) for n in (1, 0))
    assert "cuda" in container(gpu, "worker")["image"]
    assert "cuda" not in container(cpu, "worker")["image"]
    assert container(gpu, "head")["image"] == container(gpu, "worker")["image"], (
        "one Ray version in a cluster"
    )


@pytest.mark.parametrize(
    "requirement",
    ["torch", "torch>=2.4,<3; python_version < '3.12'", "git+https://host/x@v1#egg=x", "a[b]==1"],
)
def test_requirements_of_a_job_are_a_file_and_those_of_ray_a_runtime_environment(requirement: str) -> None:
    job = accepted(JOB + f'  pip: ["{requirement}"]\n')
    assert job.objects[0]["data"]["tau.requirements.txt"] == f"{requirement}\n"
    assert requirement in workload(accepted(RAYJOB + f'  pip: ["{requirement}"]\n'))["spec"]["runtimeEnvYAML"]


@pytest.mark.parametrize("requirement", ["a$b", "$(id)", "`id`"])
def test_requirements_that_a_shell_would_change(requirement: str) -> None:
    assert ids(RAYJOB + f'  pip: ["{requirement}"]\n') == ["TAU611"]
    assert ids(JOB + f'  pip: ["{requirement}"]\n') == []


@pytest.mark.parametrize("requirement", ["", " torch", "torch ", '"a\\nb"', '"\\n"'])
def test_requirements_that_are_not_one_line(requirement: str) -> None:
    written = requirement if requirement.startswith('"') else f'"{requirement}"'
    assert ids(JOB + f"  pip: [{written}]\n") == ["TAU205"]


FOLDER = {"src/train.py": b"x = 1\n", "src/lib/a.py": b"y = 1\n"}


def test_a_folder_on_a_job_is_where_the_program_starts() -> None:
    text = JOB.replace("run: {entrypoint: train.py}", "run: {entrypoint: src/train.py, working_dir: src}")
    result = accepted(text, files=FOLDER)
    assert env(workload(result))["TAU_WORKDIR"] == "/tau/code"
    (volume,) = [v for v in pods(workload(result))["main"]["spec"]["volumes"] if v["name"] == "tau-code"]
    paths = {item["path"]: result.objects[0]["data"][item["key"]] for item in volume["configMap"]["items"]}
    assert paths == {"lib/a.py": "y = 1\n", "train.py": "x = 1\n"}


def test_a_folder_on_ray_is_an_archive_that_ray_unpacks() -> None:
    text = RAYJOB.replace("entrypoint: train.py", "entrypoint: src/train.py, working_dir: src")
    result = accepted(text, files=FOLDER)
    assert "working_dir: file:///tau/archive/code.zip" in workload(result)["spec"]["runtimeEnvYAML"]
    assert "TAU_WORKDIR" not in env(workload(result), "head")


def test_two_working_directories() -> None:
    text = JOB.replace("run: {", "run: {working_dir: ., ").replace(
        "runtime:\n", "runtime:\n  working_dir: /x\n"
    )
    assert ids(text) == ["TAU273"]


def test_excludes_without_a_folder() -> None:
    assert ids(JOB.replace("run: {", "run: {working_dir_excludes: ['*.ckpt'], ")) == ["TAU903"]


def test_several_nodes_on_another_cluster() -> None:
    away = profile("away", executionTarget="multiKueue", workerCount="2")
    newer = cluster("c", versions="{kubernetes: '1.32'}")
    (found,) = compiled(JOB + "execution: {launcher: torchrun}\n", [away, newer]).diagnostics
    assert found.id == "TAU298"
    assert found.span is not None
    assert found.span.file == "tau.yaml"
    assert found.related[0].span.file == "overlays/0.yaml"
    result = accepted(RAYJOB, [away])
    assert [made["kind"] for made in result.objects] == ["RayJob"], (
        "no ConfigMap: the other cluster gets none"
    )


def test_literals_that_look_like_credentials() -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    assert ids(JOB + f"  env: {{A: {token}}}\n") == ["TAU801"]
    assert ids(JOB + f"execution: {{configs: {{token: {token}}}}}\n") == ["TAU801"]
    assert ids(JOB + f"  pip: ['git+https://{token}@github.com/a/b']\n") == ["TAU801"]
    (found,) = said(compiled(JOB + "execution: {configs: {api_key: abcdef0123456789}}\n"))
    assert found.id == "TAU802"
    assert "setting" in found.text


def test_names() -> None:
    assert ids(JOB.replace("name: train", "name: Train")) == ["TAU205"]
    assert ids(JOB.replace("name: train", "name: 1train")) == ["TAU411"]
    assert ids(JOB.replace("name: train", f"name: {'a' * 54}")) == []
    assert ids(JOB.replace("name: train", f"name: {'a' * 55}")) == ["TAU412"]
    assert ids(RAYJOB.replace("name: train", f"name: {'a' * 38}")) == []
    assert ids(RAYJOB.replace("name: train", f"name: {'a' * 39}")) == ["TAU601"]


def test_everything_is_told_at_once_and_in_order() -> None:
    text = JOB + (
        "  env: {TAU_X: a}\ncompute: {gpus: 2, cpus: 8Gi, workers: 3}\nexecution: {launcher: torchrun, processes_per_node: 3}\n"
        "storage: {output: /x}\npolicy: {queue: other, namespace: other}\n"
    )
    found = compiled(text).diagnostics
    assert [d.id for d in found] == ["TAU251", "TAU407", "TAU254", "TAU260", "TAU282", "TAU316", "TAU315"]
    assert list(found) == sorted(found, key=lambda d: d.span or ())


TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


@pytest.mark.parametrize(
    "line",
    [
        f"workflow: {{upstream_checkpoint: 'https://example.com/x?t={TOKEN}'}}",
        f"model: {{tags: [good, {TOKEN}]}}",
        f"experiment: {{project: p, group: {TOKEN}}}",
        f"execution: {{configs: {{note: {TOKEN}}}}}",
        f"storage: {{data_pvc: c, output: /data/{TOKEN}}}",
    ],
)
def test_tokens_are_found_in_every_text(line: str) -> None:
    (found,) = compiled(JOB + line + "\n").diagnostics
    assert found.id == "TAU801"
    assert TOKEN not in found.message + found.hint


@pytest.mark.parametrize("version, expected", [("1.31", ["TAU507"]), ("1.32", []), ("1.33.1", [])])
def test_jobs_on_another_cluster_need_a_newer_kubernetes(version: str, expected: list[str]) -> None:
    overlays = [
        cluster("c", versions=f"{{kubernetes: '{version}'}}"),
        profile("p", executionTarget="multiKueue"),
    ]
    assert ids(JOB, overlays) == expected
    ray = [cluster("c", versions=f"{{kubernetes: '{version}', kuberay: 1.6.2}}"), overlays[1]]
    assert ids(RAYJOB, ray) == []


@pytest.mark.parametrize(
    "entrypoint, launcher, expected",
    [
        ("train", "", "train"),
        ("train", "python", "python3"),
        ("bin/train.py", "torchrun", "python3"),
        ("./train.py", "", "python3"),
    ],
)
def test_programs_of_a_source_image(entrypoint: str, launcher: str, expected: str) -> None:
    image = "ghcr.io/t/code@sha256:" + "0" * 64
    text = (
        f"schema_version: 1\nname: a\nrun: {{entrypoint: {entrypoint}, source: {{image: '{image}', path: /src}}}}\n"
        f"runtime: {{image: {IMAGE}}}\n" + (f"execution: {{launcher: {launcher}}}\n" if launcher else "")
    )
    argv = accepted(text).objects[0]["data"]["tau.argv"].splitlines()
    assert argv[0].rpartition("/")[2] == expected
    assert argv[-1] == f"/tau/source/{entrypoint}"

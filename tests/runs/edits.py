"""Edits of a repository: of policy, of words, and of what a workload asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tau_compile.data import locate
from tests.runs.memory import Memory

TRAIN, CODE = "workloads/vision/train/tau.yaml", "workloads/vision/train/train.py"
CLUSTER = "overlays/clusters/east.yaml"
Edit = tuple[str, Callable[[Memory], None]]


def _replace(path: str, old: str, new: str) -> Edit:
    def edit(repo: Memory) -> None:
        if path in repo.files:
            repo.files[path] = repo.files[path].replace(old.encode(), new.encode(), 1)

    return f"{path}: {old!r} -> {new!r}", edit


def _add(path: str, text: str) -> Edit:
    def edit(repo: Memory) -> None:
        if path in repo.files and text.encode() not in repo.files[path]:
            repo.files[path] += text.encode()

    return f"{path}: + {text!r}", edit


def _write(path: str, text: str) -> Edit:
    def edit(repo: Memory) -> None:
        repo.files[path] = text.encode()

    return f"write {path}", edit


def _move(old: str, new: str) -> Edit:
    def edit(repo: Memory) -> None:
        if old in repo.files and new not in repo.files:
            repo.files[new] = repo.files.pop(old)

    return f"{old} -> {new}", edit


def _move_both(old: str, new: str) -> Edit:
    def edit(repo: Memory) -> None:
        for name in ("tau.yaml", "train.py"):
            if f"{old}/{name}" in repo.files:
                repo.files[f"{new}/{name}"] = repo.files.pop(f"{old}/{name}")

    return f"{old} -> {new}", edit


def _template(name: str) -> str:
    with open(locate("templates", name), encoding="utf-8") as file:
        return file.read()


SPACE = (
    "apiVersion: tau-compile/v1\nkind: Workspace\nmetadata: {name: guests}\ncluster: east\nqueue: jobqueue\n"
)
PROFILE = (
    "apiVersion: tau-compile/v1\nkind: Profile\nmetadata: {name: small}\napplicability: {teams: [nobody]}\n"
    "gpusPerWorker: 1\nworkerCount: 1\n"
)

# Edits of policy, templates and names of overlays; some leave errors behind, which stop a build.
POLICY: list[Edit] = [
    _add("overlays/platform.yaml", "defaults: {runtime: {env: {NEW: a}}}\n"),
    _add("overlays/platform.yaml", "# a comment\n"),
    _add("overlays/platform.yaml", "ray: {submissionMode: HTTPMode}\n"),
    _replace("overlays/platform.yaml", "lab", "laboratory"),
    _move("overlays/platform.yaml", "overlays/zz.yml"),
    _move(CLUSTER, "overlays/clusters/somewhere.yaml"),
    _add(CLUSTER, "priorityClasses: [{name: usual, value: 10, tier: default}]\n"),
    _replace(CLUSTER, 'kubernetes: "1.30"', 'kubernetes: "1.31"'),
    _replace(CLUSTER, "key: nvidia.com/gpu", "key: example.com/gpu"),
    _replace(CLUSTER, "gpusPerNode: 8", "gpusPerNode: 1"),
    _replace(CLUSTER, "{namespace: vision, name: jobqueue}", "{namespace: vision, name: other}"),
    _replace(CLUSTER, "queues:", "nonsense:"),
    _replace("overlays/workspaces/vision.yaml", "outputRoot: /data", "outputRoot: /elsewhere"),
    _replace("overlays/workspaces/vision.yaml", "queue: jobqueue", "queue: other"),
    _replace("overlays/workspaces/vision.yaml", "namespace: vision", "namespace: images"),
    _replace("overlays/workspaces/vision.yaml", "cluster: east", "cluster: west"),
    _add("overlays/workspaces/vision.yaml", "serviceAccount: training\npodLabels: {a: b}\n"),
    _add("overlays/workspaces/vision.yaml", "defaults: {run: {max_duration: 9h}, compute: {cpus: 3}}\n"),
    _move("overlays/workspaces/vision.yaml", "overlays/workspaces/team.yaml"),
    _write("overlays/workspaces/guests.yaml", SPACE),
    _write("overlays/profiles/small.yaml", PROFILE),
    _write("templates/job.yaml.j2", _template("job.yaml.j2").replace("spec:", "spec:\n  completions: 1", 1)),
    _write("templates/job.yaml.j2", "{{ broken"),
    _write("templates/configmap.yaml.j2", _template("configmap.yaml.j2")),
    _write("tau-compile.yaml", "launch: {max_runs: 0}\n"),
]
# The same intent in other words, and files that are none of its business.
WORDS: list[Edit] = [
    _add(TRAIN, "# a comment\n"),
    _replace(TRAIN, "64Gi", "65536Mi"),
    _replace(TRAIN, "64Gi", '"64Gi"'),
    _replace(TRAIN, "name: train", "name: 'train'"),
    _replace(TRAIN, "run:\n", "run:\n  attempt: 1\n"),
    _replace(TRAIN, "run:\n", "run:\n  on_change: refuse\n"),
    _replace(TRAIN, "\n", "\r\n"),
    _add(TRAIN, "policy: {workspace: vision}\n"),
    _move_both("workloads/vision/train", "workloads/vision/training/first"),
    _move_both("workloads/vision/eval", "workloads/vision/train/eval"),
    _write("workloads/vision/train/notes.txt", "mine\n"),
    _write("README.md", "about\n"),
]

INTENTS: dict[str, list[Any]] = {
    "compute.gpus": [1, 2, 4],
    "compute.memory": ["64Gi", "128Gi"],
    "runtime.image": ["example.com/train:1", "example.com/train:2"],
    "runtime.env": ["{LR: '0.1'}", "{LR: '0.2'}"],
    "run.attempt": [1, 2],
    "run.max_duration": ["4h", "8h"],
    "code": ["print(1)\n", "print(2)\n", "print(1)"],
    "mode": [False, True],
    "extra": [False, True],
}
FIRST = {key: values[0] for key, values in INTENTS.items()}


def put(repo: Memory, intent: dict[str, Any]) -> None:
    """A tau.yaml and its code that say what the intent says."""
    folder = "workloads/vision/other"
    repo.files[f"{folder}/tau.yaml"] = (
        f"schema_version: 1\nname: other\nrun:\n  entrypoint: train.py\n  working_dir: .\n"
        f"  attempt: {intent['run.attempt']}\n  max_duration: {intent['run.max_duration']}\n"
        f"compute: {{gpus: {intent['compute.gpus']}, memory: {intent['compute.memory']}}}\n"
        f"runtime: {{image: {intent['runtime.image']}, env: {intent['runtime.env']}}}\n"
    ).encode()
    repo.files[f"{folder}/train.py"] = str(intent["code"]).encode()
    repo.executable.discard(f"{folder}/train.py")
    if intent["mode"]:
        repo.executable.add(f"{folder}/train.py")
    repo.files.pop(f"{folder}/extra.py", None)
    if intent["extra"]:
        repo.files[f"{folder}/extra.py"] = b"x = 1\n"

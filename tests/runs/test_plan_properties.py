"""What launches a run, and what never does: thousands of edits of policy and of intents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tau_compile.runs.launch
from tau_compile.data import locate
from tau_compile.diagnostics import has_errors
from tests.replay.repo import files, workload
from tests.runs.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

TRAIN, CODE = "workloads/vision/train/tau.yaml", "workloads/vision/train/train.py"
CLUSTER = "overlays/clusters/east.yaml"
Edit = tuple[str, "Callable[[Memory], None]"]


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
    _write("workloads/vision/train/notes.txt", "mine\n"),
    _write("README.md", "about\n"),
]


@st.composite
def _edits(draw: st.DrawFn) -> list[Edit]:
    return draw(st.lists(st.sampled_from([*POLICY, *WORDS]), min_size=1, max_size=6))


def _launched() -> Memory:
    repo = Memory(files())
    assert repo.verbs() == {"launch": 3}
    repo.commit()
    return repo


def _policy_launches_nothing(
    edits: list[Edit], version: str, ending: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = _launched()
    over = sorted(repo.records().values())[:ending]
    for record in over:
        repo.tell_end(record)
    repo.build()
    repo.commit()
    before = repo.output()
    runs = {path: data for path, data in before.items() if "/anchor/" not in path}
    monkeypatch.setattr(tau_compile.runs.launch, "__version__", version)
    for _, edit in edits:
        edit(repo)
        assert repo.verbs().keys() <= {"notice"}, [name for name, _ in edits]
        after = repo.output()
        assert {path: data for path, data in after.items() if "/anchor/" not in path} == runs
        assert before.keys() == after.keys()
        repo.commit()


@given(edits=_edits(), version=st.sampled_from(["0.1.0", "9.9.9"]), ending=st.integers(0, 3))
@settings(max_examples=60)
def test_policy_launches_nothing(edits: list[Edit], version: str, ending: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        _policy_launches_nothing(edits, version, ending, patch)


@pytest.mark.slow
@given(edits=_edits(), version=st.sampled_from(["0.1.0", "9.9.9"]), ending=st.integers(0, 3))
@settings(max_examples=2000)
def test_policy_launches_nothing_at_length(edits: list[Edit], version: str, ending: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        _policy_launches_nothing(edits, version, ending, patch)


INTENTS = {
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


def _put(repo: Memory, intent: dict[str, object]) -> None:
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


_CHANGES = st.lists(
    st.sampled_from([(key, value) for key, values in INTENTS.items() for value in values]),
    min_size=1,
    max_size=6,
)


def _intents_launch_once(changes: list[tuple[str, object]], policy: list[Edit], merges: list[bool]) -> None:
    repo = Memory(files())
    intent: dict[str, object] = dict(FIRST)
    _put(repo, intent)
    assert repo.verbs() == {"launch": 4}
    repo.commit()
    seen = {tuple(intent.values())}
    drafts: set[tuple[object, ...]] = set()
    for place, (key, value) in enumerate(changes):
        intent[key] = value
        _put(repo, intent)
        if place < len(policy):
            policy[place][1](repo)
        before = repo.output()
        verbs = repo.verbs()
        if has_errors(repo.said):  # of the policy: nothing is written
            assert repo.output() == before
            return
        now = tuple(intent.values())
        assert verbs.get("launch", 0) == (now not in seen), (verbs, intent)
        drafts = set() if now in seen else {now}
        kept = {path: data for path, data in before.items() if path in repo.base}
        assert {path: repo.output().get(path) for path in kept if "/anchor/" not in path} == {
            path: data for path, data in kept.items() if "/anchor/" not in path
        }
        new = [record for path, record in repo.records().items() if path not in repo.base]
        assert len(new) == len(drafts)  # a draft of an earlier step is gone
        if merges[place % len(merges)]:
            repo.commit()
            seen |= drafts
            drafts = set()


@given(
    _CHANGES, st.lists(st.sampled_from(POLICY), max_size=2), st.lists(st.booleans(), min_size=1, max_size=6)
)
@settings(max_examples=60)
def test_an_edit_of_the_intent_launches_one_run_or_returns_to_one(
    changes: list[tuple[str, object]], policy: list[Edit], merges: list[bool]
) -> None:
    _intents_launch_once(changes, policy, merges)


@pytest.mark.slow
@given(
    _CHANGES, st.lists(st.sampled_from(POLICY), max_size=2), st.lists(st.booleans(), min_size=1, max_size=6)
)
@settings(max_examples=2000)
def test_an_edit_of_the_intent_launches_one_run_at_length(
    changes: list[tuple[str, object]], policy: list[Edit], merges: list[bool]
) -> None:
    _intents_launch_once(changes, policy, merges)


@pytest.mark.parametrize("edit", [*POLICY, *WORDS], ids=lambda edit: edit[0])
def test_each_edit_has_an_effect(edit: Edit) -> None:
    """An edit that edits nothing proves nothing, and one that is refused proves little."""
    repo = _launched()
    before = dict(repo.files)
    edit[1](repo)
    assert repo.files != before
    repo.build()
    assert has_errors(repo.said) == ("nonsense" in edit[0])


@pytest.mark.parametrize("key", sorted(INTENTS))
def test_each_intent_is_another_run(key: str) -> None:
    repo = Memory(
        {**files(), "workloads/vision/x/tau.yaml": workload("x"), "workloads/vision/x/train.py": ""}
    )
    ids = set()
    for value in INTENTS[key]:
        _put(repo, {**FIRST, key: value})
        repo.build()
        ids |= {record.run for record in repo.records().values() if record.name == "other"}
    assert len(ids) == len(INTENTS[key])

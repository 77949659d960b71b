"""Records and manifests that are not as they were launched."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.replay.repo import Repo, files

if TYPE_CHECKING:
    from pathlib import Path

TRAIN = "workloads/vision/train/tau.yaml"


@pytest.mark.parametrize("base", [(), ("--base", "main")])
def test_a_changed_manifest_is_brought_back(launched: Repo, base: tuple[str, ...]) -> None:
    run = launched.run_of("train")
    path = f"rendered/east/runs/vision/{run}/job-{run}.yaml"
    launched.branch("edit")
    launched.edit(path, "example.com/train:1", "example.com/train:2")
    launched.commit("by hand")
    answer = launched.check(*base, exit=3)
    assert [finding["text"] for finding in answer["differences"]] == [f"restores the manifests of {run}"]
    assert answer["differences"][0]["files"] == [{"path": path, "change": "differs"}]
    assert [(said["id"], said["severity"]) for said in answer["diagnostics"]] == [("TAU738", "warning")]
    launched.build(*base)
    launched.git("add", "-A")
    assert launched.git("diff", "--cached", "--stat", "main") == ""


def test_a_missing_manifest_is_brought_back(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.delete(f"rendered/east/runs/vision/{run}/job-{run}.yaml")
    launched.tau("check", exit=3)
    text = launched.tau("build").stdout
    assert text == f"restores the manifests of {run}\nrestores 1 run, keeps 3; 1 file written, 0 removed\n"
    assert launched.git("status", "--short") == ""
    launched.delete(f"rendered/east/runs/vision/{run}")
    launched.build()
    assert launched.git("status", "--short") == ""


def test_what_the_base_has_not_either_cannot_be_brought_back(launched: Repo) -> None:
    run = launched.run_of("train")
    path = f"rendered/east/runs/vision/{run}/job-{run}.yaml"
    launched.edit(path, "example.com/train:1", "example.com/train:2")
    launched.commit("by hand, on main")
    for verb, code in (("build", 1), ("check", 3)):
        outcome = launched.tau(verb, exit=code)
        assert f"{path}:1:1: error TAU738: a manifest of {run} was changed" in outcome.stderr
        assert f"`git log -- {path}` shows where it changed; or `tau-compile cancel {run}`" in outcome.stderr
    launched.tau("cancel", run)
    assert launched.build().keys() == {"keep"}


def test_manifests_without_git(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "repo", files(), git=False)
    repo.build()
    run = repo.run_of("train")
    repo.edit(f"rendered/east/runs/vision/{run}/kustomization.yaml", "job-", "bob-")
    assert "error TAU738" in repo.tau("build", exit=1).stderr


def test_a_changed_record_is_brought_back(launched: Repo) -> None:
    run = launched.run_of("train")
    path = f"runs/vision/{run}.json"
    for old, new in (
        ('\n  "gpus": 2', '\n  "gpus": 1'),
        ('"queue": "jobqueue"', '"queue": "other"'),
        (":5:17", ":5:18"),
    ):
        launched.edit(path, old, new)
        answer = launched.check(exit=3)
        assert [said["id"] for said in answer["diagnostics"]] == ["TAU740"]
        launched.build()
        assert launched.git("status", "--short") == ""
    launched.write({path: json.dumps(launched.records()[run])})  # the same in other words
    assert launched.check()["differences"] == []


@pytest.mark.parametrize("state", ["cancelled", "retired", "adopted"])
def test_a_state_that_was_written_by_hand(launched: Repo, state: str) -> None:
    run = launched.run_of("train")
    record = launched.records()[run] | {"state": state, "manifests": {}}
    if state == "retired":
        record["evidence"] = {"state": "succeeded", "digest": f"sha256:{'0' * 64}", "path": "evidence/x.json"}
    launched.write({f"runs/vision/{run}.json": json.dumps(record)})
    launched.build()
    # An end is an end, whoever wrote it down; but nobody adopts what runs.
    assert launched.records()[run]["state"] == ("active" if state == "adopted" else state)
    assert (run in launched.rendered()) == (state == "adopted")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "\xff",
        "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other\n",
        '{"version": 2}',
        "[" * 100_000,
    ],
)
def test_a_record_that_cannot_be_read(launched: Repo, text: str) -> None:
    path = f"runs/vision/{launched.run_of('train')}.json"
    before = launched.snapshot()
    launched.write({path: text})
    for verb in ("build", "check"):
        outcome = launched.tau(verb, exit=1)
        assert f"{path}:1:1: error TAU731: the run record " in outcome.stderr
        assert f"`git checkout BASE -- {path}`" in outcome.stderr
    assert {p for p, v in launched.snapshot().items() if v != before.get(p)} == {path}
    assert "error TAU731" in launched.tau("list", exit=1).stderr
    launched.git("checkout", "main", "--", path)
    assert launched.build().keys() == {"keep"}


def test_a_record_that_cannot_be_read_at_the_base(launched: Repo) -> None:
    run = launched.run_of("train")
    path = f"runs/vision/{run}.json"
    good = launched.read(path)
    launched.write({path: "{"})
    launched.commit("broken on main")
    launched.delete(path)
    outcome = launched.tau("build", exit=1)
    assert "error TAU731: the run record cannot be read at the base, and is missing here" in outcome.stderr
    launched.write({path: good})
    assert launched.build().keys() == {"keep"}  # mended: launched, and no draft


@pytest.mark.parametrize("name", ["extra.yaml", "notes.txt", "more/deep.yaml"])
def test_a_foreign_file_in_a_run_folder(launched: Repo, name: str) -> None:
    run = launched.run_of("train")
    folder = f"rendered/east/runs/vision/{run}"
    launched.write({f"{folder}/{name}": "kind: Secret\n"})
    first = name.partition("/")[0]
    for verb, code in (("build", 1), ("check", 3)):
        outcome = launched.tau(verb, exit=code)
        assert (
            f"{folder}/{first}:1:1: error TAU739: `{first}` is not among the files of {run}" in outcome.stderr
        )
    launched.git("clean", "-fdq")
    launched.write({f"{folder}/.DS_Store": "", f"{folder}/job.yaml~": ""})
    assert launched.build().keys() == {"keep"}


def test_a_foreign_file_beside_the_runs(launched: Repo) -> None:
    launched.write({"rendered/east/runs/vision/loose.yaml": "kind: Secret\n"})
    assert "`loose.yaml` belongs to no run" in launched.tau("build", exit=1).stderr
    launched.delete("rendered/east/runs/vision/loose.yaml")
    launched.write({"rendered/east/runs/vision/anchor/more.yaml": "kind: Secret\n"})
    assert "`more.yaml` is not among the files of anchor" in launched.tau("build", exit=1).stderr


def test_manifests_without_a_record(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.delete(f"runs/vision/{run}.json")
    launched.commit("the record goes, and stays gone")
    for verb, code in (("build", 1), ("check", 3)):
        outcome = launched.tau(verb, exit=code)
        assert f"error TAU741: there are manifests of a run {run}, and it has no record" in outcome.stderr
    assert f"git log --diff-filter=D -- 'runs/*/{run}.json'" in outcome.stderr
    launched.git("revert", "--no-edit", "HEAD")
    assert launched.build().keys() == {"keep"}


def test_manifests_of_a_run_that_is_over(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.tau("cancel", run)
    launched.commit("cancel")
    launched.git("checkout", "HEAD~1", "--", f"rendered/east/runs/vision/{run}")
    for verb, code in (("build", 1), ("check", 3)):
        outcome = launched.tau(verb, exit=code)
        assert (
            f"error TAU742: {run} is cancelled, and has manifests again: it would run once more"
            in outcome.stderr
        )
    launched.git("rm", "-rqf", f"rendered/east/runs/vision/{run}")
    assert launched.build().keys() == {"keep"}


def test_manifests_of_a_run_that_this_branch_cancelled(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.branch("cancel")
    launched.tau("cancel", run)
    launched.git("restore", f"rendered/east/runs/vision/{run}")
    answer = launched.check(exit=3)
    assert answer["differences"][0]["text"] == f"removes the manifests of {run}, which is cancelled"
    launched.build()
    assert run not in launched.rendered()
    assert launched.check()["differences"] == []


def test_a_draft_folder_with_a_foreign_file(launched: Repo) -> None:
    launched.branch("edit")
    launched.edit(TRAIN, "4h", "5h")
    (run,) = launched.build()["launch"]
    launched.write({f"rendered/east/runs/vision/{run}/mine.yaml": "a: b\n"})
    launched.edit(TRAIN, "5h", "6h")
    assert "error TAU739" in launched.tau("build", exit=1).stderr
    assert run in launched.records()


def test_a_changed_draft_is_made_anew(launched: Repo) -> None:
    launched.branch("edit")
    launched.edit(TRAIN, "4h", "5h")
    (run,) = launched.build()["launch"]
    good = launched.files_of(run)
    path = f"rendered/east/runs/vision/{run}/job-{run}.yaml"
    launched.edit(path, "example.com/train:1", "example.com/train:2")
    launched.commit("by hand")
    assert launched.check(exit=3)["differences"][0]["files"] == [{"path": path, "change": "differs"}]
    launched.build()
    assert launched.files_of(run) == good


def test_a_stray_file_below_runs(launched: Repo) -> None:
    launched.write({"runs/README.md": "about\n", "runs/vision/notes.txt": "mine\n", "runs/index.json": "{}"})
    assert launched.build().keys() == {"keep"}
    launched.commit("notes")
    assert launched.build().keys() == {"keep"}


def test_a_changed_anchor_is_made_anew(launched: Repo) -> None:
    path = "rendered/east/runs/vision/anchor/configmap-tau-compile-runs-vision.yaml"
    before = launched.read(path)
    launched.edit(path, "workspace: vision", "workspace: other")
    assert launched.check(exit=3)["differences"][0]["verb"] == "anchor"
    launched.build()
    assert launched.read(path) == before

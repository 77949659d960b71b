"""Where a branch left its base: found, not found, and never guessed."""

from __future__ import annotations

import re
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from tests.replay.repo import Repo, files
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

TRAIN = "workloads/vision/train/tau.yaml"


def test_no_git_at_all(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "repo", files(), git=False)
    assert len(repo.build()["launch"]) == 3
    assert repo.build().keys() == {"keep"}
    repo.edit(TRAIN, "4h", "5h")
    assert repo.build().keys() == {"keep", "launch"}  # every record counts: there is no branch to wait for
    assert len(repo.records()) == 4
    assert repo.check()["differences"] == []
    assert "not committed" in repo.tau("list").stdout


def test_unborn_head(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "repo", files())
    assert len(repo.build()["launch"]) == 3
    repo.edit(TRAIN, "4h", "5h")
    assert len(repo.build()["launch"]) == 3  # drafts, all of them
    assert len(repo.records()) == 3
    repo.commit("all at once")
    assert repo.build().keys() == {"keep"}


def test_a_root_below_the_top_of_the_work_tree(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "mono", {"tau-compile.yaml": "", **files()}, below="ml/gitöps [1]")
    (repo.path / "README.md").write_text("a monorepo\n")
    repo.launch()
    assert repo.build().keys() == {"keep"}
    run = repo.run_of("train")
    repo.branch("edit")
    repo.edit(TRAIN, "4h", "5h")
    repo.build()
    assert len(repo.records()) == 4
    repo.delete(f"runs/vision/{run}.json")
    repo.delete(f"rendered/east/runs/vision/{run}")
    assert repo.build()["restore"] == [run]
    assert "0 commits" in repo.tau("list").stdout


def test_a_base_of_another_name(repo: Repo) -> None:
    repo.git("branch", "-m", "main", "trunk")
    outcome = repo.tau("build", exit=2)
    assert (
        "the base branch `main` is not in this clone. Is the base another branch (here are: trunk)?"
        in outcome.stderr
    )
    assert "Write `base: BRANCH` into tau-compile.yaml." in outcome.stderr
    repo.write({"tau-compile.yaml": "base: trunk\n"})
    assert len(repo.launch()["launch"]) == 3
    assert repo.build().keys() == {"keep"}
    assert (
        "there is no commit `nowhere` in this clone." in repo.tau("check", "--base", "nowhere", exit=2).stderr
    )


def _cure(message: str) -> list[str]:
    """The `git fetch` that a message recommends."""
    (command,) = re.findall(r"`(git fetch [^`]*)`", " ".join(message.split()))
    return shlex.split(command)[1:]


@pytest.mark.parametrize("depth", [[], ["--depth", "1"]])
def test_a_clone_without_the_base(launched: Repo, tmp_path: Path, depth: list[str]) -> None:
    launched.branch("edit")
    launched.edit(TRAIN, "4h", "5h")
    launched.build()
    launched.commit("edit")
    clone = launched.clone(tmp_path / "clone", "--single-branch", "-b", "edit", *depth)
    for verb in (["build"], ["check"], ["adopt", "workloads/vision"], ["cancel", launched.run_of("asr")]):
        outcome = clone.tau(*verb, exit=2)
        assert "the base branch `main` is not in this clone." in outcome.stderr
        assert ("fetch-depth: 0" in " ".join(outcome.stderr.split())) is bool(depth)
    assert clone.git("status", "--short") == ""
    clone.git(*_cure(outcome.stderr))
    assert clone.check()["differences"] == []
    assert clone.build()["keep"] == launched.build()["keep"]


def test_a_shallow_clone_that_does_not_show_the_merge_base(launched: Repo, tmp_path: Path) -> None:
    launched.branch("edit")
    launched.commit("edit")
    launched.switch("main")
    launched.commit("main goes on")
    clone = launched.clone(tmp_path / "clone", "--depth", "1", "--no-single-branch", "-b", "edit")
    outcome = clone.tau("check", exit=2)
    assert "this clone does not show where the branch left its base" in outcome.stderr
    clone.git(*_cure(outcome.stderr))
    assert clone.check()["differences"] == []


def test_an_answer_that_git_refuses_is_not_taken_for_nothing(
    launched: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    for verb in ("build", "check", "list"):
        outcome = launched.tau(verb, exit=2)
        assert "dubious ownership" in outcome.stderr
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "*")
    assert launched.build().keys() == {"keep"}


def test_a_broken_repository_is_not_taken_for_an_empty_one(launched: Repo) -> None:
    (launched.path / ".git/HEAD").write_text("nonsense\n")
    outcome = launched.tau("build", exit=2)
    assert "not a git repository" in outcome.stderr
    assert len(launched.records()) == 3


def test_git_is_not_installed(launched: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (
        "git is not installed, and the repository is a Git work tree" in launched.tau("build", exit=2).stderr
    )


def test_the_variables_of_a_hook_lead_nowhere_else(
    launched: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = Repo.create(tmp_path / "other", {"a": "a"})
    other.commit("nothing of ours")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git/index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    assert launched.tau("build").stdout == "keeps 3 runs; no file changes\n"


def test_a_real_pre_commit_hook(launched: Repo) -> None:
    hook = launched.path / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m tau_compile check\n")
    hook.chmod(0o755)
    launched.edit(TRAIN, "4h", "5h")
    launched.git("add", "-A")
    launched.git("commit", "-q", "-m", "without its output", exit=1)
    launched.build()
    launched.commit("with its output")


def test_the_remote_counts_before_the_clone_own_branch(launched: Repo, tmp_path: Path) -> None:
    clone = launched.clone(tmp_path / "clone")
    clone.edit(TRAIN, "4h", "5h")
    first = clone.launch()["launch"]  # on the clone's main, and not pushed: a draft
    clone.edit(TRAIN, "5h", "6h")
    built = clone.build()
    assert built["discard"] == first
    assert len(clone.records()) == 4
    clone.commit("again")
    clone.git("push", "-q", "origin", "HEAD:refs/heads/other")
    assert clone.build().keys() == {"keep", "launch"}


def test_a_fork_that_is_behind_does_not_make_drafts_of_what_is_launched(
    launched: Repo, tmp_path: Path
) -> None:
    launched.clone(tmp_path / "fork", "--bare")
    launched.edit(TRAIN, "4h", "5h")
    launched.launch()
    run = launched.run_of("asr")
    launched.end(run)
    launched.launch("retire")
    clone = Repo(tmp_path / "fork").clone(
        tmp_path / "clone"
    )  # origin is the fork, which nobody brought up to date
    clone.git("remote", "add", "upstream", f"file://{launched.path}")
    clone.git("fetch", "-q", "upstream")
    clone.git("switch", "-q", "-c", "edit", "upstream/main")
    assert clone.build().keys() == {"keep"}
    assert clone.records()[run]["state"] == "retired"


def test_branches_that_were_merged_crosswise(launched: Repo) -> None:
    """Two best common commits, each with a launch that the other has not."""
    launched.branch("edit")
    launched.edit(TRAIN, "4h", "5h")
    launched.build()
    branch = launched.commit("edit")
    launched.switch("main")
    launched.edit("workloads/vision/eval/tau.yaml", "4h", "5h")
    launched.launch()
    main = launched.git("rev-parse", "HEAD")
    launched.git("merge", "-q", "--no-ff", "-m", "one way", branch)
    launched.switch("edit")
    launched.git("merge", "-q", "--no-ff", "-m", "the other way", main)
    assert len(launched.git("merge-base", "--all", "main", "edit").split()) == 2
    launched.write({"overlays/platform.yaml": launched.read("overlays/platform.yaml") + "# another policy\n"})
    assert launched.build().keys() == {"keep"}
    assert len(launched.records()) == 5
    launched.delete("runs")
    assert len(launched.build()["restore"]) == 5


def test_a_detached_head(launched: Repo, tmp_path: Path) -> None:
    clone = launched.clone(tmp_path / "clone")
    clone.git("switch", "-q", "--detach", "origin/main")
    assert clone.build().keys() == {"keep"}


def test_a_linked_worktree(launched: Repo, tmp_path: Path) -> None:
    launched.git("worktree", "add", "-q", "-b", "edit", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked")
    linked.edit(TRAIN, "4h", "5h")
    assert len(linked.build()["launch"]) == 1
    assert launched.build().keys() == {"keep"}


def test_a_repository_of_sha256_objects(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.path.mkdir()
    repo.git("init", "-q", "-b", "main", "--object-format=sha256")
    repo.write(files())
    repo.launch()
    assert repo.build().keys() == {"keep"}
    repo.delete("runs/vision")
    assert len(repo.build()["restore"]) == 2


def test_histories_without_a_common_commit(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.git("switch", "-q", "--orphan", "fresh")
    launched.write(files())
    launched.commit("copied")
    # What the base has launched is launched, here too.
    assert run in launched.build()["restore"]

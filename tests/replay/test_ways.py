"""The two ways of working, from the clone of a researcher to the branch that an agent syncs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.replay.repo import Repo, workload

if TYPE_CHECKING:
    from pathlib import Path

TRAIN = "workloads/vision/train/tau.yaml"
EVAL = "workloads/vision/eval/tau.yaml"


@pytest.fixture
def origin(repo: Repo, tmp_path: Path) -> Repo:
    """A bare repository that people and jobs push to."""
    return repo.clone(tmp_path / "origin.git", "--bare")


class Job:
    """The serialised job on the base branch: fetch, recompute, push with the expected tip."""

    def __init__(self, origin: Repo, path: Path) -> None:
        self.repo = origin.clone(path)

    def start(self) -> str:
        """Compile what main is now; the tip that it was made from."""
        self.repo.git("fetch", "-q", "origin")
        self.repo.git("switch", "-q", "--force-create", "main", "origin/main")
        self.repo.git("clean", "-q", "-fd", "runs", "rendered")
        tip = self.repo.git("rev-parse", "HEAD")
        self.repo.build()
        self.repo.git("add", "runs", "rendered")
        self.repo.git("commit", "-q", "--allow-empty", "-m", "Launch")
        return tip

    def push(self, tip: str, exit: int = 0) -> None:
        self.repo.git("push", "-q", f"--force-with-lease=main:{tip}", "origin", "HEAD:main", exit=exit)

    def run(self) -> None:
        self.push(self.start())


def _merge(origin: Repo, path: Path, edits: dict[str, tuple[str, str]]) -> None:
    """A pull request that carries sources only, merged."""
    clone = origin.clone(path)
    for file, (old, new) in edits.items():
        clone.edit(file, old, new)
    clone.commit("edit")
    assert clone.check("--pending")["differences"] == []
    clone.git("push", "-q", "origin", "HEAD:main")


def test_review_the_source(origin: Repo, tmp_path: Path) -> None:
    job = Job(origin, tmp_path / "job")
    job.run()
    _merge(origin, tmp_path / "pr1", {TRAIN: ("4h", "5h")})
    _merge(origin, tmp_path / "pr2", {EVAL: ("4h", "5h")})
    job.run()
    assert len(job.repo.records()) == 5
    before = job.repo.records()
    job.run()
    assert job.repo.records() == before


def test_two_jobs_at_once(origin: Repo, tmp_path: Path) -> None:
    one, two = Job(origin, tmp_path / "one"), Job(origin, tmp_path / "two")
    one.run()
    _merge(origin, tmp_path / "pr1", {TRAIN: ("4h", "5h")})
    stale = one.start()
    _merge(origin, tmp_path / "pr2", {EVAL: ("4h", "5h")})
    two.run()  # launches both
    one.push(stale, exit=1)
    assert len(one.repo.records()) == 4  # what it made is a draft that nobody sees
    one.push(one.start())
    assert len(one.repo.records()) == 5
    assert one.repo.git("diff", "--stat", "HEAD~1") == ""  # nothing was left to do


def test_a_job_that_did_not_throw_its_draft_away(origin: Repo, tmp_path: Path) -> None:
    one, two = Job(origin, tmp_path / "one"), Job(origin, tmp_path / "two")
    stale = one.start()
    _merge(origin, tmp_path / "pr", {TRAIN: ("4h", "5h")})
    two.run()
    one.push(stale, exit=1)
    # It merges instead, as a person might. The older intent was never launched: a draft, which goes.
    one.repo.git("fetch", "-q", "origin")
    one.repo.git("merge", "-q", "-m", "merge", "origin/main")
    built = one.repo.build()
    assert len(built["discard"]) == 1
    assert "launch" not in built
    assert one.repo.records() == two.repo.records()


def test_review_the_output(origin: Repo, tmp_path: Path) -> None:
    first = origin.clone(tmp_path / "first")
    first.launch()
    first.git("push", "-q", "origin", "main")
    clones = []
    for name, file in (("one", TRAIN), ("two", EVAL)):
        clone = origin.clone(tmp_path / name)
        clone.git("switch", "-q", "-c", name)
        clone.edit(file, "4h", "5h")
        assert clone.check("--base", "origin/main", exit=3)["mend"] == "tau-compile build --base origin/main"
        clone.build("--base", "origin/main")
        clone.commit(name)
        clone.git("push", "-q", "origin", name)
        clones.append(clone)
    merger = origin.clone(tmp_path / "merger")
    for name in ("one", "two"):
        # What a forge checks: the branch merged into today's main, with a detached head.
        merger.git("switch", "-q", "--detach", "origin/main")
        merger.git("merge", "-q", "-m", f"merge {name}", f"origin/{name}")
        assert merger.check("--base", "origin/main")["differences"] == []
        merger.git("push", "-q", "origin", "HEAD:main")
        merger.git("fetch", "-q", "origin")
    assert len(merger.records()) == 5
    assert merger.build().keys() == {"keep"}
    # A branch that goes on after main has moved sees nothing of main's launches.
    clones[0].git("fetch", "-q", "origin")
    clones[0].edit("workloads/speech/asr/tau.yaml", "4h", "5h")
    assert "restore" not in clones[0].build("--base", "origin/main")


def test_the_output_of_a_branch_that_is_behind(origin: Repo, tmp_path: Path) -> None:
    """Somebody launches the same intent first: the branch's draft becomes their run."""
    clone = origin.clone(tmp_path / "behind")
    clone.git("switch", "-q", "-c", "behind")
    clone.write({"workloads/vision/new/tau.yaml": workload("new"), "workloads/vision/new/train.py": ""})
    clone.build()
    clone.commit("new")
    other = origin.clone(tmp_path / "other")
    other.write({"workloads/vision/new/tau.yaml": workload("new"), "workloads/vision/new/train.py": ""})
    other.edit("overlays/platform.yaml", "{name: lab}", "{name: lab}\ndefaults: {runtime: {env: {NEW: a}}}")
    other.launch()
    other.git("push", "-q", "origin", "main")
    clone.git("fetch", "-q", "origin")
    clone.git("merge", "-q", "origin/main", exit=1)  # both added the record
    clone.git("checkout", "--ours", ".")
    clone.commit("and take our own by mistake")
    answer = clone.check("--base", "origin/main", exit=3)
    assert {finding["verb"] for finding in answer["differences"]} == {"restore"}
    clone.build("--base", "origin/main")
    assert clone.records() == other.records()
    clone.git("add", "-A")
    assert clone.git("diff", "--cached", "--stat", "origin/main", "--", "runs", "rendered") == ""

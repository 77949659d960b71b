"""Moving in with files that ran elsewhere already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.replay.repo import workload

if TYPE_CHECKING:
    from tests.replay.repo import Repo


def _many(repo: Repo, count: int) -> None:
    for number in range(count):
        folder = f"workloads/vision/old/{number:03}"
        repo.write(
            {f"{folder}/tau.yaml": workload(f"old-{number}"), f"{folder}/train.py": f"print({number})\n"}
        )


@pytest.mark.slow
def test_two_hundred_files_move_in(launched: Repo) -> None:
    _many(launched, 200)
    launched.commit("files from elsewhere")
    outcome = launched.tau("build", exit=1)
    assert (
        "error TAU736: this build would launch 200 runs; the project allows `max_runs: 10` at a time"
        in outcome.stderr
    )
    assert "`tau-compile adopt PATH` records files that are not to be launched" in outcome.stderr
    before = launched.files_of(launched.run_of("train"))
    outcome = launched.tau("adopt", "workloads/vision/old")
    assert outcome.stdout.endswith("adopts 200 runs; 200 files written, 0 removed\n")
    assert launched.files_of(launched.run_of("train")) == before
    # Before the records are on main, in a branch, on main: nothing is launched.
    assert launched.build().keys() == {"keep"}
    launched.commit("adopt")
    assert launched.build().keys() == {"keep"}
    assert launched.check()["differences"] == []
    states = [record["state"] for record in launched.records().values()]
    assert states.count("adopted") == 200
    assert len(launched.rendered()) == 3
    # An edit of one launches one.
    launched.edit("workloads/vision/old/007/train.py", "7", "'seven'")
    (run,) = launched.build()["launch"]
    assert launched.records()[run]["source"] == "workloads/vision/old/007/tau.yaml"
    assert launched.records()[str(launched.records()[run]["supersedes"])]["state"] == "adopted"
    launched.commit("launch")
    assert launched.build().keys() == {"keep"}
    launched.edit("workloads/vision/old/007/train.py", "'seven'", "7")
    assert launched.build().keys() == {"keep", "notice"}


def test_adopting_in_a_pull_request(launched: Repo) -> None:
    launched.branch("move-in")
    _many(launched, 3)
    launched.commit("files")
    launched.edit("workloads/speech/asr/tau.yaml", "4h", "5h")
    (draft,) = launched.build()["launch"][:1]
    launched.tau("build")
    launched.tau("adopt", "workloads/vision/old/000", "workloads/vision/old/001/tau.yaml")
    assert draft in launched.records()  # other drafts stay
    states = {r["name"]: r["state"] for r in launched.records().values()}
    assert (states["old-0"], states["old-1"], states["old-2"]) == ("adopted", "adopted", "active")
    built = launched.build()
    assert sorted(run.rpartition("-")[0] for run in built["launch"]) == ["asr", "old-2"]
    # Edited before the merge: it is launched after all, and once.
    launched.edit("workloads/vision/old/000/tau.yaml", "4h", "5h")
    launched.build()
    launched.edit("workloads/vision/old/000/tau.yaml", "5h", "6h")
    built = launched.build()
    assert sorted(run.rpartition("-")[0] for run in built["launch"]) == ["asr", "old-0", "old-2"]
    launched.commit("adopted and launched")
    launched.switch("main")
    launched.git("merge", "-q", "move-in")
    assert launched.build().keys() == {"keep"}


def test_an_adoption_in_a_pull_request_is_what_adopt_makes(launched: Repo) -> None:
    launched.branch("move-in")
    _many(launched, 2)
    launched.edit("workloads/vision/old/001/tau.yaml", "name: old-1", "name: train")
    launched.delete("workloads/vision/train")  # one that follows an older run of its name
    launched.tau("adopt", "workloads/vision/old")
    launched.commit("adopt")
    assert launched.check("--base", "main")["differences"] == []
    run = launched.run_of("old-0")
    path, good = f"runs/vision/{run}.json", launched.files_of(run)
    for old, new in (
        ('"gpus": 1,\n  "identity"', '"gpus": 0,\n  "identity"'),
        ('"memory": "64Gi"', '"memory": "1Gi"'),
    ):
        launched.edit(path, old, new)
        (finding,) = launched.check("--base", "main", exit=3)["differences"]
        assert finding["text"] == f"makes the adoption {run} anew"
        assert finding["files"] == [{"path": path, "change": "differs"}]
        assert launched.build()["adopt"] == [run]
        assert launched.files_of(run) == good
    # Made with the policy of the day it is merged, as launches are; then it stays.
    launched.edit("overlays/workspaces/vision.yaml", "outputRoot: /data", "outputRoot: /elsewhere")
    launched.edit("workloads/vision/old/001/tau.yaml", "4h", "5h")  # edited since: nothing to compare with
    assert launched.build()["adopt"] == [run]
    launched.commit("once more")
    launched.switch("main")
    launched.git("merge", "-q", "move-in")
    launched.edit("overlays/workspaces/vision.yaml", "outputRoot: /elsewhere", "outputRoot: /data")
    assert launched.build().keys() == {"keep"}


def test_what_is_recorded_is_not_adopted(launched: Repo) -> None:
    run = launched.run_of("train")
    outcome = launched.tau("adopt", "workloads/vision/train")
    assert outcome.stdout.startswith(
        f"workloads/vision/train/tau.yaml is recorded already: {run} is active\n"
    )
    assert launched.git("status", "--short") == ""


def test_paths_that_cannot_be_adopted(launched: Repo) -> None:
    launched.write({"elsewhere/tau.yaml": workload("other"), "elsewhere/train.py": ""})
    outcome = launched.tau("adopt", "elsewhere/tau.yaml", exit=2)
    assert "elsewhere/tau.yaml matches no pattern of `include` in tau-compile.yaml" in outcome.stderr
    assert "there is no tau.yaml below elsewhere that" in launched.tau("adopt", "elsewhere", exit=2).stderr
    assert "is not in the repository" in launched.tau("adopt", "..", exit=2).stderr


def test_a_file_with_errors_adopts_nothing(launched: Repo) -> None:
    _many(launched, 2)
    launched.edit("workloads/vision/old/001/tau.yaml", "gpus:", "gpu:")
    outcome = launched.tau("adopt", "workloads/vision/old", exit=1)
    assert "workloads/vision/old/001/tau.yaml:6:11: error TAU2" in outcome.stderr
    assert len(launched.records()) == 3

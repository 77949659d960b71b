"""Going back: of a launch, of an edit, of a retirement, of a cancellation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.replay.repo import workload

if TYPE_CHECKING:
    from tests.replay.repo import Repo

TRAIN = "workloads/vision/train/tau.yaml"


def test_a_revert_of_a_launch_is_refused_and_mended(launched: Repo) -> None:
    launched.write({"workloads/vision/new/tau.yaml": workload("new"), "workloads/vision/new/train.py": ""})
    launched.commit("source")
    (run,) = launched.build()["launch"]
    launch = launched.commit("launch")
    files = launched.files_of(run)
    launched.branch("revert")
    launched.git("revert", "--no-edit", launch)
    assert run not in launched.records()
    answer = launched.check("--base", "main", exit=3)
    assert [finding["verb"] for finding in answer["differences"]] == ["restore"]
    assert answer["mend"] == "tau-compile build --base main"
    assert [said["id"] for said in answer["diagnostics"]] == ["TAU740"]
    assert f"tau-compile cancel {run}" in answer["diagnostics"][0]["hint"]
    launched.tau("check", "--base", "main", "--pending", exit=3)  # not something still to come
    built = launched.build("--base", "main")
    assert built["restore"] == [run]
    assert "launch" not in built
    assert launched.files_of(run) == files
    launched.git("add", "-A")
    assert launched.git("diff", "--cached", "--stat", "main") == ""


def test_a_revert_of_a_launch_with_its_source_is_refused_too(launched: Repo) -> None:
    launched.write({"workloads/vision/new/tau.yaml": workload("new"), "workloads/vision/new/train.py": ""})
    (run,) = launched.launch()["launch"]
    launched.branch("revert")
    launched.git("revert", "--no-edit", "HEAD")
    answer = launched.check("--base", "main", exit=3)
    assert {finding["verb"] for finding in answer["differences"]} == {"restore"}
    assert len(answer["notes"]) == 1
    assert "is gone" in answer["notes"][0]
    launched.build("--base", "main")
    assert launched.records()[run]["state"] == "active"
    assert run in launched.rendered()


def test_a_revert_of_an_edit_launches_nothing_and_suggests_rerun(launched: Repo) -> None:
    first = launched.run_of("train")
    launched.edit(TRAIN, "4h", "5h")
    edit = launched.commit("edit")
    (second,) = launched.launch()["launch"]
    launched.git("revert", "--no-edit", edit)
    outcome = launched.tau("build")
    assert (
        f"recorded as {first}, which is active; `tau-compile rerun {TRAIN}` launches it once more"
        in outcome.stdout
    )
    assert launched.check()["differences"] == []
    assert launched.records()[second]["state"] == "active"
    launched.tau("rerun", TRAIN)
    (third,) = launched.launch("rerun")["launch"]
    assert launched.records()[third]["attempt"] == 2
    assert launched.records()[third]["supersedes"] == second
    assert launched.build().keys() == {"keep"}


def test_a_revert_of_code_launches_nothing(launched: Repo) -> None:
    launched.edit("workloads/vision/train/train.py", "train", "better")
    edit = launched.commit("edit")
    assert len(launched.launch()["launch"]) == 1
    launched.git("revert", "--no-edit", edit)
    built = launched.build()
    assert "launch" not in built
    assert len(built["notice"]) == 1


def test_a_revert_of_a_retirement_is_refused(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.end(run)
    launched.commit("evidence")
    launched.build()
    retirement = launched.commit("retire")
    launched.branch("revert")
    launched.git("revert", "--no-edit", retirement)
    assert run in launched.rendered()
    answer = launched.check("--base", "main", exit=3)
    assert [finding["verb"] for finding in answer["differences"]] == ["restore"]
    changes = {file["change"] for file in answer["differences"][0]["files"]}
    assert changes == {"differs", "superfluous"}
    assert launched.build("--base", "main")["restore"] == [run]
    assert launched.git("diff", "--stat", "main") == ""


def test_a_revert_of_a_retirement_that_reached_main_is_retired_again(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.end(run)
    launched.launch("retire")
    launched.git("revert", "--no-edit", "HEAD")
    launched.end(run)  # evidence is never taken back
    assert launched.build()["retire"] == [run]
    assert run not in launched.rendered()


def test_a_lost_record_of_a_run_that_ended_is_not_launched_again(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.end(run, "failed")
    launched.launch("retire")
    launched.delete(f"runs/vision/{run}.json")
    launched.commit("somebody tidies up on main")
    built = launched.build()
    assert built["retire"] == [run]
    assert "launch" not in built
    assert run not in launched.rendered()
    assert launched.records()[run]["state"] == "retired"
    assert launched.records()[run]["evidence"]["state"] == "failed"


def test_a_revert_of_a_cancellation_is_refused(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.tau("cancel", run)
    launched.commit("cancel")
    launched.branch("revert")
    launched.git("revert", "--no-edit", "HEAD")
    assert [f["verb"] for f in launched.check("--base", "main", exit=3)["differences"]] == ["restore"]
    launched.build("--base", "main")
    assert launched.records()[run]["state"] == "cancelled"
    assert run not in launched.rendered()


def test_an_end_that_another_branch_saw_first_wins(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.branch("cancel")
    launched.tau("cancel", run)
    launched.commit("cancel")
    launched.switch("main")
    launched.end(run)
    launched.launch("retire")
    launched.switch("cancel")
    launched.git("merge", "-q", "main", exit=1)
    outcome = launched.tau("check", exit=1)
    assert f"runs/vision/{run}.json:1:1: error TAU731: the run record has a merge conflict" in outcome.stderr
    launched.git("checkout", "--ours", f"runs/vision/{run}.json")
    launched.commit("merge, and keep our word")
    assert [f["verb"] for f in launched.check(exit=3)["differences"]] == ["restore"]
    launched.build()
    assert launched.records()[run]["state"] == "retired"

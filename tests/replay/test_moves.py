"""Workspaces, clusters and files that get another name or place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.replay.repo import CLUSTER, WORKSPACE, workload

if TYPE_CHECKING:
    from tests.replay.repo import Repo

TRAIN = "workloads/vision/train/tau.yaml"


def _rename(repo: Repo, extra: str = "") -> None:
    repo.delete("overlays/workspaces/vision.yaml")
    text = WORKSPACE.replace("NAME", "images").replace("namespace: images", "namespace: vision")
    repo.write({"overlays/workspaces/images.yaml": text + extra})


def test_a_renamed_workspace_without_a_word_is_refused(launched: Repo) -> None:
    _rename(launched)
    outcome = launched.tau("build", exit=1)
    assert "error TAU732: there are runs of a workspace `vision`" in outcome.stderr
    assert "add `formerly: [vision]` to the workspace's new overlay" in outcome.stderr
    assert launched.git("status", "--short", "runs", "rendered") == ""


@pytest.mark.parametrize("move", [False, True])
def test_a_renamed_workspace_keeps_its_runs(launched: Repo, move: bool) -> None:
    before = launched.records()
    _rename(launched, "formerly: [vision]\n")
    if move:
        launched.move("workloads/vision", "workloads/images")
    built = launched.build()
    assert built.keys() == {"keep"}
    assert launched.records() == before
    launched.commit("rename")
    launched.edit(f"workloads/{'images' if move else 'vision'}/train/tau.yaml", "4h", "5h")
    (run,) = launched.launch()["launch"]
    record = launched.records()[run]
    assert (record["workspace"], record["namespace"]) == ("images", "vision")
    assert record["supersedes"] in before
    assert (launched.root / f"rendered/east/runs/images/{run}").is_dir()
    assert launched.build().keys() == {"keep"}


def test_a_file_may_say_the_former_name(repo: Repo) -> None:
    repo.edit(TRAIN, "runtime:", "policy: {workspace: vision}\nruntime:")
    repo.move("workloads/vision/train", "workloads/misc")
    repo.launch()
    _rename(repo, "formerly: [vision]\n")
    repo.edit("workloads/misc/tau.yaml", "schema_version: 1", "# a comment\nschema_version: 1")
    assert repo.build().keys() == {"keep"}
    repo.tau("validate")


def test_a_former_name_that_is_taken_is_refused(launched: Repo) -> None:
    launched.edit("overlays/workspaces/speech.yaml", "outputRoot", "formerly: [vision]\noutputRoot")
    outcome = launched.tau("build", exit=1)
    assert (
        "error TAU743: workspace `speech` was formerly `vision`, and another workspace is called so"
        in outcome.stderr
    )


def test_a_moved_cluster_keeps_its_runs_where_they_are(launched: Repo) -> None:
    before = launched.records()
    launched.write({"overlays/clusters/west.yaml": CLUSTER.replace("NAME", "west")})
    launched.edit("overlays/workspaces/vision.yaml", "cluster: east", "cluster: west")
    assert launched.build().keys() == {"keep"}
    launched.commit("move")
    launched.edit(TRAIN, "4h", "5h")
    (run,) = launched.launch()["launch"]
    assert (launched.root / f"rendered/west/runs/vision/{run}").is_dir()
    assert launched.rendered() == {*before, run}
    # The old cluster goes: its runs are kept, and somebody is told.
    launched.edit("overlays/workspaces/speech.yaml", "cluster: east", "cluster: west")
    launched.delete("overlays/clusters/east.yaml")
    outcome = launched.tau("build")
    assert "warning TAU737: each of " in outcome.stderr
    assert "cluster `east`, which no overlay describes" in outcome.stderr
    assert launched.rendered() == {*before, run}


def test_a_queue_that_is_gone_is_told(launched: Repo) -> None:
    launched.edit("overlays/clusters/east.yaml", "  - {namespace: speech, name: jobqueue}\n", "")
    launched.edit("overlays/workspaces/speech.yaml", "queue: jobqueue", "queue: other")
    outcome = launched.tau("build")
    run = launched.run_of("asr")
    assert f"warning TAU737: {run} waits in queue `jobqueue` of namespace `speech`" in outcome.stderr
    assert launched.check()["differences"] == []


def test_gpus_that_are_gone_are_told(repo: Repo) -> None:
    repo.edit(TRAIN, "runtime:", "policy: {gpu_class: a100-80gb}\nruntime:")
    repo.launch()
    repo.edit("overlays/clusters/east.yaml", "flavors: [a100]", "flavors: [h100]")
    repo.edit(
        "overlays/clusters/east.yaml",
        "- {name: a100, gpuClass: a100-80gb}",
        "- {name: a100, gpuClass: a100-80gb}\n- {name: h100, gpuClass: h100-80gb}",
    )
    repo.edit(
        "overlays/clusters/east.yaml",
        "gpusPerNode: 8}",
        "gpusPerNode: 8}\n- {name: h100-80gb, gpusPerNode: 8}",
    )
    outcome = repo.tau("build")
    assert (
        "needs GPUs of class `a100-80gb`, which queue `jobqueue` of cluster `east` no longer offers"
        in outcome.stderr
    )
    repo.edit("overlays/clusters/east.yaml", "- {name: a100-80gb, gpusPerNode: 8}\n", "")
    repo.edit("overlays/clusters/east.yaml", "- {name: a100, gpuClass: a100-80gb}\n", "")
    assert "which cluster `east` no longer has" in repo.tau("build").stderr


def test_a_deleted_file_stops_nothing(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.delete("workloads/vision/train")
    outcome = launched.tau("build")
    assert f"keeps {run}, whose {TRAIN} is gone; `tau-compile cancel {run}` stops it" in outcome.stdout
    assert launched.git("status", "--short", "runs", "rendered") == ""
    assert launched.check()["differences"] == []
    launched.tau("cancel", run)
    assert launched.build().keys() == {"keep"}
    assert run not in launched.rendered()


def test_a_moved_file_is_the_same_run(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.move("workloads/vision/train", "workloads/vision/moved/far")
    assert launched.build().keys() == {"keep"}
    outcome = launched.tau("rerun", run, exit=2)
    assert f"{TRAIN}, from which {run} was launched, is gone: name the file it was moved to" in outcome.stderr
    launched.tau("rerun", "workloads/vision/moved/far/tau.yaml")
    (again,) = launched.launch()["launch"]
    assert launched.records()[again]["supersedes"] == run


def test_a_file_moved_to_another_workspace_runs_there(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.move("workloads/vision/train", "workloads/speech/train")
    built = launched.build()
    assert built["launch"] == [run]  # the same intent has the same id; its namespace tells them apart
    assert built["keep"].count(run) == 1
    assert (launched.root / f"runs/speech/{run}.json").exists()
    launched.commit("move")
    outcome = launched.tau("cancel", run, exit=2)
    assert (
        f"two workspaces have a run `{run}`: add --workspace speech or --workspace vision" in outcome.stderr
    )
    launched.tau("cancel", run, "--workspace", "vision")
    assert launched.build().keys() == {"keep"}
    assert (launched.root / f"rendered/east/runs/speech/{run}").is_dir()
    assert not (launched.root / f"rendered/east/runs/vision/{run}").exists()


def test_the_end_of_a_run_is_not_that_of_its_twin(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.end(run)
    launched.move("workloads/vision/train", "workloads/speech/train")
    built = launched.build()
    assert built["retire"] == [run]
    assert built["launch"] == [run]


def test_two_workspaces_in_one_namespace_do_not_share_an_object(launched: Repo) -> None:
    launched.write(
        {
            "overlays/workspaces/guests.yaml": WORKSPACE.replace("NAME", "guests").replace(
                "namespace: guests", "namespace: vision"
            ),
            "workloads/guests/train/tau.yaml": launched.read(TRAIN),
            "workloads/guests/train/train.py": launched.read("workloads/vision/train/train.py"),
        }
    )
    outcome = launched.tau("build", exit=1)
    assert "error TAU735" in outcome.stderr
    assert "belongs to another run of namespace `vision`" in outcome.stderr
    launched.tau("rerun", "workloads/guests/train/tau.yaml")
    assert len(launched.build()["launch"]) == 1


def test_a_workspace_that_is_added_takes_no_run_away(repo: Repo) -> None:
    repo.delete("overlays/workspaces/speech.yaml")
    repo.delete("workloads/speech")
    repo.move("workloads/vision/train", "workloads/images/train")
    repo.launch()
    run = repo.run_of("train")
    assert repo.records()[run]["workspace"] == "vision"  # the only one
    repo.write({"overlays/workspaces/images.yaml": WORKSPACE.replace("NAME", "images")})
    repo.edit("overlays/clusters/east.yaml", "namespace: speech", "namespace: images")
    assert repo.build().keys() == {"keep"}
    repo.edit("workloads/images/train/tau.yaml", "name: train", "name: train # the same")
    assert repo.build().keys() == {"keep"}


def test_two_files_with_one_name_are_refused(launched: Repo) -> None:
    launched.write(
        {"workloads/vision/copy/tau.yaml": workload("train"), "workloads/vision/copy/train.py": ""}
    )
    outcome = launched.tau("build", exit=1)
    assert (
        "workloads/vision/train/tau.yaml:1:1: error TAU733: two files of workspace `vision` are called `train`"
        in outcome.stderr
    )
    assert "see workloads/vision/copy/tau.yaml:1:1: the other one" in outcome.stderr
    assert launched.git("status", "--short", "runs", "rendered") == ""

"""Launch modes and limits: what keeps a surprise from becoming a bill."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.replay.repo import Repo

TRAIN = "workloads/vision/train/tau.yaml"


def test_max_runs(repo: Repo) -> None:
    repo.write({"tau-compile.yaml": "launch: {max_runs: 2}\n"})
    outcome = repo.tau("build", exit=1)
    assert "this build would launch 3 runs; the project allows `max_runs: 2` at a time" in outcome.stderr
    assert "write `launch: {max_runs: 3}` into tau-compile.yaml" in outcome.stderr
    assert not (repo.root / "runs").exists()
    assert repo.tau("check", exit=1).stderr == outcome.stderr
    repo.write({"tau-compile.yaml": "launch: {max_runs: 3}\n"})
    assert len(repo.launch()["launch"]) == 3
    # What is launched already does not count.
    repo.edit(TRAIN, "4h", "5h")
    repo.edit("workloads/vision/eval/tau.yaml", "4h", "5h")
    assert len(repo.build()["launch"]) == 2


def test_max_gpus(repo: Repo) -> None:
    repo.write({"tau-compile.yaml": "launch: {max_gpus: 6, max_runs: 1}\n"})
    outcome = repo.tau("build", exit=1)
    assert (
        "would launch 3 runs with 7 GPUs; the project allows `max_runs: 1` and `max_gpus: 6` at a time"
        in outcome.stderr
    )
    assert "write `launch: {max_runs: 3, max_gpus: 7}`" in outcome.stderr
    repo.write({"tau-compile.yaml": "launch: {max_gpus: 6}\n"})
    assert "would launch 7 GPUs; the project allows `max_gpus: 6`" in repo.tau("build", exit=1).stderr


def test_on_change_keep_is_the_default(launched: Repo) -> None:
    first = launched.run_of("train")
    launched.edit(TRAIN, "4h", "5h")
    (second,) = launched.launch()["launch"]
    assert {launched.records()[run]["state"] for run in (first, second)} == {"active"}


def test_on_change_replace(launched: Repo) -> None:
    first = launched.run_of("train")
    launched.edit(TRAIN, "max_duration: 4h", "max_duration: 5h\n  on_change: replace")
    built = launched.build()
    assert built["cancel"] == [first]
    assert launched.records()[first]["state"] == "cancelled"
    assert launched.rendered() & {first, built["launch"][0]} == set(built["launch"])
    # Until it is merged it is a draft, and so is the cancellation: both go when the edit goes.
    launched.git("restore", TRAIN)
    launched.git("restore", "runs", "rendered")
    assert launched.build().keys() == {"keep", "discard"}
    assert launched.records()[first]["state"] == "active"


def test_on_change_refuse(launched: Repo) -> None:
    first = launched.run_of("train")
    launched.edit(TRAIN, "max_duration: 4h", "max_duration: 5h\n  on_change: refuse")
    outcome = launched.tau("build", exit=1)
    assert (
        f"error TAU734: `train` was changed while {first} is active, and `run.on_change` is refuse"
        in outcome.stderr
    )
    assert f"wait for the run's end, or stop it with `tau-compile cancel {first}`" in outcome.stderr
    launched.end(first)
    built = launched.build()
    assert built["retire"] == [first]
    assert len(built["launch"]) == 1


def test_launch_on_attempt(launched: Repo) -> None:
    launched.edit(TRAIN, "max_duration: 4h", "max_duration: 4h\n  launch: on-attempt")
    launched.commit("on attempt")
    assert launched.build().keys() == {"keep"}  # how it is launched is no part of what it is
    launched.edit("workloads/vision/train/train.py", "train", "better")
    launched.commit("edit")
    outcome = launched.tau("build")
    assert (
        f"does not launch the edit of {TRAIN}: `run.launch` is on-attempt; `tau-compile rerun {TRAIN}`"
        in outcome.stdout
    )
    assert launched.check()["differences"] == []
    launched.tau("rerun", TRAIN)
    (run,) = launched.launch("rerun")["launch"]
    assert launched.records()[run]["attempt"] == 2
    assert launched.build().keys() == {"keep"}


def test_launch_on_attempt_launches_the_first_time(repo: Repo) -> None:
    repo.edit(TRAIN, "max_duration: 4h", "max_duration: 4h\n  launch: on-attempt")
    assert len(repo.build()["launch"]) == 3

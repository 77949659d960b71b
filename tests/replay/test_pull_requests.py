"""Branches and merges, where the output is part of the pull request, and where it is made on main."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.replay.repo import workload

if TYPE_CHECKING:
    from tests.replay.repo import Repo

TRAIN = "workloads/vision/train/tau.yaml"
EVAL = "workloads/vision/eval/tau.yaml"


def test_the_first_build_launches_all_and_the_next_changes_nothing(repo: Repo) -> None:
    built = repo.launch()
    assert sorted(run.rpartition("-")[0] for run in built["launch"]) == ["asr", "eval", "train"]
    before = repo.snapshot()
    assert repo.build().keys() == {"keep"}
    assert repo.snapshot() == before  # times too
    assert repo.check()["differences"] == []


def test_two_pull_requests_that_launch_different_runs_merge_without_conflict(launched: Repo) -> None:
    for name, file in (("one", TRAIN), ("two", EVAL)):
        launched.branch(name)
        launched.edit(file, "max_duration: 4h", "max_duration: 5h")
        assert len(launched.build()["launch"]) == 1
        launched.commit(name)
    launched.switch("main")
    launched.git("merge", "-q", "--no-ff", "-m", "one", "one")
    launched.git("merge", "-q", "--no-ff", "-m", "two", "two")
    assert launched.check()["differences"] == []
    assert len(launched.records()) == 5
    assert launched.build().keys() == {"keep"}


def test_the_first_launches_of_a_workspace_merge_without_conflict(repo: Repo) -> None:
    repo.delete("workloads/vision")
    repo.commit("an empty workspace")
    for name in ("one", "two"):
        repo.branch(name)
        repo.write(
            {f"workloads/vision/{name}/tau.yaml": workload(name), f"workloads/vision/{name}/train.py": ""}
        )
        repo.build()
        repo.commit(name)
    repo.git("merge", "-q", "-m", "both", "one")
    assert repo.check("--base", "main")["differences"] == []
    repo.switch("main")
    repo.git("merge", "-q", "two")
    assert repo.build().keys() == {"keep"}
    assert repo.rendered() == set(repo.records())


def test_ten_edits_in_one_branch_launch_one_run(launched: Repo) -> None:
    before = launched.records()
    launched.branch("edits")
    for hours in range(5, 15):
        launched.edit(TRAIN, f"max_duration: {hours - 1}h", f"max_duration: {hours}h")
        launched.build()
        launched.commit(f"{hours} hours")
        assert len(launched.records()) == len(before) + 1
    launched.switch("main")
    launched.git("merge", "-q", "--no-ff", "edits")
    assert launched.check()["differences"] == []
    (new,) = launched.records().keys() - before.keys()
    record = launched.records()[new]
    assert record["resolved"]["run"]["max_duration"] == "14h"
    assert record["supersedes"] == next(run for run in before if run.startswith("train-"))
    assert launched.rendered() == set(launched.records())


def test_an_edit_that_is_taken_back_before_the_merge_launches_nothing(launched: Repo) -> None:
    before = launched.snapshot()
    launched.branch("edits")
    launched.edit(TRAIN, "4h", "5h")
    launched.build()
    launched.edit(TRAIN, "5h", "4h")
    assert len(launched.build()["discard"]) == 1
    assert {path: data for path, (data, _) in launched.snapshot().items()} == {
        path: data for path, (data, _) in before.items()
    }


def test_a_draft_is_made_with_the_policy_of_the_day_it_is_merged(launched: Repo) -> None:
    launched.branch("edit")
    launched.edit(TRAIN, "4h", "5h")
    (draft,) = launched.build()["launch"]
    launched.commit("edit")
    launched.switch("main")
    launched.edit(
        "overlays/platform.yaml", "{name: lab}", "{name: lab}\ndefaults: {runtime: {env: {NEW: a}}}"
    )
    assert launched.build().keys() == {"keep"}
    launched.commit("policy")
    launched.switch("edit")
    assert launched.check("--base", "main")["differences"] == []  # main's new policy is not here yet
    launched.git("merge", "-q", "-m", "catch up", "main")
    answer = launched.check("--base", "main", exit=3)
    assert [finding["run"] for finding in answer["differences"]] == [draft]
    assert answer["mend"] == "tau-compile build --base main"
    launched.build("--base", "main")
    record = launched.records()[draft]
    assert record["resolved"]["runtime"]["env"]["NEW"] == "a"
    assert any(b"NEW" in content for content in launched.files_of(draft).values())
    assert not any(b"NEW" in content for content in launched.files_of(str(record["supersedes"])).values())


def test_a_pull_request_that_carries_sources_only(launched: Repo) -> None:
    launched.branch("edit")
    launched.edit(TRAIN, "4h", "5h")
    launched.commit("edit")
    answer = launched.check("--pending")
    assert [finding["verb"] for finding in answer["pending"]] == ["launch"]
    answer = launched.check(exit=3)
    assert answer["mend"] == "tau-compile build"
    assert {file["change"] for file in answer["differences"][0]["files"]} == {"missing"}
    text = launched.tau("check", "--pending").stdout
    assert text.startswith("pending: launches train-")
    assert text.endswith(" (2 GPUs)\n")


def test_pending_does_not_excuse_a_stale_draft(launched: Repo) -> None:
    launched.branch("edit")
    launched.edit(TRAIN, "4h", "5h")
    launched.build()
    launched.commit("edit and output")
    assert launched.check("--pending")["differences"] == []
    launched.edit(
        "overlays/platform.yaml", "{name: lab}", "{name: lab}\ndefaults: {runtime: {env: {NEW: a}}}"
    )
    assert [f["verb"] for f in launched.check("--pending", exit=3)["differences"]] == ["launch"]
    launched.git("restore", ".")
    launched.edit(TRAIN, "5h", "6h")
    answer = launched.check("--pending", exit=3)
    assert [f["verb"] for f in answer["differences"]] == ["discard"]
    assert [f["verb"] for f in answer["pending"]] == ["launch"]


def test_pending_excuses_what_a_launch_brings_about(launched: Repo) -> None:
    launched.branch("edit")
    launched.edit(TRAIN, "max_duration: 4h", "max_duration: 5h\n  on_change: replace")
    answer = launched.check("--pending")
    assert sorted(finding["verb"] for finding in answer["pending"]) == ["cancel", "launch"]


def test_cherry_picks_of_a_launch(launched: Repo) -> None:
    launched.git("branch", "release")
    launched.edit(TRAIN, "4h", "5h")
    launched.commit("edit")
    launched.build()
    launch = launched.commit("launch")
    # The records alone, without their sources: drafts of nothing.
    launched.switch("release")
    launched.git("cherry-pick", launch)
    assert len(launched.check("--base", "release~1", exit=3)["differences"]) == 1
    assert len(launched.build("--base", "release~1")["discard"]) == 1
    # With their sources they are the same run.
    launched.git("reset", "-q", "--hard", "release~1")
    launched.git("cherry-pick", f"{launch}~1", launch)
    assert launched.check("--base", "release~2")["differences"] == []
    launched.git("switch", "-q", "main")
    launched.git("merge", "-q", "-m", "back", "release")
    assert launched.build().keys() == {"keep"}


def test_two_branches_that_edit_one_workload_meet_in_its_file(launched: Repo) -> None:
    for name, hours in (("one", "5h"), ("two", "6h")):
        launched.branch(name)
        launched.edit(TRAIN, "4h", hours)
        launched.build()
        launched.commit(name)
    launched.switch("main")
    launched.git("merge", "-q", "one")
    launched.git("merge", "-q", "two", exit=1)
    assert launched.git("diff", "--name-only", "--diff-filter=U") == TRAIN
    # Somebody takes one side. The other side's draft is on main for a moment; the build before the commit drops it.
    launched.git("checkout", "--ours", TRAIN)
    launched.git("add", TRAIN)
    assert len(launched.build()["discard"]) == 1
    launched.commit("merge two")
    assert launched.check()["differences"] == []
    assert len(launched.records()) == 4


def test_a_merge_of_two_launches_side_by_side_keeps_both(launched: Repo) -> None:
    (first,) = (run for run in launched.records() if run.startswith("train-"))
    runs = []
    for name, hours in (("one", "5h"), ("two", "6h")):
        launched.branch(name)
        launched.edit(TRAIN, "4h", hours)
        runs += launched.build()["launch"]
        launched.git("add", "runs", "rendered")
        launched.git("stash", "push", "-q", "--", TRAIN)
        launched.commit(f"{name}: its output only")
        launched.git("stash", "drop", "-q")
    launched.switch("main")
    launched.git("merge", "-q", "one")
    launched.git("merge", "-q", "-m", "two", "two")
    records = launched.records()
    assert {records[run]["supersedes"] for run in runs} == {first}
    launched.edit(TRAIN, "4h", "7h")
    (third,) = launched.build()["launch"]
    assert launched.records()[third]["supersedes"] == max(runs)
    assert launched.records()[first]["state"] == "active"


def test_a_record_says_what_took_part(launched: Repo) -> None:
    record = launched.records()[launched.run_of("train")]
    assert set(record["sources"]) == {
        "overlays/clusters/east.yaml",
        "overlays/platform.yaml",
        "overlays/workspaces/vision.yaml",
        TRAIN,
    }
    assert record["origins"]["run.max_duration"] == f"{TRAIN}:5:17"
    assert record["gpus"] == 2
    text = (launched.root / f"runs/vision/{record['run']}.json").read_bytes().decode()
    assert text == json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False) + "\n"

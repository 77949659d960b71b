"""Runs that ended leave the tree, and never come back."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

import tau_compile.checkout.launch

if TYPE_CHECKING:
    from tests.replay.repo import Repo

TRAIN = "workloads/vision/train/tau.yaml"


@pytest.mark.parametrize("outcome", ["succeeded", "failed", "cancelled"])
def test_a_run_that_ended_leaves_the_tree(launched: Repo, outcome: str) -> None:
    run = launched.run_of("train")
    others = {other: launched.files_of(other) for other in launched.records() if other != run}
    before = launched.records()[run]
    launched.end(run, outcome)
    launched.commit("evidence")
    answer = launched.check()
    assert answer["differences"] == []
    assert [finding["verb"] for finding in answer["pending"]] == ["retire"]
    verb = "was cancelled" if outcome == "cancelled" else outcome
    assert launched.tau("check").stdout == f"pending: retires {run}: it {verb}\n"
    text = launched.tau("build").stdout
    assert text == f"retires {run}: it {verb}\nkeeps 2 runs, retires 1; 1 file written, 3 removed\n"
    assert run not in launched.rendered()
    after = launched.records()[run]
    path = f"evidence/east/{before['digest'][:2]}/{run}/0001-end.json"
    digest = hashlib.sha256((launched.root / path).read_bytes()).hexdigest()
    assert after["evidence"] == {"state": outcome, "digest": f"sha256:{digest}", "path": path}
    assert after == before | {"state": "retired", "manifests": {}, "evidence": after["evidence"]}
    assert {other: launched.files_of(other) for other in others} == others
    launched.commit("retire")
    assert launched.check()["pending"] == []
    assert launched.build().keys() == {"keep"}
    assert f"{run}" in launched.tau("list", "--state", "retired").stdout


def test_evidence_in_a_pull_request_turns_nothing_red(launched: Repo) -> None:
    launched.branch("edit")
    launched.edit(TRAIN, "4h", "5h")
    launched.build()
    launched.commit("edit")
    launched.switch("main")
    launched.end(launched.run_of("train"))
    launched.commit("evidence")
    launched.switch("edit")
    launched.git("merge", "-q", "-m", "catch up", "main")
    answer = launched.check()
    assert answer["differences"] == []
    assert [finding["verb"] for finding in answer["pending"]] == ["retire"]


def test_the_end_of_one_of_two_side_by_side_changes_no_draft(launched: Repo) -> None:
    launched.edit(TRAIN, "max_duration: 4h", "max_duration: 5h")
    launched.launch()
    launched.edit(TRAIN, "max_duration: 5h", "max_duration: 6h")
    (draft,) = launched.build()["launch"]
    before = launched.files_of(draft)
    for run in list(launched.records()):
        if run != draft:
            launched.end(run)
    launched.build()
    assert launched.files_of(draft) == before


def test_retired_runs_never_launch_again(launched: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    for run in launched.records():
        launched.end(run)
    launched.launch("retire")
    assert launched.rendered() == set()
    before = launched.snapshot()
    changes: list[dict[str, str]] = [
        {
            "overlays/platform.yaml": launched.read("overlays/platform.yaml")
            + "defaults: {runtime: {env: {NEW: a}}}\n"
        },
        {"templates/job.yaml.j2": "not: a job\n"},
        {TRAIN: "# a comment\n" + launched.read(TRAIN).replace("64Gi", "65536Mi")},
        {"tau-compile.yaml": "launch: {max_runs: 0}\n"},
    ]
    for change in changes:
        launched.write(change)
        assert launched.build() == {}
    monkeypatch.setattr(tau_compile.checkout.launch, "__version__", "9.9.9")
    assert launched.build() == {}
    launched.delete("evidence")  # kept elsewhere from now on
    assert launched.build() == {}
    after = launched.snapshot()
    assert {p for p in before if p.startswith(("runs/", "rendered/")) and before[p] != after.get(p)} == set()
    # The anchors stay, so that an agent may empty the folder.
    assert [path.name for path in launched.root.glob("rendered/*/runs/*/*")] == ["anchor", "anchor"]


def test_statements_that_say_nothing_about_the_end(launched: Repo) -> None:
    run = launched.run_of("train")
    record = launched.records()[run]
    folder = f"evidence/east/{record['digest'][:2]}/{run}"
    good = {"run": run, "namespace": "vision", "outcome": "succeeded"}
    launched.write(
        {
            f"{folder}/1.json": json.dumps({"predicate": good | {"outcome": None}}),
            f"{folder}/2.json": json.dumps({"predicate": good | {"outcome": "running"}}),
            f"{folder}/3.json": json.dumps({"predicate": good | {"namespace": "speech"}}),
            f"{folder}/4.json": json.dumps({"predicate": good | {"run": "other-00000000"}}),
            f"{folder}/5.json": json.dumps({"predicate": good | {"outcome": ["succeeded"]}}),
            f"{folder}/6.json": json.dumps([good]),
            f"{folder}/7.json": "{",
            f"{folder}/8.json": "",
            f"{folder}/9.txt": json.dumps({"predicate": good}),
            f"{folder}/a.json/b": "",
            f"evidence/west/{record['digest'][:2]}/{run}/1.json": json.dumps({"predicate": good}),
        }
    )
    assert launched.build().keys() == {"keep"}
    launched.write(
        {f"{folder}/0.json": json.dumps({"predicate": good})}
    )  # a later one says less, which changes nothing
    assert launched.build()["retire"] == [run]
    assert launched.records()[run]["evidence"]["path"] == f"{folder}/0.json"


def test_the_last_end_counts_and_line_ends_do_not(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.end(run, "failed", "0001.json")
    launched.end(run, "succeeded", "0002.json")
    path = f"evidence/east/{launched.records()[run]['digest'][:2]}/{run}/0002.json"
    text = launched.read(path).replace(", ", ",\n") + "\n"
    launched.write({path: text.replace("\n", "\r\n")})
    launched.build()
    found = launched.records()[run]["evidence"]
    assert (found["state"], found["path"]) == ("succeeded", path)
    assert found["digest"] == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def test_a_draft_does_not_end(repo: Repo) -> None:
    repo.build()
    run = repo.run_of("train")
    repo.end(run)
    built = repo.build()
    # It ran, says the evidence, whatever became of its record: it is not launched.
    assert built["retire"] == [run]
    assert run not in repo.rendered()
    repo.commit("as found")
    assert repo.build().keys() == {"keep"}


def test_terminal_states_absorb(launched: Repo) -> None:
    cancelled, retired = launched.run_of("train"), launched.run_of("eval")
    launched.tau("cancel", cancelled)
    launched.end(retired)
    launched.launch()
    launched.end(cancelled)
    launched.end(retired, "failed", "0002-end.json")
    before = launched.records()
    assert launched.build().keys() == {"keep"}
    assert launched.records() == before
    for run, state in ((cancelled, "cancelled"), (retired, "retired")):
        assert f"{run} is {state} already" in launched.tau("cancel", run, exit=2).stderr

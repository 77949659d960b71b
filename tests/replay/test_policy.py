"""Policy over time: what was launched stays, whatever is enforced, limited or no longer waived afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.replay.repo import Repo

PLATFORM = "overlays/platform.yaml"
ASR = "workloads/speech/asr/tau.yaml"
LIMIT = """\
limits:
- {name: gpus, field: total.gpus, max: 2, message: More than two GPUs need a waiver.}
waivers:
- {workload: asr, workspace: speech, limits: [gpus], reason: the paper, expires: 2027-03-31}
"""


@pytest.fixture
def waived(repo: Repo) -> Repo:
    """A launch that needs a waiver is on main."""
    repo.write({PLATFORM: repo.read(PLATFORM) + LIMIT})
    repo.commit("limits")
    repo.build(exit=1)
    assert len(repo.build("--as-of", "2027-03-31")["launch"]) == 3
    repo.commit("launch")
    return repo


def test_a_waiver_that_is_over_changes_nothing_that_was_launched(waived: Repo) -> None:
    before = waived.snapshot()
    for day in ((), ("--as-of", "2027-03-31"), ("--as-of", "2027-04-01"), ("--as-of", "2199-01-01")):
        assert waived.check(*day)["differences"] == []
        assert waived.check("--base", "main", *day)["differences"] == []
        assert waived.build(*day).keys() == {"keep"}
    assert waived.snapshot() == before


def test_nor_does_an_edit_that_launches_nothing(waived: Repo) -> None:
    waived.edit(ASR, "name: asr", "name: asr # a comment")
    waived.commit()
    assert waived.build("--as-of", "2027-04-01").keys() == {"keep"}
    assert waived.check("--as-of", "2027-04-01")["differences"] == []


def test_nor_does_its_removal(waived: Repo) -> None:
    waived.edit(PLATFORM, LIMIT[LIMIT.index("waivers") :], "")
    waived.commit()
    assert waived.build().keys() == {"keep"}


def test_validate_warns_of_what_may_have_been_launched(waived: Repo) -> None:
    outcome = waived.tau("validate", "--as-of", "2027-04-01")
    assert "warning TAU331" in outcome.stderr
    assert "a new launch needs another one" in outcome.stderr
    assert "warning TAU343" in waived.tau("validate").stderr  # without a day nobody knows


def test_a_new_launch_needs_a_waiver_that_applies(waived: Repo) -> None:
    waived.edit(ASR, "4h", "5h")
    for day in ((), ("--as-of", "2027-04-01")):
        outcome = waived.tau("build", *day, exit=1)
        assert "error TAU331: More than two GPUs need a waiver (`total.gpus: 4`" in outcome.stderr
        assert waived.tau("check", *day, exit=1).stderr == outcome.stderr
    assert len(waived.build("--as-of", "2027-03-01")["launch"]) == 1


def test_the_record_says_why_and_not_when(waived: Repo) -> None:
    record = waived.records()[waived.run_of("asr")]
    assert record["waivers"] == [{"expires": "2027-03-31", "lifted": ["gpus"], "reason": "the paper"}]
    assert "waivers" not in waived.records()[waived.run_of("eval")]
    waived.edit(ASR, "4h", "5h")
    waived.build("--as-of", "2027-01-01")
    first = {run: record for run, record in waived.records().items() if record["name"] == "asr"}
    waived.build("--as-of", "2027-02-02")
    assert first == {run: record for run, record in waived.records().items() if record["name"] == "asr"}


def test_a_draft_is_judged_anew(waived: Repo) -> None:
    waived.branch("edit")
    waived.edit(ASR, "4h", "5h")
    waived.build("--as-of", "2027-03-01")
    waived.commit()
    assert waived.check("--base", "main", "--as-of", "2027-03-31")["differences"] == []
    waived.tau("check", "--base", "main", "--as-of", "2027-04-01", exit=1)


def test_policy_that_tightens_leaves_launched_runs_alone(launched: Repo) -> None:
    before = launched.rendered()
    launched.write(
        {
            PLATFORM: launched.read(PLATFORM)
            + "enforce: {compute: {memory: 1Gi}}\nlimits: [{name: none, field: total.gpus, max: 0}]\n"
        }
    )
    launched.commit()
    assert launched.build().keys() == {"keep"}
    assert launched.check()["differences"] == []
    assert launched.rendered() == before


def test_two_builds_of_one_day_are_the_same_to_the_byte(waived: Repo) -> None:
    waived.edit(ASR, "4h", "5h")
    waived.build("--as-of", "2027-03-01")
    before = waived.snapshot()
    waived.build("--as-of", "2027-03-01")
    assert waived.snapshot() == before


def test_the_command_that_mends_names_the_day(waived: Repo) -> None:
    waived.edit(ASR, "4h", "5h")
    answer = waived.check("--as-of", "2027-03-01", exit=3)
    assert answer["mend"] == "tau-compile build --as-of 2027-03-01"


def test_explain_knows_the_waivers_of_a_run(waived: Repo) -> None:
    """What a waiver let launch is explained with it, whatever day it is."""
    run = waived.run_of("asr")
    outcome = waived.tau(
        "explain", run, "Job:spec.template.spec.containers[0].resources.limits.nvidia.com/gpu"
    )
    assert f"{ASR}:6:17" in outcome.stdout
    assert "TAU331" not in waived.tau("explain", ASR, "compute.gpus").stderr
    assert waived.tau("explain", ASR, "compute.gpus", "--as-of", "2027-03-31").stderr.count("error") == 0

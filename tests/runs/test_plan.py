"""The planner on records and sources made up for the purpose; the replays show it on real repositories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tau_compile.diagnostics import Span, error
from tau_compile.runs.model import Launch, Limits, Made, Plan, Source, State
from tau_compile.runs.plan import adopt, plan
from tau_compile.runs.record import Ended, to_json
from tests.runs.records import DIGEST, ended, record

if TYPE_CHECKING:
    from tau_compile.runs.record import Record

SPACES = {"vision": "vision", "speech": "speech", "old": "vision"}


def made(
    name: str = "train", digest: str = DIGEST, workspace: str = "vision", mode: str = "on-change", change: str = "keep",
    attempt: int = 1, gpus: int = 2, adopts: bool = False, implied: bool = False, path: str = "",
) -> Source:  # fmt: skip
    """A source that compiles to a record of its own."""

    def launch(supersedes: str) -> Made:
        new = record(
            name, digest, workspace=workspace, attempt=attempt, gpus=gpus, supersedes=supersedes, source=where,
            namespace=workspace,
        )  # fmt: skip
        if adopts:
            new = new._replace(state="adopted", manifests={})
        return Made(Launch(new, {new.path: to_json(new).encode()}), ())

    where = path or f"workloads/{workspace}/{name}/tau.yaml"
    return Source(
        where, Span(where, 1, 1, 1, 1), workspace, implied, name, digest, attempt, mode, change, launch
    )


def state(
    tree: list[Record], base: list[Record] | None = None, over: dict[str, str] | None = None, **spaces: str
) -> State:
    def end(one: Record) -> Ended | None:
        outcome = (over or {}).get(one.run)
        return Ended(outcome, f"sha256:{DIGEST}", f"evidence/{one.run}.json") if outcome else None

    counted = None if base is None else {r.path: r for r in base}
    return State({r.path: r for r in tree}, counted, end, spaces or SPACES)


def verbs(found: Plan) -> list[tuple[str, str]]:
    return [(action.verb, action.run) for action in found.actions if action.verb != "keep"]


def ids(found: Plan) -> list[str]:
    return [said.id for said in found.diagnostics]


OLD, NEW = record(), record(digest="cd" * 32)


def test_without_git_every_record_counts() -> None:
    assert verbs(plan([made()], state([OLD]), Limits())) == []
    assert verbs(plan([made()], state([OLD], []), Limits())) == [("launch", OLD.run)]  # a draft, made anew


def test_a_launch_follows_the_last_of_its_workload() -> None:
    found = plan([made(digest=NEW.digest)], state([OLD], [OLD]), Limits())
    (launch,) = found.launches
    assert launch.record.supersedes == OLD.run
    assert found.records == {OLD.path: OLD}
    other = plan([made(digest=NEW.digest, workspace="speech")], state([OLD], [OLD]), Limits())
    assert other.launches[0].record.supersedes == ""


def test_a_clash_of_the_first_digits_is_refused() -> None:
    clash = OLD.digest[:8] + "cd" * 28
    found = plan([made(digest=clash)], state([OLD], [OLD]), Limits())
    assert ids(found) == ["TAU735"]
    assert "raises `run.attempt`" in found.diagnostics[0].hint
    assert found.launches == ()
    both = plan([made(), made(digest=clash, name="train", workspace="speech")], state([], []), Limits())
    assert ids(both) == []  # in another namespace it is another object


def test_two_new_runs_of_one_id_in_one_namespace() -> None:
    def in_one(source: Source) -> Source:
        def launch(supersedes: str) -> Made:
            got = source.launch(supersedes).launch
            assert got is not None
            return Made(got._replace(record=got.record._replace(namespace="shared")), ())

        return source._replace(launch=launch)

    found = plan([in_one(made()), in_one(made(workspace="speech"))], state([], []), Limits())
    assert ids(found) == ["TAU735"]
    assert len(found.launches) == 1


def test_what_cannot_be_compiled_is_not_launched() -> None:
    broken = made()._replace(launch=lambda supersedes: Made(None, (error("TAU201", "no", None),)))
    found = plan([broken], state([], []), Limits())
    assert (found.launches, ids(found)) == ((), ["TAU201"])


def test_on_attempt_compiles_nothing_until_it_is_raised() -> None:
    def never(supersedes: str) -> Made:
        raise AssertionError("compiled")

    waiting = made(digest=NEW.digest, mode="on-attempt")._replace(launch=never)
    found = plan([waiting], state([OLD], [OLD]), Limits())
    assert verbs(found) == [("notice", OLD.run)]
    raised = plan([made(digest=NEW.digest, mode="on-attempt", attempt=2)], state([OLD], [OLD]), Limits())
    assert verbs(raised) == [("launch", NEW.run)]


@pytest.mark.parametrize(("change", "expected"), [("keep", 1), ("replace", 2), ("refuse", 0)])
def test_on_change(change: str, expected: int) -> None:
    found = plan([made(digest=NEW.digest, change=change)], state([OLD], [OLD]), Limits())
    assert len(verbs(found)) == expected
    assert (found.records[OLD.path].state == "cancelled") == (change == "replace")
    assert ids(found) == (["TAU734"] if change == "refuse" else [])
    for over in (OLD.cancelled(), ended(OLD)):  # nothing is active
        assert verbs(plan([made(digest=NEW.digest, change=change)], state([over], [over]), Limits())) == [
            ("launch", NEW.run)
        ]


def test_a_replacement_that_cannot_be_launched_cancels_nothing() -> None:
    broken = made(digest=NEW.digest, change="replace")._replace(launch=lambda supersedes: Made(None))
    assert plan([broken], state([OLD], [OLD]), Limits()).records == {OLD.path: OLD}


def test_limits() -> None:
    sources = [made(f"w{n}", f"{n:02x}" * 32, gpus=n) for n in range(4)]
    assert ids(plan(sources, state([], []), Limits(4, 6))) == []
    assert ids(plan(sources, state([], []), Limits(3, 6))) == ["TAU736"]
    assert ids(plan(sources, state([], []), Limits(4, 5))) == ["TAU736"]
    assert ids(plan(sources, state([], []), Limits(0, None))) == ["TAU736"]
    assert ids(plan([], state([], []), Limits(0, 0))) == []
    # What is found to have ended costs nothing.
    over = {f"w{n}-{f'{n:02x}' * 4}": "failed" for n in range(4)}
    assert ids(plan(sources, state([], [], over), Limits(0, 0))) == []


def test_names_of_workspaces() -> None:
    lost = record(workspace="gone")
    assert ids(plan([], state([lost], [lost]), Limits())) == ["TAU732"]
    former = record(workspace="old")
    assert verbs(plan([made()], state([former], [former]), Limits())) == []
    renamed = plan([made(digest=NEW.digest)], state([former], [former]), Limits())
    assert renamed.launches[0].record.supersedes == former.run
    assert ids(plan([made(), made(path="workloads/x/tau.yaml")], state([], []), Limits())) == ["TAU733"]


def test_an_implied_workspace_stands_as_long_as_the_intent() -> None:
    here = made(workspace="speech", implied=True, path=OLD.source)
    assert verbs(plan([here], state([OLD], [OLD]), Limits())) == []
    for other in (
        here._replace(implied=False),
        here._replace(path="workloads/y/tau.yaml"),
        here._replace(digest=NEW.digest),
    ):
        assert verbs(plan([other], state([OLD], [OLD]), Limits()))[0][0] == "launch"


def test_retirement_is_judged_before_launches() -> None:
    found = plan(
        [made(digest=NEW.digest, change="refuse")], state([OLD], [OLD], {OLD.run: "failed"}), Limits()
    )
    assert verbs(found) == [("retire", OLD.run), ("launch", NEW.run)]
    assert found.records[OLD.path].evidence == Ended("failed", f"sha256:{DIGEST}", f"evidence/{OLD.run}.json")


def test_what_ended_before_its_record_was_lost_is_recorded_and_not_launched() -> None:
    found = plan([made()], state([], [], {OLD.run: "succeeded"}), Limits())
    (launch,) = found.launches
    assert launch.record.state == "retired"
    assert list(launch.files) == [OLD.path]
    assert b'"state": "retired"' in launch.files[OLD.path]
    assert verbs(found) == [("retire", OLD.run)]


def test_adopting() -> None:
    found = adopt([made(adopts=True)], state([NEW], []))
    assert verbs(found) == [("adopt", OLD.run)]
    assert found.drafts == (NEW,)  # a draft of the same workload is none any more
    assert found.records == {}
    kept = adopt([made("other", adopts=True)], state([NEW], []))
    assert kept.drafts == ()
    again = adopt([made(adopts=True)], state([OLD], [OLD]))
    assert verbs(again) == [("notice", OLD.run)]
    adopted = OLD._replace(state="adopted", manifests={})
    assert verbs(plan([made()], state([adopted], []), Limits())) == []

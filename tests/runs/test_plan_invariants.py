"""What no plan does, whatever sources and records it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.runs.lineage import may_become
from tau_compile.runs.model import Limits
from tau_compile.runs.plan import plan
from tests.runs.records import ended, record
from tests.runs.test_plan import made, state

if TYPE_CHECKING:
    from tau_compile.runs.model import Source
    from tau_compile.runs.record import Record

_SOURCES = st.lists(
    st.builds(
        made,
        name=st.sampled_from("ab"),
        digest=st.sampled_from(["01" * 32, "02" * 32, "03" * 32]),
        workspace=st.sampled_from(["vision", "speech"]),
        mode=st.sampled_from(["on-change", "on-attempt"]),
        change=st.sampled_from(["keep", "replace", "refuse"]),
        attempt=st.sampled_from([1, 2]),
        implied=st.booleans(),
    ),
    max_size=4,
    unique_by=lambda source: (source.workspace, source.name),
)


@st.composite
def _records(draw: st.DrawFn) -> list[Record]:
    found: dict[str, Record] = {}
    for _ in range(draw(st.integers(0, 5))):
        one = record(
            draw(st.sampled_from("ab")),
            draw(st.sampled_from(["01" * 32, "02" * 32, "03" * 32, "04" * 32])),
            workspace=draw(st.sampled_from(["vision", "speech", "old"])),
            attempt=draw(st.sampled_from([1, 2])),
            supersedes=draw(st.sampled_from(["", *(r.run for r in found.values())])),
        )
        one = one._replace(namespace=one.workspace)
        shape: Any = draw(st.sampled_from([lambda r: r, ended, lambda r: r.cancelled(), _adopted]))
        found[one.path] = shape(one)
    return list(found.values())


def _adopted(one: Record) -> Record:
    return one._replace(state="adopted", manifests={})


@given(
    _SOURCES,
    _records(),
    _records(),
    st.dictionaries(st.sampled_from(["a-01010101", "b-02020202"]), st.just("failed")),
)
@settings(max_examples=500)
def test_what_no_plan_does(
    sources: list[Source], base: list[Record], tree: list[Record], over: dict[str, str]
) -> None:
    found = plan(sources, state(tree, base, over), Limits(100, None))
    launched = {r.path: r for r in base}
    for path, before in launched.items():  # append-only, and terminal states absorb
        assert may_become(before, found.records[path])
    new = {launch.record.path: launch.record for launch in found.launches}
    assert new.keys().isdisjoint(found.records)
    assert len(new) == len(found.launches)
    for one in new.values():
        assert one.state == "active" or one.run in over
    for one in [*found.records.values(), *new.values()]:
        assert not (one.state == "active" and one.run in over)
    assert {r.path for r in found.drafts}.isdisjoint(found.records)
    if any(said.severity == "error" for said in found.diagnostics):
        return
    # Once more, with what was done in the tree: drafts are made anew, and nothing else happens.
    after = [*found.records.values(), *new.values()]
    again = plan(sources, state(after, base, over), Limits(100, None))
    assert {launch.record.path: launch.record for launch in again.launches} == new
    assert again.records == found.records
    assert {action.verb for action in again.actions} <= {"keep", "launch", "notice", "retire", "cancel"}
    # Merged: there is nothing left to do.
    merged = plan(sources, state(after, after, over), Limits(0, 0))
    assert merged.launches == ()
    assert {action.verb for action in merged.actions} <= {"keep", "notice"}
    assert [said for said in merged.diagnostics if said.severity == "error"] == []

"""What launches a run, and what never does: thousands of edits of policy and of intents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tau_compile.checkout.launch
from tau_compile.diagnostics import has_errors
from tests.replay.repo import files, workload
from tests.runs.edits import FIRST, INTENTS, POLICY, WORDS, put
from tests.runs.memory import Memory

if TYPE_CHECKING:
    from tests.runs.edits import Edit


@st.composite
def _edits(draw: st.DrawFn) -> list[Edit]:
    return draw(st.lists(st.sampled_from([*POLICY, *WORDS]), min_size=1, max_size=6))


def _launched() -> Memory:
    repo = Memory(files())
    assert repo.verbs() == {"launch": 3}
    repo.commit()
    return repo


def _policy_launches_nothing(
    edits: list[Edit], version: str, ending: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = _launched()
    over = sorted(repo.records().values())[:ending]
    for record in over:
        repo.tell_end(record)
    repo.build()
    repo.commit()
    before = repo.output()
    runs = {path: data for path, data in before.items() if "/anchor/" not in path}
    monkeypatch.setattr(tau_compile.checkout.launch, "__version__", version)
    for _, edit in edits:
        edit(repo)
        assert repo.verbs().keys() <= {"notice"}, [name for name, _ in edits]
        after = repo.output()
        assert {path: data for path, data in after.items() if "/anchor/" not in path} == runs
        assert before.keys() == after.keys()
        repo.commit()


@given(edits=_edits(), version=st.sampled_from(["0.1.0", "9.9.9"]), ending=st.integers(0, 3))
@settings(max_examples=60)
def test_policy_launches_nothing(edits: list[Edit], version: str, ending: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        _policy_launches_nothing(edits, version, ending, patch)


@pytest.mark.slow
@given(edits=_edits(), version=st.sampled_from(["0.1.0", "9.9.9"]), ending=st.integers(0, 3))
@settings(max_examples=2000)
def test_policy_launches_nothing_at_length(edits: list[Edit], version: str, ending: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        _policy_launches_nothing(edits, version, ending, patch)


_CHANGES = st.lists(
    st.sampled_from([(key, value) for key, values in INTENTS.items() for value in values]),
    min_size=1,
    max_size=6,
)


def _intents_launch_once(changes: list[tuple[str, object]], policy: list[Edit], merges: list[bool]) -> None:
    repo = Memory(files())
    intent: dict[str, object] = dict(FIRST)
    put(repo, intent)
    assert repo.verbs() == {"launch": 4}
    repo.commit()
    seen = {tuple(intent.values())}
    drafts: set[tuple[object, ...]] = set()
    for place, (key, value) in enumerate(changes):
        intent[key] = value
        put(repo, intent)
        if place < len(policy):
            policy[place][1](repo)
        before = repo.output()
        verbs = repo.verbs()
        if has_errors(repo.said):  # of the policy: nothing is written
            assert repo.output() == before
            return
        now = tuple(intent.values())
        assert verbs.get("launch", 0) == (now not in seen), (verbs, intent)
        drafts = set() if now in seen else {now}
        kept = {path: data for path, data in before.items() if path in repo.base}
        assert {path: repo.output().get(path) for path in kept if "/anchor/" not in path} == {
            path: data for path, data in kept.items() if "/anchor/" not in path
        }
        new = [record for path, record in repo.records().items() if path not in repo.base]
        assert len(new) == len(drafts)  # a draft of an earlier step is gone
        if merges[place % len(merges)]:
            repo.commit()
            seen |= drafts
            drafts = set()


@given(
    _CHANGES, st.lists(st.sampled_from(POLICY), max_size=2), st.lists(st.booleans(), min_size=1, max_size=6)
)
@settings(max_examples=60)
def test_an_edit_of_the_intent_launches_one_run_or_returns_to_one(
    changes: list[tuple[str, object]], policy: list[Edit], merges: list[bool]
) -> None:
    _intents_launch_once(changes, policy, merges)


@pytest.mark.slow
@given(
    _CHANGES, st.lists(st.sampled_from(POLICY), max_size=2), st.lists(st.booleans(), min_size=1, max_size=6)
)
@settings(max_examples=2000)
def test_an_edit_of_the_intent_launches_one_run_at_length(
    changes: list[tuple[str, object]], policy: list[Edit], merges: list[bool]
) -> None:
    _intents_launch_once(changes, policy, merges)


@pytest.mark.parametrize("edit", [*POLICY, *WORDS], ids=lambda edit: edit[0])
def test_each_edit_has_an_effect(edit: Edit) -> None:
    """An edit that edits nothing proves nothing, and one that is refused proves little."""
    repo = _launched()
    before = dict(repo.files)
    edit[1](repo)
    assert repo.files != before
    repo.build()
    assert has_errors(repo.said) == ("nonsense" in edit[0])


@pytest.mark.parametrize("key", sorted(INTENTS))
def test_each_intent_is_another_run(key: str) -> None:
    repo = Memory(
        {**files(), "workloads/vision/x/tau.yaml": workload("x"), "workloads/vision/x/train.py": ""}
    )
    ids = set()
    for value in INTENTS[key]:
        put(repo, {**FIRST, key: value})
        repo.build()
        ids |= {record.run for record in repo.records().values() if record.name == "other"}
    assert len(ids) == len(INTENTS[key])

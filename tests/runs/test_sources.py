"""Looking at tau.yaml files: what is recognised without being read, and that this is never wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.checkout.sources import Surveyor, code_request
from tau_compile.diagnostics import has_errors
from tests.replay.repo import files
from tests.runs.edits import FIRST, INTENTS, POLICY, WORDS, put
from tests.runs.memory import Memory
from tests.runs.records import record
from tests.workload.memory_tree import MemoryTree

if TYPE_CHECKING:
    from tests.runs.edits import Edit

TRAIN, CODE = "workloads/vision/train/tau.yaml", "workloads/vision/train/train.py"
_INTENTS = st.sampled_from([(key, value) for key, values in INTENTS.items() for value in values])


@given(
    st.lists(st.sampled_from([*POLICY, *WORDS]), max_size=3),
    st.lists(_INTENTS, max_size=2),
    st.integers(0, 4),
)
@settings(max_examples=150)
def test_what_is_recognised_is_what_reading_would_find(
    edits: list[Edit], intents: list[tuple[str, object]], ending: int
) -> None:
    repo = Memory(files())
    put(repo, FIRST)
    repo.build()
    repo.commit()
    for made in sorted(repo.records().values())[:ending]:
        repo.tell_end(made)
    for _, edit in edits:
        edit(repo)
    put(repo, FIRST | dict(intents))
    quick, _, _ = repo.planned()
    wrong = has_errors(repo.said)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Surveyor, "_unchanged", lambda self, path, data: None)
        slow, _, _ = repo.planned()
    if not wrong and not has_errors(repo.said):
        assert quick.actions == slow.actions
        assert quick.records == slow.records
        assert [launch.files for launch in quick.launches] == [launch.files for launch in slow.launches]


def test_an_unchanged_file_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Memory(files())
    repo.build()
    repo.commit()
    read: list[str] = []
    whole = Surveyor._read

    def noted(self: Surveyor, path: str, data: bytes) -> Any:
        read.append(path)
        return whole(self, path, data)

    monkeypatch.setattr(Surveyor, "_read", noted)
    assert repo.build() == ()
    assert read == []
    repo.files[CODE] = b"print('other')\n"
    repo.build()
    assert read == [TRAIN]


def test_a_draft_is_read_each_time() -> None:
    repo = Memory(files())
    assert repo.verbs() == {"launch": 3}
    assert repo.verbs() == {"launch": 3}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (TRAIN, files()[TRAIN].replace("4h", "5h")),
        (CODE, "print('other')\n"),
        (CODE, ""),
    ],
)
def test_what_is_no_longer_as_recorded(path: str, text: str) -> None:
    repo = Memory(files())
    repo.build()
    repo.commit()
    repo.files[path] = text.encode()
    assert repo.verbs() == {"launch": 1}


def test_code_that_is_gone_is_an_error_and_no_run() -> None:
    repo = Memory(files())
    repo.build()
    repo.commit()
    del repo.files[CODE]
    repo.build()
    assert [said.id for said in repo.said] == ["TAU701"]


def test_a_newer_compiler_that_reads_more_strictly_touches_no_recorded_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repo = Memory(files())
    repo.build()
    repo.commit()
    before = repo.output()
    monkeypatch.setattr("tau_compile.intent.check", lambda *_, **__: pytest.fail("read"))
    assert repo.build() == ()
    assert repo.output() == before


def test_what_a_record_asks_to_ship_is_what_its_file_asks() -> None:
    assert code_request(record(resolved={"run": {"entrypoint": "a", "source": {"image": "x"}}})) is None
    assert code_request(record(resolved={"run": {}})) is None
    assert code_request(record(resolved={"run": "odd", "workflow": 1})) is None
    request = code_request(
        record(
            resolved={
                "run": {"entrypoint": "a.py", "working_dir": ".", "working_dir_excludes": ["*.log", 1]},
                "workflow": {"extra_scripts": ["b.py:c.py"]},
            }
        )
    )
    assert request is not None
    assert request.entrypoint is not None
    assert request.working_dir is not None
    assert (request.config_path, request.entrypoint.text) == ("workloads/vision/train/tau.yaml", "a.py")
    assert request.working_dir.text == "."
    assert [asked.text for asked in request.excludes] == ["*.log"]
    assert [asked.text for asked in request.extra_scripts] == ["b.py:c.py"]


def test_two_records_of_one_file_are_told_apart_by_the_code() -> None:
    repo = Memory(files())
    repo.build()
    repo.commit()
    repo.files[CODE] = b"print('other')\n"
    repo.build()
    repo.commit()
    assert repo.build() == ()
    repo.files[CODE] = files()[CODE].encode()
    assert repo.verbs() == {"notice": 1}


def test_a_link_to_other_code_is_noticed() -> None:
    repo = Memory(files())
    del repo.files[CODE]
    folder = CODE.rpartition("/")[0]
    repo.files |= {f"{folder}/a.py": b"print('a')\n", f"{folder}/b.py": b"print('b')\n"}
    links = {CODE: "a.py"}
    tree = repo.repository

    def linked() -> object:
        made = tree()
        old = made.tree
        assert isinstance(old, MemoryTree)
        old.links.update(links)
        return made

    repo.repository = linked  # type: ignore[method-assign, assignment]
    assert repo.verbs() == {"launch": 3}
    repo.commit()
    assert repo.verbs() == {}
    links[CODE] = "b.py"
    assert repo.verbs() == {"launch": 1}

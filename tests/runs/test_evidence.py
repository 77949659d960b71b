"""The statements by which a build learns that a run ended."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tau_compile.runs.evidence import MAX_BYTES, Evidence, folder_of, outcome_of
from tests.runs.records import record

if TYPE_CHECKING:
    from pathlib import Path

RUN = record()
GOOD = {"run": RUN.run, "namespace": RUN.namespace, "outcome": "succeeded"}


def _statement(**changes: Any) -> bytes:
    return json.dumps({"predicate": {**GOOD, **changes}}).encode()


def _write(root: Path, name: str, data: bytes) -> None:
    place = root / folder_of(RUN) / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


def test_the_place_of_statements() -> None:
    assert folder_of(RUN) == f"evidence/east/ab/{RUN.run}"


@pytest.mark.parametrize("outcome", ["succeeded", "failed", "cancelled"])
def test_an_end(tmp_path: Path, outcome: str) -> None:
    _write(tmp_path, "0001.json", _statement(outcome=outcome))
    end = Evidence(str(tmp_path)).end(RUN)
    assert end is not None
    assert (end.state, end.path) == (outcome, f"{folder_of(RUN)}/0001.json")


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b"1", b"null", b'{"predicate": []}', b'{"predicate": {}}', b"\xff", b"[" * 100_000,
        _statement(outcome="running"), _statement(outcome=None), _statement(outcome=["failed"]), _statement(outcome={}),
        _statement(run="other-00000000"), _statement(namespace="speech"), _statement(namespace=None),
    ],
)  # fmt: skip
def test_no_end(tmp_path: Path, data: bytes) -> None:
    _write(tmp_path, "0001.json", data)
    assert Evidence(str(tmp_path)).end(RUN) is None
    assert outcome_of(data, RUN) == ""


def test_other_things_in_its_place(tmp_path: Path) -> None:
    assert Evidence(str(tmp_path)).end(RUN) is None
    _write(tmp_path, "0001.yaml", _statement())
    _write(tmp_path, "0002.json/inner", _statement())
    (tmp_path / folder_of(RUN) / "0003.json").symlink_to("nowhere")
    _write(tmp_path, "0004.json", b" " * MAX_BYTES + _statement())
    assert Evidence(str(tmp_path)).end(RUN) is None
    os.rename(tmp_path / "evidence", tmp_path / "kept")
    (tmp_path / "evidence").write_text("a file\n")
    assert Evidence(str(tmp_path)).end(RUN) is None


def test_an_end_among_many(tmp_path: Path) -> None:
    for number in range(5):
        _write(tmp_path, f"{number:04}.json", _statement(outcome="failed" if number == 2 else None))
    evidence = Evidence(str(tmp_path))
    end = evidence.end(RUN)
    assert end is not None
    assert end.path.endswith("/0002.json")
    assert evidence.end(record("other")) is None

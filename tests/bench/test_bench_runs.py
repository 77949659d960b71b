"""The benchmark of runs works and says what it should; how fast a machine is, is no matter of a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.bench.bench_runs import EDITS, main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_a_short_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--rounds", "1", "--counts", "10", "150", "--folder", str(tmp_path / "bench")]) == 0
    said = capsys.readouterr().out
    assert "\n150 launches: " in said
    for words in ("ms a launch and core", "launches in the time of one kustomize build", "MiB"):
        assert said.count(words) >= 2
    assert f"150 records, check with {EDITS} edits: " in said
    assert "times as much processor time a launch at 150 as at 10" in said

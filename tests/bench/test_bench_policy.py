"""The benchmark of policy works and says what it should; how fast a machine is, is no matter of a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.bench.bench_policy import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_a_short_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--rounds", "1", "--count", "12", "--folder", str(tmp_path / "bench")]) == 0
    said = capsys.readouterr().out
    assert "12 launches, medians of 1 rounds: " in said
    assert "policy costs " in said

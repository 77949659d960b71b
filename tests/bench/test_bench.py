"""The benchmark runs and says what it should; how fast a machine is, is no matter of a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.bench.__main__ import AIMS, main
from tests.bench.many import PARTS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--rounds", "1", "--counts", "20", "--folder", str(tmp_path / "bench")]) == 0
    said = capsys.readouterr().out
    for name in ("kustomize", "nothing", *AIMS):
        assert f"\n  {name} " in said
    assert "20 different workloads in one process: " in said
    for part in (*PARTS, "emit", "rest"):
        assert f"{part} " in said.splitlines()[-2]

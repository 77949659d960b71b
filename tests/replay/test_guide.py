"""docs/guide/runs.md: following it gives what it shows. ``pytest --update-golden`` writes what came out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.packaging.test_readme import BLOCK, Step, fits, run, shown, steps
from tests.support.cli import run as call
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

GUIDE = ROOT / "docs" / "guide" / "runs.md"


def test_the_guide_shows_what_comes_out(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    blocks = [steps(block) for block in BLOCK.findall(text)]
    assert len(blocks) >= 12
    outputs = iter(run([step for block in blocks for step in block], tmp_path))
    update = request.config.getoption("--update-golden")
    wrong = []
    for block in blocks:
        made = [Step(step.command, next(outputs)) for step in block]
        if not all(fits(step.output, new.output) for step, new in zip(block, made, strict=True)):
            wrong.append(shown(made))
            text = text.replace(shown(block), shown(made))
    if update:
        GUIDE.write_text(text, encoding="utf-8", newline="\n")
    else:
        assert wrong == []


def test_the_runs_that_the_guide_speaks_of_are_those_it_makes() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    printed = " ".join(step.output for block in BLOCK.findall(text) for step in steps(block))
    for run_id in re.findall(r"hello-[0-9a-f]{8}", text):
        assert run_id in printed, run_id


def test_links_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#:]+)", GUIDE.read_text(encoding="utf-8")):
        assert (GUIDE.parent / link).exists(), link


def test_the_renamed_workspace_of_the_guide(tmp_path: Path) -> None:
    """The overlay that the page shows, in the repository that the page begins with."""
    (block,) = re.findall(r"^```yaml\n# (overlays/\S+)\n(.*?)^```$", GUIDE.read_text("utf-8"), re.M | re.S)
    assert call(["init", "lab", "--name", "vision", "--cluster", "gpu-east"], tmp_path).exit == 0
    lab = tmp_path / "lab"
    assert call(["build"], lab).stdout.endswith("launches 1 run; 6 files written, 0 removed\n")
    (lab / "overlays/workspaces/vision.yaml").unlink()
    (lab / block[0]).write_text(block[1], encoding="utf-8")
    assert call(["build"], lab) == (0, "keeps 1 run; no file changes\n", "")
    source = lab / "workloads/vision/hello/main.py"
    source.write_text(source.read_text() + "print(2)\n")
    assert call(["build"], lab).exit == 0
    assert len(list(lab.glob("rendered/gpu-east/runs/images/hello-*"))) == 1
    assert len(list(lab.glob("rendered/gpu-east/runs/vision/hello-*"))) == 1

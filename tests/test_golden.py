"""Golden cases: every folder below ``tests/golden`` is a test of the whole program.

``input/`` is a small repository; the command runs in a copy of it, far from this one's own overlays. ``command`` holds the
arguments (``validate tau.yaml`` without it); ``setup`` is a shell script that makes what should not lie in a repository: large
files, a Git history. ``expected/`` holds ``stdout``, ``stderr`` (no file: nothing is printed) and ``exit``. ``pytest
--update-golden`` rewrites them.

The packaged scripts, long base64 texts and Git's commit ids are cut out of what is compared: they have tests of their own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.support.cli import Outcome, run, run_process
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CASES = sorted(path for path in (ROOT / "tests" / "golden").iterdir() if (path / "input").is_dir())
# For setup scripts: nothing of the machine's own Git settings, and the same commit ids everywhere.
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ann"), ("EMAIL", "ann@example.com"), ("DATE", "2024-01-01T00:00:00Z"))
    },
}


def prepare(case: Path, folder: Path) -> list[str]:
    """Copy the case's input and say how it is called."""
    shutil.copytree(case / "input", folder, symlinks=True)
    if (case / "setup").exists():
        tool = f"{shlex.quote(sys.executable)} -m tau_compile"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder.parent),
            "PYTHONPATH": str(ROOT),
            "TAU": tool,
        }
        script = ["sh", "-eu", str(case / "setup")]
        subprocess.run(script, cwd=folder, env=environment | GIT, check=True, capture_output=True, timeout=60)
    command = case / "command"
    return shlex.split(command.read_text()) if command.exists() else ["validate", "tau.yaml"]


@cache
def scripts() -> list[tuple[str, str]]:
    """(text of a script as a block in YAML or as JSON, what stands for it)."""
    found = []
    for path in sorted((ROOT / "templates" / "scripts").glob("*.*")):
        for text in (path.read_text(), path.read_text().replace("$", "$$")):
            for columns in range(2, 17):
                block = textwrap.indent(text, " " * columns)
                found.append((block, f"{' ' * columns}<templates/scripts/{path.name}>\n"))
            found.append((json.dumps(text, ensure_ascii=False), f'"<templates/scripts/{path.name}>"'))
    return found


def shortened(text: str) -> str:
    """The text without what other tests judge."""
    for block, name in scripts():
        text = text.replace(block, name)
    text = re.sub(r"[A-Za-z0-9+/]{300,}={0,2}", "<base64>", text)
    return re.sub(r"git checkout [0-9a-f]{12}", "git checkout <commit>", text)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_golden(case: Path, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    arguments = prepare(case, tmp_path / "repository")
    outcome = run(arguments, tmp_path / "repository")
    assert outcome.exit != 70, outcome.stderr
    golden(case / "expected" / "stdout", shortened(outcome.stdout))
    golden(case / "expected" / "stderr", shortened(outcome.stderr))
    golden(case / "expected" / "exit", f"{outcome.exit}\n")


@pytest.mark.parametrize("name", ["render-job", "render-ray-tune", "tau251-reserved-env"])
def test_a_process_of_its_own_says_the_same(name: str, tmp_path: Path) -> None:
    case = ROOT / "tests" / "golden" / name
    arguments = prepare(case, tmp_path / "repository")
    # Nothing of the surroundings may show: neither the order of sets nor the locale nor a terminal's colours.
    outcome = run_process(
        arguments, tmp_path / "repository", PYTHONHASHSEED="7", LC_ALL="C", TERM="xterm-256color"
    )
    assert outcome._replace(stdout=shortened(outcome.stdout)) == expected(case)


def expected(case: Path) -> Outcome:
    """What the case says must come out."""
    texts = [
        (case / "expected" / name).read_bytes().decode() if (case / "expected" / name).exists() else ""
        for name in ("stdout", "stderr")
    ]
    return Outcome(int((case / "expected" / "exit").read_text()), *texts)

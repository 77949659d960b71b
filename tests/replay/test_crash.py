"""A build that is killed, and two builds at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tau_compile.emit.writer import Writer
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from tests.replay.repo import Repo

TRAIN = "workloads/vision/train/tau.yaml"

# Builds, and kills itself before the n-th call with an effect.
KILLED = """
import os, signal, sys
from tau_compile.emit import disk
from tau_compile.emit.writer import Writer
left = int(sys.argv[1])
def step(name):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
made = Writer.__init__
Writer.__init__ = lambda self, root, _=None: made(self, root, step)
from tau_compile.cli import main
main(["build"])
"""


def _killed_build(repo: Repo, steps: int) -> int:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(steps)],
        cwd=repo.root,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    return done.returncode


@pytest.mark.slow
def test_a_build_killed_anywhere_is_old_or_completed_by_the_next(launched: Repo) -> None:
    """Before every call with an effect, of a build that launches, replaces and retires at once."""
    first = launched.run_of("train")
    launched.end(launched.run_of("eval"))
    launched.edit(TRAIN, "max_duration: 4h", "max_duration: 5h\n  on_change: replace")
    launched.commit("all at once")
    old = launched.snapshot()
    seen = set()
    for steps in range(1000):
        if not _killed_build(launched, steps):
            break
        outcome = launched.process("check")
        if "completes an interrupted build" in outcome.stdout:
            assert outcome.exit == 3
            assert outcome.stdout == "completes an interrupted build\n"
            assert (
                outcome.stderr == "not up to date: run `tau-compile build`, then commit runs/ and rendered/\n"
            )
            assert "completed an interrupted build: " in launched.tau("build").stderr
            seen.add("completed")
        elif launched.snapshot() == old:
            assert "pending: retires" in outcome.stdout
            seen.add("old")
            continue
        else:
            assert outcome.exit == 0, outcome  # killed while it tidied up
            seen.add("new")
        assert launched.records()[first]["state"] == "cancelled"
        assert len(launched.rendered()) == 2
        launched.git("checkout", "-q", "HEAD", "--", "runs", "rendered")
        launched.git("clean", "-fdq", "runs", "rendered")
        old = launched.snapshot()
    assert seen == {"old", "completed", "new"}
    assert launched.check()["differences"] == []


def test_two_builds_at_a_time(launched: Repo) -> None:
    launched.edit(TRAIN, "4h", "5h")
    with Writer(str(launched.root)):
        for arguments in (["build"], ["adopt", "workloads"], ["cancel", launched.run_of("asr")]):
            outcome = launched.tau(*arguments, exit=1)
            assert outcome.stderr == "tau-compile: nothing was written: another tau-compile is writing here\n"
        launched.tau("check", exit=3)
    assert len(launched.build()["launch"]) == 1


def test_a_tree_that_cannot_be_written(launched: Repo) -> None:
    launched.edit(TRAIN, "4h", "5h")
    elsewhere = launched.path.parent / "elsewhere"
    launched.move("rendered/east", "../elsewhere")
    (launched.root / "rendered/east").symlink_to(elsewhere)
    assert "error TAU744: a symbolic link" in launched.tau("build", exit=1).stderr
    outcome = launched.tau("cancel", launched.run_of("eval"), exit=1)
    assert "tau-compile: nothing was written: rendered/east: a symbolic link" in outcome.stderr
    assert len(launched.records()) == 3

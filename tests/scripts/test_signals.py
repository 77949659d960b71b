"""A pod that is stopped: the command gets the signal, time to react, and its exit code is kept."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from tests.scripts.box import Box, stop

if TYPE_CHECKING:
    from pathlib import Path

# Says that it is ready; at the signal takes its time and ends in its own way.
GRACEFUL = 'trap "sleep 0.3; echo saved; exit {code}" TERM INT; : >"$READY"; while :; do sleep 0.05; done'


def test_term_reaches_the_command(box: Box, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    process = box.start(["sh", "-c", GRACEFUL.format(code=9)], READY=str(ready))
    assert stop(process, ready, signal.SIGTERM) == (9, "saved\n", "")


def test_a_command_that_dies_of_the_signal(box: Box, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    process = box.start(["sh", "-c", ': >"$READY"; exec sleep 60'], READY=str(ready))
    assert stop(process, ready, signal.SIGTERM) == (143, "", "tau: exit code 143, as after signal 15\n")


def test_a_command_killed_by_another(box: Box) -> None:
    assert box.sh("kill -9 $$") == (137, "", "tau: exit code 137, as after signal 9\n")


def test_int_reaches_the_command_as_int(box: Box, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = "import os, sys, time\ntry:\n open(os.environ['READY'], 'w'); time.sleep(60)\nexcept KeyboardInterrupt: sys.exit(4)"
    assert stop(box.start(["python3", "-c", script], READY=str(ready)), ready, signal.SIGINT).exit == 4


def test_int_becomes_term_where_there_is_no_python(box: Box, tmp_path: Path) -> None:
    (box.path / "python3").unlink()
    ready = tmp_path / "ready"
    process = box.start(["sh", "-c", GRACEFUL.format(code=9)], READY=str(ready))
    assert stop(process, ready, signal.SIGINT) == (9, "saved\n", "")


def test_two_signals(box: Box, tmp_path: Path) -> None:
    ready, second = tmp_path / "ready", tmp_path / "second"
    script = 'trap \': >"$SECOND"\' TERM; trap "exit 6" INT; : >"$READY"; while :; do sleep 0.05; done'
    process = box.start(["sh", "-c", script], READY=str(ready), SECOND=str(second))
    while not ready.exists() and process.poll() is None:
        pass
    process.send_signal(signal.SIGTERM)
    assert stop(process, second, signal.SIGINT).exit == 6


def test_a_stopped_run_delivers_nothing(box: Box, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    promised = {
        "TAU_RUN_ID": "r-1",
        "TAU_OUTPUT_DIR": str(tmp_path / "out"),
        "TAU_OUTPUT_STAGING_DIR": str(tmp_path / "staging"),
    }
    process = box.start(["sh", "-c", GRACEFUL.format(code=0)], READY=str(ready), **promised)
    done = stop(process, ready, signal.SIGTERM)
    assert (done.exit, done.err) == (143, "tau: stopped by a signal: nothing is published\n")
    assert not (tmp_path / "out").exists()


def test_a_stopped_run_without_promises_keeps_its_zero(box: Box, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    process = box.start(["sh", "-c", GRACEFUL.format(code=0)], READY=str(ready))
    assert stop(process, ready, signal.SIGTERM) == (0, "saved\n", "")

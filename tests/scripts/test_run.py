"""What run.sh does around a command: exit codes, environment, working directory, and clear refusals."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scripts.box import Box


@pytest.mark.parametrize("code", [0, 1, 2, 73, 127, 255])
def test_exit_code_is_the_commands(box: Box, code: int) -> None:
    assert box.sh(f"exit {code}") == (code, "", "")


def test_output_is_the_commands(box: Box) -> None:
    assert box.sh("echo out; echo err >&2") == (0, "out\n", "err\n")


def test_environment_is_the_containers(box: Box) -> None:
    names = {line.split("=")[0] for line in box.run("env", USER_NAME="a b").out.splitlines()}
    # PWD, SHLVL, OLDPWD and _ are the shell's own doing.
    assert names - {"PWD", "SHLVL", "OLDPWD", "_"} == {"PATH", "TAU_BIN", "HOME", "USER_NAME"}


def test_signals_are_as_in_a_new_process(box: Box) -> None:
    script = "import signal as s; print([s.getsignal(n) is s.SIG_IGN for n in (s.SIGINT, s.SIGQUIT)])"
    assert box.run("python3", "-c", script).out == "[False, False]\n"
    # Python itself ignores PIPE and XFSZ, so a shell has to tell: bits in a mask of the kernel's.
    ignored = box.sh(
        "while read -r key value; do [ $key != SigIgn: ] || echo $value; done </proc/self/status"
    ).out
    assert int(ignored, 16) & (1 << 12 | 1 << 24) == 0


def test_a_name_of_the_shells_own_is_no_command(box: Box) -> None:
    assert box.run("die", "5").exit == 127
    assert box.run("exit", "5").exit == 127


def test_missing_command(box: Box) -> None:
    done = box.run("no-such-program", "x")
    assert (done.exit, done.err) == (127, "tau: cannot run no-such-program: No such file or directory\n")
    (box.path / "python3").unlink()
    assert box.run("no-such-program", "x") == done


def test_command_that_cannot_run(box: Box) -> None:
    (box.cwd / "text").write_text("no program\n")
    (box.cwd / "text").chmod(0o755)
    done = box.run("./text")
    assert (done.exit, done.err) == (126, "tau: cannot run ./text: Exec format error\n")


def test_no_command(box: Box) -> None:
    done = box.run()
    assert (done.exit, done.err) == (78, f"tau: no command: {box.bin}/argv is empty\n")
    assert box.run("-x").exit == 78


def test_no_argv_file(box: Box) -> None:
    done = box.run("env", TAU_BIN="/nowhere")
    assert (done.exit, done.err) == (78, "tau: /nowhere/argv cannot be read\n")


def test_working_directory(box: Box, tmp_path: Path) -> None:
    folder = tmp_path / "a 'b' $c"
    folder.mkdir()
    assert box.sh("pwd", TAU_WORKDIR=str(folder)) == (0, f"{folder}\n", "")
    done = box.sh("pwd", TAU_WORKDIR=str(tmp_path / "missing"))
    assert (done.exit, done.err) == (78, f"tau: cannot change to the working directory {tmp_path}/missing\n")


def test_command_is_found_from_the_working_directory(box: Box, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("#!/bin/sh\necho here\n")
    (tmp_path / "run").chmod(0o755)
    assert box.run("./run", TAU_WORKDIR=str(tmp_path)) == (0, "here\n", "")


def test_output_directory_is_made(box: Box, tmp_path: Path) -> None:
    assert box.sh('echo x >"$TAU_OUTPUT_DIR/f"', TAU_OUTPUT_DIR=str(tmp_path / "a" / "b")) == (0, "", "")
    assert (tmp_path / "a" / "b" / "f").read_text() == "x\n"
    (tmp_path / "file").touch()
    done = box.sh("echo never", TAU_OUTPUT_DIR=str(tmp_path / "file" / "out"))
    assert done.exit == 73
    assert done.err.endswith(f"tau: cannot create {tmp_path}/file/out\n")
    assert box.sh("echo never", TAU_OUTPUT_DIR="/proc").err == "tau: cannot write to /proc\n"


def test_nothing_is_left_in_the_output(box: Box, tmp_path: Path) -> None:
    box.sh(":", TAU_OUTPUT_DIR=str(tmp_path / "out"))
    assert os.listdir(tmp_path / "out") == []

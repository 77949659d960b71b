"""The command line as tests call it: in this process, or as a process of its own."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from tests.support.tools import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Outcome(NamedTuple):
    """What a call of ``tau-compile`` left behind."""

    exit: int
    stdout: str
    stderr: str


def run(arguments: Sequence[str], folder: Path) -> Outcome:
    """Call the command line in this process, as if from ``folder``."""
    from tau_compile.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code: object = 0
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(arguments))
        except SystemExit as ended:
            code = ended.code
    return Outcome(code if isinstance(code, int) else int(code is not None), _text(out), _text(err))


def run_process(arguments: Sequence[str], folder: Path, **variables: str) -> Outcome:
    """Call it as a process of its own."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "tau_compile", *arguments],
        cwd=folder,
        env=environment | variables,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()

"""A container in miniature: the scripts as they are mounted, an environment, and a PATH of chosen tools only."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tau_compile.render.argv import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

SCRIPTS: Final = Path(__file__).parents[2] / "templates" / "scripts"

# Everything that the scripts may call: an image needs no more.
TOOLS: Final = "cat chmod cp env find ls mkdir mv readlink rm rmdir sed sh sha256sum sleep sort sync wc"

# Prints its arguments, each followed by NUL.
ECHO: Final = (
    "python3",
    "-I",
    "-S",
    "-c",
    "import os,sys\nfor a in sys.argv[1:]: os.write(1, os.fsencode(a) + b'\\0')",
)


class Done(NamedTuple):
    """How a container ended."""

    exit: int
    out: str
    err: str


class Box:
    """Runs templates/scripts/run.sh with `shell` and nothing from this process's environment."""

    def __init__(self, folder: Path, shell: str) -> None:
        self.shell = shutil.which(shell)
        self.bin = folder / "tau" / "bin"
        self.path = folder / "path"
        self.cwd = folder / "cwd"
        for directory in (self.bin, self.path, self.cwd):
            directory.mkdir(parents=True)
        for script in SCRIPTS.iterdir():
            if script.is_file():
                shutil.copyfile(script, self.bin / script.name)
        for tool in TOOLS.split():
            self.link(tool, shutil.which(tool) or f"/bin/{tool}")
        self.link("python3", os.path.realpath(sys.executable))
        self.env = {"PATH": str(self.path), "TAU_BIN": str(self.bin), "HOME": str(folder)}

    def link(self, name: str, target: str) -> None:
        """Put an existing program on the PATH."""
        (self.path / name).unlink(missing_ok=True)
        (self.path / name).symlink_to(target)

    def tool(self, name: str, script: str) -> None:
        """Put a shell script on the PATH, in place of the tool of that name."""
        (self.path / name).unlink(missing_ok=True)
        (self.path / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.path / name).chmod(0o755)

    def start(self, command: Sequence[str], **env: str) -> subprocess.Popen[bytes]:
        """Start run.sh on a command and come back at once."""
        (self.bin / "argv").write_bytes(encode(command).encode())
        assert self.shell is not None
        return subprocess.Popen(
            [self.shell, self.bin / "run.sh"],
            env=self.env | env,
            cwd=self.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=_deaf_no_longer,
        )

    def run(self, *command: str, **env: str) -> Done:
        """Run a command to its end."""
        return finish(self.start(command, **env))

    def sh(self, script: str, **env: str) -> Done:
        """Run a shell script as the command."""
        return self.run("sh", "-c", script, **env)


def _deaf_no_longer() -> None:
    """What a background job's children inherit, an ignored SIGINT, a container's first process does not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def finish(process: subprocess.Popen[bytes]) -> Done:
    """Wait for the end (a minute at most)."""
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return Done(process.returncode, out.decode(), err.decode())


def stop(process: subprocess.Popen[bytes], ready: Path, number: signal.Signals) -> Done:
    """Send a signal once the file `ready` is there, and wait for the end."""
    deadline = time.monotonic() + 30
    while not ready.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    return finish(process)

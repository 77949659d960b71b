"""The Python environment of the slow tests: made once, kept under .tools, and made anew when its list changes."""

from __future__ import annotations

import fcntl
import hashlib
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final

from tests.scripts import cuda_stubs

HERE: Final = Path(__file__).parent
FOLDER: Final = HERE.parents[1] / ".tools" / "slow-venv"


def make() -> Path:
    """The environment's Python. Takes about a minute and 2 GB the first time; safe to call from several processes."""
    requirements = HERE / "requirements-slow.txt"
    digest = hashlib.sha256(sys.version.encode())
    for file in (requirements, HERE / "cuda_stubs.py", HERE / "environment.py"):
        digest.update(file.read_bytes())
    environment = FOLDER / digest.hexdigest()[:16]
    python = environment / "bin" / "python3"
    complete = environment / "complete"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            for other in FOLDER.iterdir():
                if other.is_dir():
                    shutil.rmtree(other)
            _run(sys.executable, "-m", "venv", str(environment))
            _run(
                str(python),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--no-compile",
                "-r",
                str(requirements),
            )
            if sys.platform == "linux":
                libraries = sysconfig.get_path("purelib", "venv", {"base": str(environment)})
                cuda_stubs.write(Path(libraries), platform.machine())
            complete.touch()
    return python


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}"

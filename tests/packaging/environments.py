"""Wheels, clean environments, and programs that cannot reach a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.tools import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

TRAINING = """\
schema_version: 1
name: first-training

run:
  entrypoint: train.py
  workload_kind: rayjob

compute:
  gpus: 1
  workers: 1
  cpus: 16
  memory: 64Gi

runtime:
  image: registry.example/team/ray:py3.12-ray2.56.0-cuda13.0
  pip:
    - torch>=2.4.0
"""
_SECONDS = 600
_OLDEST, _NEWEST = 11, 20  # minor versions of Python to look for


def training(folder: Path) -> Path:
    """A folder with nothing but a training on one GPU: its tau.yaml."""
    folder.mkdir(parents=True)
    (folder / "train.py").write_text("print('training')\n")
    (folder / "tau.yaml").write_text(TRAINING)
    return folder / "tau.yaml"


def call(command: Sequence[str | Path], cwd: Path, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command with a small environment; its output is in the message when it fails."""
    kept = {
        name: os.environ[name] for name in os.environ if name in ("PATH", "HOME") or name.startswith("PIP_")
    }
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=kept | variables,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout.decode()}{done.stderr.decode()}"
    return done


def offline(command: Sequence[str | Path], cwd: Path) -> bytes:
    """What a command prints with no network in reach: proxies that lead nowhere, and no interfaces where the kernel lets us."""
    nowhere = dict.fromkeys(
        ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9"
    )
    return call([*_unshared(), *command], cwd, PYTHONDONTWRITEBYTECODE="1", **nowhere).stdout


@cache
def _unshared() -> tuple[str, ...]:
    command = ("unshare", "--map-root-user", "--net")
    if not shutil.which(command[0]):
        return ()
    tried = subprocess.run([*command, "true"], capture_output=True, check=False)
    return () if tried.returncode else command


def wheel(folder: Path) -> Path:
    """The wheel as a release makes it: from a source distribution, not from the checkout."""
    call([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT], ROOT)
    (found,) = folder.glob("*.whl")
    return found


def installed(python: str, package: Path, folder: Path) -> Path:
    """The ``bin`` of a new environment of ``python`` with ``package`` in it and what it depends on."""
    call([python, "-m", "venv", folder], folder.parent)
    call(
        [
            folder / "bin" / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            package,
        ],
        folder.parent,
    )
    return folder / "bin"


def pythons() -> list[str]:
    """This interpreter, and one of each other minor version that is new enough and found on this machine."""
    found = {sys.version_info[:2]: sys.executable}
    for minor in range(_OLDEST, _NEWEST):
        name = f"python3.{minor}"
        places = [
            shutil.which(name),
            *sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/{name}"), reverse=True),
        ]
        for place in filter(None, places):
            if (3, minor) not in found and _works(str(place), minor):
                found[3, minor] = str(place)
    return [found[version] for version in sorted(found)]


def _works(python: str, minor: int) -> bool:
    code = f"import ensurepip, sys; sys.exit(sys.version_info[:2] != (3, {minor}))"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0

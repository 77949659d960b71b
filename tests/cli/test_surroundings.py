"""What the surroundings may do to a process: a full disk, closed streams, a folder that is gone, pipes for files."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.compiling import JOB
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tau.yaml").write_text(JOB)
    (tmp_path / "train.py").write_text("print(1)\n")
    return tmp_path


def shell(command: str, folder: Path) -> tuple[int, str, str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    text = command.replace("TAU", f"'{sys.executable}' -m tau_compile")
    done = subprocess.run(
        ["sh", "-c", text],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "bug" not in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "verb", ["render tau.yaml", "validate --format json tau.yaml", "schema tau", "--help"]
)
def test_a_full_disk(verb: str, folder: Path) -> None:
    assert shell(f"TAU {verb} > /dev/full", folder) == (
        1,
        "",
        "tau-compile: output failed: no space left on device\n",
    )


def test_a_closed_output_is_no_success(folder: Path) -> None:
    assert shell("TAU render tau.yaml >&-", folder) == (1, "", "tau-compile: standard output is closed\n")


def test_a_closed_error_stream_does_no_harm(folder: Path) -> None:
    code, out, _ = shell("TAU render tau.yaml 2>&-", folder)
    assert code == 0
    assert "kind: Job" in out


@pytest.mark.parametrize("verb", ["validate", "render ../tau.yaml", "build"])
def test_a_current_folder_that_is_gone(verb: str, folder: Path) -> None:
    code, out, err = shell(f"mkdir gone && cd gone && rmdir ../gone && TAU {verb}", folder)
    assert (code, out) == (2, "")
    assert err == "tau-compile: the current folder is gone: change into one that exists\n"


@pytest.mark.parametrize("name", ["tau-compile.yaml", "overlays/x.yaml", "templates/job.yaml.j2"])
def test_a_pipe_is_never_waited_for(name: str, folder: Path) -> None:
    code, _, err = shell(f"mkdir -p overlays templates && mkfifo {name} && TAU validate tau.yaml", folder)
    assert code == (2 if name == "tau-compile.yaml" else 1)
    assert f"{name}:1:1: error TAU327: `{name}` cannot be read: it is no regular file" in err


def test_no_line_of_a_linked_file_is_shown(folder: Path) -> None:
    secret = folder.parent / "outside"
    secret.write_text("kind: secret-word\n")
    for name in ("tau-compile.yaml", "overlays/x.yaml", "templates/job.yaml.j2"):
        command = f"mkdir -p overlays templates && ln -s {secret} {name} && TAU validate {{}}; rm {name}"
        for path in ("tau.yaml", name if name.startswith("overlays") else "tau.yaml"):
            _, out, err = shell(command.format(path), folder)
            assert "TAU326" in err
            assert "secret-word" not in out + err


def test_a_link_inside_the_repository_is_followed(folder: Path) -> None:
    (folder / "overlays").mkdir()
    (folder / "one.yaml").write_text(
        "apiVersion: tau-compile/v1\nkind: Workspace\nmetadata: {name: w}\nqueue: q\n"
    )
    (folder / "overlays" / "w.yaml").symlink_to("../one.yaml")
    code, out, _ = shell("TAU render tau.yaml", folder)
    assert code == 0
    assert "kueue.x-k8s.io/queue-name: q\n" in out

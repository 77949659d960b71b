"""Requirements: installed before the command, for the user when site-packages cannot be written."""

from __future__ import annotations

import signal
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.scripts.box import Box, Done, stop

if TYPE_CHECKING:
    from pathlib import Path

# Stands for python3: starts commands as run.sh asks (six words before the command), and plays pip.
FAKE = """
case "$*" in
    -I*) shift 5; exec "$@" ;;
    *purelib*) echo "$SITE" ;;
    "-m site --user-base") echo "${PYTHONUSERBASE:-$HOME/.local}" ;;
    "-m pip install"*)
        echo "$* base=${PYTHONUSERBASE:-}" >>"$RECORD"
        case "$*" in *--user*) exit "$USER_CODE" ;; *) exit "$CODE" ;; esac ;;
    *) echo "unexpected: $*" >&2; exit 99 ;;
esac
"""


@pytest.fixture
def fake(box: Box, tmp_path: Path) -> dict[str, str]:
    box.tool("python3", FAKE)
    (box.bin / "requirements.txt").write_text("demo==1.0\n")
    return {"RECORD": str(tmp_path / "record"), "SITE": str(tmp_path), "CODE": "0", "USER_CODE": "0"}


def calls(tmp_path: Path) -> list[str]:
    return (tmp_path / "record").read_text().splitlines()


def test_installs_first(box: Box, fake: dict[str, str], tmp_path: Path) -> None:
    done = box.sh('cat "$RECORD"; echo "${PATH%%:*} ${PIP_NO_INPUT-unset}"', **fake)
    assert done == Done(
        0, f"-m pip install -r {box.bin}/requirements.txt base=\n{tmp_path}/.local/bin unset\n", ""
    )


def test_nothing_to_install(box: Box, fake: dict[str, str], tmp_path: Path) -> None:
    (box.bin / "requirements.txt").write_text("")
    assert box.sh("echo ran", **fake) == Done(0, "ran\n", "")
    assert not (tmp_path / "record").exists()


def test_for_the_user(box: Box, fake: dict[str, str], tmp_path: Path) -> None:
    done = box.sh("echo ran", **fake | {"CODE": "1", "SITE": "/proc"})
    assert done == Done(0, "ran\n", "tau: site-packages cannot be written; installing for the user\n")
    assert calls(tmp_path)[1:] == [f"-m pip install --user -r {box.bin}/requirements.txt base="]


def test_home_that_cannot_be_written(box: Box, fake: dict[str, str], tmp_path: Path) -> None:
    given = fake | {"CODE": "1", "SITE": "/proc", "HOME": "/proc", "TMPDIR": str(tmp_path)}
    assert (
        box.sh('echo "${PATH%%:*} $PYTHONUSERBASE"', **given).out
        == f"{tmp_path}/tau-python/bin {tmp_path}/tau-python\n"
    )
    assert calls(tmp_path)[1].endswith(f" base={tmp_path}/tau-python")


def test_failure(box: Box, fake: dict[str, str], tmp_path: Path) -> None:
    done = box.sh("echo never", **fake | {"CODE": "5"})
    assert done == Done(5, "", "tau: pip could not install the requirements (exit code 5)\n")
    assert len(calls(tmp_path)) == 1  # site-packages can be written, so --user would not help
    done = box.sh("echo never", **fake | {"CODE": "1", "SITE": "/proc", "USER_CODE": "7"})
    assert (done.exit, done.out) == (7, "")


def test_stopped_while_installing(box: Box, fake: dict[str, str], tmp_path: Path) -> None:
    box.tool("python3", FAKE.replace('exit "$CODE"', "exec sleep 60"))
    process = box.start(["sh", "-c", "echo never"], **fake | {"SITE": "/proc"})
    done = stop(process, tmp_path / "record", signal.SIGTERM)
    pip = "tau: exit code 143, as after signal 15\ntau: pip could not install the requirements (exit code 143)\n"
    assert done == Done(143, "", pip)
    assert len(calls(tmp_path)) == 1


def wheel(folder: Path) -> None:
    """A package `tau-demo` with a module and a program, built by hand."""
    files = {
        "tau_demo.py": "def main():\n    print('demo')\n",
        "tau_demo-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tau-demo\nVersion: 1.0\n",
        "tau_demo-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "tau_demo-1.0.dist-info/entry_points.txt": "[console_scripts]\ntau-demo = tau_demo:main\n",
    }
    files["tau_demo-1.0.dist-info/RECORD"] = "".join(f"{name},,\n" for name in files)
    with zipfile.ZipFile(folder / "tau_demo-1.0-py3-none-any.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


@pytest.mark.slow
def test_real_pip(box: Box, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True, timeout=120)
    wheel(tmp_path)
    (box.bin / "requirements.txt").write_text(f"--no-index\n--find-links {tmp_path}\ntau-demo\n")
    done = box.run("tau-demo", PATH=f"{environment}/bin:{box.path}")
    assert (done.exit, done.out.splitlines()[-1]) == (0, "demo")
    (box.bin / "requirements.txt").write_text(f"--no-index\n--find-links {tmp_path}\ntau-other\n")
    done = box.run("tau-demo", PATH=f"{environment}/bin:{box.path}")
    assert done.exit == 1
    assert done.err.endswith("tau: pip could not install the requirements (exit code 1)\n")

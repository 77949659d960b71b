"""Trees on disk for the writer's tests, and actions that are killed on the way."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

STATE = ".tau-compile"


def plant(root: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)


def files(root: Path) -> dict[str, bytes]:
    """Every regular file below the root but those of the state folder."""
    found = {}
    for folder, names, here in os.walk(root):
        if folder == str(root) and STATE in names:
            names.remove(STATE)
        for name in here:
            path = Path(folder, name)
            if path.is_file():
                found[path.relative_to(root).as_posix()] = path.read_bytes()
    return found


def folders(root: Path) -> set[str]:
    found = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_dir())
    return {path for path in found if path.split("/")[0] != STATE}


def state(root: Path) -> set[str]:
    return {path.name for path in (root / STATE).iterdir()} if (root / STATE).exists() else set()


def child(action: Callable[[], object]) -> int | None:
    """Run in a child process: its exit status, None when SIGKILL ended it."""
    pid = os.fork()
    if pid == 0:
        try:
            action()
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return None if status == -signal.SIGKILL else status


def killed(number: int, action: Callable[[Callable[[str], None]], object]) -> bool:
    """Run in a child that gets SIGKILL at its step of this number, from 1; False: it ended before that step."""
    left = number

    def step(name: str) -> None:
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    status = child(lambda: action(step))
    assert status in (0, None)
    return status is None

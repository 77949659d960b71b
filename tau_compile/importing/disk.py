"""Writing what an import makes: all files or none, nothing replaced unasked, nothing through a link."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)


def write(folder: str, contents: dict[str, bytes], force: bool, programs: Collection[str] = ()) -> list[str]:
    """Write the files below ``folder``; those that were there already, and then nothing is written. Raises OSError.

    ``programs`` are the paths of files that may be executed.
    """
    paths = {path: os.path.join(folder, *path.split("/")) for path in contents}
    for path, full in paths.items():
        _assert_inside(folder, path, full)
    there = [path for path, full in paths.items() if os.path.lexists(full)]
    if there and not force:
        return there
    made: list[str] = []
    try:
        for path, full in paths.items():
            os.makedirs(os.path.dirname(full), exist_ok=True)
            mode = 0o777 if path in programs else 0o666
            if path in there:
                _replace(full, contents[path], mode)
            else:
                _create(full, contents[path], mode)
                made.append(full)
    except FileExistsError as problem:
        _remove(made)
        return [os.path.relpath(problem.filename, folder)]
    except OSError:
        _remove(made)
        raise
    return []


def _create(path: str, content: bytes, mode: int) -> None:
    number = os.open(path, _NEW, mode)
    with open(number, "wb") as file:
        file.write(content)


def _replace(path: str, content: bytes, mode: int) -> None:
    """Put a new file in the place of an old one, or of a link: what a link leads to stays."""
    new = f"{path}.tau-import"
    with suppress(FileNotFoundError):
        os.unlink(new)
    _create(new, content, mode)
    os.replace(new, path)


def _remove(paths: list[str]) -> None:
    for path in paths:
        with suppress(OSError):
            os.unlink(path)


def _assert_inside(folder: str, path: str, full: str) -> None:
    """No folder between may be a link that leads out."""
    top = os.path.realpath(folder)
    if not os.path.realpath(os.path.dirname(full)).startswith(top.rstrip(os.sep)):
        raise OSError(0, "a link on the way leads out of the folder", path)

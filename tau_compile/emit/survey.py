"""Look before writing: what stands where a change wants to write, and all reasons against it, with nothing changed."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, TypeVar

from .disk import NotAFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from .disk import Disk

STATE = ".tau-compile"
_DEEPEST = 100
_T = TypeVar("_T")


class WriteError(Exception):
    """A change that was not made, or not to its end.

    ``problems`` are pairs of a path below the root (or an empty text) and a reason, by path; ``hint`` is the cure.
    """

    def __init__(self, problems: Collection[tuple[str, str]], hint: str = "") -> None:
        self.problems = tuple(sorted(set(problems)))
        self.hint = hint
        lines = [f"{path}: {reason}" if path else reason for path, reason in self.problems]
        super().__init__("\n".join([*lines, hint] if hint else lines))


def fault(path: str) -> str:
    """Why a path cannot be written below the root, or an empty text."""
    parts = path.split("/")
    if not path or "" in parts or "." in parts or "\\" in path or os.path.splitdrive(path)[0]:
        return "not a path relative to the repository"
    if ".." in parts:
        return "the path leaves the repository"
    if len(parts) > _DEEPEST:
        return "too many folders in the path"
    if not path.isascii() or not path.isprintable():
        try:
            named = b"\0" not in os.fsencode(path)
        except UnicodeEncodeError:
            named = False
        if not named:
            return "no file can have this name"
    lowered = path.lower()  # not every file system tells cases apart
    if lowered.startswith(f"{STATE}/") or lowered == STATE or ".git" in lowered.split("/"):
        return "this place is not ours to write to"
    return ""


class Survey:
    """The places of one change. Problems gather in ``problems``; an answer about a path with a problem means nothing."""

    def __init__(self, disk: Disk, writes: Collection[str], deletes: Collection[str]) -> None:
        self._disk = disk
        self.problems: list[tuple[str, str]] = []
        self._folders: dict[str, bool] = {"": True}
        self._allowed: set[str] = set()
        self._in_the_way: set[str] = set()  # neither folders nor links, where a path has a folder
        self._becomes_folder: set[str] = set()
        above: set[str] = set()
        for paths in (writes, deletes):
            for path in paths:
                if why := fault(path):
                    self.problems.append((path, why))
        if self.problems:
            return  # such paths are not looked at
        for path in writes:
            folder = path.rpartition("/")[0]
            while folder and folder not in above:
                above.add(folder)
                folder = folder.rpartition("/")[0]
        # A file that gives way to a folder: gone at the start, a folder in the end, either after a kill.
        self._becomes_folder = above.intersection(deletes)
        for path in above.intersection(writes):
            self.problems.append((path, "asked for as a file and as a folder"))
        for path in set(writes).intersection(deletes):
            self.problems.append((path, "asked to be written and to be deleted"))

    def same(self, path: str, content: bytes) -> bool | None:
        """Whether the file to be written holds this content already; None: not there."""
        return self._look(path, lambda: self._disk.same(path, content), written=True)

    def digest(self, path: str, *, written: bool = False) -> str | None:
        """The sha256 of the file; None: not there. ``written``: it is to be written, so it needs its folders."""
        if path in self._becomes_folder and self._exists(path):
            return None
        return self._look(path, lambda: self._disk.digest(path), written=written)

    def changeable(self, path: str) -> None:
        """Note a problem if names in the folder of this path cannot be changed."""
        folder = path.rpartition("/")[0]
        while not self._exists(folder):
            folder = folder.rpartition("/")[0]
        if folder not in self._allowed:
            self._allowed.add(folder)
            if not os.access(self._disk.at(folder), os.W_OK | os.X_OK):
                self.problems.append((folder or ".", "this folder is read-only"))

    def _look(self, path: str, ask: Callable[[], _T | None], *, written: bool) -> _T | None:
        folder = path.rpartition("/")[0]
        if not self._exists(folder):
            if written and self._in_the_way:
                self._needs(folder)
            return None
        try:
            return ask()
        except NotAFileError as problem:
            self.problems.append((path, str(problem)))
        except OSError as problem:
            self.problems.append((path, f"cannot be read: {why(problem)}"))
        return None

    def _exists(self, folder: str) -> bool:
        """Whether a folder is there, reached through folders only."""
        known = self._folders.get(folder)
        if known is None:
            known = self._exists(folder.rpartition("/")[0]) and self._stands(folder)
            self._folders[folder] = known
        return known

    def _stands(self, folder: str) -> bool:
        try:
            mode = os.lstat(self._disk.at(folder)).st_mode
        except FileNotFoundError:
            return False
        except OSError as problem:
            self.problems.append((folder, f"cannot be read: {why(problem)}"))
            return False
        if stat.S_ISLNK(mode):
            self.problems.append((folder, "a symbolic link, and nothing is written through links"))
        elif not stat.S_ISDIR(mode):
            self._in_the_way.add(folder)
        return stat.S_ISDIR(mode)

    def _needs(self, folder: str) -> None:
        while folder:
            if folder in self._in_the_way and folder not in self._becomes_folder:
                self.problems.append(
                    (folder, "a folder is needed here, and something else stands in its place")
                )
            folder = folder.rpartition("/")[0]


def why(problem: OSError) -> str:
    """The system's reason, without its number and path."""
    return (problem.strerror or str(problem)).lower()

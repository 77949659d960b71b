"""Access to the files of a repository: the interface that the collection reads through, and the one on disk.

Paths count from the repository root, use ``/``, and have no ``.`` or ``..``; the root is the empty string.
"""

from __future__ import annotations

import os
import stat
from bisect import bisect_left
from typing import TYPE_CHECKING, Literal, Protocol

from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Info(NamedTuple):
    """What stands at a path, links not followed; ``other`` is a pipe, socket or device, ``size`` in bytes."""

    kind: Literal["file", "folder", "link", "other"]
    size: int = 0
    executable: bool = False


class Tracked(NamedTuple):
    """An entry of Git's index: its mode and its merge stage.

    Modes are 0o100644 and 0o100755 for files, 0o120000 for a link, 0o160000 for a submodule; the stage is 0
    unless a merge is in conflict.
    """

    mode: int
    stage: int = 0


class GitError(Exception):
    """Git was asked and gave no answer; the text says why."""


class Tree(Protocol):
    """A repository's files. Methods may raise OSError for what the system refuses."""

    def info(self, path: str) -> Info | None:
        """Say what stands at ``path``, None if nothing does."""

    def target(self, path: str) -> str:
        """Read the text of a symbolic link."""

    def names(self, path: str) -> list[str]:
        """List the names in a folder, sorted."""

    def read(self, path: str, limit: int) -> bytes:
        """At most ``limit`` bytes of a regular file; OSError for anything else."""

    def tracked(self, paths: Sequence[str]) -> Mapping[str, Tracked] | None:
        """List what Git tracks at or below ``paths``; None outside a Git work tree. Raises GitError."""


class DiskTree:
    """The tree below a folder on disk. An instance remembers Git's answer, so use one for one compilation."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._asked = 0
        self._listing: dict[str, Tracked] | None = None
        self._sorted: list[str] = []
        self._in_git: bool | None = None

    def info(self, path: str) -> Info | None:
        """See ``Tree``."""
        try:
            found = os.lstat(self._on_disk(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISREG(found.st_mode):
            return Info("file", found.st_size, bool(found.st_mode & stat.S_IXUSR))
        if stat.S_ISDIR(found.st_mode):
            return Info("folder")
        return Info("link" if stat.S_ISLNK(found.st_mode) else "other")

    def target(self, path: str) -> str:
        """See ``Tree``."""
        return os.readlink(self._on_disk(path))

    def names(self, path: str) -> list[str]:
        """See ``Tree``."""
        return sorted(os.listdir(self._on_disk(path)))

    def read(self, path: str, limit: int) -> bytes:
        """See ``Tree``. Neither waits for a pipe nor follows a link, whatever happened since ``info``."""
        flags = os.O_RDONLY
        for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):  # not every system has all of them
            flags |= getattr(os, name, 0)
        number = os.open(self._on_disk(path), flags)
        with os.fdopen(number, "rb") as file:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                raise OSError("not a regular file")
            return file.read(limit)

    def tracked(self, paths: Sequence[str]) -> Mapping[str, Tracked] | None:
        """See ``Tree``. Two questions name their paths; from the third on, or for all, the whole index is read, once."""
        if self._in_git is None:
            self._in_git = work_tree(self.root)
        if not self._in_git:
            return None
        self._asked += 1
        if self._listing is None and self._asked < 3 and "" not in paths:
            return self._ask_git(paths)
        if self._listing is None:
            self._listing = self._ask_git(("",))
            self._sorted = sorted(self._listing or ())
        if self._listing is None or "" in paths:
            return self._listing
        return {found: self._listing[found] for path in paths for found in _within(path, self._sorted)}

    def _on_disk(self, path: str) -> str:
        return f"{self.root}/{path}" if path else self.root  # every system takes a /

    def _ask_git(self, paths: Sequence[str]) -> dict[str, Tracked] | None:
        from tau_compile.workload.code.git import ls_files

        return ls_files(self.root, paths)


def _within(top: str, paths: list[str]) -> list[str]:
    """Those of the sorted ``paths`` at or below ``top``."""
    place = bisect_left(paths, top)
    exact = paths[place : place + 1] if paths[place : place + 1] == [top] else []
    start = bisect_left(paths, f"{top}/", place)  # "0" is the character after "/"
    return exact + paths[start : bisect_left(paths, f"{top}0", start)]


def work_tree(root: str) -> bool:
    """Whether ``root`` lies in a Git work tree."""
    folder = os.path.abspath(root)
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent
    return True

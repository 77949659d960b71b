"""The few small system calls that change a tree, below one root, each announced to a test's ``step`` before it is made.

``os.open`` and ``os.write`` rather than ``pathlib``: a new file costs less than half. Nothing here follows a symbolic
link in a file's own place; ``survey`` looks at the folders above it.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 1 << 20
_BINARY = getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | _BINARY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0)  # a pipe must not make us wait
_CREATE = os.O_WRONLY | os.O_CREAT | _BINARY | _NOFOLLOW


class NotAFileError(Exception):
    """Something other than a regular file stands in a file's place; the message says what."""


class Disk:
    """Paths are relative to ``root``, with ``/``. Every method may raise OSError."""

    __slots__ = ("root", "step")

    def __init__(self, root: str, step: Callable[[str], None] | None = None) -> None:
        self.root = root
        self.step = step or _no_step

    def at(self, path: str) -> str:
        """Where a path lies."""
        return f"{self.root}/{path}" if path else self.root

    def same(self, path: str, content: bytes) -> bool | None:
        """Whether the file holds this content; None: there is no such file. Raises NotAFileError."""
        file = self._open(path)
        if file is None:
            return None
        try:
            if os.fstat(file).st_size != len(content):
                return False
            read = os.read(file, len(content) + 1)
            while len(read) <= len(content) and (more := os.read(file, _CHUNK)):
                read += more
            return read == content
        finally:
            os.close(file)

    def digest(self, path: str) -> str | None:
        """The file's sha256 in hex; None: there is no such file. Raises NotAFileError."""
        file = self._open(path)
        if file is None:
            return None
        from hashlib import sha256

        total = sha256()
        try:
            while chunk := os.read(file, _CHUNK):
                total.update(chunk)
        finally:
            os.close(file)
        return total.hexdigest()

    def read(self, path: str) -> bytes | None:
        """The whole file; None: there is no such file. Raises NotAFileError."""
        file = self._open(path)
        if file is None:
            return None
        with os.fdopen(file, "rb") as opened:
            return opened.read()

    def create(self, path: str, content: bytes, *, sync: bool = False, over: bool = False) -> None:
        """A new file; ``over``: or over whatever a killed run left under this name. ``sync``: down to the disk."""
        self.step(f"create {path}")
        file = os.open(self.at(path), _CREATE | (os.O_TRUNC if over else os.O_EXCL), 0o666)
        try:
            view = memoryview(content)
            while view:
                self.step(f"write {path}")
                view = view[os.write(file, view) :]
            if sync:
                self.step(f"sync {path}")
                os.fsync(file)
        finally:
            os.close(file)

    def move(self, source: str, target: str, spare: str) -> None:
        """Put a file in the place of another at one stroke.

        Across file systems, where no rename is possible, through a copy under the name ``spare`` next to the target.
        """
        try:
            self.rename(source, target)
        except OSError as problem:
            if problem.errno != errno.EXDEV:
                raise
            self.create(spare, self.read(source) or b"", over=True)
            self.rename(spare, target)

    def rename(self, source: str, target: str) -> None:
        """Rename within a file system, over what is there."""
        self.step(f"rename {target}")
        os.replace(self.at(source), self.at(target))

    def unlink(self, path: str) -> None:
        """Remove a file that may be gone already."""
        self.step(f"unlink {path}")
        with suppress(FileNotFoundError):
            os.unlink(self.at(path))

    def mkdir(self, folder: str) -> None:
        """Make a folder that may be there already, and the folders above it."""
        self.step(f"mkdir {folder}")
        try:
            os.mkdir(self.at(folder))
        except FileExistsError:
            pass
        except FileNotFoundError:
            above = folder.rpartition("/")[0]
            if not above:  # the root itself is gone
                raise
            self.mkdir(above)
            self.mkdir(folder)

    def rmdir(self, folder: str) -> bool:
        """Remove a folder if it is empty and may go; Git knows nothing of empty folders, so one that stays harms nobody."""
        self.step(f"rmdir {folder}")
        try:
            os.rmdir(self.at(folder))
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def sync_folder(self, folder: str) -> None:
        """Bring the names in a folder down to the disk, where the system knows how to."""
        self.step(f"sync {folder}")
        try:
            file = os.open(self.at(folder), os.O_RDONLY)
        except OSError:  # Windows opens no folders
            return
        with suppress(OSError):  # nor does every file system sync them
            os.fsync(file)
        os.close(file)

    def _open(self, path: str) -> int | None:
        try:
            file = os.open(self.at(path), _READ)
        except FileNotFoundError:
            return None
        except OSError as problem:
            if problem.errno in (errno.ELOOP, errno.EMLINK):  # what O_NOFOLLOW says here and on the BSDs
                raise NotAFileError("a symbolic link stands in the place of this file") from None
            if problem.errno in (errno.ENXIO, errno.EOPNOTSUPP):
                raise NotAFileError("something other than a file stands in its place") from None
            raise
        mode = os.fstat(file).st_mode
        if stat.S_ISREG(mode):
            return file
        os.close(file)
        what = "a folder" if stat.S_ISDIR(mode) else "something other than a file"
        raise NotAFileError(f"{what} stands in the place of this file")


def _no_step(name: str) -> None:
    pass

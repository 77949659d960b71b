"""The folder ``.tau-compile``: the stage, the journal, and what a killed run leaves of them."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from .disk import NotAFileError
from .journal import JOURNAL, JOURNAL_NEW, Delete, Journal, JournalError, Write, decode, encode, is_stage
from .survey import STATE, WriteError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .disk import Disk

GIVE_UP = (
    "to give up the interrupted change: restore its files from Git, then delete .tau-compile/journal.json"
)
_SYNC_EACH = 64
_IGNORE = f"{STATE}/.gitignore"


class State:
    """The folder below one root. Every method may raise OSError, ``read`` and ``prepare`` also WriteError."""

    __slots__ = ("_disk",)

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def prepare(self) -> None:
        """Make the folder, which keeps itself out of Git."""
        if os.path.islink(self._disk.at(STATE)):
            raise WriteError([(STATE, "a symbolic link, and nothing is written through links")])
        if not os.path.isdir(self._disk.at(STATE)):
            self._disk.mkdir(STATE)
        try:
            known = os.lstat(self._disk.at(_IGNORE)).st_size > 0
        except FileNotFoundError:
            known = False
        if not known:  # or killed before it was written
            self._disk.create(_IGNORE, b"*\n", over=True)

    def left(self) -> bool:
        """Whether a killed run left something here."""
        try:
            names = os.listdir(self._disk.at(STATE))
        except OSError:
            return False
        return any(is_stage(name) or f"{STATE}/{name}" in (JOURNAL, JOURNAL_NEW) for name in names)

    def read(self) -> Journal | None:
        """The journal of a committed change; None: there is none."""
        try:
            data = self._disk.read(JOURNAL)
            return None if data is None else decode(data)
        except (JournalError, NotAFileError) as problem:
            raise WriteError([(JOURNAL, f"the journal of an interrupted run: {problem}")], GIVE_UP) from None

    def holds(self, journal: Journal, index: int) -> bool:
        """Whether the content of a write is in the stage, undamaged."""
        try:
            return self._disk.digest(journal.staged(index)) == journal.writes[index].new
        except NotAFileError:
            return False

    def commit(
        self, changes: Iterable[tuple[str, str, bytes]], count: int, deletes: tuple[Delete, ...]
    ) -> Journal:
        """Stage new contents, one after the other, then let the journal appear. Raises with nothing left behind.

        ``changes`` are ``count`` times a path, the digest of its old content or an empty text, and its new content.
        """
        from hashlib import sha256

        disk = self._disk
        writes: list[Write] = []
        try:
            stage = self._new_stage()
            for index, (path, old, content) in enumerate(changes):
                disk.create(f"{STATE}/{stage}/{index}", content, sync=count <= _SYNC_EACH)
                writes.append(
                    Write(path, sha256(content).hexdigest(), old)
                )  # of the very bytes that are staged
            journal = Journal(stage, tuple(writes), deletes)
            disk.sync_folder(f"{STATE}/{stage}")
            disk.create(JOURNAL_NEW, encode(journal), sync=True)
            disk.rename(JOURNAL_NEW, JOURNAL)
        except BaseException:
            # An interrupt may arrive just after the rename: then the change stands.
            if not os.path.lexists(disk.at(JOURNAL)):
                with suppress(OSError):
                    self.tidy()
            raise
        return journal

    def forget(self) -> None:
        """The change is complete, or given up. What cannot be tidied away now is so by the next run."""
        self._disk.unlink(JOURNAL)
        with suppress(OSError):
            self.tidy()

    def tidy(self) -> None:
        """Remove what was staged. Only without a journal. What is not ours stays."""
        for name in sorted(os.listdir(self._disk.at(STATE))):
            path = f"{STATE}/{name}"
            if path == JOURNAL_NEW:
                self._disk.unlink(path)
            elif (
                is_stage(name)
                and not os.path.islink(self._disk.at(path))
                and os.path.isdir(self._disk.at(path))
            ):
                for staged in sorted(os.listdir(self._disk.at(path))):
                    if staged.isascii() and staged.isdigit():
                        self._disk.unlink(f"{path}/{staged}")
                self._disk.rmdir(path)

    def _new_stage(self) -> str:
        names = set(os.listdir(self._disk.at(STATE)))
        number = 1
        while f"stage-{number}" in names:
            number += 1
        self._disk.mkdir(f"{STATE}/stage-{number}")
        return f"stage-{number}"

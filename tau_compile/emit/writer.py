"""Bring a change into the tree, all of it or nothing of it.

    1. Look: files that hold their content already are left alone, with their times; every reason against the change
       (a link, a folder in a file's place, no permission) is found before anything is touched.
    2. Stage: the new contents become files in ``.tau-compile/stage-<n>/``.
    3. Commit: the journal gets its name, by one rename.
    4. Carry out: delete, rename the staged files into their places, remove the folders that the deletes emptied.
    5. Forget: remove the journal and the stage.

Killed (SIGKILL, at any system call) before 3 the tree is old, and what was staged is thrown away by the next run. Killed
after it, the next run completes the change from the staged bytes; so does the run after that one, if that is killed too.

Power loss is survived as well as the file system allows: the journal, the names in the stage and, up to 64 files, the
contents are brought to the disk before 3. Larger changes rely on the journal's digests (10,000 syncs would take longer than
all the rest): contents that did not reach the disk are noticed, and never put in place.

Safe against accidents, not against somebody who swaps folders for links in this very moment.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from .disk import Disk
from .journal import JOURNAL, Delete, Journal
from .lock import BusyError, acquire
from .resume import rest
from .state import GIVE_UP, State
from .survey import STATE, Survey, WriteError, why

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType

__all__ = ["Applied", "Change", "WriteError", "Writer", "apply", "pending", "recover"]

_KEPT = "the change is kept in .tau-compile: remove the cause and run again, and it will be completed"


class Change(NamedTuple):
    """Paths are relative to the root, with ``/``. ``deletes`` are files of ours; one that is gone already is no matter."""

    writes: Mapping[str, bytes]
    deletes: frozenset[str] = frozenset()


class Applied(NamedTuple):
    """What came of a change: sorted paths."""

    written: list[str]
    deleted: list[str]
    unchanged: list[str]


def pending(root: str) -> bool:
    """Whether a run was killed here after its commit, so that the tree may be a mixture until ``recover``."""
    return os.path.lexists(f"{root}/{JOURNAL}")


def recover(root: str, step: Callable[[str], None] | None = None) -> list[str]:
    """Complete or throw away what a killed run left; see ``Writer.recover``. Creates nothing when nothing was left."""
    if not State(Disk(root)).left():
        return []
    with Writer(root, step) as writer:
        return writer.recover()


def apply(root: str, change: Change, step: Callable[[str], None] | None = None) -> Applied:
    """Make one change; see ``Writer.apply``."""
    with Writer(root, step) as writer:
        return writer.apply(change)


class Writer:
    """Holds the tree for writing. Who plans a change from what is in the tree plans it while holding the tree.

    ``step`` is for tests: called with a name before every system call with an effect. All methods raise WriteError.
    """

    def __init__(self, root: str, step: Callable[[str], None] | None = None) -> None:
        self._disk = Disk(root, step)
        self._state = State(self._disk)
        self._lock = -1

    def __enter__(self) -> Writer:
        """Take the lock; an error at once when another process has it."""
        try:
            self._state.prepare()
            self._disk.step(f"lock {STATE}/lock")
            self._lock = acquire(self._disk.at(f"{STATE}/lock"))
        except BusyError:
            raise WriteError([("", "another tau-compile is writing here")]) from None
        except OSError as problem:
            raise self._failure(problem) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._lock)

    def apply(self, change: Change) -> Applied:
        """Make the change, after completing one that was interrupted.

        Raises WriteError: the tree is as it was, unless the hint says that the change will be completed.
        """
        self.recover()
        survey = Survey(self._disk, change.writes, change.deletes)
        _refuse(survey.problems)
        # Contents are asked for one after the other: a mapping may compile them, and all may not fit into memory.
        same = {path: survey.same(path, change.writes[path]) for path in sorted(change.writes)}
        written = [path for path, equal in same.items() if not equal]
        olds = {path: survey.digest(path) or "" for path in written if same[path] is False}
        found = {path: survey.digest(path) for path in sorted(change.deletes)}
        deletes = tuple(Delete(path, digest) for path, digest in found.items() if digest)
        deleted = [delete.path for delete in deletes]
        for path in (*written, *deleted):
            survey.changeable(path)
        _refuse(survey.problems)
        if written or deletes:
            staged = ((path, olds.get(path, ""), change.writes[path]) for path in written)
            try:
                journal = self._state.commit(staged, len(written), deletes)
            except OSError as problem:
                raise self._failure(problem) from None
            self._carry_out(journal, range(len(written)), deleted)
        return Applied(written, deleted, [path for path, equal in same.items() if equal])

    def recover(self) -> list[str]:
        """The sorted paths of a committed change that was interrupted and is complete now; else an empty list.

        Where nothing of the change is in the tree and it can no longer be made (somebody took it back by hand), it is
        thrown away. Where part of it is, and somebody changed other places meanwhile, that is an error.
        """
        try:
            journal = self._state.read()
            if journal is None:
                self._state.tidy()
                return []
            left = rest(journal, self._disk, self._state)
            if left.given_up:
                self._state.forget()
                return []
        except OSError as problem:
            raise self._failure(problem) from None
        _refuse(left.problems, GIVE_UP)
        self._carry_out(journal, left.writes, left.deletes)
        return journal.paths()

    def _carry_out(self, journal: Journal, writes: Iterable[int], deletes: list[str]) -> None:
        disk = self._disk
        folders: set[str] = set()
        try:
            disk.sync_folder(STATE)
            for path in deletes:
                disk.unlink(path)
            for index in writes:
                path = journal.writes[index].path
                folder, _, _ = path.rpartition("/")
                if folder and folder not in folders:
                    folders.add(folder)
                    disk.mkdir(folder)
                disk.move(journal.staged(index), path, f"{folder}/.tau-compile-{index}".lstrip("/"))
            gone: set[str] = set()
            for folder in sorted(
                {delete.path.rpartition("/")[0] for delete in journal.deletes}, reverse=True
            ):
                while folder and folder not in gone and disk.rmdir(folder):
                    gone.add(folder)
                    folder, _, _ = folder.rpartition("/")
            self._state.forget()
        except OSError as problem:
            raise self._failure(problem, _KEPT) from None

    def _failure(self, problem: OSError, hint: str = "") -> WriteError:
        place = problem.filename2 or problem.filename
        path = os.fsdecode(place) if isinstance(place, (str, bytes)) else ""
        return WriteError([(path.removeprefix(f"{self._disk.root}/"), why(problem))], hint)


def _refuse(problems: list[tuple[str, str]], hint: str = "") -> None:
    if problems:
        raise WriteError(problems, hint)

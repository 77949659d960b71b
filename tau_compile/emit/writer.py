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

from .disk import Disk, NotAFileError
from .journal import JOURNAL, JOURNAL_NEW, Delete, Journal, JournalError, Write, decode, encode, is_stage
from .lock import BusyError, acquire
from .survey import STATE, Survey, WriteError, why

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType

__all__ = ["Applied", "Change", "WriteError", "Writer", "apply", "pending", "recover"]

_SYNC_EACH = 64
_IGNORE = f"{STATE}/.gitignore"
_KEPT = "the change is kept in .tau-compile: remove the cause and run again, and it will be completed"
_GIVE_UP = "to give up the interrupted change: `git restore` its files, then delete .tau-compile/journal.json"


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
    try:
        left = any(is_stage(name) for name in os.listdir(f"{root}/{STATE}"))
    except OSError:
        left = False
    if not left and not pending(root) and not os.path.lexists(f"{root}/{JOURNAL_NEW}"):
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
        self._step = step
        self._lock = -1

    def __enter__(self) -> Writer:
        """Take the lock; an error at once when another process has it."""
        try:
            self._prepare()
            if self._step:
                self._step("lock")
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
        """Make the change, after completing one that was interrupted. Raises WriteError, with the tree as it was
        unless its hint says that the change will be completed."""
        self.recover()
        survey = Survey(self._disk, change.writes, change.deletes)
        self._refuse(survey)
        same = {path: survey.same(path, content) for path, content in sorted(change.writes.items())}
        unchanged = [path for path, equal in same.items() if equal]
        written = [path for path, equal in same.items() if not equal]
        found = {path: survey.digest(path) for path in sorted(change.deletes)}
        deletes = tuple(Delete(path, digest) for path, digest in found.items() if digest)
        olds = {path: survey.digest(path) or "" for path in written if same[path] is False}
        for path in (*written, *(delete.path for delete in deletes)):
            survey.changeable(path)
        self._refuse(survey)
        if written or deletes:
            from hashlib import sha256

            contents = [change.writes[path] for path in written]
            news = [sha256(content).hexdigest() for content in contents]
            writes = tuple(
                Write(path, new, olds.get(path, "")) for path, new in zip(written, news, strict=True)
            )
            journal = self._commit(contents, writes, deletes)
            self._carry_out(journal, range(len(writes)), [delete.path for delete in deletes])
        return Applied(written, [delete.path for delete in deletes], unchanged)

    def recover(self) -> list[str]:
        """The sorted paths of a committed change that was interrupted and is complete now; else an empty list.

        Where nothing of the change is in the tree and it can no longer be made (somebody took it back by hand), it is
        thrown away. Where part of it is, and somebody changed other places meanwhile, that is an error.
        """
        try:
            journal = self._journal()
            if journal is None:
                self._tidy()
                return []
            survey = Survey(self._disk, [w.path for w in journal.writes], [d.path for d in journal.deletes])
            self._refuse(survey, _GIVE_UP)
            return self._resume(journal, survey)
        except OSError as problem:
            raise self._failure(problem) from None

    def _resume(self, journal: Journal, survey: Survey) -> list[str]:
        writes: list[int] = []
        deletes: list[str] = []
        begun = False
        lost: list[tuple[str, str]] = []
        for index, write in enumerate(journal.writes):
            now = survey.digest(write.path) or ""
            if now == write.new:
                begun = True
            elif now != write.old:
                lost.append((write.path, "changed since the interrupted run"))
            elif self._staged(journal.staged(index)) != write.new:
                lost.append((write.path, "its new content, staged by the interrupted run, is lost"))
            else:
                writes.append(index)
                survey.changeable(write.path)
        for delete in journal.deletes:
            now = survey.digest(delete.path) or ""
            if not now:
                begun = True
            elif now != delete.old:
                lost.append((delete.path, "changed since the interrupted run"))
            else:
                deletes.append(delete.path)
                survey.changeable(delete.path)
        if lost and not begun and not survey.problems:
            self._forget()
            return []
        survey.problems += lost
        self._refuse(survey, _GIVE_UP)
        self._carry_out(journal, writes, deletes)
        return journal.paths()

    def _commit(
        self, contents: list[bytes], writes: tuple[Write, ...], deletes: tuple[Delete, ...]
    ) -> Journal:
        try:
            journal = Journal(self._new_stage(), writes, deletes)
            for index, content in enumerate(contents):
                self._disk.create(journal.staged(index), content, sync=len(contents) <= _SYNC_EACH)
            self._disk.sync_folder(f"{STATE}/{journal.stage}")
            self._disk.create(JOURNAL_NEW, encode(journal), sync=True)
            self._disk.rename(JOURNAL_NEW, JOURNAL)
        except OSError as problem:
            self._tidy()
            raise self._failure(problem, "nothing was changed") from None
        except BaseException:
            if not pending(self._disk.root):
                self._tidy()
            raise
        return journal

    def _carry_out(self, journal: Journal, writes: Iterable[int], deletes: list[str]) -> None:
        disk = self._disk
        folders: set[str] = set()
        try:
            disk.sync_folder(STATE)
            for path in deletes:
                disk.unlink(path)
            for index in writes:
                path = journal.writes[index].path
                folder = path.rpartition("/")[0]
                if folder and folder not in folders:
                    folders.add(folder)
                    disk.mkdir(folder)
                disk.move(journal.staged(index), path, f"{folder}/.tau-compile-{index}".lstrip("/"))
            for delete in reversed(journal.deletes):
                folder = delete.path.rpartition("/")[0]
                while folder and disk.rmdir(folder):
                    folder = folder.rpartition("/")[0]
            self._forget()
        except OSError as problem:
            raise self._failure(problem, _KEPT if pending(disk.root) else "") from None

    def _forget(self) -> None:
        self._disk.unlink(JOURNAL)
        self._tidy()

    def _journal(self) -> Journal | None:
        try:
            data = self._disk.read(JOURNAL)
            return None if data is None else decode(data)
        except (JournalError, NotAFileError) as problem:
            raise WriteError([(JOURNAL, f"the journal of an interrupted run: {problem}")], _GIVE_UP) from None

    def _staged(self, path: str) -> str | None:
        try:
            return self._disk.digest(path)
        except NotAFileError:
            return None

    def _prepare(self) -> None:
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

    def _new_stage(self) -> str:
        names = set(os.listdir(self._disk.at(STATE)))
        number = 1
        while f"stage-{number}" in names:
            number += 1
        self._disk.mkdir(f"{STATE}/stage-{number}")
        return f"stage-{number}"

    def _tidy(self) -> None:
        """Remove what stands before a commit. Never called while a journal stands. What is not ours stays."""
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

    def _refuse(self, survey: Survey, hint: str = "") -> None:
        if survey.problems:
            raise WriteError(survey.problems, hint)

    def _failure(self, problem: OSError, hint: str = "") -> WriteError:
        place = problem.filename2 or problem.filename
        path = os.fsdecode(place) if isinstance(place, (str, bytes)) else ""
        return WriteError([(path.removeprefix(f"{self._disk.root}/"), why(problem))], hint)

"""The journal of a change: what is to be written and deleted, and what stood there before.

A journal that can be seen under its name is the promise that the change will be completed. The new contents lie in a
stage folder, the n-th write in the file ``n``. Digests (sha256, hex) say of every place whether it is old or new, so that
a run that was killed is completed without asking its sources, and nothing that somebody else wrote meanwhile is lost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .survey import STATE

JOURNAL = f"{STATE}/journal.json"
JOURNAL_NEW = f"{STATE}/journal.new"
_VERSION = 1
_HEX = frozenset("0123456789abcdef")


class JournalError(Exception):
    """A journal that cannot be read; the message says why."""


class Write(NamedTuple):
    """``new`` and ``old`` are digests; ``old`` is empty where no file stood."""

    path: str
    new: str
    old: str


class Delete(NamedTuple):
    """``old`` is the digest of the file to be deleted."""

    path: str
    old: str


class Journal(NamedTuple):
    """One change; ``stage`` is the name of the folder with the contents."""

    stage: str
    writes: tuple[Write, ...]
    deletes: tuple[Delete, ...]

    def staged(self, index: int) -> str:
        """Where the content of a write lies."""
        return f"{STATE}/{self.stage}/{index}"

    def paths(self) -> list[str]:
        """Every path of the change, sorted."""
        return sorted([write.path for write in self.writes] + [delete.path for delete in self.deletes])


def is_stage(name: str) -> bool:
    """Whether a name in the state folder is one of our stage folders."""
    number = name.removeprefix("stage-")
    return number != name and number.isascii() and number.isdigit()


def encode(journal: Journal) -> bytes:
    """The journal's bytes."""
    import json

    content = {"journal": _VERSION, **journal._asdict()}
    return json.dumps(content, separators=(",", ":")).encode()


def decode(data: bytes) -> Journal:
    """Read a journal. Raises JournalError for anything that ``encode`` did not write."""
    import json

    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError):
        raise JournalError("damaged or not a journal") from None
    if not isinstance(value, dict) or "journal" not in value:
        raise JournalError("damaged or not a journal")
    if value["journal"] != _VERSION:
        raise JournalError("written by another version of tau-compile")
    if value.keys() != {"journal", *Journal._fields} or not isinstance(value["stage"], str):
        raise JournalError("damaged or not a journal")
    if not is_stage(value["stage"]):
        raise JournalError("damaged or not a journal")
    writes = tuple(Write(*row) for row in _rows(value["writes"], 3))
    deletes = tuple(Delete(*row) for row in _rows(value["deletes"], 2))
    if any(not _is_digest(write.new) or write.old and not _is_digest(write.old) for write in writes):
        raise JournalError("damaged or not a journal")
    if any(not _is_digest(delete.old) for delete in deletes):
        raise JournalError("damaged or not a journal")
    return Journal(value["stage"], writes, deletes)


def _rows(value: Any, width: int) -> list[list[str]]:
    if isinstance(value, list) and all(isinstance(row, list) and len(row) == width for row in value):
        if all(isinstance(cell, str) for row in value for cell in row):
            return value
    raise JournalError("damaged or not a journal")


def _is_digest(text: str) -> bool:
    return len(text) == 64 and _HEX.issuperset(text)

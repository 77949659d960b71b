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
_DAMAGED = "damaged or not a journal"
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


def is_stage(name: object) -> bool:
    """Whether a name in the state folder is one of our stage folders."""
    if not isinstance(name, str):
        return False
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
        raise JournalError(_DAMAGED) from None
    if not isinstance(value, dict) or "journal" not in value:
        raise JournalError(_DAMAGED)
    if value["journal"] != _VERSION:
        raise JournalError("written by another version of tau-compile")
    if value.keys() != {"journal", *Journal._fields} or not is_stage(value["stage"]):
        raise JournalError(_DAMAGED)
    writes = tuple(Write(*row) for row in _rows(value["writes"], 3))
    deletes = tuple(Delete(*row) for row in _rows(value["deletes"], 2))
    news = [write.new for write in writes] + [delete.old for delete in deletes]
    if not all(map(_is_digest, news)) or not all(_is_digest(write.old) for write in writes if write.old):
        raise JournalError(_DAMAGED)
    return Journal(value["stage"], writes, deletes)


def _rows(value: Any, width: int) -> list[list[str]]:
    if not isinstance(value, list):
        raise JournalError(_DAMAGED)
    for row in value:
        if not isinstance(row, list) or len(row) != width or not all(isinstance(cell, str) for cell in row):
            raise JournalError(_DAMAGED)
    return value


def _is_digest(text: str) -> bool:
    return len(text) == 64 and _HEX.issuperset(text)

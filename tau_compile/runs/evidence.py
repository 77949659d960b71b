"""How a build learns that a run ended: the statements that the collector commits under ``evidence/``.

The interface is small, so that anything can stand in for the collector: a file
``evidence/<cluster>/<2 hex of the run's digest>/<run>/<name>.json`` whose ``predicate`` holds ``run`` (the run id),
``namespace`` and ``outcome`` (``succeeded``, ``failed`` or ``cancelled``). A statement without an outcome is about a run that
goes on. Of several with an outcome the last by file name counts; the record keeps its path and the sha256 of its text with
LF line ends. Two workspaces may run the same intent under the same id, so the namespace has to fit too.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tau_compile.runs.record import Ended
from tau_compile.runs.valid import OUTCOMES
from tau_compile.source.files import read_regular

if TYPE_CHECKING:
    from tau_compile.runs.record import Record

FOLDER = "evidence"
MAX_BYTES = 1 << 20


def folder_of(record: Record) -> str:
    """Where the statements about a run lie."""
    return f"{FOLDER}/{record.cluster}/{record.digest[:2]}/{record.run}"


class Evidence:
    """The ends of runs, by what lies below ``evidence/`` of a repository on disk."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._listed: dict[str, frozenset[str]] = {}

    def end(self, record: Record) -> Ended | None:
        """How the run ended; None while nothing says that it did. Raises OSError for a folder that cannot be read."""
        place = folder_of(record)
        head, _, run = place.rpartition("/")
        if run not in self._names(head):
            return None
        for name in sorted(self._names(place), reverse=True):
            path = f"{place}/{name}"
            if name.endswith(".json") and (data := self._read(path)) is not None:
                outcome = outcome_of(data, record)
                if outcome:
                    from tau_compile.runs.tree import digest

                    return Ended(outcome, digest(data), path)
        return None

    def _names(self, folder: str) -> frozenset[str]:
        """The names in a folder; each is listed once."""
        found = self._listed.get(folder)
        if found is None:
            above = folder.rpartition("/")[0]
            try:
                missing = above and folder.rpartition("/")[2] not in self._names(above)
                found = frozenset(() if missing else os.listdir(f"{self._root}/{folder}"))
            except (FileNotFoundError, NotADirectoryError):
                found = frozenset()
            self._listed[folder] = found
        return found

    def _read(self, path: str) -> bytes | None:
        try:
            data = read_regular(f"{self._root}/{path}")
        except OSError:
            return None
        return data if len(data) <= MAX_BYTES else None


def outcome_of(data: bytes, record: Record) -> str:
    """The outcome that one statement tells of a run, or an empty text. The collector judges evidence; a build only looks."""
    import json

    try:
        predicate = json.loads(data)["predicate"]
        about = predicate["run"], predicate["namespace"]
        outcome = predicate["outcome"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return outcome if about == (record.run, record.namespace) and outcome in OUTCOMES else ""

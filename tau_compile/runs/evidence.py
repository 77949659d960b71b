"""How a build learns that a run ended: the statements that the collector commits under ``evidence/``.

The interface is small, so that anything can stand in for the collector: a file
``evidence/<cluster>/<2 hex of the run's digest>/<run>/<name>.json`` whose ``predicate`` holds ``run`` (the run id) and
``outcome`` (``succeeded``, ``failed`` or ``cancelled``). A statement without an outcome is about a run that goes on. The
last by file name counts; the record keeps its path and its sha256.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from tau_compile.runs.record import Ended

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.runs.record import Record

FOLDER = "evidence"
OUTCOMES = ("succeeded", "failed", "cancelled")
MAX_BYTES = 1 << 20


def folder_of(record: Record) -> str:
    """Where the statements about a run lie."""
    return f"{FOLDER}/{record.cluster}/{record.digest[:2]}/{record.run}"


def ends(root: str, records: Iterable[Record]) -> dict[str, Ended]:
    """The ends of the active runs among ``records``, by run id."""
    if not os.path.isdir(os.path.join(root, FOLDER)):
        return {}
    found = {}
    for record in records:
        end = _end(root, record) if record.state == "active" else None
        if end is not None:
            found[record.run] = end
    return found


def _end(root: str, record: Record) -> Ended | None:
    place = folder_of(record)
    try:
        names = sorted(os.listdir(os.path.join(root, place)), reverse=True)
    except OSError:
        return None
    for name in names:
        if not name.endswith(".json"):
            continue
        try:
            with open(os.path.join(root, place, name), "rb") as file:
                data = file.read(MAX_BYTES)
            predicate = json.loads(data)["predicate"]
            outcome = predicate["outcome"] if predicate["run"] == record.run else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue  # the collector judges evidence; a build only looks for ends
        if outcome in OUTCOMES:
            from hashlib import sha256

            return Ended(outcome, f"sha256:{sha256(data).hexdigest()}", f"{place}/{name}")
    return None

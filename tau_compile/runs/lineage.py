"""Which record follows which, and which changes of a record are allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.runs.record import Record


def latest(records: Iterable[Record]) -> list[Record]:
    """Records of one workload that no other follows; several when branches launched side by side. The last attempt is last.

    States do not matter, so that the end of a run changes nothing about a draft.
    """
    found = list(records)
    followed = {r.supersedes for r in found}
    last = [
        r for r in found if r.run not in followed
    ]  # none, where records were written by hand and go in a circle
    return sorted(last or found, key=lambda r: (r.attempt, r.run))


def follows(records: Iterable[Record]) -> str:
    """The run id that a new run of the workload follows, or an empty text."""
    found = latest(records)
    return found[-1].run if found else ""


def may_become(launched: Record, now: Record) -> bool:
    """Whether a record may have changed like this since it was launched: it ended or was cancelled, and nothing else."""
    if now == launched:
        return True
    if launched.state != "active":
        return False
    if now.state == "retired" and now.evidence is not None:
        return now == launched.ended(now.evidence)
    return now == launched.cancelled()

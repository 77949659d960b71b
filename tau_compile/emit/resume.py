"""What is still to be done of a committed change that was interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .survey import Survey

if TYPE_CHECKING:
    from .disk import Disk
    from .journal import Journal
    from .state import State


class Rest(NamedTuple):
    """Writes by their index and deletes by their path. ``given_up``: nothing was done yet, and it can no longer be."""

    writes: list[int]
    deletes: list[str]
    problems: list[tuple[str, str]]
    given_up: bool


def rest(journal: Journal, disk: Disk, state: State) -> Rest:
    """Compare every place with what it was and what it is to be; a place that is neither is a problem."""
    survey = Survey(
        disk, [write.path for write in journal.writes], [delete.path for delete in journal.deletes]
    )
    if survey.problems:
        return Rest([], [], survey.problems, given_up=False)
    writes: list[int] = []
    deletes: list[str] = []
    lost: list[tuple[str, str]] = []
    begun = False
    for index, write in enumerate(journal.writes):
        now = survey.digest(write.path, written=True) or ""
        if now == write.new:
            begun = True
        elif now != write.old:
            lost.append((write.path, "changed since the interrupted run"))
        elif not state.holds(journal, index):
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
    given_up = bool(lost) and not begun and not survey.problems
    return Rest(writes, deletes, survey.problems + lost, given_up)

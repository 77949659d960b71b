"""Work on many items in as many processes as there are cores, where the system can fork; the answers do not depend on it."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
R = TypeVar("R")

MOST = 16
_FORKS = hasattr(os, "fork")


def workers(items: int, least: int) -> int:
    """How many processes are worth starting for so many items, of which each is to get ``least``."""
    if not _FORKS:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, MOST, items // least))


def spread(items: Sequence[T], work: Callable[[Sequence[T], int], list[R]], count: int) -> list[R]:
    """``work(part, number)`` on ``count`` parts of the items; one answer an item, in their order.

    The first part is worked on here. What a child raises is raised here, as a RuntimeError with its text.
    """
    if count < 2:
        return work(items, 0)
    import pickle

    sys.stdout.flush()
    sys.stderr.flush()
    children = [_start(items[number::count], work, number) for number in range(1, count)]
    answers: list[R | None] = [None] * len(items)
    problem: BaseException | None = None
    try:
        answers[0::count] = work(items[0::count], 0)
    except BaseException as raised:
        problem = raised
    for number, (pid, pipe) in enumerate(children, 1):
        with os.fdopen(pipe, "rb") as file:
            data = file.read()
        _, status = os.waitpid(pid, 0)
        found = pickle.loads(data) if status == 0 else None  # noqa: S301  written by our own child
        if isinstance(found, list):
            answers[number::count] = found
        elif problem is None:
            problem = RuntimeError(found or f"a worker ended with status {status}")
    if problem is not None:
        raise problem
    return answers  # type: ignore[return-value]


def _start(part: Sequence[T], work: Callable[[Sequence[T], int], list[R]], number: int) -> tuple[int, int]:
    import pickle

    receive, send = os.pipe()
    pid = os.fork()
    if pid:
        os.close(send)
        return pid, receive
    try:  # the child, which lives too shortly to look for garbage
        gc.disable()
        os.close(receive)
        try:
            answer: list[R] | str = work(part, number)
        except BaseException as problem:
            answer = f"{type(problem).__name__}: {problem}"
        with os.fdopen(send, "wb") as file:
            pickle.dump(answer, file, pickle.HIGHEST_PROTOCOL)
        os._exit(0)
    except BaseException:
        os._exit(1)

"""Work in several processes gives the answers of one."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tau_compile.checkout import pool, workloads
from tests.replay.repo import Repo, files, workload

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def _double(part: Sequence[int], number: int) -> list[tuple[int, bool]]:
    return [(2 * item, number > 0) for item in part]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("items", [0, 1, 2, 20])
def test_answers_come_in_order(items: int, count: int) -> None:
    found = pool.spread(range(items), _double, count)
    assert [answer for answer, _ in found] == [2 * item for item in range(items)]
    assert sum(elsewhere for _, elsewhere in found) == items - len(range(0, items, count))


@pytest.mark.parametrize("where", [0, 1, 2])
def test_what_is_raised_in_a_process_is_raised_here(where: int) -> None:
    def work(part: Sequence[int], number: int) -> list[int]:
        if number == where:
            raise ValueError("not this one")
        return list(part)

    with pytest.raises((ValueError, RuntimeError), match="not this one"):
        pool.spread(range(9), work, 3)
    with pytest.raises(ChildProcessError):  # none is left
        os.waitpid(-1, os.WNOHANG)


def test_a_process_that_dies() -> None:
    def work(part: Sequence[int], number: int) -> list[int]:
        if number:
            os.kill(os.getpid(), signal.SIGKILL)
        return list(part)

    with pytest.raises(RuntimeError, match="a worker ended with status 9"):
        pool.spread(range(9), work, 2)


def test_few_items_need_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(4), raising=False)
    assert [pool.workers(items, 10) for items in (0, 9, 10, 19, 20, 45, 1000)] == [1, 1, 1, 1, 2, 4, 4]
    monkeypatch.setattr(pool, "_FORKS", False)
    assert pool.workers(1000, 10) == 1


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_a_build_does_not_depend_on_the_number_of_processes(
    tmp_path: Path, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def repository(name: str) -> Repo:
        repo = Repo.create(
            tmp_path / name, {**files(), "tau-compile.yaml": "launch: {max_runs: 1000}\n"}, git=False
        )
        for number in range(40):
            folder = f"workloads/vision/many/{number:02}"
            repo.write(
                {f"{folder}/tau.yaml": workload(f"w{number}"), f"{folder}/train.py": f"print({number})\n"}
            )
        return repo

    one, many = repository("one"), repository("many")
    one.build()
    monkeypatch.setattr(workloads, "LEAST", 1)
    monkeypatch.setattr(pool, "workers", lambda items, least: processes)
    assert len(many.build()["launch"]) == 43
    assert {p: v for p, (v, _) in many.snapshot().items()} == {p: v for p, (v, _) in one.snapshot().items()}
    many.edit("workloads/vision/many/07/train.py", "7", "'seven'")
    many.edit("workloads/vision/many/08/tau.yaml", "gpus:", "gpu:")
    outcome = many.tau("build", exit=1)
    assert outcome.stderr.count("workloads/vision/many/08/tau.yaml:6:11: error") == 1
    many.edit("workloads/vision/many/08/tau.yaml", "gpu:", "gpus:")
    many.edit("workloads/vision/many/08/tau.yaml", "run:\n", "run:\n  launch: on-attempt\n")
    many.edit("workloads/vision/many/08/train.py", "8", "'eight'")
    many.edit("workloads/vision/many/09/tau.yaml", "64Gi", "65536Mi")
    built = many.build()
    assert [run.rpartition("-")[0] for run in built["launch"]] == ["w7"]
    assert len(built["notice"]) == 1
    assert many.build().keys() == {"keep", "notice"}


def test_contents_are_read_one_after_the_other(tmp_path: Path) -> None:
    """Ten thousand runs at a time do not fit into memory; the writer asks for one file at a time."""
    from collections.abc import Iterator, Mapping

    from tau_compile.emit.writer import Change, apply

    class Fresh(bytes):
        """Knows how many of its kind are alive."""

        alive = most = 0

        def __init__(self, *_: object) -> None:
            Fresh.alive += 1
            Fresh.most = max(Fresh.most, Fresh.alive)

        def __del__(self) -> None:
            Fresh.alive -= 1

    class Lazy(Mapping[str, bytes]):
        def __getitem__(self, path: str) -> bytes:
            return Fresh(path.encode())

        def __iter__(self) -> Iterator[str]:
            return iter(f"a/{number}" for number in range(100))

        def __len__(self) -> int:
            return 100

    assert len(apply(str(tmp_path), Change(Lazy())).written) == 100
    assert (tmp_path / "a/7").read_bytes() == b"a/7"
    assert Fresh.most < 5


def test_a_spool(tmp_path: Path) -> None:
    import pickle

    spool = workloads.Spool()
    first, second = spool.keep({"a": b"one", "b": b""}), spool.keep({"a": b"two"})
    spool.flush()
    assert dict(first) == {"a": b"one", "b": b""}
    assert dict(second) == {"a": b"two"}
    there = pickle.loads(pickle.dumps(second))
    there.spool = spool
    assert dict(there) == {"a": b"two"}

"""SIGKILL at every step of a change and of its recovery: the tree is old, or it becomes new from the staged bytes."""

from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tau_compile.emit.journal import JOURNAL
from tau_compile.emit.writer import Change, WriteError, apply, pending, recover

from .trees import STATE, files, folders, killed, plant, state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Step = Callable[[str], None]

OLD = {
    "rendered/c/gone/deep/job.yaml": b"ended",
    "rendered/c/gone/svc.yaml": b"ended",
    "rendered/c/kept/job.yaml": b"theirs",
    "rendered/c/kept/old.yaml": b"ours",
    "rendered/c/becomes": b"a file",
    "runs/w/a.json": b"active",
    "runs/w/same.json": b"same",
    "workloads/new": b"new source",
}
DELETES = frozenset(
    {
        "rendered/c/gone/deep/job.yaml",
        "rendered/c/gone/svc.yaml",
        "rendered/c/kept/old.yaml",
        "rendered/c/becomes",
    }
)
WRITES = {
    "runs/w/a.json": b"retired",
    "runs/w/same.json": b"same",
    "runs/w/b.json": b"",
    "rendered/c/becomes/a/folder": b"now",
    "rendered/d/new/job.yaml": b"x" * 3000,
    "top": b"at the root",
}
CHANGED = sorted(DELETES | (WRITES.keys() - {"runs/w/same.json"}))
NEW = {path: content for path, content in {**OLD, **WRITES}.items() if path not in DELETES}


def above(paths: dict[str, bytes]) -> set[str]:
    return {path[:end] for path in paths for end, letter in enumerate(path) if letter == "/"}


def build(root: str) -> Callable[[Step], object]:
    """A build whose new contents come from the tree, so that a second build would make others."""

    def action(step: Step) -> object:
        with open(f"{root}/workloads/new", "rb") as source:
            text = source.read()
        assert text == b"new source"
        return apply(root, Change(WRITES, DELETES), step)

    return action


@pytest.fixture(autouse=True, scope="module")
def _no_power_loss() -> Iterator[None]:
    """The disk is not waited for: SIGKILL loses nothing that was written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(params=["one file system", "two file systems"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository"
    plant(folder, OLD)
    if request.param == "two file systems":
        rename = os.replace

        def replace(source: str, target: str) -> None:
            if (f"/{STATE}/" in source) != (f"/{STATE}/" in target):
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), source, None, target)
            rename(source, target)

        monkeypatch.setattr(os, "replace", replace)
    return folder


def is_old(root: Path) -> bool:
    return files(root) == OLD and folders(root) == above(OLD)


def is_new(root: Path, source: bytes = b"new source") -> bool:
    return files(root) == {**NEW, "workloads/new": source} and folders(root) == above(NEW)


def tidy(root: Path) -> bool:
    return state(root) <= {".gitignore", "lock"} and not pending(str(root))


def restore(root: Path, copy: Path) -> None:
    shutil.rmtree(root)
    shutil.copytree(copy, root, symlinks=True)


def test_a_build_killed_at_every_step(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    seen = {"old": 0, "mixed": 0, "new": 0}
    number = 1
    while killed(number, build(str(root))):
        committed = pending(str(root))
        if not committed:
            assert is_old(root) or is_new(root), number
        seen["old" if is_old(root) else "new" if is_new(root) else "mixed"] += 1
        done = is_new(root) and not committed
        (root / "workloads/new").write_bytes(b"edited meanwhile")
        assert recover(str(root)) == (CHANGED if committed else []), number
        (root / "workloads/new").write_bytes(b"new source")
        assert is_new(root) if committed or done else is_old(root), number
        assert tidy(root)
        before = {path: path.lstat().st_mtime_ns for path in root.rglob("*")}
        assert recover(str(root)) == []
        assert {path: path.lstat().st_mtime_ns for path in root.rglob("*")} == before
        apply(str(root), Change(WRITES, DELETES))
        assert is_new(root)
        assert tidy(root)
        restore(root, copy)
        number += 1
    assert is_new(root)
    assert min(seen.values()) > 2, seen
    assert number > 40


@pytest.mark.slow
def test_a_recovery_killed_at_every_step(root: Path, tmp_path: Path) -> None:
    """Every state a killed build leaves, then a recovery killed at every step, then another one, then the next build."""
    copy, left = tmp_path / "copy", tmp_path / "left"
    shutil.copytree(root, copy)
    states: set[tuple[frozenset[str], frozenset[str]]] = set()
    number = 1
    while killed(number, build(str(root))):
        number += 1
        places = frozenset(files(root)), frozenset(state(root))
        if not pending(str(root)) or places in states:  # such as before and after a sync
            restore(root, copy)
            continue
        states.add(places)
        shutil.copytree(root, left)
        second = 1
        while killed(second, lambda step: recover(str(root), step)):
            committed = pending(str(root))
            assert committed or is_new(root), (number, second)
            assert recover(str(root)) == (CHANGED if committed else [])
            assert is_new(root), (number, second)
            assert tidy(root)
            restore(root, left)
            second += 1
        assert is_new(root)
        assert tidy(root)
        shutil.rmtree(left)
        restore(root, copy)
    assert len(states) > 6


def test_the_next_build_killed_at_every_step(root: Path, tmp_path: Path) -> None:
    """The next build completes the first change before it makes its own, wherever it is killed in turn."""
    number = 1
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    while True:
        assert killed(number, build(str(root)))
        if pending(str(root)) and not is_old(root):
            break
        restore(root, copy)
        number += 1
    assert not is_new(root)
    shutil.rmtree(copy)
    shutil.copytree(root, copy)
    third = {**NEW, "runs/w/a.json": b"third", "n/third": b"third"}
    del third["top"]
    change = Change({"runs/w/a.json": b"third", "n/third": b"third"}, frozenset({"top"}))
    second, found = 1, set()
    while killed(second, lambda step: apply(str(root), change, step)):
        recover(str(root))
        assert tidy(root)
        assert is_new(root) or files(root) == third, second
        found.add(is_new(root))
        apply(str(root), change)
        assert files(root) == third
        restore(root, copy)
        second += 1
    assert files(root) == third
    assert found == {True, False}


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")])
def test_a_build_interrupted_at_every_step(root: Path, tmp_path: Path, problem: BaseException) -> None:
    """Ctrl-C and a full disk: before the commit nothing is left, after it the change is kept, and that is said."""
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    number, kept = 0, 0
    while True:
        number += 1
        left = number

        def step(name: str) -> None:
            nonlocal left
            left -= 1
            if not left:
                raise problem

        told: WriteError | None = None
        try:
            build(str(root))(step)
        except WriteError as caught:
            told = caught
        except KeyboardInterrupt:
            pass
        if told:
            assert told.problems[0][1] == "no space left on device"
            if pending(str(root)):
                assert told.hint.startswith("the change is kept")
            else:
                assert told.hint == ""
        if left > 0:
            break
        if pending(str(root)):
            kept += 1
            assert recover(str(root)) == CHANGED
            assert is_new(root)
        else:
            assert is_new(root) or is_old(root)
            assert is_new(root) or not {name for name in state(root) if name.startswith(("stage", "journal"))}
            recover(str(root))
        assert tidy(root)
        restore(root, copy)
    assert kept > 10


def test_an_interrupt_just_after_the_commit(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = os.replace

    def replace(source: str, target: str) -> None:
        rename(source, target)
        if target.endswith(JOURNAL):
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        apply(str(root), Change(WRITES, DELETES))
    assert is_old(root)
    assert recover(str(root)) == CHANGED
    assert is_new(root)


def interrupted(root: Path, copy: Path) -> None:
    """Leave a change that is half made."""
    shutil.copytree(root, copy)
    number = 1
    while killed(number, build(str(root))):
        if pending(str(root)) and (root / "runs/w/b.json").exists() and not is_new(root):
            return
        restore(root, copy)
        number += 1
    raise AssertionError("no such step")


def test_what_somebody_changed_meanwhile_is_not_overwritten(root: Path, tmp_path: Path) -> None:
    interrupted(root, tmp_path / "copy")
    assert not (root / "top").exists()
    (root / "top").write_bytes(b"by hand")
    (root / "runs/w/a.json").write_bytes(b"by hand")
    before = files(root)
    with pytest.raises(WriteError, match="give up") as caught:
        recover(str(root))
    assert dict(caught.value.problems) == {
        "top": "changed since the interrupted run",
        "runs/w/a.json": "changed since the interrupted run",
    }
    with pytest.raises(WriteError):
        apply(str(root), Change({"other": b""}))
    assert files(root) == before
    (root / "top").unlink()
    (root / "runs/w/a.json").write_bytes(b"retired")
    assert recover(str(root)) == CHANGED
    assert is_new(root)


def test_a_deleted_file_that_came_back_changed_is_not_deleted(root: Path, tmp_path: Path) -> None:
    interrupted(root, tmp_path / "copy")
    plant(root, {"rendered/c/gone/svc.yaml": b"by hand"})
    with pytest.raises(WriteError, match=r"rendered/c/gone/svc.yaml: changed since"):
        recover(str(root))
    plant(root, {"rendered/c/gone/svc.yaml": OLD["rendered/c/gone/svc.yaml"]})
    assert recover(str(root)) == CHANGED
    assert is_new(root)


def test_a_change_taken_back_by_hand_is_given_up(root: Path, tmp_path: Path) -> None:
    interrupted(root, tmp_path / "copy")
    shutil.rmtree(root / "rendered")
    shutil.rmtree(root / "runs")
    shutil.copytree(tmp_path / "copy", root, dirs_exist_ok=True)
    staged = sorted((root / STATE).glob("stage-*/*"))
    staged[-1].write_bytes(b"torn")
    assert is_old(root)
    assert recover(str(root)) == []
    assert is_old(root)
    assert tidy(root)


def test_damaged_contents_are_never_put_in_place(root: Path, tmp_path: Path) -> None:
    interrupted(root, tmp_path / "copy")
    before = files(root)
    staged = sorted((root / STATE).glob("stage-*/*"))[-1]
    for damage in (staged.unlink, staged.mkdir):
        damage()
        with pytest.raises(WriteError, match="staged by the interrupted run, is lost"):
            recover(str(root))
        assert files(root) == before


def test_links_that_appeared_meanwhile_are_not_followed(root: Path, tmp_path: Path) -> None:
    interrupted(root, tmp_path / "copy")
    (tmp_path / "outside").mkdir()
    shutil.rmtree(root / "rendered/d", ignore_errors=True)
    (root / "rendered/d").symlink_to(tmp_path / "outside")
    with pytest.raises(WriteError, match=r"rendered/d: a symbolic link"):
        recover(str(root))
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_torn_journal(root: Path, tmp_path: Path) -> None:
    interrupted(root, tmp_path / "copy")
    before = files(root)
    whole = (root / JOURNAL).read_bytes()
    for length in range(len(whole)):
        (root / JOURNAL).write_bytes(whole[:length])
        with pytest.raises(WriteError, match=r"journal\.json: .* damaged(.|\n)*to give up"):
            recover(str(root))
        assert pending(str(root))
    assert files(root) == before
    (root / JOURNAL).write_bytes(whole)
    assert recover(str(root)) == CHANGED
    assert is_new(root)


def test_a_journal_that_is_a_folder_or_of_another_version(root: Path) -> None:
    plant(root, {JOURNAL: b'{"journal": 2, "anything": []}'})
    with pytest.raises(WriteError, match="another version"):
        recover(str(root))
    (root / JOURNAL).unlink()
    (root / JOURNAL).mkdir()
    with pytest.raises(WriteError, match="a folder stands in the place"):
        apply(str(root), Change(WRITES))
    assert is_old(root)


def test_garbage_in_the_state_folder(root: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"outside/0": b"theirs"})
    theirs = {
        "notes.txt": b"n",
        "stage-x/0": b"x",
        "stage-2/sub/0": b"s",
        "stage-2/name": b"n",
        "stage-1": b"file",
    }
    ours = {"journal.new": b'{"journal": 1, "st', "stage-2/0": b"", "stage-4/0": b"half", "stage-4/1": b""}
    plant(root / STATE, {**theirs, **ours})
    (root / STATE / "stage-3").symlink_to(tmp_path / "outside")
    assert recover(str(root)) == []
    assert is_old(root)
    kept = {path for path in theirs if (root / STATE / path).read_bytes() == theirs[path]}
    assert kept == theirs.keys()
    assert not any((root / STATE / path).exists() for path in ours)
    assert number_killed_at_commit(root) > 5
    assert recover(str(root)) == CHANGED
    assert is_new(root)
    assert state(root) == {".gitignore", "lock", "notes.txt", "stage-x", "stage-1", "stage-2", "stage-3"}
    assert (tmp_path / "outside/0").read_bytes() == b"theirs"


def number_killed_at_commit(root: Path) -> int:
    number = 1
    while killed(number, build(str(root))) and not pending(str(root)):
        number += 1
    assert pending(str(root))
    return number

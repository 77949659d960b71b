"""Random trees and changes: what is on disk afterwards is what a model of a few lines says."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.emit.journal import JOURNAL, Delete, Journal, JournalError, Write, decode, encode
from tau_compile.emit.writer import Applied, Change, WriteError, apply, pending, recover

from .trees import STATE, files, folders, killed, plant

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True, scope="module")
def _no_power_loss() -> Iterator[None]:
    """The disk is not waited for: SIGKILL loses nothing that was written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


names = st.sampled_from(["a", "b", "c"])
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
contents = st.sampled_from([b"", b"1", b"2", b"22"])


@st.composite
def trees(draw: st.DrawFn) -> tuple[dict[str, bytes], set[str]]:
    """Files that can stand together, and empty folders among them."""
    tree: dict[str, bytes] = {}
    for path, content in draw(st.dictionaries(paths, contents, max_size=8)).items():
        if not above(path) & tree.keys() and path not in above(*tree):
            tree[path] = content
    empty = {p for p in draw(st.sets(paths, max_size=2)) if not (above(p) | {p}) & tree.keys()}
    return tree, empty


changes = st.builds(Change, st.dictionaries(paths, contents, max_size=6), st.frozensets(paths, max_size=4))


def above(*below: str) -> set[str]:
    return {path[:end] for path in below for end, letter in enumerate(path) if letter == "/"}


def possible(tree: dict[str, bytes], there: set[str], change: Change) -> bool:
    asked = change.writes.keys() | change.deletes
    if change.writes.keys() & change.deletes or change.writes.keys() & above(*change.writes):
        return False
    makes_room = change.deletes & above(*change.writes)
    return not (asked - makes_room) & there and not (above(*change.writes) & tree.keys()) - makes_room


def left_over(tree: dict[str, bytes], there: set[str], change: Change) -> set[str]:
    """The folders afterwards: a folder goes when all that was in it were files that we deleted."""
    stay = there | above(*change.writes)
    deleted = change.deletes & tree.keys()
    for folder in sorted(there, reverse=True):
        inside = {path for path in {*tree, *change.writes, *stay} if path.startswith(f"{folder}/")}
        if inside <= deleted and any(folder in above(path) for path in deleted):
            stay.discard(folder)
    return stay


def check(root: Path, tree: dict[str, bytes], there: set[str], change: Change) -> None:
    new = {path: content for path, content in {**tree, **change.writes}.items() if path not in change.deletes}
    assert files(root) == new
    assert folders(root) == left_over(tree, there, change)
    assert not pending(str(root))


@settings(max_examples=400, deadline=None)
@given(trees(), changes)
def test_apply_does_what_the_model_does(old: tuple[dict[str, bytes], set[str]], change: Change) -> None:
    tree, empty = old
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plant(root, tree)
        for path in empty:
            (root / path).mkdir(parents=True, exist_ok=True)
        there = folders(root)
        before = {path: (root / path).stat().st_mtime_ns for path in tree}
        if not possible(tree, there, change):
            with pytest.raises(WriteError):
                apply(folder, change)
            assert (files(root), folders(root)) == (tree, there)
            return
        applied = apply(folder, change)
        unchanged = sorted(path for path, content in change.writes.items() if tree.get(path) == content)
        deleted = sorted(change.deletes & tree.keys())
        assert applied == Applied(sorted(change.writes.keys() - set(unchanged)), deleted, unchanged)
        check(root, tree, there, change)
        for path in set(tree) - {*applied.written, *deleted}:
            assert (root / path).stat().st_mtime_ns == before[path]
        assert apply(folder, change) == Applied([], [], sorted(change.writes))


@settings(max_examples=150, deadline=None)
@given(trees(), changes, st.integers(1, 40), st.integers(1, 25))
def test_killed_anywhere_and_recovered(
    old: tuple[dict[str, bytes], set[str]], change: Change, first: int, second: int
) -> None:
    tree, empty = old
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plant(root, tree)
        for path in empty:
            (root / path).mkdir(parents=True, exist_ok=True)
        there = folders(root)
        if not possible(tree, there, change):
            return
        if killed(first, lambda step: apply(folder, change, step)):
            committed = pending(folder)
            if not committed and files(root) == tree and folders(root) == there:
                change = Change({})
            killed(second, lambda step: recover(folder, step))
            recover(folder)
        check(root, tree, there, change)
        assert recover(folder) == []


digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
journals = st.builds(
    Journal,
    st.integers(0, 99).map("stage-{}".format),
    st.lists(st.builds(Write, st.text(), digests, st.just("") | digests)).map(tuple),
    st.lists(st.builds(Delete, st.text(), digests)).map(tuple),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | digests | st.just("stage-1"),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(journals)
def test_journals_round_trip(journal: Journal) -> None:
    assert decode(encode(journal)) == journal


@given(st.binary() | values.map(json.dumps).map(str.encode))
def test_no_bytes_make_decode_fail_otherwise(data: bytes) -> None:
    with pytest.raises(JournalError):
        decode(data)


@given(values, values, values)
def test_no_journal_of_any_shape_makes_decode_fail_otherwise(stage: Any, writes: Any, deletes: Any) -> None:
    data = json.dumps({"journal": 1, "stage": stage, "writes": writes, "deletes": deletes}).encode()
    try:
        journal = decode(data)
    except JournalError:
        return
    assert json.loads(encode(journal)) == json.loads(data)


@pytest.mark.parametrize(
    "path", ["../outside", "/tmp/x", ".git/hooks/post-checkout", f"{STATE}/lock", "a\0b", "\ud800"]
)
def test_a_forged_journal_reaches_nothing_outside(tmp_path: Path, path: str) -> None:
    from hashlib import sha256

    root = tmp_path / "repository"
    journal = Journal("stage-1", (Write(path, sha256(b"evil").hexdigest(), ""),), ())
    plant(root, {JOURNAL: encode(journal), journal.staged(0): b"evil"})
    with pytest.raises(WriteError):
        recover(str(root))
    assert files(root) == {}
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize("stage", ["../..", "stage-1/..", "stage-", "stage-²", "", 1, None, ["stage-1"]])
def test_a_forged_stage_is_refused(stage: Any) -> None:
    data = json.dumps({"journal": 1, "stage": stage, "writes": [], "deletes": []}).encode()
    with pytest.raises(JournalError, match="damaged"):
        decode(data)

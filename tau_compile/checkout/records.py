"""Reading run records: those in the work tree, and those at the base."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from tau_compile.checkout import git
from tau_compile.diagnostics import Diagnostic, Span, error
from tau_compile.named import NamedTuple
from tau_compile.runs.record import FOLDER, MAX_BYTES, Record, from_json
from tau_compile.runs.tree import committed
from tau_compile.source.files import read_regular, reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.checkout.base import Base


_RUN = re.compile(
    r"[a-z0-9][-a-z0-9.]*-[0-9a-f]{8}\.json"
).fullmatch  # what no record is called was never one


class Known(NamedTuple):
    """Records by path: in the work tree, and at the base (None without Git).

    A record that is the same in both is one object, read in brief. ``base_texts`` are the files at the base of those that
    are not.
    """

    tree: dict[str, Record]
    base: dict[str, Record] | None
    base_texts: dict[str, bytes]
    diagnostics: tuple[Diagnostic, ...]


def in_tree(root: str) -> tuple[dict[str, Record], list[Diagnostic]]:
    """All records below ``runs/``, by path."""
    known = read(root, None)
    return known.tree, list(known.diagnostics)


def read(root: str, base: Base | None) -> Known:
    """All records, by path."""
    tree: dict[str, Record] = {}
    said: list[Diagnostic] = []
    blobs = {path: blob for path, blob in base.blobs.items() if is_record(path)} if base else {}
    same: dict[str, Record] = {}
    for path, data in _files(root):
        if isinstance(data, Diagnostic):
            said.append(data)
            continue
        blob = blobs.get(path)
        equal = blob is not None and _is(data, blob)
        record, problems = from_json(data, path, brief=equal or blob is None)
        said += problems
        if record is not None:
            tree[path] = record
            if equal:
                same[path] = record
    if base is None:
        return Known(tree, None, {}, tuple(said))
    texts = git.contents(root, [git.Blob(blob, path) for path, blob in blobs.items() if path not in same])
    for path, data in texts.items():
        record, _ = from_json(data, path)
        record = record or tree.get(path)  # unreadable at the base, and mended since
        if record is not None:
            same[path] = record
        elif not os.path.lexists(f"{root}/{path}") and _RUN(path.rpartition("/")[2]):
            said.append(_gone(path, base))
    return Known(tree, dict(sorted(same.items())), texts, tuple(said))


def is_record(path: str) -> bool:
    """Whether a path from the root is that of a record: ``runs/<workspace>/<run>.json``."""
    return path.endswith(".json") and path.count("/") == 2 and path.startswith(f"{FOLDER}/")


def _is(data: bytes, blob: str) -> bool:
    """Whether a file is the blob of this id, line ends aside."""
    return git.blob_id(data, blob) == blob or (b"\r" in data and git.blob_id(committed(data), blob) == blob)


def _gone(path: str, base: Base) -> Diagnostic:
    message = "the run record cannot be read at the base, and is missing here"
    hint = f"`git log -p {base.commit[:12]} -- {path}` shows the last good one"
    return error("TAU731", message, Span(path, 1, 1, 1, 1), hint)


def _files(root: str) -> Iterator[tuple[str, bytes | Diagnostic]]:
    top = f"{root}/{FOLDER}"
    for workspace in _names(top):
        folder = f"{top}/{workspace}"
        if os.path.islink(folder) or not os.path.isdir(folder):
            continue
        for name in _names(folder):
            if name.endswith(".json"):
                yield f"{FOLDER}/{workspace}/{name}", _read(root, f"{FOLDER}/{workspace}/{name}")


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _read(root: str, path: str) -> bytes | Diagnostic:
    try:
        return read_regular(f"{root}/{path}", MAX_BYTES + 1)
    except OSError as problem:
        hint = f"`git checkout BASE -- {path}`, with the base branch for BASE, brings it back"
        message = f"the run record cannot be read: {reason(problem)}"
        return error("TAU731", message, Span(path, 1, 1, 1, 1), hint)

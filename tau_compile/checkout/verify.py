"""Is the rendered tree of runs what the records say? Reads files and lists folders; changes nothing."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tau_compile.checkout import pool
from tau_compile.diagnostics import Diagnostic, Span, error
from tau_compile.named import NamedTuple
from tau_compile.runs import tree
from tau_compile.runs.record import FOLDER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from tau_compile.runs.record import Record

LEAST = 500  # runs that are worth a process of their own
_FLAGS = os.O_RDONLY
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):  # not every system has all of them
    _FLAGS |= getattr(os, _name, 0)
_APPLIED = (".yaml", ".yml", ".json", ".jsonnet")


class Damage(NamedTuple):
    """What is wrong with the manifests of one active run: names of files."""

    record: Record
    missing: tuple[str, ...]
    changed: tuple[str, ...]


def damages(root: str, active: Sequence[Record]) -> list[Damage]:
    """The runs whose manifests are not as they were launched."""

    def work(part: Sequence[Record], number: int) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        return [_damage(root, record) for record in part]

    answers = pool.spread(active, work, pool.workers(len(active), LEAST))
    found = zip(active, answers, strict=True)
    return [Damage(record, *answer) for record, answer in found if any(answer)]


def _damage(root: str, record: Record) -> tuple[tuple[str, ...], tuple[str, ...]]:
    missing, changed = [], []
    place = f"{root}/{tree.folder(record)}"
    for name, digest in record.manifests.items():
        found = content(f"{place}/{name}")
        if found is None:
            missing.append(name)
        elif tree.digest(found) != digest:
            changed.append(name)
    return tuple(missing), tuple(changed)


def content(path: str) -> bytes | None:
    """A regular file's bytes; of anything else in its place none, and None where nothing is. Waits for no pipe."""
    try:
        number = os.open(path, _FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return b""
    try:
        found = os.fstat(number)
        data = os.read(number, found.st_size + 1) if stat.S_ISREG(found.st_mode) else b""
        while len(data) < found.st_size and (more := os.read(number, found.st_size)):
            data += more
        return data
    except OSError:
        return b""
    finally:
        os.close(number)


def links(root: str) -> list[Diagnostic]:
    """Links in the places of our folders. Git keeps a link and not what lies behind it: an agent would see an empty tree."""
    said: list[Diagnostic] = []
    todo = [(FOLDER, 1), (tree.TOP, 4)]  # how many folders below are ours
    while todo:
        path, depth = todo.pop()
        if os.path.islink(f"{root}/{path}"):
            said.append(_link(path))
        elif depth:
            with _scanned(f"{root}/{path}") as entries:
                for entry in entries:
                    if depth == 3 and entry.name not in ("runs", "workspaces"):  # rendered/<cluster>/...
                        continue
                    if not entry.is_symlink():
                        if depth > 1 and entry.is_dir():
                            todo.append((f"{path}/{entry.name}", depth - 1))
                    elif os.path.isdir(entry.path):
                        said.append(_link(f"{path}/{entry.name}"))
    return said


@contextmanager
def _scanned(folder: str) -> Iterator[Iterable[os.DirEntry[str]]]:
    try:
        listing = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        yield ()
        return
    with listing:
        yield listing


def _link(path: str) -> Diagnostic:
    hint = f"put the folder itself in its place: remove the link, then `git checkout -- {path}`"
    message = f"a symbolic link stands in the place of the folder `{path}`"
    return error("TAU744", message, Span(path, 1, 1, 1, 1), hint)


def strangers(
    root: str, owned: Mapping[str, Collection[str]], over: Mapping[str, Record]
) -> list[Diagnostic]:
    """Files in the folders of runs that no record lists: an agent applies them all the same.

    ``owned`` are the names of our files by folder; ``over`` the records of runs that ended or were cancelled, by folder.
    """
    said: list[Diagnostic] = []
    for above in _run_folders(root):
        for name in _names(f"{root}/{above}"):
            place = f"{above}/{name}"
            present = listing(f"{root}/{place}")
            if present is None:  # a file beside the folders
                if counts(name):
                    said.append(foreign(place, f"`{name}` belongs to no run"))
                continue
            known = anchor_files(above) if name == tree.ANCHOR else owned.get(place)
            if known is None:
                said += _unowned(place, present, over.get(place))
            else:
                said += [
                    foreign(f"{place}/{file}", f"`{file}` is not among the files of {name}")
                    for file in sorted(present.difference(known))
                    if counts(file)
                ]
    return said


def anchor_files(above: str) -> set[str]:
    """The names of the files in the anchor folder of a workspace."""
    _, cluster, _, workspace = above.split("/")
    return {path.rpartition("/")[2] for path in tree.anchor(cluster, workspace, workspace)}


def _unowned(place: str, present: Iterable[str], record: Record | None) -> list[Diagnostic]:
    names = sorted(name for name in present if counts(name))
    if not names:
        return []
    span = Span(f"{place}/{names[0]}", 1, 1, 1, 1)
    if record is not None:
        message = f"{record.run} is {record.state}, and has manifests again: it would run once more"
        return [error("TAU742", message, span, f"remove them: `rm -r {place}`")]
    run = place.rpartition("/")[2]
    hint = (
        f"bring the record back, `git log --diff-filter=D -- 'runs/*/{run}.json'` shows where it went; or stop the run: "
        f"`rm -r {place}`"
    )
    return [error("TAU741", f"there are manifests of a run {run}, and it has no record", span, hint)]


def foreign(path: str, message: str) -> Diagnostic:
    """A file that is not ours where an agent looks."""
    hint = "move it out of the rendered tree: an agent applies whatever lies there"
    return error("TAU739", message, Span(path, 1, 1, 1, 1), hint)


def _run_folders(root: str) -> list[str]:
    """``rendered/<cluster>/runs/<workspace>``, those there are."""
    found = []
    for cluster in _names(f"{root}/{tree.TOP}"):
        above = f"{tree.TOP}/{cluster}/runs"
        found += [
            f"{above}/{name}" for name in _names(f"{root}/{above}") if os.path.isdir(f"{root}/{above}/{name}")
        ]
    return found


def counts(name: str) -> bool:
    """Whether a stray file matters: editors and desktops leave hidden files and backups that nobody applies."""
    return name.endswith(_APPLIED) or not (name.startswith(".") or name.endswith("~"))


def _names(folder: str) -> list[str]:
    return sorted(listing(folder) or ())


def listing(folder: str) -> set[str] | None:
    """The names in a folder; None: there is none. Raises OSError for one that cannot be read: it may hold anything."""
    try:
        return set(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return None

"""Names that a missing file may have been meant to have."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from tau_compile.workload.code.excludes import built_in
from tau_compile.workload.code.text import shippable

if TYPE_CHECKING:
    from tau_compile.workload.code.tree import Tree

MAX_FOLDERS = 50
MAX_NAMES = 2_000


def similar(tree: Tree, path: str, folder: str) -> list[str]:
    """Find up to three files that resemble ``path``, relative to ``folder`` (both are from the root)."""
    import difflib

    files = [file for file in _candidates(tree, path, folder) if file != path]
    by_path = {posixpath.relpath(file, folder or "."): file for file in files}
    name = posixpath.basename(path)
    same_name = sorted(short for short, file in by_path.items() if posixpath.basename(file) == name)
    wanted = posixpath.relpath(path or ".", folder or ".")
    close = difflib.get_close_matches(wanted, sorted(by_path), 3, 0.6)
    names = {posixpath.basename(file): short for short, file in sorted(by_path.items(), reverse=True)}
    close_names = [names[n] for n in difflib.get_close_matches(name, sorted(names), 3, 0.7)]
    return list(dict.fromkeys((*same_name, *close, *close_names)))[:3]


def _candidates(tree: Tree, path: str, folder: str) -> list[str]:
    """List the files beside the missing one, beside the tau.yaml, and one folder further down."""
    files: list[str] = []
    folders = [folder, posixpath.dirname(path)]
    for at, here in enumerate(folders):
        for name, kind in _entries(tree, here):
            full = f"{here}/{name}" if here else name
            if built_in(name) or not shippable(name):
                continue
            if kind == "folder" and at < 2 and len(folders) < MAX_FOLDERS:
                folders.append(full)
            elif kind == "file" and len(files) < MAX_NAMES:
                files.append(full)
    return files


def _entries(tree: Tree, folder: str) -> list[tuple[str, str]]:
    try:
        names = tree.names(folder)[:MAX_NAMES]
        infos = [(name, tree.info(f"{folder}/{name}" if folder else name)) for name in names]
    except (OSError, ValueError):
        return []
    return [(name, info.kind) for name, info in infos if info]

"""Where a repository begins, and the files of it that a compilation reads. The only part of reading that touches the disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tau_compile.data import locate
from tau_compile.source.files import SourceFile, read_inside, read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT_FILE = "tau-compile.yaml"
OVERLAYS = "overlays"
TEMPLATES = "templates"
OVERLAY_FOLDERS = ("", "clusters", "workspaces", "profiles")
MAX_FILES = 2000
# Templates that a repository may replace with its own.
KNOWN_TEMPLATES = [
    "configmap.yaml.j2",
    "job.yaml.j2",
    "parts/container.yaml.j2",
    "parts/pod.yaml.j2",
    "rayjob.yaml.j2",
    "service.yaml.j2",
    "workspace/externalsecret.yaml.j2",
    "workspace/limitrange.yaml.j2",
    "workspace/localqueue.yaml.j2",
    "workspace/namespace.yaml.j2",
    "workspace/networkpolicy.yaml.j2",
    "workspace/persistentvolumeclaim.yaml.j2",
    "workspace/resourcequota.yaml.j2",
    "workspace/role.yaml.j2",
    "workspace/rolebinding.yaml.j2",
    "workspace/serviceaccount.yaml.j2",
]
_YAML = (".yaml", ".yml")


def root_of(path: str) -> str:
    """The repository that a file or folder belongs to: the nearest folder above with a project file, else with overlays.

    The search ends at the top of a Git work tree. Where there is neither, the root is that work tree, else the current folder
    if the file lies below it, else the file's own.
    """
    start = os.path.abspath(path)
    if not os.path.isdir(start):
        start = os.path.dirname(start)
    overlays = top = ""
    folder = start
    while True:
        if os.path.lexists(os.path.join(folder, PROJECT_FILE)):
            return folder
        if not overlays and any(True for _ in _overlay_paths(folder)):
            overlays = folder
        if os.path.lexists(os.path.join(folder, ".git")):
            top = folder
            break
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    here = os.path.abspath(os.curdir)
    return overlays or top or (here if f"{start}/".startswith(f"{here.rstrip('/')}/") else start)


def overlay_files(root: str) -> list[SourceFile]:
    """The repository's overlay documents, sorted by path; none when it has no ``overlays/``. What cannot be read says why."""
    return [_source(root, path) for path in _overlay_paths(root)]


def _source(root: str, path: str) -> SourceFile:
    found = read_inside(root, path)
    return SourceFile(path, found) if isinstance(found, bytes) else SourceFile(path, b"", found)


def packaged_overlays() -> list[SourceFile]:
    """The default overlays that ship with the package."""
    folder = os.path.dirname(locate(OVERLAYS))
    return [
        SourceFile(f"built-in:{path}", read_regular(os.path.join(folder, path)))
        for path in _overlay_paths(folder)
    ]


def own_templates(root: str, known: list[str]) -> list[SourceFile]:
    """The repository's own versions of the ``known`` templates, by path from the root. What cannot be read says why."""
    folder = os.path.join(root, TEMPLATES)
    if not os.path.isdir(folder) or os.path.samefile(folder, locate(TEMPLATES)):
        return []
    return [
        _source(root, f"{TEMPLATES}/{name}")
        for name in known
        if os.path.lexists(os.path.join(folder, *name.split("/")))
    ]


def workload_files(root: str, start: str, patterns: list[str]) -> Iterator[str]:
    """The tau.yaml files at or below ``start`` that match the project's globs, as sorted paths from the root.

    Links are not followed, submodules are not entered, and pipes and the like are passed over. Raises OSError for a folder that
    cannot be read: what lies there is not gone.
    """
    from tau_compile.source.globs import matches, may_match_below

    top = os.path.relpath(start, root).replace(os.sep, "/")
    found: list[str] = []
    todo = ["" if top == "." else top]
    while todo:
        folder = todo.pop()
        try:
            with os.scandir(f"{root}/{folder}") as listing:
                entries = list(listing)
        except (FileNotFoundError, NotADirectoryError):
            continue
        if folder not in ("", top) and any(entry.name == ".git" for entry in entries):
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name[0] != "." and any(may_match_below(path, pattern) for pattern in patterns):
                    todo.append(path)
            elif entry.is_file(follow_symlinks=False) and any(matches(path, pattern) for pattern in patterns):
                found.append(path)
    yield from sorted(found)


def _overlay_paths(root: str) -> Iterator[str]:
    if os.path.lexists(os.path.join(root, OVERLAYS)) and not os.path.isdir(os.path.join(root, OVERLAYS)):
        yield OVERLAYS
    for sub in OVERLAY_FOLDERS:
        folder = os.path.join(root, OVERLAYS, sub) if sub else os.path.join(root, OVERLAYS)
        try:
            names = sorted(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            continue
        for name in names[:MAX_FILES]:
            if name.endswith(_YAML) and not name.startswith(".#"):  # an editor's lock is a link to nowhere
                yield f"{OVERLAYS}/{sub}/{name}" if sub else f"{OVERLAYS}/{name}"

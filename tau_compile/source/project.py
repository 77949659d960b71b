"""Where a repository begins, and the files of it that a compilation reads. The only part of reading that touches the disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tau_compile.data import locate
from tau_compile.policy.overlays import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT_FILE = "tau-compile.yaml"
OVERLAYS = "overlays"
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
        if os.path.isfile(os.path.join(folder, PROJECT_FILE)):
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
    """The repository's overlay documents, sorted by path; none when it has no ``overlays/``."""
    return [SourceFile(path, _bytes(os.path.join(root, path))) for path in _overlay_paths(root)]


def packaged_overlays() -> list[SourceFile]:
    """The default overlays that ship with the package."""
    folder = os.path.dirname(locate(OVERLAYS))
    return [
        SourceFile(f"built-in:{path}", _bytes(os.path.join(folder, path))) for path in _overlay_paths(folder)
    ]


def own_templates(root: str, known: list[str]) -> dict[str, str]:
    """The repository's own versions of the ``known`` templates, by path below ``templates/``."""
    folder = os.path.join(root, "templates")
    if not os.path.isdir(folder) or os.path.samefile(folder, locate("templates")):
        return {}
    found = {}
    for name in known:
        path = os.path.join(folder, *name.split("/"))
        if os.path.isfile(path):
            found[name] = _bytes(path).decode("utf-8", "replace")
    return found


def workload_files(root: str, start: str, patterns: list[str]) -> Iterator[str]:
    """The tau.yaml files at or below ``start`` that match the project's globs, as sorted paths from the root.

    Links are not followed and submodules are not entered.
    """
    from tau_compile.source.globs import matches

    found = []
    for folder, folders, files in os.walk(start):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and not os.path.lexists(os.path.join(folder, name, ".git"))
        )
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
            if any(matches(path, pattern) for pattern in patterns) and not os.path.islink(
                os.path.join(folder, name)
            ):
                found.append(path)
    yield from sorted(found)


def _overlay_paths(root: str) -> Iterator[str]:
    for sub in OVERLAY_FOLDERS:
        folder = os.path.join(root, OVERLAYS, sub) if sub else os.path.join(root, OVERLAYS)
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in names[:MAX_FILES]:
            if name.endswith(_YAML) and os.path.isfile(os.path.join(folder, name)):
                yield f"{OVERLAYS}/{sub}/{name}" if sub else f"{OVERLAYS}/{name}"


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read((1 << 20) + 1)  # the reader refuses what is larger

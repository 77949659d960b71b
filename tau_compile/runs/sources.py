"""The tau.yaml files of a repository as a build sees them.

A file whose bytes, and whose code's bytes, are those of a record has that record's intent: it is not parsed again. This is
what makes the everyday build, thousands of runs and a few edits, quick.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Span, has_errors
from tau_compile.runs.plan import Launch, Source
from tau_compile.source.project import workload_files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.compiler import Repository
    from tau_compile.runs.record import Record
    from tau_compile.source.settings import Settings

_MAX = (1 << 20) + 1


def survey(
    root: str,
    settings: Settings,
    repository: Repository,
    records: Iterable[Record],
    chosen: set[str] | None = None,
) -> tuple[list[Source], list[Diagnostic]]:
    """Every included tau.yaml. With ``chosen`` (paths to adopt) the launches of those files are adoptions, of others none."""
    known: dict[str, list[Record]] = {}
    for record in records:
        known.setdefault(record.source, []).append(record)
    overlays = repository.overlays.overlays
    names = {
        old: space.name
        for space in (overlays.workspaces if overlays else ())
        for old in (space.name, *space.formerly)
    }
    found: list[Source] = []
    said: list[Diagnostic] = []
    for path in workload_files(root, root, list(settings.include)):
        with open(os.path.join(root, path), "rb") as file:
            data = file.read(_MAX)
        same = next((r for r in known.get(path, ()) if _unchanged(root, r, data)), None)
        if same is not None:
            found.append(_as_recorded(path, same, names.get(same.workspace, same.workspace)))
            continue
        source, problems = _read(repository, path, data, adopt=chosen is not None)
        said += problems
        if source is not None and (chosen is None or path in chosen):
            found.append(source)
    return found, said


def _unchanged(root: str, record: Record, data: bytes) -> bool:
    from tau_compile.runs.launch import same_bytes

    runs = record.resolved.get("run")
    if not same_bytes(data, record.sources.get(record.source)) or (
        isinstance(runs, dict) and "working_dir" in runs
    ):
        return False
    for executable, digest, source in record.code.values():
        try:
            path = os.path.join(root, source)
            with open(path, "rb") as file:
                content = file.read(_MAX)
        except (OSError, TypeError):
            return False
        if not same_bytes(content, digest) or bool(os.stat(path).st_mode & 0o100) != executable:
            return False
    return True


def _as_recorded(path: str, record: Record, workspace: str) -> Source:
    def never() -> tuple[Launch | None, tuple[Diagnostic, ...]]:
        return None, ()

    return Source(
        path,
        Span(path, 1, 1, 1, 1),
        workspace,
        record.name,
        record.digest,
        record.attempt,
        "on-change",
        "keep",
        never,
    )


def _read(
    repository: Repository, path: str, data: bytes, *, adopt: bool
) -> tuple[Source | None, list[Diagnostic]]:
    from tau_compile.compiler import workspace_folder
    from tau_compile.intent import read_document, read_intent
    from tau_compile.policy import select

    said: list[Diagnostic] = []
    canonical = read_document(path, data, said)
    overlays = repository.overlays.overlays
    if canonical is None or overlays is None:
        return None, said
    intent = read_intent(repository.tree, path, canonical, said)
    space = select.workspace(overlays, intent.document, workspace_folder(path), "", said)
    if has_errors(said) or space is None:
        return None, said

    def launch() -> tuple[Launch | None, tuple[Diagnostic, ...]]:
        from tau_compile.runs.launch import launch

        return launch(repository, intent, data, adopt)

    source = Source(
        path,
        intent.document.span,
        space.name,
        intent.name,
        intent.digest(),
        int(intent.text("run.attempt", "1")),
        intent.text("run.launch", "on-change"),
        intent.text("run.on_change", "keep"),
        launch,
    )
    return source, said

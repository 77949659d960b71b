"""The tau.yaml files of a repository as a build sees them.

A file whose bytes, and whose code's bytes, are those of a record has that record's intent: it is not parsed again. This is
what makes the everyday build, thousands of runs and a few edits, quick; and it is why a run that exists stays untouched when
a newer compiler reads its file more strictly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Span, has_errors
from tau_compile.named import NamedTuple
from tau_compile.runs.model import Made, Source
from tau_compile.runs.tree import committed, sha256_hex
from tau_compile.workload.code import Asked, CodeRequest, collect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tau_compile.compiler import Repository
    from tau_compile.runs.record import Record


class Looked(NamedTuple):
    """What one file is: a source, or None with the reasons; ``record`` is the one it is unchanged since."""

    source: Source | None
    diagnostics: tuple[Diagnostic, ...] = ()
    record: Record | None = None


class Surveyor:
    """Looks at tau.yaml files; ``records`` are those that count as launched, ``names`` leads to today's workspaces."""

    def __init__(
        self, repository: Repository, records: Iterable[Record], names: Mapping[str, str], adopt: bool = False
    ) -> None:
        self._repository, self._names, self._adopt = repository, names, adopt
        self._known: dict[str, list[Record]] = {}
        for record in records:
            self._known.setdefault(record.source, []).append(record)

    def look(self, path: str, data: bytes) -> Looked:
        """One file; ``path`` counts from the repository root."""
        record = self._unchanged(path, data)
        if record is not None:
            return Looked(as_recorded(path, record, self._names), (), record)
        return self._read(path, data)

    def _unchanged(self, path: str, data: bytes) -> Record | None:
        known = self._known.get(path)
        if known is None:
            return None
        digest = sha256_hex(committed(data))
        code: dict[str, list[object]] | None = None
        for record in known:
            if record.sources.get(path) == digest:
                if code is None:  # the same file asks for the same code
                    code = self._code(record)
                if code is None:
                    return None
                if code == {name: entry[:2] for name, entry in record.code.items()}:
                    return record
        return None

    def _code(self, record: Record) -> dict[str, list[object]] | None:
        """Mode and digest of the files that ship today; None when something stands in the way."""
        request = code_request(record)
        if request is None:
            return {}
        bundle, said = collect(self._repository.tree, request)
        if has_errors(said):
            return None
        files = bundle.files if bundle else ()
        return {file.path: [file.executable, sha256_hex(file.content)] for file in files}

    def _read(self, path: str, data: bytes) -> Looked:
        from tau_compile.compiler import workspace_folder
        from tau_compile.intent import read_document, read_intent
        from tau_compile.policy import select
        from tau_compile.source.nodes import Scalar, find
        from tau_compile.source.scalars import resolve

        said: list[Diagnostic] = []
        overlays = self._repository.overlays.overlays
        canonical = read_document(path, data, said)
        if canonical is None or overlays is None:
            return Looked(None, tuple(said))
        intent = read_intent(self._repository.tree, path, canonical, said)
        document = intent.document
        space = select.workspace(overlays, document, workspace_folder(path), "", said)
        if has_errors(said) or space is None:
            return Looked(None, tuple(said))

        digest = intent.digest()

        def launch(supersedes: str) -> Made:
            from tau_compile.checkout.launch import launch

            return launch(self._repository, intent, digest, data, supersedes, self._adopt)

        written = find(document, "run.attempt")
        attempt = resolve(written) if isinstance(written, Scalar) else 1
        source = Source(
            path,
            document.span,
            space.name,
            find(document, "policy.workspace") is None,
            intent.name,
            digest,
            int(attempt) if isinstance(attempt, (int, float)) else 1,
            intent.text("run.launch", "on-change"),
            intent.text("run.on_change", "keep"),
            launch,
        )
        return Looked(source, tuple(said))


def as_recorded(path: str, record: Record, names: Mapping[str, str]) -> Source:
    """A source that is as it was when it was recorded: nothing is launched for it."""
    space = names.get(record.workspace, record.workspace)
    span = Span(path, 1, 1, 1, 1)
    return Source(
        path, span, space, False, record.name, record.digest, record.attempt, "on-change", "keep", _never
    )


def _never(supersedes: str) -> Made:
    return Made(None)


def code_request(record: Record) -> CodeRequest | None:
    """What a record's tau.yaml asks to ship; no overlay has a say in it. None for code that comes in an image."""
    run, workflow = record.resolved.get("run"), record.resolved.get("workflow")
    run = run if isinstance(run, dict) else {}
    scripts = workflow.get("extra_scripts") if isinstance(workflow, dict) else None
    if "source" in run or not isinstance(run.get("entrypoint"), str):
        return None
    span = Span(record.source, 1, 1, 1, 1)

    def asked(value: object) -> tuple[Asked, ...]:
        items = value if isinstance(value, list) else ()
        return tuple(Asked(item, span) for item in items if isinstance(item, str))

    folder = run.get("working_dir")
    return CodeRequest(
        record.source,
        Asked(run["entrypoint"], span),
        Asked(folder, span) if isinstance(folder, str) else None,
        asked(run.get("working_dir_excludes")),
        asked(scripts),
    )

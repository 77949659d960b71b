"""From an intent to a new run: its record and its files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile import __version__
from tau_compile.compiler import Repository, compile_intent
from tau_compile.runs.plan import Launch
from tau_compile.runs.record import Record
from tau_compile.runs.tree import digest, files_of
from tau_compile.schema import store
from tau_compile.schema.coerce import read_as
from tau_compile.source.nodes import Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.compiler import Compiled
    from tau_compile.diagnostics import Diagnostic
    from tau_compile.intent import Intent
    from tau_compile.source.nodes import Node


def launch(
    repository: Repository, intent: Intent, data: bytes, adopt: bool = False
) -> tuple[Launch | None, tuple[Diagnostic, ...]]:
    """Compile an intent into a run. ``data`` are the bytes of its tau.yaml; an adopted run has no manifests."""
    said: list[Diagnostic] = []
    compiled = compile_intent(repository, intent, "", said)
    if compiled is None:
        return None, tuple(said)
    files = {} if adopt else files_of(compiled.objects)
    return Launch(_record(repository, intent, compiled, data, files), files), tuple(said)


def _record(
    repository: Repository, intent: Intent, compiled: Compiled, data: bytes, files: dict[str, bytes]
) -> Record:
    resolved, workload = compiled.resolved, compiled.workload
    assert resolved is not None
    assert workload is not None
    bundle = intent.bundle.files if intent.bundle else ()
    return Record(
        run=compiled.run_id,
        workspace=resolved.workspace.name,
        name=workload.name,
        attempt=int(intent.text("run.attempt", "1")),
        digest=compiled.digest,
        kind=workload.kind,
        cluster=resolved.cluster.name,
        namespace=resolved.workspace.namespace,
        queue=resolved.queue,
        gpus=workload.pods * workload.gpu.number,
        source=intent.path,
        state="active" if files else "adopted",
        compiler=__version__,
        sources=_sources(repository, intent, data),
        code={f.path: [f.executable, _hex(f.content), f.source] for f in bundle},
        resolved=read_as(resolved.merged.node, store.prepared("tau.schema.json#/$defs/canonical").shape).data,
        origins=dict(_origins(resolved.merged.node, "")),
        manifests={name: digest(content) for name, content in sorted(files.items())},
    )


def _sources(repository: Repository, intent: Intent, data: bytes) -> dict[str, str]:
    own = repository.overlay_files or repository.packaged
    return {intent.path: _hex(data), **{file.path: _hex(file.data) for file in own}}


def _origins(node: Node, path: str) -> Iterator[tuple[str, str]]:
    """(dotted path, ``file:line:column``) of every scalar."""
    if isinstance(node, Mapping):
        for entry in node.entries:
            yield from _origins(entry.value, f"{path}.{entry.key.name}" if path else entry.key.name)
    elif isinstance(node, Sequence):
        for place, item in enumerate(node.items):
            yield from _origins(item, f"{path}[{place}]")
    elif isinstance(node, Scalar):
        yield path, f"{node.span.file}:{node.span.line}:{node.span.column}"


def _hex(content: bytes) -> str:
    from hashlib import sha256

    return sha256(content).hexdigest()


def same_bytes(content: bytes, recorded: Any) -> bool:
    """Whether a file still has the sha256 that a record keeps."""
    return isinstance(recorded, str) and _hex(content) == recorded

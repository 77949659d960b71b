"""From an intent to a new run: its record and its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile import __version__
from tau_compile.compiler import compile_intent
from tau_compile.diagnostics import error
from tau_compile.runs.model import Launch, Made
from tau_compile.runs.record import MAX_BYTES, Record, fault, to_json
from tau_compile.runs.tree import committed, digest, files_of, folder, sha256_hex
from tau_compile.schema import store
from tau_compile.schema.coerce import read_as
from tau_compile.source.nodes import Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.compiler import Compiled, Repository
    from tau_compile.diagnostics import Diagnostic
    from tau_compile.intent import Intent
    from tau_compile.policy.resolve import Resolved
    from tau_compile.source.nodes import Node


def launch(
    repository: Repository, intent: Intent, digest: str, data: bytes, supersedes: str, adopt: bool = False
) -> Made:
    """Compile an intent into a run. ``data`` are the bytes of its tau.yaml; an adopted run has no manifests."""
    said: list[Diagnostic] = []
    compiled = compile_intent(repository, intent, "", said, digest)
    if compiled is None:
        return Made(None, tuple(said))
    manifests = {} if adopt else files_of(compiled.objects)
    record = _record(repository, intent, compiled, data, manifests)._replace(supersedes=supersedes)
    place = folder(record)
    files = {f"{place}/{name}": content for name, content in manifests.items()}
    wrong = fault(record)
    if wrong:  # the next build could not read it: better to stop here, as a bug
        raise RuntimeError(f"the record of {record.run} {wrong}")
    text = to_json(record).encode()
    if len(text) > MAX_BYTES:
        message = f"the record of {record.run} would have {len(text) / (1 << 20):.1f} MiB; the most is {MAX_BYTES >> 20} MiB"
        hint = "shorten the tau.yaml: move long maps and lists into a file that ships with the code; a shorter path helps, too"
        said.append(error("TAU745", message, intent.document.span, hint))
        return Made(None, tuple(said))
    files[record.path] = text
    return Made(Launch(record, files), tuple(said))


def brief(record: Record) -> Record:
    """The record without what only its file needs: for thousands of launches at a time."""
    return record._replace(sources={}, code={}, resolved={}, origins={})


def _record(
    repository: Repository, intent: Intent, compiled: Compiled, data: bytes, manifests: dict[str, bytes]
) -> Record:
    resolved, workload = compiled.resolved, compiled.workload
    assert resolved is not None
    assert workload is not None
    merged = resolved.merged.node
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
        state="active" if manifests else "adopted",
        compiler=__version__,
        sources=_sources(repository, intent, resolved, data),
        code={
            file.path: [file.executable, sha256_hex(file.content), file.source]
            for file in (intent.bundle.files if intent.bundle else ())
        },
        resolved=read_as(merged, store.prepared("tau.schema.json#/$defs/canonical").shape).data,
        origins=dict(_origins(merged, "")),
        manifests={name: digest(content) for name, content in manifests.items()},
        waivers=[
            {"lifted": list(one.lifted), "reason": one.reason, "expires": one.expires}
            for one in resolved.waived
        ]
        or (),
    )


def _sources(repository: Repository, intent: Intent, resolved: Resolved, data: bytes) -> dict[str, str]:
    """What took part, by path: the tau.yaml, the overlays that apply, and the repository's own templates."""
    took_part = {resolved.platform.span.file, resolved.cluster.span.file, resolved.workspace.span.file}
    if resolved.profile is not None:
        took_part.add(resolved.profile.span.file)
    found = {intent.path: sha256_hex(committed(data))}
    for file in (*repository.packaged, *repository.overlay_files):
        if file.path in took_part:
            found[file.path] = sha256_hex(committed(file.data))
    for name, text in repository.templates.items():
        if name.startswith("workspace/"):
            continue
        found[f"templates/{name}"] = sha256_hex(committed(text.encode("utf-8", "surrogateescape")))
    return found


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

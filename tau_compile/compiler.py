"""The pipeline: bytes of a tau.yaml, of overlays and of code → manifests and diagnostics. It has no effects.

read → check against the schema → canonical form → resolve policy → typed workload → render → check what came out
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Span, error, has_errors, ordered
from tau_compile.policy.resolve import resolve
from tau_compile.runs.identity import intent_digest, project, run_id
from tau_compile.schema import store
from tau_compile.schema.check import check
from tau_compile.schema.coerce import read_as
from tau_compile.source.forms import Canonical, to_canonical
from tau_compile.source.nodes import Mapping, find, find_entry
from tau_compile.source.reader import read
from tau_compile.workload.build import build
from tau_compile.workload.code import Asked, CodeBundle, CodeRequest, collect, entry_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Mapping as ReadOnly

    from jinja2 import Environment

    from tau_compile.policy.model import Overlays
    from tau_compile.policy.overlays import Loaded, SourceFile
    from tau_compile.policy.resolve import Resolved
    from tau_compile.workload.code import Tree
    from tau_compile.workload.model import Workload


@dataclass(frozen=True)
class Repository:
    """What every workload of one compilation shares.

    ``overlay_files`` are the repository's own, ``packaged`` the default ones; ``templates`` are the repository's own by path
    below ``templates/``; ``tree`` reads code by path from the repository root.
    """

    overlay_files: Sequence[SourceFile]
    packaged: Sequence[SourceFile]
    tree: Tree
    templates: ReadOnly[str, str] = field(default_factory=dict)

    @cached_property
    def overlays(self) -> Loaded:
        """The overlays, read once."""
        from tau_compile.policy.overlays import load

        return load(self.overlay_files, self.packaged)

    @cached_property
    def environment(self) -> Environment:
        """The template environment, made once; Jinja2 is loaded here and nowhere else."""
        from tau_compile.render.engine import environment

        return environment(self.templates)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What became of one tau.yaml: its objects, empty when there are errors, and everything that was said."""

    path: str
    run_id: str
    digest: str
    objects: tuple[dict[str, Any], ...]
    diagnostics: tuple[Diagnostic, ...]
    resolved: Resolved | None = None
    workload: Workload | None = None


def compile_file(repository: Repository, path: str, data: bytes, workspace: str = "") -> Compiled:
    """Compile one tau.yaml. ``path`` counts from the repository root; ``workspace`` is ``--workspace``, or empty."""
    said: list[Diagnostic] = []
    canonical = canonical_document(path, data, said)
    loaded = repository.overlays
    said += loaded.diagnostics
    if canonical is None or loaded.overlays is None:
        return _failed(path, said)
    before = len(said)
    compiled = _compile(repository, loaded.overlays, path, canonical, workspace, said)
    if has_errors(said[:before]):
        return _failed(
            path, [*said[:before], *_told_apart(said[:before], said[before:], canonical.node.span)]
        )
    return compiled if compiled and not has_errors(said) else _failed(path, said)


def canonical_document(path: str, data: bytes, said: list[Diagnostic]) -> Canonical | None:
    """Read one tau.yaml and bring it into the canonical form; None when there is no document to go on with."""
    result = read(data, path)
    said += result.diagnostics
    node = result.node
    if node is None:
        return None
    if not isinstance(node, Mapping):
        said.append(
            error(
                "TAU202",
                "a tau.yaml is a mapping, such as `name: my-training`",
                node.span,
                "start with `schema_version: 1` and `name:`",
            )
        )
        return None
    kind = find_entry(node, "apiVersion")
    if kind is not None and node.get("kind") is not None:
        said.append(
            error(
                "TAU213",
                "this is a Kubernetes or overlay document, not a tau.yaml",
                kind.key.span,
                "overlays lie below overlays/; a tau.yaml starts with `schema_version: 1` and `name:`",
            )
        )
        return None
    found = check(node, store.tau(), file_kind="tau.yaml").diagnostics
    said += found
    canonical = to_canonical(node)
    later = list(canonical.diagnostics)
    said += _told_apart(found, later, node.span) if has_errors(found) else later
    return canonical


def _compile(
    repository: Repository,
    overlays: Overlays,
    path: str,
    canonical: Canonical,
    workspace: str,
    said: list[Diagnostic],
) -> Compiled | None:
    resolved = resolve(canonical.node, overlays, workspace_folder(path), workspace, said)
    if resolved is None:
        return None
    workload = build(resolved, said)
    bundle = _code(repository.tree, path, resolved, workload, said)
    if has_errors(said):
        return None
    return _render(repository, path, canonical, resolved, workload, bundle, said)


def _render(
    repository: Repository,
    path: str,
    canonical: Canonical,
    resolved: Resolved,
    workload: Workload,
    bundle: CodeBundle | None,
    said: list[Diagnostic],
) -> Compiled | None:
    from tau_compile.render.manifests import render
    from tau_compile.render.payload import payload
    from tau_compile.render.plan import Run
    from tau_compile.rules.output import check_objects

    argv = _command(workload, bundle, said)
    if has_errors(said):
        return None
    digest = intent_digest(project(intent(canonical)), bundle.files if bundle else ())
    identity = run_id(workload.name, digest)
    zipped = workload.kind == "rayjob" and find(resolved.merged.node, "run.working_dir") is not None
    files = payload(workload, bundle or CodeBundle((), None), argv, zipped) if argv else None
    run = Run(identity, workload, resolved, files)
    objects, problems = render(run, repository.environment)
    said += problems
    if not has_errors(said):
        said += check_objects(objects, run, repository.templates, canonical.node.span)
    if has_errors(said):
        return None
    return Compiled(path, identity, digest, tuple(objects), tuple(ordered(said)), resolved, workload)


def intent(canonical: Canonical) -> dict[str, Any]:
    """The user's own canonical tau.yaml as plain data, nothing filled in."""
    shape = store.prepared("tau.schema.json#/$defs/canonical").shape
    found: dict[str, Any] = read_as(canonical.node, shape).data
    return found


def workspace_folder(path: str) -> str:
    """The workspace a path stands for: ``workloads/<workspace>/…``."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "workloads" else ""


def _code(
    tree: Tree, path: str, resolved: Resolved, workload: Workload, said: list[Diagnostic]
) -> CodeBundle | None:
    """The files that ship; none for code that comes in an image."""
    node = resolved.merged.node
    if workload.source is not None or not workload.program.entrypoint:
        return None
    request = CodeRequest(
        path,
        _asked(node, "run.entrypoint"),
        _asked(node, "run.working_dir"),
        _asked_items(node, "run.working_dir_excludes"),
        _asked_items(node, "workflow.extra_scripts"),
        archive=workload.kind == "rayjob" and find(node, "run.working_dir") is not None,
    )
    bundle, problems = collect(tree, request)
    said += problems
    if bundle is not None:
        from tau_compile.rules.credentials import find_in_code

        for file in bundle.files:
            said += find_in_code(file.source or file.path, file.content)
    return bundle


def _command(workload: Workload, bundle: CodeBundle | None, said: list[Diagnostic]) -> list[str]:
    """The command that run.sh starts; empty for an image's own entry point."""
    program = workload.program
    if not program.entrypoint:
        return []
    if program.launcher == "ray-tune":
        start = ["python3", "/tau/bin/tune_driver.py"]
    elif workload.source is not None:
        file = f"/tau/source/{program.entrypoint}"
        start = ["python3", file] if file.endswith(".py") else [file]
    else:
        start = []
    if bundle is not None and bundle.entrypoint is not None:
        shipped = bundle.file(bundle.entrypoint)
        launcher = program.launcher if program.launcher_given else None
        found, problems = entry_kind(
            shipped.content if shipped else b"", bundle.entrypoint, launcher, program.entrypoint_span
        )
        said += problems
        start = start or (list(found.argv) if found else [])
    if program.launcher == "torchrun":
        start = ["python3", "-m", "torch.distributed.run", *program.launcher_args, *start[1:]]
    return [*start, *program.args]


def _asked(node: Mapping, path: str) -> Asked | None:
    from tau_compile.workload.view import scalar

    found = find(node, path)
    return Asked(scalar(found), found.span) if found is not None else None


def _asked_items(node: Mapping, path: str) -> tuple[Asked, ...]:
    from tau_compile.source.nodes import Sequence as Items
    from tau_compile.workload.view import scalar

    found = find(node, path)
    return tuple(Asked(scalar(item), item.span) for item in found.items) if isinstance(found, Items) else ()


def _told_apart(first: Iterable[Diagnostic], later: list[Diagnostic], whole: Span) -> list[Diagnostic]:
    """Of what was found in a document with schema errors, only that which stands elsewhere and is not an absence."""
    lines = {(d.span.file, d.span.line) for d in first if d.span}
    return [d for d in later if d.span and d.span != whole and (d.span.file, d.span.line) not in lines]


def _failed(path: str, said: list[Diagnostic]) -> Compiled:
    return Compiled(path, "", "", (), tuple(ordered(said)))

"""The pipeline: bytes of a tau.yaml, of overlays and of code → manifests and diagnostics. It has no effects.

read → check against the schema → canonical form → resolve policy → typed workload → render → check what came out
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, has_errors, ordered
from tau_compile.intent import Intent, read_document, read_intent, told_apart
from tau_compile.named import NamedTuple
from tau_compile.policy.overlays import Loaded, load
from tau_compile.policy.resolve import resolve
from tau_compile.rules.literals import credentials_in
from tau_compile.runs.identity import run_id
from tau_compile.workload.build import build
from tau_compile.workload.code import CodeBundle, entry_kind, python_only

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tau_compile.guard import Guard
    from tau_compile.guard.waivers import Stance
    from tau_compile.policy.patching import Touch
    from tau_compile.policy.resolve import Resolved
    from tau_compile.render.templates import Templates
    from tau_compile.source.files import SourceFile
    from tau_compile.spaces import Spaces
    from tau_compile.workload.code import Tree
    from tau_compile.workload.model import Workload


class Repository:
    """What every workload of one compilation shares.

    ``overlay_files`` are the repository's own, ``packaged`` the default ones; ``templates`` are the repository's own by path
    below ``templates/``; ``tree`` reads code by path from the repository root. ``as_of`` is today's date as the caller says
    (``YYYY-MM-DD``), or empty: waivers apply through their own. ``stance`` is what compiling is for.
    """

    def __init__(
        self,
        overlay_files: Sequence[SourceFile],
        packaged: Sequence[SourceFile],
        tree: Tree,
        templates: Mapping[str, str] | None = None,
        as_of: str = "",
        stance: Stance = "launch",
    ) -> None:
        self.overlay_files = overlay_files
        self.packaged = packaged
        self.tree = tree
        self.templates = templates or {}
        self.as_of = as_of
        self.stance = stance

    @cached_property
    def overlays(self) -> Loaded:
        """The overlays, read once."""
        loaded = load(self.overlay_files, self.packaged)
        found = loaded.overlays
        if found is None:
            return loaded
        said = list(loaded.diagnostics)
        if found.patches:
            from tau_compile.rules.patch_credentials import credentials_in_patches

            said += credentials_in_patches(found.patches)
        if found.guarded:
            from tau_compile.guard.overlays import check

            said += check(found, self.as_of)
        return Loaded(None if has_errors(said) else found, tuple(said))

    @cached_property
    def guard(self) -> Guard | None:
        """What is enforced and limited; None when no overlay does either."""
        overlays = self.overlays.overlays
        if overlays is None or not overlays.guarded:
            return None
        from tau_compile.guard import Guard

        return Guard(overlays, self.as_of, self.stance)

    @cached_property
    def adopting(self) -> Guard | None:
        """The same for files that are recorded and not launched: what they break is said, and no error."""
        return self.guard and self.guard.adopting()

    @cached_property
    def renderer(self) -> Templates:
        """The templates, read and compiled at most once."""
        from tau_compile.render.templates import Templates

        return Templates(self.templates)

    @cached_property
    def spaces(self) -> Spaces:
        """The objects of the workspaces that have a ``manage`` section, and the checks of all, rendered once."""
        from tau_compile.spaces import NONE, compile_spaces

        overlays = self.overlays.overlays
        return compile_spaces(overlays, self.tree, self.renderer, self.templates) if overlays else NONE

    @property
    def manages(self) -> bool:
        """Whether there may be any."""
        overlays = self.overlays.overlays
        return overlays is not None and (
            overlays.platform.admission is not None
            or any(space.manage is not None or space.admission is not None for space in overlays.workspaces)
        )


class Compiled(NamedTuple):
    """What became of one tau.yaml: its objects, empty when there are errors, and everything that was said."""

    path: str
    run_id: str
    digest: str
    objects: tuple[dict[str, Any], ...]
    diagnostics: tuple[Diagnostic, ...]
    resolved: Resolved | None = None
    workload: Workload | None = None
    touches: tuple[Touch, ...] = ()  # what became of the overlays' patches


def compile_file(
    repository: Repository, path: str, data: bytes, workspace: str = "", adopt: bool = False
) -> Compiled:
    """Compile one tau.yaml. ``path`` counts from the repository root; ``workspace`` is ``--workspace``, or empty.

    ``adopt``: see ``compile_intent``.
    """
    said: list[Diagnostic] = []
    canonical = read_document(path, data, said)
    if canonical is None:
        return _failed(path, [*said, *repository.overlays.diagnostics])
    early = list(said)
    later = list(early)  # nothing is rendered of what the schema refuses
    intent = read_intent(repository.tree, path, canonical, later)
    compiled = compile_intent(repository, intent, workspace, later, adopt=adopt)
    later = later[len(early) :]
    if has_errors(early):
        later = told_apart(early, later, canonical.node.span)
    found = [*early, *repository.overlays.diagnostics, *later]
    if compiled is None or has_errors(found):
        return _failed(path, found)
    return Compiled(
        path,
        compiled.run_id,
        compiled.digest,
        compiled.objects,
        tuple(ordered(found)),
        compiled.resolved,
        compiled.workload,
        compiled.touches,
    )


def compile_intent(
    repository: Repository,
    intent: Intent,
    workspace: str,
    said: list[Diagnostic],
    digest: str = "",
    lenient: bool = False,
    adopt: bool = False,
) -> Compiled | None:
    """Resolve and render an intent; None, with the reasons in ``said``, when that cannot be done.

    ``digest`` is the intent's, where it is known already. ``lenient`` is for questions about an intent: what comes out in spite
    of errors is returned, and not checked. It may then raise anything. ``adopt``: it is, or is to be, recorded, and
    not launched, so that what it breaks of the platform's locks, limits and checks is a warning.
    """
    overlays = repository.overlays.overlays
    if overlays is None:
        return None
    guard = repository.adopting if adopt else repository.guard
    folder = workspace_folder(intent.path)
    resolved = resolve(intent.document, overlays, folder, workspace, said, guard)
    if resolved is None:
        return None
    workload = build(resolved, said)
    if guard is not None:
        resolved = guard.judged(resolved, workload, said)
    said += credentials_in(resolved.merged.node)
    argv = _command(workload, intent.bundle, said)
    if has_errors(said) and not lenient:
        return None
    digest = digest or intent.digest()
    return _render(repository, intent, digest, resolved, workload, argv, said, lenient, adopt)


def _render(
    repository: Repository,
    intent: Intent,
    digest: str,
    resolved: Resolved,
    workload: Workload,
    argv: list[str],
    said: list[Diagnostic],
    lenient: bool = False,
    adopt: bool = False,
) -> Compiled | None:
    from tau_compile.render.manifests import render
    from tau_compile.render.payload import payload
    from tau_compile.render.plan import Run
    from tau_compile.rules.output import check_objects

    overlays = repository.overlays.overlays
    identity = run_id(workload.name, digest)
    zipped = workload.kind == "rayjob" and intent.ships_folder
    files = payload(workload, intent.bundle or CodeBundle((), None), argv, zipped) if argv else None
    run = Run(identity, workload, resolved, files)
    objects, problems = render(run, repository.renderer)
    said += problems
    patches = resolved.patches
    touches: tuple[Touch, ...] = ()
    if lenient:
        if patches:
            from tau_compile.policy.patching import apply_all

            objects = apply_all(objects, patches).objects
        made = tuple(objects.values())
        return Compiled(intent.path, identity, digest, made, tuple(said), resolved, workload)
    if patches and not has_errors(said):
        from tau_compile.rules.patched import patched

        rendered = objects
        result = patched(objects, patches, run, repository.templates, intent.document.span)
        objects, touches = result.objects, result.touches
        said += result.diagnostics
        if overlays is not None and overlays.guarded:
            from tau_compile.guard.held import held

            said += held(rendered, resolved)
    elif not has_errors(said):
        said += check_objects(objects, run, repository.templates, intent.document.span)
    if resolved.workspace.manage is not None and not has_errors(said):
        from tau_compile.rules.place import fits

        said += fits(objects.values(), resolved)
    if (resolved.platform.admission or resolved.workspace.admission) and not has_errors(said):
        from tau_compile.rules.admission import judged

        found = judged(objects.values(), resolved)
        said += (one._replace(severity="warning") for one in found) if adopt else found
    if has_errors(said):
        return None
    made = tuple(objects.values())
    return Compiled(intent.path, identity, digest, made, tuple(said), resolved, workload, touches)


def workspace_folder(path: str) -> str:
    """The workspace a path stands for: ``workloads/<workspace>/…``."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "workloads" else ""


def _command(workload: Workload, bundle: CodeBundle | None, said: list[Diagnostic]) -> list[str]:
    """The command that run.sh starts; empty for an image's own entry point."""
    program = workload.program
    if not program.entrypoint:
        return []
    if workload.source is not None and program.launcher in ("torchrun", "ray-tune"):
        said += python_only(program.entrypoint, program.launcher, program.entrypoint_span)
    if program.launcher == "ray-tune":
        start = ["python3", "/tau/bin/tune_driver.py"]
    elif workload.source is not None:
        file = f"/tau/source/{program.entrypoint}"
        python = file.endswith(".py") or (program.launcher_given and program.launcher == "python")
        start = ["python3", file] if python else [file]
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


def _failed(path: str, said: list[Diagnostic]) -> Compiled:
    return Compiled(path, "", "", (), tuple(ordered(said)))

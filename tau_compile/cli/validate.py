"""``tau-compile validate``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from tau_compile.cli.inputs import AS_OF, FORMAT, Inputs, show

if TYPE_CHECKING:
    from tau_compile.compiler import Compiled
    from tau_compile.diagnostics import Diagnostic

OVERLAYS = "overlays"
# Besides the project's own globs: every file of the name below a folder that was given.
EVERY = ["**/tau.yaml", "**/tau.yml", "**/.tau.yaml"]

# What the platform may have come to want after a run was launched, which it does not change.
_LATER = frozenset({"TAU330", "TAU331", "TAU389", "TAU390"})


@click.command(
    "validate", epilog="Example:  tau-compile validate            (every tau.yaml below this folder)"
)
@click.argument("paths", nargs=-1, type=click.Path(exists=True))
@click.option(
    "--workspace", "-w", default="", metavar="NAME", help="The workspace, when a file does not say."
)
@AS_OF
@FORMAT
def command(paths: tuple[str, ...], workspace: str, as_of: str, format: str) -> None:
    """Do everything but write: read, resolve policy, render and check, and say all that is wrong.

    A PATH is a tau.yaml, an overlay, or a folder; without one, the overlays and the files that the project file includes.
    """
    from tau_compile.compiler import compile_file

    said: list[Diagnostic] = []
    sources: dict[str, bytes] = {}
    repositories: dict[str, Inputs] = {}
    compiled: dict[str, dict[str, Compiled]] = {}  # by root, by path from it
    known: dict[str, _Recorded] = {}
    count = 0
    for path in _files(paths, format):
        root = _root(path)
        inputs = repositories.get(root) or repositories.setdefault(root, Inputs(path, format, as_of, "look"))
        count += 1
        if _is_overlay(inputs.name_of(path)):
            sources.update(inputs.sources)
            said += inputs.repository.overlays.diagnostics
            if inputs.repository.manages:
                said += inputs.repository.spaces.diagnostics
        else:
            name, data = inputs.read(path)
            sources.update(inputs.sources)
            made = compile_file(inputs.repository, name, data, workspace)
            if any(d.id in _LATER and d.severity == "error" for d in made.diagnostics):
                recorded = known.get(root) or known.setdefault(root, _Recorded(inputs))
                if recorded.has(name, data):
                    made = compile_file(inputs.repository, name, data, workspace, adopt=True)
            compiled.setdefault(root, {})[name] = made
            said += made.diagnostics
    if _is_whole(paths):
        for root, inputs in repositories.items():
            said += _patches_without_effect(inputs, compiled.get(root, {}), workspace)
    code = show(said, sources, format)
    if format == "text":
        click.echo(_summary(count, said), err=True)
    sys.exit(code)


class _Recorded:
    """The runs of a repository, read when they are first asked about."""

    def __init__(self, inputs: Inputs) -> None:
        from tau_compile.checkout.records import in_tree
        from tau_compile.checkout.sources import Surveyor
        from tau_compile.policy.former import workspace_names

        overlays = inputs.repository.overlays.overlays
        spaces = workspace_names(overlays) if overlays else {}
        found = list(in_tree(inputs.root)[0].values())
        self._digests = {(record.name, record.digest) for record in found}
        self._surveyor = Surveyor(
            inputs.repository, found, {name: space.name for name, space in spaces.items()}
        )

    def has(self, name: str, data: bytes) -> bool:
        """Whether a file is as it was when it was launched or adopted: a build launches nothing for it."""
        source = self._surveyor.look(name, data).source if self._digests else None
        return source is not None and (source.name, source.digest) in self._digests


def _is_whole(paths: tuple[str, ...]) -> bool:
    """Whether all of a repository is asked about: nothing was named, or its overlays, or the folder that they are in."""
    return not paths or any(
        os.path.basename(os.path.abspath(path)) == OVERLAYS or os.path.isdir(os.path.join(path, OVERLAYS))
        for path in paths
        if os.path.isdir(path)
    )


def _patches_without_effect(
    inputs: Inputs, compiled: dict[str, Compiled], workspace: str
) -> list[Diagnostic]:
    """Patches that hit nothing, which is known where all compiles, or that make something wrong."""
    overlays = inputs.repository.overlays.overlays
    if overlays is None or not overlays.patches:
        return []
    from tau_compile.compiler import compile_file
    from tau_compile.diagnostics import has_errors
    from tau_compile.policy.unmatched import without_effect
    from tau_compile.source.files import read_regular
    from tau_compile.source.project import workload_files

    every = dict(compiled)
    for name in workload_files(inputs.root, inputs.root, list(inputs.settings.include)):
        if name not in every:
            try:
                data = read_regular(os.path.join(inputs.root, name))
            except OSError:
                return []
            every[name] = compile_file(inputs.repository, name, data, workspace)
    found = list(every.values())
    if any(made.workload is None for made in found):
        # What patches make wrong is a fault of the overlays, whatever workload shows it.
        said = [d for made in found for d in made.diagnostics]
        return [d for d in said if d.span is not None and _is_overlay(d.span.file)]
    spaces = inputs.repository.spaces
    if has_errors(spaces.diagnostics):
        return []
    names = [made.workload.name for made in found if made.workload]
    names += [name.partition("-")[2].removesuffix(".yaml") for one in spaces.folders for name in one.files]
    touches = [touch for made in found for touch in made.touches]
    return without_effect([*touches, *spaces.touches], names)


def _files(paths: tuple[str, ...], format: str) -> list[str]:
    from tau_compile.source.project import PROJECT_FILE, root_of, workload_files

    found: list[str] = []
    for path in paths or (".",):
        if not os.path.isdir(path):
            found.append(path)
            continue
        root = root_of(path)
        patterns = [*_OVERLAYS, *EVERY]
        if not paths and os.path.lexists(os.path.join(root, PROJECT_FILE)):
            path, patterns = root, [*_OVERLAYS, *Inputs(root, format).settings.include]
        names = workload_files(root, os.path.abspath(path), patterns)
        found += [os.path.relpath(os.path.join(root, name)) for name in names]
    if not found:
        raise click.UsageError("there is no tau.yaml here; name a file or a folder")
    return found


_OVERLAYS = ["overlays/**/*.yaml", "overlays/**/*.yml"]


def _root(path: str) -> str:
    from tau_compile.source.project import root_of

    return root_of(path)


def _is_overlay(name: str) -> bool:
    return name.startswith("overlays/")


def _summary(count: int, said: list[Diagnostic]) -> str:
    errors = sum(d.severity == "error" for d in dict.fromkeys(said))
    warnings = sum(d.severity == "warning" for d in dict.fromkeys(said))
    files = f"{count} file{'' if count == 1 else 's'}"
    if not errors and not warnings:
        return f"{files}: OK"
    parts = [
        f"{n} {word}{'' if n == 1 else 's'}" for n, word in ((errors, "error"), (warnings, "warning")) if n
    ]
    return f"{files}: {', '.join(parts)}"

"""``tau-compile import taugrid|kueue|job``."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

import click

from tau_compile.cli.inputs import show

if TYPE_CHECKING:
    from collections.abc import Callable

    from tau_compile.importing.result import Made
    from tau_compile.policy.model import Cluster

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?")
_FILES = click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path(allow_dash=True))
_FORMAT = click.option(
    "--format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print what is said; with json, on standard output.",
)


def _output(what: str) -> Callable[[Any], Any]:
    def with_options(command: Any) -> Any:
        for option in (
            _FORMAT,
            click.option("--force", is_flag=True, help="Replace files that exist."),
            click.option(
                "--output", "-o", default="", metavar="DIR", type=click.Path(file_okay=False), help=what
            ),
        ):
            command = option(command)
        return command

    return with_options


def _label(context: click.Context, option: click.Parameter, value: str) -> str:
    if value and _NAME.fullmatch(value) is None:
        raise click.BadParameter(
            f"`{value}`: lower-case letters, digits, dashes and dots, 63 at most", context, option
        )
    return value


@click.group(
    "import",
    epilog="Example:  kubectl get job train -o yaml | tau-compile import job - --output workloads/vision/train",
)
def command() -> None:
    """Turn objects of a running cluster into overlays and tau.yaml files.

    FILE… is what `kubectl get KIND -o yaml` (or json) printed; - is standard input. What cannot be carried over is listed,
    each with its place; credentials are never copied.
    """


@command.command(
    "kueue",
    epilog="Example:  kubectl get clusterqueues,localqueues -A -o yaml | tau-compile import kueue -",
)
@_FILES
@click.option(
    "--name",
    default="cluster",
    show_default=True,
    metavar="CLUSTER",
    callback=_label,
    help="Name of the cluster.",
)
@_output("The repository to write overlays/clusters/CLUSTER.yaml into; without it, it is printed.")
def kueue(files: tuple[str, ...], name: str, output: str, force: bool, format: str) -> None:
    """Kueue's objects → the catalogue of a Cluster overlay.

    Read are ClusterQueues, LocalQueues, ResourceFlavors, Topologies, Cohorts, WorkloadPriorityClasses and PriorityClasses.
    """
    from tau_compile.importing.kueue import import_kueue

    read = _read(files)
    _finish(import_kueue(read, name), read, output, force, format)


@command.command(
    "taugrid", epilog="Example:  tau-compile import taugrid cluster.yaml workspaces.yaml --output ."
)
@_FILES
@click.option(
    "--name",
    default="",
    metavar="CLUSTER",
    callback=_label,
    help="Name of the cluster; else the TauCluster's.",
)
@_output("The repository to write overlays/ into.")
def taugrid(files: tuple[str, ...], name: str, output: str, force: bool, format: str) -> None:
    """TauCluster and TauWorkspace objects → overlays in our own kinds.

    Kueue's objects may be among the files: they become the cluster's catalogue.
    """
    from tau_compile.importing.taugrid import import_taugrid

    read = _read(files)
    _finish(import_taugrid(read, name), read, output, force, format)


@command.command(
    "job",
    epilog="Example:  kubectl get job train -o yaml | tau-compile import job - -o workloads/vision/train",
)
@_FILES
@_output("The folder to write tau.yaml and its program into.")
def job(files: tuple[str, ...], output: str, force: bool, format: str) -> None:
    """A Kubernetes Job or RayJob → a tau.yaml.

    A command becomes a small script beside it. The overlays of the repository that DIR, or the current folder, is in tell GPU
    classes and placement by name.
    """
    from tau_compile.importing.job import import_job

    read = _read(files)
    _finish(import_job(read, _clusters(output or os.curdir)), read, output, force, format)


def _read(files: tuple[str, ...]) -> list[tuple[str, bytes]]:
    from tau_compile.importing.documents import LIMITS
    from tau_compile.source.files import read_regular, reason

    found = []
    for path in files:
        if path == "-":
            found.append(("(standard input)", sys.stdin.buffer.read(LIMITS.size + 1)))
            continue
        try:
            found.append((os.path.normpath(path), read_regular(path, LIMITS.size + 1)))
        except OSError as problem:
            raise click.UsageError(f"{path} cannot be read: {reason(problem)}") from None
    return found


def _clusters(start: str) -> tuple[Cluster, ...]:
    """The clusters of a repository; none where there is none, or where its overlays have errors."""
    from tau_compile.policy.overlays import load
    from tau_compile.source import project

    files = project.overlay_files(project.root_of(start))
    loaded = load(files, project.packaged_overlays()).overlays if files else None
    return loaded.clusters if loaded else ()


def _finish(made: Made, read: list[tuple[str, bytes]], output: str, force: bool, format: str) -> None:
    """Print or write the files, then say what was not carried over; exit."""
    from tau_compile.importing.hidden import masked

    sources = {
        label: masked(data, [span for span in made.secrets if span.file == label]) for label, data in read
    }
    if len(made.files) > 1 and not output and format == "text":
        show(made.diagnostics, sources, format)
        names = ", ".join(path for path, _ in made.files[:5]) + (", …" if len(made.files) > 5 else "")
        raise click.UsageError(f"this makes {len(made.files)} files ({names}): add --output DIR")
    if output:
        _write(made, output, force)
    elif made.files and format == "text":
        click.echo(made.files[0][1], nl=False)
    if format == "json":
        _as_json(made)
    sys.exit(show(made.diagnostics, sources, "text") if format == "text" else _code(made))


def _code(made: Made) -> int:
    from tau_compile.diagnostics import has_errors

    return 1 if has_errors(made.diagnostics) else 0


def _as_json(made: Made) -> None:
    import json

    from tau_compile.printers import as_json, json_text

    files = {path: text if isinstance(text, str) else None for path, text in made.files}
    click.echo(json_text({"files": files, **json.loads(as_json(made.diagnostics))}), nl=False)


def _write(made: Made, folder: str, force: bool) -> None:
    """Write all files or none: a file that exists is replaced only by force, and never through a link."""
    from tau_compile.importing.disk import write
    from tau_compile.source.files import reason

    contents = {path: text if isinstance(text, bytes) else text.encode() for path, text in made.files}
    try:
        there = write(folder, contents, force, made.programs)
    except OSError as problem:
        raise click.ClickException(
            f"{problem.filename or folder} cannot be written: {reason(problem)}"
        ) from None
    if there:
        names = ", ".join(there[:5]) + (", …" if len(there) > 5 else "")
        raise click.ClickException(
            f"{folder} has {names} already, and nothing was written: use --force to replace"
        )
    if contents:
        count = len(contents)
        click.echo(
            f"wrote {count} file{'' if count == 1 else 's'} to {folder}: {', '.join(contents)}", err=True
        )

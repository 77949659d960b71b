"""``tau-compile adopt``."""

from __future__ import annotations

import os

import click

from tau_compile.cli.building import BASE, ROOT, written
from tau_compile.cli.inputs import FORMAT, Inputs


@click.command("adopt", epilog="Example:  tau-compile adopt workloads/")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True))
@ROOT
@BASE
@FORMAT
def command(paths: tuple[str, ...], root: str, base: str, format: str) -> None:
    """Record tau.yaml files as they are, so that they are not launched: for moving in with existing files.

    A PATH is a tau.yaml or a folder. A later edit of an adopted file launches it.
    """
    inputs = Inputs(root, format)
    written(root, base, format, _chosen(paths, inputs.root, list(inputs.settings.include)))


def _chosen(paths: tuple[str, ...], root: str, include: list[str]) -> set[str]:
    from tau_compile.source.globs import matches
    from tau_compile.source.project import workload_files

    found: set[str] = set()
    for path in paths:
        name = os.path.relpath(os.path.abspath(path), root).replace(os.sep, "/")
        if name == ".." or name.startswith("../"):
            raise click.UsageError(f"{path} is not in the repository {root}")
        if os.path.isdir(path):
            inside = set(workload_files(root, os.path.abspath(path), include))
            if not inside:
                raise click.UsageError(
                    f"there is no tau.yaml below {path} that `include` of tau-compile.yaml matches"
                )
            found |= inside
        elif any(matches(name, pattern) for pattern in include):
            found.add(name)
        else:
            raise click.UsageError(f"{path} matches no pattern of `include` in tau-compile.yaml")
    return found

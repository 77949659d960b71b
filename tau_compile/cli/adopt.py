"""``tau-compile adopt``."""

from __future__ import annotations

import os
import sys

import click

from tau_compile.cli.building import BASE, ROOT, checkout, planned, write
from tau_compile.cli.inputs import FORMAT


@click.command("adopt", epilog="Example:  tau-compile adopt workloads/")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True))
@ROOT
@BASE
@FORMAT
def command(paths: tuple[str, ...], root: str, base: str, format: str) -> None:
    """Record tau.yaml files as they are, so that they are not launched: for moving in with existing files.

    A PATH is a tau.yaml or a folder. A later edit of an adopted file launches it.
    """
    place, sources = checkout(root)
    chosen = _chosen(paths, place.root, list(place.settings.include))
    if not chosen:
        raise click.UsageError("none of these files is included by tau-compile.yaml")
    built = planned(place, sources, base, format, adopt=chosen, ended=False)
    sys.exit(write(place, built, format))


def _chosen(paths: tuple[str, ...], root: str, include: list[str]) -> list[str]:
    from tau_compile.source.globs import matches
    from tau_compile.source.project import workload_files

    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            found += workload_files(root, os.path.abspath(path), include)
        else:
            name = os.path.relpath(os.path.abspath(path), root).replace(os.sep, "/")
            found += [name] if any(matches(name, pattern) for pattern in include) else []
    return found

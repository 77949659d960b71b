"""From paths on the command line to a repository and its files, and from diagnostics to output and exit code."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from tau_compile.compiler import Repository
from tau_compile.diagnostics import has_errors
from tau_compile.source import project
from tau_compile.source.settings import Settings, load
from tau_compile.workload.code import DiskTree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.diagnostics import Diagnostic

MAX_BYTES = (1 << 20) + 1  # what the reader refuses need not be read


class Inputs:
    """One repository on disk, and the bytes that were read from it, for excerpts in messages."""

    def __init__(self, start: str) -> None:
        self.root = project.root_of(start)
        self.settings = self._settings()
        overlays = project.overlay_files(self.root)
        packaged = project.packaged_overlays()
        templates = project.own_templates(self.root, project.KNOWN_TEMPLATES)
        self.sources = {file.path: file.data for file in (*packaged, *overlays)}
        self.sources |= {f"templates/{name}": text.encode() for name, text in templates.items()}
        self.repository = Repository(overlays, packaged, DiskTree(self.root), templates)

    def _settings(self) -> Settings:
        """The project file; when it is wrong nothing can be said about the rest: exit 2."""
        path = os.path.join(self.root, project.PROJECT_FILE)
        if not os.path.isfile(path):
            return Settings()
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES)
        loaded = load(project.PROJECT_FILE, data)
        if loaded.settings is None:
            show(loaded.diagnostics, {project.PROJECT_FILE: data}, "text")
            raise SystemExit(2)
        return loaded.settings

    def read(self, path: str) -> tuple[str, bytes]:
        """(path from the root, content) of one file given on the command line."""
        try:
            with open(path, "rb") as file:
                data = file.read(MAX_BYTES)
        except OSError as problem:
            raise click.UsageError(f"{path}: {problem.strerror or problem}") from None
        name = os.path.relpath(os.path.abspath(path), self.root).replace(os.sep, "/")
        self.sources[name] = data
        return name, data


def show(
    diagnostics: Iterable[Diagnostic], sources: dict[str, bytes], format: str, quiet_summary: bool = False
) -> int:
    """Print diagnostics to standard error, or as JSON to standard output; the exit code they mean."""
    found = list(diagnostics)
    if found or format == "json":
        from tau_compile import printers

    if format == "json":
        click.echo(printers.as_json(found), nl=False)
    elif found:
        click.echo(printers.as_text(found, sources, colour()), nl=False, err=True)
    return 1 if has_errors(found) else 0


def colour() -> bool:
    """Colour only on a terminal, and not when NO_COLOR says so."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR")


FORMAT = click.option(
    "--format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print."
)

"""From paths on the command line to a repository and its files, and from diagnostics to output and exit code."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from tau_compile.compiler import Repository
from tau_compile.diagnostics import has_errors
from tau_compile.settings import Settings, load
from tau_compile.source import project
from tau_compile.source.files import read_inside, read_regular, reason
from tau_compile.workload.code import DiskTree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.diagnostics import Diagnostic
    from tau_compile.guard.waivers import Stance


class Refused(click.ClickException):
    """The surroundings do not allow what was asked for, though it was asked for rightly: nothing is said about usage."""

    exit_code = 2


class Inputs:
    """One repository on disk, and the bytes that were read from it, for excerpts in messages."""

    def __init__(self, start: str, format: str = "text", as_of: str = "", stance: Stance = "launch") -> None:
        self.root = project.root_of(start)
        self.settings = self._settings(format)
        templates = project.own_templates(self.root, project.KNOWN_TEMPLATES)
        # A template that cannot be read stops everything, as an overlay does.
        overlays = [*project.overlay_files(self.root), *(file for file in templates if file.problem)]
        packaged = project.packaged_overlays()
        self.sources = {f.path: f.data for f in (*packaged, *overlays, *templates) if not f.problem}
        texts = {
            f.path.removeprefix(f"{project.TEMPLATES}/"): f.data.decode("utf-8", "replace")
            for f in templates
            if not f.problem
        }
        self.repository = Repository(overlays, packaged, DiskTree(self.root), texts, as_of, stance)

    def _settings(self, format: str) -> Settings:
        """The project file; when it is wrong nothing can be said about the rest: exit 2."""
        if not os.path.lexists(os.path.join(self.root, project.PROJECT_FILE)):
            return Settings()
        data = read_inside(self.root, project.PROJECT_FILE)
        if not isinstance(data, bytes):
            show([data], {}, format)
            raise SystemExit(2)
        loaded = load(project.PROJECT_FILE, data)
        if loaded.settings is None:
            show(loaded.diagnostics, {project.PROJECT_FILE: data}, format)
            raise SystemExit(2)
        return loaded.settings

    def name_of(self, path: str) -> str:
        """A path on the command line, counted from the root."""
        return os.path.relpath(os.path.abspath(path), self.root).replace(os.sep, "/")

    def read(self, path: str) -> tuple[str, bytes]:
        """(path from the root, content) of one file given on the command line."""
        try:
            data = read_regular(path)
        except OSError as problem:
            raise click.UsageError(f"{path} cannot be read: {reason(problem)}") from None
        name = self.name_of(path)
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


def _date(context: click.Context, option: click.Parameter, value: str) -> str:
    if value:
        from tau_compile.guard.overlays import is_date

        if not is_date(value):
            raise click.BadParameter(f"`{value}` is no day such as 2027-03-31")
    return value


AS_OF = click.option(
    "--as-of",
    default="",
    metavar="DATE",
    callback=_date,
    help="Today's date, YYYY-MM-DD; waivers of the platform apply through their own. Without it nothing launches by one.",
)
FORMAT = click.option(
    "--format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print."
)

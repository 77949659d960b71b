"""What the verbs that build have in common: opening the repository, planning, writing and telling."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from tau_compile.builder import BaseMissingError, Built, Checkout, build
from tau_compile.cli.inputs import Inputs, show
from tau_compile.diagnostics import has_errors
from tau_compile.emit import writer
from tau_compile.git import GitError

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = click.option(
    "--repository",
    "root",
    default=".",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="The repository.",
)
BASE = click.option(
    "--base",
    default="",
    metavar="REF",
    help="The commit or branch whose records count as launched; else `base:` of the project.",
)


def checkout(root: str) -> tuple[Checkout, dict[str, bytes]]:
    """The repository at or above a folder, and the texts for excerpts. Completes what a killed build left."""
    inputs = Inputs(root)
    try:
        for path in writer.recover(inputs.root):
            click.echo(f"completed an interrupted build: {path}", err=True)
    except (OSError, writer.WriteError) as problem:
        raise click.UsageError(str(problem)) from None
    return Checkout(inputs.root, inputs.settings, inputs.repository), inputs.sources


def planned(place: Checkout, sources: dict[str, bytes], base: str, format: str, **how: Any) -> Built:
    """Plan a build, or say what is wrong and exit."""
    try:
        built = build(place, base, **how)
    except (BaseMissingError, GitError) as problem:
        raise click.UsageError(str(problem)) from None
    for said in built.diagnostics:
        if said.span is not None and said.span.file not in sources:
            _remember(place.root, said.span.file, sources)
    if has_errors(built.diagnostics):
        sys.exit(show(built.diagnostics, sources, format))
    if built.diagnostics and format == "text":
        show(built.diagnostics, sources, format)
    return built


def _remember(root: str, name: str, sources: dict[str, bytes]) -> None:
    path = os.path.join(root, name)
    if name.endswith((".yaml", ".yml")) and os.path.isfile(path):
        with open(path, "rb") as file:
            sources[name] = file.read(1 << 20)


def write(place: Checkout, built: Built, format: str) -> int:
    """Apply the change, say what happened, and return the exit code."""
    try:
        applied = writer.apply(place.root, built.change)
    except (OSError, writer.WriteError) as problem:
        click.echo(f"tau-compile: nothing was written: {problem}", err=True)
        return 1
    tell(built, format, len(applied.written), len(applied.deleted))
    return 0


def tell(built: Built, format: str, written: int, deleted: int) -> None:
    """What the build does, one line an action, and a summary."""
    actions = built.plan.actions
    if format == "json":
        import json

        body = {"actions": [a._asdict() for a in actions], "written": written, "deleted": deleted}
        click.echo(json.dumps(body, ensure_ascii=False, indent=2))
        return
    for action in actions:
        if action.verb != "keep":
            click.echo(action.text)
    click.echo(f"{summary(a.verb for a in actions)}; {written} files written, {deleted} removed")


def summary(verbs: Iterable[str]) -> str:
    """``launches 2 runs, keeps 3, retires 1``."""
    counts: dict[str, int] = {}
    for verb in verbs:
        counts[verb] = counts.get(verb, 0) + 1
    words = {"launch": "launches", "keep": "keeps", "retire": "retires", "cancel": "cancels"}
    parts = [f"{word} {counts[verb]}" for verb, word in words.items() if counts.get(verb)]
    return ", ".join(parts) if parts else "nothing to do"

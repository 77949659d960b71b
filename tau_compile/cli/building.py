"""What the verbs that build have in common: opening the repository, planning, writing and telling."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from tau_compile.checkout.base import BaseMissingError, find
from tau_compile.checkout.builder import Built, Checkout, build
from tau_compile.checkout.git import GitError
from tau_compile.cli.inputs import Inputs, Refused, show
from tau_compile.diagnostics import has_errors
from tau_compile.emit import writer
from tau_compile.printers import as_json, json_text, printable
from tau_compile.runs.refusals import count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from tau_compile.checkout.base import Base
    from tau_compile.diagnostics import Diagnostic
    from tau_compile.guard.waivers import Stance
    from tau_compile.runs.model import Action

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


def opened(
    root: str, format: str = "text", as_of: str = "", stance: Stance = "launch"
) -> tuple[Checkout, dict[str, bytes]]:
    """The repository at or above a folder, and the texts for excerpts."""
    inputs = Inputs(root, format, as_of, stance)
    return Checkout(inputs.root, inputs.settings, inputs.repository), inputs.sources


@contextmanager
def writing(root: str) -> Iterator[writer.Writer]:
    """Hold the tree for writing, and complete first what a killed build left."""
    try:
        with writer.Writer(root) as held:
            for path in held.recover():
                click.echo(f"completed an interrupted build: {path}", err=True)
            yield held
    except writer.WriteError as problem:
        if writer.pending(root):
            click.echo(f"tau-compile: not everything was written: {problem}", err=True)
        else:
            click.echo(f"tau-compile: nothing was written: {problem}", err=True)
        sys.exit(1)


def based(place: Checkout, base: str) -> Base | None:
    """The base, or exit with 2 and say why there is none."""
    try:
        return find(place.root, base, place.settings.base)
    except (BaseMissingError, GitError) as problem:
        raise Refused(str(problem)) from None


def planned(place: Checkout, base: str, chosen: Collection[str] | None = None) -> Built:
    """Plan a build, or say why there is no base and exit with 2."""
    try:
        return build(place, base, chosen=chosen)
    except (BaseMissingError, GitError) as problem:
        raise Refused(str(problem)) from None


def written(
    root: str, base: str, format: str, chosen: Collection[str] | None = None, as_of: str = ""
) -> None:
    """Plan a build, write it and say what happened; exit with 1 when there are errors."""
    place, sources = opened(root, format, as_of)
    with writing(place.root) as held:
        built = planned(place, base, chosen)
        complain(place.root, built.diagnostics, sources, format)
        applied = held.apply(built.change)
    tell(built, format, len(applied.written), len(applied.deleted))


def complain(root: str, diagnostics: Collection[Diagnostic], sources: dict[str, bytes], format: str) -> None:
    """Print diagnostics, and exit with 1 when there are errors among them."""
    for said in diagnostics:
        if said.span is not None and said.span.file not in sources:
            _remember(root, said.span.file, sources)
    if has_errors(diagnostics):
        sys.exit(show(diagnostics, sources, format))
    if format == "text":
        show(diagnostics, sources, format)


def _remember(root: str, name: str, sources: dict[str, bytes]) -> None:
    """A tau.yaml's text, for its excerpt; of what we write ourselves no line says more than the message."""
    path = os.path.join(root, name)
    if name.endswith((".yaml", ".yml")) and not name.startswith("rendered/") and os.path.isfile(path):
        with open(path, "rb") as file:
            sources[name] = file.read(1 << 20)


def tell(built: Built, format: str, written: int, deleted: int) -> None:
    """What the build does, one line an action, and a summary."""
    actions = built.plan.actions
    if format == "json":
        body = {
            "actions": [as_data(action) for action in actions],
            "written": written,
            "deleted": deleted,
            "diagnostics": diagnostics_data(built.diagnostics),
        }
        click.echo(json_text(body), nl=False)
        return
    for action in actions:
        if action.verb != "keep":
            click.echo(printable(action.text))
    files = (
        f"{count(written, 'file')} written, {deleted} removed" if written or deleted else "no file changes"
    )
    click.echo(f"{summary(actions)}; {files}")


def as_data(action: Action) -> dict[str, Any]:
    """An action as JSON."""
    return {
        "verb": action.verb,
        "run": action.run,
        "record": action.path,
        "gpus": action.gpus,
        "text": action.text,
    }


def diagnostics_data(diagnostics: Iterable[Diagnostic]) -> list[Any]:
    """Diagnostics as JSON."""
    import json

    found: list[Any] = json.loads(as_json(diagnostics))["diagnostics"]
    return found


def summary(actions: Iterable[Action]) -> str:
    """``launches 2 runs (16 GPUs), keeps 3, retires 1``."""
    counts: dict[str, int] = {}
    gpus = 0
    for action in actions:
        counts[action.verb] = counts.get(action.verb, 0) + 1
        gpus += action.gpus
    words = {
        "launch": "launches", "adopt": "adopts", "restore": "restores", "keep": "keeps", "retire": "retires",
        "cancel": "cancels",
    }  # fmt: skip
    parts: list[str] = []
    for verb, word in words.items():
        if counts.get(verb):
            runs = str(counts[verb]) if parts else count(counts[verb], "run")
            parts.append(f"{word} {runs}" + (f" ({count(gpus, 'GPU')})" if verb == "launch" and gpus else ""))
    if counts.get("workspace"):
        parts.append(f"changes {count(counts['workspace'], 'workspace')}")
    return ", ".join(parts) if parts else "nothing to do"

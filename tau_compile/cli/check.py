"""``tau-compile check``."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from tau_compile.cli.building import BASE, ROOT, complain, diagnostics_data, opened, planned
from tau_compile.cli.inputs import FORMAT, show
from tau_compile.effects import Difference, Effect, differences
from tau_compile.emit import writer
from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

DIFFERENT = 3
_SHOWN = 6  # files of one run that are listed
# Runs, records or manifests that are not as they were launched: differences, even where no build can mend them.
_TAMPERED = frozenset({"TAU738", "TAU739", "TAU740", "TAU741", "TAU742"})


class Finding(NamedTuple):
    """An effect that a build would have, and the files it would touch."""

    effect: Effect
    files: list[Difference]


@click.command("check", epilog="Example:  tau-compile check --base origin/main --pending")
@ROOT
@BASE
@click.option(
    "--pending",
    is_flag=True,
    help="Launches still to be made are no difference: for pull requests that carry sources only.",
)
@FORMAT
def command(root: str, base: str, pending: bool, format: str) -> None:
    """Would a build change anything, and is anything tampered with? Writes nothing.

    Exit code 3 when there are differences, with the list and the command that mends them. Runs that ended and wait for being
    retired are information.
    """
    place, sources = opened(root)
    mend = shlex.join(
        [
            "tau-compile",
            "build",
            *(["--repository", root] if root != "." else []),
            *(["--base", base] if base else []),
        ]
    )
    if writer.pending(place.root):
        _tell([], [], [f"an interrupted build is not complete: `{mend}` completes it"], mend, (), format)
        sys.exit(DIFFERENT)
    built = planned(place, base)
    tampered = [said for said in built.diagnostics if said.id in _TAMPERED and said.severity == "error"]
    complain(place.root, [said for said in built.diagnostics if said not in tampered], sources, format)
    if format == "text":
        show(tampered, sources, format)
    found = [Finding(effect, files) for effect in built.effects if (files := differences(place.root, effect))]
    new = _new(found) if pending else frozenset()
    waiting = [finding for finding in found if _waits(finding.effect, new)]
    differing = [finding for finding in found if not _waits(finding.effect, new)]
    notes = [action.text for action in built.plan.actions if action.verb == "notice"]
    _tell(differing, waiting, notes, mend if differing else "", built.diagnostics, format)
    if differing or tampered:
        sys.exit(DIFFERENT)


def _new(found: list[Finding]) -> frozenset[str]:
    """Launches of which nothing is here yet, by the path of their record; a draft that is here has to be right."""
    return frozenset(
        effect.path
        for effect, files in found
        if effect.cause == effect.path
        and len(files) == len(effect.writes)
        and all(file.what == "missing" for file in files)
    ) | {"anchor"}


def _waits(effect: Effect, new: frozenset[str]) -> bool:
    """Whether it is no difference but something that is still to come: a retirement, or what new launches bring about."""
    return (effect.verb == "retire" and not effect.cause) or (effect.cause or effect.verb) in new


def _tell(
    differing: list[Finding],
    waiting: list[Finding],
    notes: list[str],
    mend: str,
    said: Iterable[Any],
    format: str,
) -> None:
    if format == "json":
        from tau_compile.printers import json_text

        body = {
            "differences": [_data(finding) for finding in differing],
            "pending": [_data(finding) for finding in waiting],
            "notes": notes,
            "mend": mend,
            "diagnostics": diagnostics_data(said),
        }
        click.echo(json_text(body), nl=False)
        return
    for finding in differing:
        click.echo(finding.effect.text)
        for file in finding.files[:_SHOWN]:
            click.echo(f"  {file.what}: {file.path}")
        if len(finding.files) > _SHOWN:
            click.echo(f"  and {len(finding.files) - _SHOWN} more files")
    for finding in waiting:
        click.echo(f"pending: {finding.effect.text}")
    for note in notes:
        click.echo(f"note: {note}")
    if mend and differing:
        click.echo(f"not up to date: run `{mend}`, then commit runs/ and rendered/", err=True)
    elif not mend and not any(d.id in _TAMPERED and d.severity == "error" for d in said):
        click.echo("up to date", err=True)


def _data(finding: Finding) -> dict[str, Any]:
    effect = finding.effect
    run = "" if effect.verb == "anchor" else effect.path.rpartition("/")[2].removesuffix(".json")
    files = [{"path": file.path, "change": file.what} for file in finding.files]
    return {"verb": effect.verb, "run": run, "text": effect.text, "files": files}

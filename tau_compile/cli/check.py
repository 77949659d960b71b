"""``tau-compile check``."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from tau_compile.checkout.builder import reader
from tau_compile.checkout.effects import Difference, Effect, differences
from tau_compile.cli.building import BASE, ROOT, complain, diagnostics_data, opened, planned
from tau_compile.cli.inputs import AS_OF, FORMAT, show
from tau_compile.emit import writer
from tau_compile.named import NamedTuple
from tau_compile.printers import json_text, printable

if TYPE_CHECKING:
    from tau_compile.diagnostics import Diagnostic

DIFFERENT = 3
_SHOWN = 6  # files of one run that are listed
# Runs, records or manifests that are not as they were launched: differences, even where no build can mend them.
_TAMPERED = frozenset({"TAU738", "TAU739", "TAU740", "TAU741", "TAU742", "TAU744"})


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
@AS_OF
@FORMAT
def command(root: str, base: str, pending: bool, as_of: str, format: str) -> None:
    """Would a build change anything, and is anything tampered with? Writes nothing.

    Exit code 3 when there are differences, with the list and the command that mends them. Runs that ended and wait for being
    retired are information.
    """
    # A hook passes no date: whether a new run may be launched is asked later.
    place, sources = opened(root, format, as_of, "look" if pending and not as_of else "launch")
    options = [*(["--repository", root] if root != "." else []), *(["--base", base] if base else [])]
    if as_of and place.repository.guard is not None:
        options += ["--as-of", as_of]
    mend = shlex.join(["tau-compile", "build", *options])
    if writer.pending(place.root):
        left = Effect("complete", "", "completes an interrupted build", "", {})
        _tell(_Answer([Finding(left, [])], [], [], (), mend), format)
        sys.exit(DIFFERENT)
    built = planned(place, base)
    broken = [said for said in built.diagnostics if said.id in _TAMPERED and said.severity == "error"]
    complain(place.root, [said for said in built.diagnostics if said not in broken], sources, format)
    if broken and format == "text":
        show(broken, sources, format)
    read = reader(place.root)
    found = [Finding(effect, files) for effect in built.effects if (files := differences(read, effect))]
    new = _new(found) if pending else frozenset()
    answer = _Answer(
        [finding for finding in found if not _waits(finding.effect, new)],
        [finding for finding in found if _waits(finding.effect, new)],
        [action.text for action in built.plan.actions if action.verb == "notice"],
        built.diagnostics,
        "" if broken else mend,
    )
    _tell(answer, format)
    if answer.differing or broken:
        sys.exit(DIFFERENT)


def _new(found: list[Finding]) -> frozenset[str]:
    """Launches of which nothing is here yet, by the path of their record; a draft that is here has to be right."""
    return frozenset(
        effect.path
        for effect, files in found
        if effect.cause == effect.path
        and len(files) == len(effect.writes)
        and all(file.what == "missing" for file in files)
    ) | {"anchor", *(effect.path for effect, _ in found if effect.verb == "workspace" and effect.cause)}


def _waits(effect: Effect, new: frozenset[str]) -> bool:
    """Whether it is no difference but something that is still to come: a retirement, or what new launches bring about."""
    return (effect.verb == "retire" and not effect.cause) or (effect.cause or effect.verb) in new


class _Answer(NamedTuple):
    """What a check found. ``mend`` is the command that mends all of it, empty when something has to be mended by hand."""

    differing: list[Finding]
    waiting: list[Finding]
    notes: list[str]
    diagnostics: tuple[Diagnostic, ...]
    mend: str


def _tell(answer: _Answer, format: str) -> None:
    if format == "json":
        body = {
            "differences": [_data(finding) for finding in answer.differing],
            "pending": [_data(finding) for finding in answer.waiting],
            "notes": answer.notes,
            "mend": answer.mend if answer.differing else "",
            "diagnostics": diagnostics_data(answer.diagnostics),
        }
        click.echo(json_text(body), nl=False)
        return
    for effect, files in answer.differing:
        click.echo(printable(effect.text))
        for file in files[:_SHOWN]:
            click.echo(f"  {file.what}: {printable(file.path)}")
        if len(files) > _SHOWN:
            click.echo(f"  and {len(files) - _SHOWN} more files")
    for effect, _ in answer.waiting:
        click.echo(f"pending: {printable(effect.text)}")
    for note in answer.notes:
        click.echo(f"note: {printable(note)}")
    if not answer.mend:
        click.echo("not up to date, and no build mends it: see above", err=True)
    elif answer.differing:
        click.echo(f"not up to date: run `{answer.mend}`, then commit runs/ and rendered/", err=True)
    else:
        click.echo("up to date", err=True)


def _data(finding: Finding) -> dict[str, Any]:
    effect = finding.effect
    run = (
        "" if effect.verb in ("anchor", "workspace") else effect.path.rpartition("/")[2].removesuffix(".json")
    )
    files = [{"path": file.path, "change": file.what} for file in finding.files]
    return {"verb": effect.verb, "run": run, "text": effect.text, "files": files}

"""``tau-compile check``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from tau_compile.cli.building import BASE, ROOT, checkout, planned
from tau_compile.cli.inputs import FORMAT

if TYPE_CHECKING:
    from tau_compile.builder import Built

DIFFERENT = 3


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
    place, sources = checkout(root)
    built = planned(place, sources, base, format, ended=False)
    retiring = (
        planned(place, sources, base, "json", ended=True)
        if os.path.isdir(os.path.join(place.root, "evidence"))
        else None
    )
    differences = _differences(place.root, built, pending)
    waiting = [a.text for a in retiring.plan.actions if a.verb == "retire"] if retiring else []
    if format == "json":
        import json

        click.echo(json.dumps({"differences": differences, "pending": waiting}, ensure_ascii=False, indent=2))
    else:
        for line in differences:
            click.echo(line)
        for text in waiting:
            click.echo(f"pending: {text}")
        if differences:
            click.echo("`tau-compile build` brings runs/ and rendered/ up to date", err=True)
        else:
            click.echo("up to date", err=True)
    sys.exit(DIFFERENT if differences else 0)


def _differences(root: str, built: Built, pending: bool) -> list[str]:
    """One line a file that a build would write or remove."""
    lines = []
    for path, content in sorted(built.change.writes.items()):
        now = _read(os.path.join(root, path))
        if now == content or (pending and now is None and _new(path, built)):
            continue
        lines.append(f"{'missing' if now is None else 'differs'}: {path}")
    lines += [
        f"superfluous: {path}"
        for path in sorted(built.change.deletes)
        if os.path.lexists(os.path.join(root, path))
    ]
    return lines


def _new(path: str, built: Built) -> bool:
    """Whether a file belongs to a launch, or is an anchor, and is simply not there yet."""
    from tau_compile.runs.tree import ANCHOR, folder

    places = {folder(launch.record) for launch in built.plan.launches}
    records = {launch.record.path for launch in built.plan.launches}
    head = path.rpartition("/")[0]
    return path in records or head in places or head.endswith(f"/{ANCHOR}")


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read().replace(b"\r\n", b"\n")
    except OSError:
        return None

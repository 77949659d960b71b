"""``tau-compile list``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from tau_compile.cli.building import ROOT
from tau_compile.cli.inputs import FORMAT, Refused, show
from tau_compile.printers import json_text, table
from tau_compile.runs.refusals import count

if TYPE_CHECKING:
    from tau_compile.runs.record import Record


@click.command("list", epilog="Example:  tau-compile list --state active")
@ROOT
@click.option(
    "--state",
    type=click.Choice(["active", "retired", "cancelled", "adopted"]),
    help="Only runs in this state.",
)
@click.option("--workspace", "-w", default="", metavar="NAME", help="Only runs of this workspace.")
@FORMAT
def command(root: str, state: str | None, workspace: str, format: str) -> None:
    """List runs with their state, workspace, GPUs and how many commits ago they were recorded, the latest first."""
    from tau_compile.checkout import records
    from tau_compile.source.project import root_of

    top = root_of(root)
    known, broken = records.in_tree(top)
    chosen = [r for r in known.values() if state in (None, r.state) and workspace in ("", r.workspace)]
    ages = _ages(top)
    rows = sorted(((ages.get(r.path, -1), r) for r in chosen), key=lambda row: (row[0], row[1].path))
    if format == "json":
        click.echo(json_text([_data(record, age) for age, record in rows]), nl=False)
    else:
        head = ("RUN", "STATE", "WORKSPACE", "GPUS", "AGE", "SOURCE")
        click.echo(table([head, *(_row(r, age) for age, r in rows)]), nl=False)
    if broken:
        sys.exit(show(broken, {}, "text"))


def _data(record: Record, age: int) -> dict[str, object]:
    return {
        "run": record.run,
        "state": record.state,
        "outcome": record.evidence.state if record.evidence else None,
        "workspace": record.workspace,
        "cluster": record.cluster,
        "gpus": record.gpus,
        "commits_ago": None if age < 0 else age,
        "source": record.source,
    }


def _row(record: Record, age: int) -> tuple[str, ...]:
    when = "not committed" if age < 0 else count(age, "commit")
    state = f"{record.state} ({record.evidence.state})" if record.evidence else record.state
    return record.run, state, record.workspace, str(record.gpus), when, record.source


def _ages(root: str) -> dict[str, int]:
    """For each record, how many commits came after the one that added it."""
    from tau_compile.checkout import git

    try:
        if not git.work_tree(root) or git.commit(root, "HEAD") is None:
            return {}
        return git.ages(root, "runs")
    except git.GitError as problem:
        raise Refused(str(problem)) from None

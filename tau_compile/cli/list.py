"""``tau-compile list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tau_compile.cli.building import ROOT
from tau_compile.cli.inputs import FORMAT

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
    """List runs with their state, workspace, GPUs and how many commits ago they were recorded."""
    from tau_compile.builder import work_tree_records
    from tau_compile.source.project import root_of

    top = root_of(root)
    records, _ = work_tree_records(top)
    chosen = [r for r in records.values() if state in (None, r.state) and workspace in ("", r.workspace)]
    ages = _ages(top)
    rows = [_row(record, ages) for record in chosen]
    if format == "json":
        import json

        names = ("run", "state", "workspace", "gpus", "age", "source")
        click.echo(
            json.dumps([dict(zip(names, row, strict=True)) for row in rows], ensure_ascii=False, indent=2)
        )
        return
    _table([("RUN", "STATE", "WORKSPACE", "GPUS", "AGE", "SOURCE"), *rows])


def _row(record: Record, ages: dict[str, int]) -> tuple[str, str, str, str, str, str]:
    age = ages.get(record.path)
    commits = "not committed" if age is None else f"{age} commit{'' if age == 1 else 's'}"
    return record.run, record.state, record.workspace, str(record.gpus), commits, record.source


def _ages(root: str) -> dict[str, int]:
    """For each record, how many commits came after the one that added it."""
    from tau_compile import git

    if not git.work_tree(root) or git.commit(root, "HEAD") is None:
        return {}
    return git.ages(root, "runs")


def _table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        click.echo("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())

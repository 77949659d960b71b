"""``tau-compile cancel``."""

from __future__ import annotations

import sys

import click

from tau_compile.cli.building import ROOT
from tau_compile.emit import writer
from tau_compile.suggest import nearest


@click.command("cancel", epilog="Example:  tau-compile cancel llama-finetune-1a2b3c4d")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@ROOT
def command(runs: tuple[str, ...], root: str) -> None:
    """Stop runs: their manifests leave the tree, and the GitOps agent removes them from the cluster.

    The record stays, so that the run is never launched again; `rerun` launches its workload once more.
    """
    from tau_compile.builder import work_tree_records
    from tau_compile.emit.writer import Change
    from tau_compile.runs.record import to_json
    from tau_compile.runs.tree import folder
    from tau_compile.source.project import root_of

    top = root_of(root)
    writer.recover(top)
    records, _ = work_tree_records(top)
    by_run = {record.run: record for record in records.values()}
    writes: dict[str, bytes] = {}
    deletes: set[str] = set()
    for run in runs:
        record = by_run.get(run)
        if record is None:
            close = nearest(run, by_run)
            raise click.UsageError(
                f"there is no run `{run}`" + (f"; did you mean `{close}`?" if close else "")
            )
        if record.state != "active":
            raise click.UsageError(f"{run} is {record.state} already")
        writes[record.path] = to_json(record.cancelled()).encode()
        deletes.update(f"{folder(record)}/{name}" for name in record.manifests)
    try:
        writer.apply(top, Change(writes, frozenset(deletes)))
    except (OSError, writer.WriteError) as problem:
        click.echo(f"tau-compile: nothing was written: {problem}", err=True)
        sys.exit(1)
    for run in runs:
        click.echo(f"cancels {run}")

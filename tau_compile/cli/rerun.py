"""``tau-compile rerun``."""

from __future__ import annotations

import os

import click

from tau_compile.cli.building import ROOT


@click.command(
    "rerun", epilog="Example:  tau-compile rerun workloads/vision/train/tau.yaml && tau-compile build"
)
@click.argument("what", metavar="FILE|RUN")
@ROOT
def command(what: str, root: str) -> None:
    """Launch a workload once more: raises `run.attempt` in its tau.yaml, comments kept. `build` then launches it."""
    from tau_compile.builder import work_tree_records
    from tau_compile.edit import replace_file, with_attempt
    from tau_compile.source.project import root_of

    top = root_of(root)
    records, _ = work_tree_records(top)
    path = what
    if not os.path.isfile(what):
        record = next((r for r in records.values() if r.run == what), None)
        if record is None:
            raise click.UsageError(f"`{what}` is neither a file nor a run")
        path = os.path.join(top, record.source)
        if not os.path.isfile(path):
            raise click.UsageError(f"{record.source}, from which {what} was launched, is gone")
    name = os.path.relpath(os.path.abspath(path), top).replace(os.sep, "/")
    used = max((r.attempt for r in records.values() if r.source == name), default=1)
    with open(path, "rb") as file:
        data = file.read()
    attempt, text = with_attempt(data, used)
    replace_file(path, text)
    click.echo(f"{name}: run.attempt is now {attempt}; `tau-compile build` launches it")

"""``tau-compile rerun``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from tau_compile.cli.building import ROOT
from tau_compile.cli.inputs import Inputs, show

if TYPE_CHECKING:
    from tau_compile.diagnostics import Diagnostic
    from tau_compile.runs.record import Record


@click.command(
    "rerun", epilog="Example:  tau-compile rerun workloads/vision/train/tau.yaml && tau-compile build"
)
@click.argument("what", metavar="FILE|RUN")
@ROOT
def command(what: str, root: str) -> None:
    """Launch a workload once more: raises `run.attempt` in its tau.yaml, and touches nothing else. `build` then launches it."""
    from tau_compile.checkout import records
    from tau_compile.diagnostics import has_errors
    from tau_compile.edit import EditError, replace_file, with_attempt
    from tau_compile.intent import read_document, read_intent

    inputs = Inputs(what if os.path.isfile(what) else root)
    known = list(records.in_tree(inputs.root)[0].values())
    path = what if os.path.isfile(what) else _file_of(what, known, inputs)
    name, data = inputs.read(path)
    said: list[Diagnostic] = []
    canonical = read_document(name, data, said)
    if canonical is None or has_errors(said):
        sys.exit(show(said, inputs.sources, "text"))
    # Attempts of its own, whatever its file or workspace was called before.
    workload = read_intent(inputs.repository.tree, name, canonical, []).name
    used = max((record.attempt for record in known if record.name == workload), default=1)
    try:
        attempt, text = with_attempt(data, used)
    except EditError as problem:
        raise click.ClickException(f"{name}: {problem}") from None
    replace_file(path, text)
    click.echo(f"{name}: run.attempt is now {attempt}; `tau-compile build` launches it")


def _file_of(run: str, known: list[Record], inputs: Inputs) -> str:
    """The tau.yaml of a run: the one it was launched from, or the one that has its name today."""
    from tau_compile.suggest import nearest

    record = next((r for r in known if r.run == run), None)
    if record is None:
        close = nearest(run, [r.run for r in known])
        raise click.UsageError(
            f"`{run}` is neither a file nor a run" + (f"; did you mean `{close}`?" if close else "")
        )
    path = os.path.join(inputs.root, record.source)
    if os.path.isfile(path):
        return path
    raise click.UsageError(
        f"{record.source}, from which {run} was launched, is gone: name the file it was moved to, or restore it"
    )

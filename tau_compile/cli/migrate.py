"""``tau-compile migrate``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from tau_compile.cli.inputs import Inputs, show

if TYPE_CHECKING:
    from tau_compile.diagnostics import Diagnostic


@click.command("migrate", epilog="Example:  tau-compile migrate tau.yaml --write")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--write", is_flag=True, help="Change the file instead of printing the result.")
def command(file: str, write: bool) -> None:
    """Turn TauGrid's direct form, and older spellings, into the canonical form.

    Comments and everything that need not change stay as they are; so does the identity of the run.
    """
    from tau_compile.diagnostics import has_errors
    from tau_compile.intent import read_document

    inputs = Inputs(file)
    name, data = inputs.read(file)
    said: list[Diagnostic] = []
    canonical = read_document(name, data, said)
    if canonical is None or has_errors(said):
        sys.exit(show(said, inputs.sources, "text"))
    from tau_compile.edit import replace_file
    from tau_compile.migrate import migrate

    text = (
        migrate(data, canonical)
        if canonical.moves or canonical.form == "direct"
        else data.decode("utf-8-sig")
    )
    if not write:
        click.echo(text, nl=False)
        return
    if text.encode() != data:
        replace_file(file, text)
    click.echo(
        f"{file}: {'already in the canonical form' if text.encode() == data else 'migrated'}", err=True
    )

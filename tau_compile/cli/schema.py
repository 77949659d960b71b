"""``tau-compile schema``."""

from __future__ import annotations

import click

NAMES = ("tau", "platform", "cluster", "workspace", "profile", "project", "run-record")


@click.command("schema", epilog="Example:  tau-compile schema tau > .vscode/tau.schema.json")
@click.argument("name", type=click.Choice(NAMES), default="tau")
def command(name: str) -> None:
    """Print the JSON Schema of a tau.yaml, of an overlay kind, of the project file, or of a run record."""
    from tau_compile.schema.bundle import bundled

    click.echo(bundled(name), nl=False)

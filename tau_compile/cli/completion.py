"""``tau-compile completion``."""

from __future__ import annotations

import click


@click.command("completion", epilog='Example:  eval "$(tau-compile completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class

    from tau_compile.cli import cli

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, "tau-compile", "_TAU_COMPILE_COMPLETE").source())

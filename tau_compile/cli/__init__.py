"""The command line. Each verb is a module of its own, imported only when it is called."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

import click

from tau_compile import __version__

# Verb → (module, what --help says). The order is the order of --help.
VERBS = {
    "init": ("init", "Write a GitOps repository to start from."),
    "validate": ("validate", "Check tau.yaml files and overlays; write nothing."),
    "render": ("render", "Print the manifests of one tau.yaml."),
    "explain": ("explain", "Say where a value comes from, and what lost."),
    "build": ("build", "Compile the repository: write rendered/ and runs/."),
    "check": ("check", "Would a build change anything? Is anything tampered with?"),
    "list": ("list", "List runs."),
    "rerun": ("rerun", "Launch a workload once more."),
    "cancel": ("cancel", "Stop runs."),
    "adopt": ("adopt", "Record files as they are, so that they are not launched."),
    "migrate": ("migrate", "Turn TauGrid's direct form into the canonical form."),
    "import": ("import_", "Turn objects of a running cluster into overlays and tau.yaml files."),
    "schema": ("schema", "Print a JSON Schema, for editors."),
    "completion": ("completion", "Print the completion script of a shell."),
}
INTERNAL_ERROR = 70


class _Verbs(click.Group):
    """A group that knows its commands by name and loads one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        import importlib

        module = importlib.import_module(f"tau_compile.cli.{VERBS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in VERBS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in VERBS:
            from tau_compile.suggest import nearest

            close = nearest(name, VERBS)
            ctx.fail(f"there is no command `{name}`." + (f" Did you mean `{close}`?" if close else ""))
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example:  tau-compile render tau.yaml | kubectl diff -f -",
)
@click.version_option(__version__, "--version", prog_name="tau-compile")
def cli() -> None:
    """Compile tau.yaml files and policy overlays into plain Kueue and KubeRay manifests.

    Exit codes: 0 fine, 1 the input has errors, 2 wrong usage, 3 differences, 70 a bug in tau-compile.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    _assert_streams()
    for stream in (sys.stdout, sys.stderr):  # manifests are UTF-8 whatever the terminal says
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        cli.main(arguments, prog_name="tau-compile", standalone_mode=True)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has seen enough
        raise SystemExit(1) from None
    except OSError as problem:
        raise SystemExit(_report_surroundings(problem)) from None
    except Exception as problem:
        _report_bug(problem)
        raise SystemExit(INTERNAL_ERROR) from None


def _assert_streams() -> None:
    """A process may be started with closed streams: without an output nothing can be done, without a stderr it can."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process
    if sys.stdout is None:
        click.echo("tau-compile: standard output is closed", err=True)
        raise SystemExit(1)


def _report_surroundings(problem: OSError) -> int:
    """Say what the system refused, such as a full disk or a folder that is gone; the exit code it means."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - what is buffered cannot be written either
    reason = (problem.strerror or str(problem)).lower()
    message, code = f"{problem.filename}: {reason}" if problem.filename else f"output failed: {reason}", 1
    try:
        os.getcwd()
    except OSError:
        message, code = "the current folder is gone: change into one that exists", 2
    with contextlib.suppress(OSError):
        click.echo(f"tau-compile: {message}", err=True)
    return code


def _report_bug(problem: Exception) -> None:
    """Say that it is our fault, and where, without a traceback."""
    import traceback

    from tau_compile.printers import printable

    last: Any = traceback.extract_tb(problem.__traceback__)[-1]
    place = f"{last.filename.replace(chr(92), '/').rpartition('tau_compile/')[2]}:{last.lineno}"
    click.echo(
        f"tau-compile: internal error in {place} ({type(problem).__name__}: {printable(str(problem))})\n"
        "This is a bug in tau-compile. Please report it with the input that caused it.",
        err=True,
    )

"""``tau-compile render``."""

from __future__ import annotations

import sys

import click

from tau_compile.cli.inputs import AS_OF, FORMAT, Inputs, show


@click.command(
    "render", epilog="Example:  tau-compile render workloads/vision/train/tau.yaml > manifests.yaml"
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--workspace", "-w", default="", metavar="NAME", help="The workspace, when the file does not say."
)
@AS_OF
@FORMAT
def command(file: str, workspace: str, as_of: str, format: str) -> None:
    """Print the manifests of one tau.yaml on standard output; say what is wrong on standard error.

    Without overlays the packaged defaults are used. With --format json the output is one JSON object with the manifests and
    the diagnostics.
    """
    from tau_compile.compiler import compile_file
    from tau_compile.diagnostics import has_errors

    inputs = Inputs(file, format, as_of)
    name, data = inputs.read(file)
    compiled = compile_file(inputs.repository, name, data, workspace)
    if format == "json":
        import json

        from tau_compile.printers import as_json, json_text

        body = {
            "run": compiled.run_id,
            "manifests": list(compiled.objects),
            **json.loads(as_json(compiled.diagnostics)),
        }
        click.echo(json_text(body), nl=False)
        sys.exit(1 if has_errors(compiled.diagnostics) else 0)
    if compiled.objects:
        from tau_compile.emit.yaml import dump_all

        click.echo(dump_all(compiled.objects), nl=False)
    sys.exit(show(compiled.diagnostics, inputs.sources, format))

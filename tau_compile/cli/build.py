"""``tau-compile build``."""

from __future__ import annotations

import click

from tau_compile.cli.building import BASE, ROOT, written
from tau_compile.cli.inputs import AS_OF, FORMAT


@click.command("build", epilog="Example:  tau-compile build --base origin/main")
@ROOT
@BASE
@AS_OF
@FORMAT
def command(root: str, base: str, as_of: str, format: str) -> None:
    """Compile the repository: launch what is new, keep what runs, retire what ended; write rendered/ and runs/.

    A run is launched when its record is on the base branch. Until then it is a draft, which every build makes anew. An error
    anywhere writes nothing at all.
    """
    written(root, base, format, as_of=as_of)

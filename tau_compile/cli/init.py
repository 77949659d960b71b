"""``tau-compile init``."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys

import click

from tau_compile import __version__
from tau_compile.data import locate
from tau_compile.emit import writer
from tau_compile.source.project import PROJECT_FILE

# What may be there already: Git's own folder, and what a killed `init` left.
_NO_MATTER = {".git", ".tau-compile"}
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_BRANCH = re.compile(r"ref: refs/heads/([A-Za-z0-9][A-Za-z0-9._/-]*)\n?")


def _label(context: click.Context, option: click.Parameter, value: str) -> str:
    """A name that is a file name, a namespace and a part of other names."""
    if _LABEL.fullmatch(value) is None:
        raise click.BadParameter(
            f"`{value}`: lower-case letters, digits and dashes, 63 at most, no dash at an end",
            context,
            option,
        )
    return value


@click.command("init", epilog="Example:  tau-compile init gitops --name vision --cluster gpu-east")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False))
@click.option(
    "--name",
    "workspace",
    default="research",
    show_default=True,
    metavar="WORKSPACE",
    callback=_label,
    help="The first workspace: a team, and its namespace.",
)
@click.option(
    "--cluster",
    default="gpu-cluster",
    show_default=True,
    metavar="CLUSTER",
    callback=_label,
    help="The cluster it runs on.",
)
def command(folder: str, workspace: str, cluster: str) -> None:
    """Write a working GitOps repository to start from: overlays, a first workload, CI, and a README for the team.

    DIR must not exist or be empty; a .git in it is no matter, and Git is not called. All files are written or none.
    """
    git = _git_folder(folder)
    values = {
        "workspace": workspace,
        "cluster": cluster,
        "base": _branch(git),
        "series": series(__version__),
    }
    try:
        count = _write(folder, files(values))
    except (OSError, writer.WriteError) as problem:
        click.echo(f"tau-compile: nothing was written: {problem}", err=True)
        sys.exit(1)
    click.echo(f"wrote {count} files to {folder}; {os.path.join(folder, 'README.md')} explains them\n")
    if git and not os.path.samefile(os.path.dirname(git), folder):
        top = os.path.relpath(os.path.dirname(git))
        click.echo(
            f"This is a folder of the Git repository {top}: move the CI files there and adapt their paths.\n"
        )
    click.echo("Next:")
    if folder != ".":
        click.echo(f"  cd {shlex.quote(folder)}")
    begin = "" if git else f"git init -b {values['base']} && "
    click.echo(f'  {begin}git add . && git commit -m "Start"')
    click.echo("  tau-compile build")


def files(values: dict[str, str]) -> dict[str, bytes]:
    """The repository's files by path: those below ``templates/init``, with each ``@name@`` replaced by a value.

    A leading ``dot-`` of a name stands for a dot, so that no tool takes the templates for this repository's own settings.
    """
    top = locate("templates", "init")
    found = {}
    for place, _, names in os.walk(top):
        for name in names:
            if name.endswith(".pyc"):
                continue
            with open(os.path.join(place, name), encoding="utf-8", newline="") as file:
                text = _filled(file.read(), values)
            path = os.path.relpath(os.path.join(place, name), top).replace(os.sep, "/")
            parts = [re.sub(r"\Adot-", ".", part) for part in _filled(path, values).split("/")]
            found["/".join(parts)] = text.encode()
    return dict(sorted(found.items()))


def series(version: str) -> str:
    """The releases that write what this one writes: ``>=0.1,<0.2`` for 0.1.7, ``>=2.3,<3`` for 2.3.0."""
    major, minor = (int(part) for part in version.split(".")[:2])
    return f">={major}.{minor},<{major + 1}" if major else f">=0.{minor},<0.{minor + 1}"


def _filled(text: str, values: dict[str, str]) -> str:
    return re.sub("@(" + "|".join(values) + ")@", lambda found: values[found[1]], text)


def _git_folder(folder: str) -> str:
    """Git's own folder or file at or above a folder, or empty."""
    place = os.path.abspath(folder)
    while not os.path.lexists(os.path.join(place, ".git")):
        if place == os.path.dirname(place):
            return ""
        place = os.path.dirname(place)
    return os.path.join(place, ".git")


def _branch(git: str) -> str:
    """The branch that is checked out, if that can be told, else main."""
    head = None
    if git:
        with contextlib.suppress(OSError, UnicodeDecodeError), open(f"{git}/HEAD", encoding="utf-8") as file:
            head = _BRANCH.fullmatch(file.read(1000))
    return head[1] if head else "main"


def _write(folder: str, made: dict[str, bytes]) -> int:
    """Write into an empty folder; how many files. What a killed `init` left is completed instead."""
    os.makedirs(folder, exist_ok=True)
    if PROJECT_FILE in writer.recover(folder):
        click.echo("completed an interrupted init", err=True)
        return len(made)
    there = sorted(set(os.listdir(folder)) - _NO_MATTER)
    if there:
        more = f" and {len(there) - 3} more" if len(there) > 3 else ""
        raise click.UsageError(f"{folder} is not empty: {', '.join(there[:3])}{more}")
    return len(writer.apply(folder, writer.Change(made)).written)

"""``tau-compile cancel``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tau_compile.cli.building import BASE, ROOT, based, opened, writing

if TYPE_CHECKING:
    from tau_compile.checkout.records import Known
    from tau_compile.runs.record import Record


@click.command("cancel", epilog="Example:  tau-compile cancel llama-finetune-1a2b3c4d")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@ROOT
@BASE
@click.option(
    "--workspace",
    "-w",
    default="",
    metavar="NAME",
    help="Which one, when two workspaces have a run of this id.",
)
def command(runs: tuple[str, ...], root: str, base: str, workspace: str) -> None:
    """Stop runs: their manifests leave the tree, and the GitOps agent removes them from the cluster.

    The record stays, so that the run is never launched again; `rerun` launches its workload once more.
    """
    from tau_compile.checkout import records
    from tau_compile.emit.writer import Change
    from tau_compile.runs.record import restated
    from tau_compile.runs.tree import manifest_paths

    place, _ = opened(root)
    with writing(place.root) as held:
        known = records.read(place.root, based(place, base))
        chosen = [_chosen(run, known, workspace) for run in dict.fromkeys(runs)]
        writes: dict[str, bytes] = {}
        deletes: set[str] = set()
        for record in chosen:
            with open(f"{place.root}/{record.path}", "rb") as file:
                writes[record.path] = restated(file.read(), record.cancelled()).encode()
            deletes.update(manifest_paths(record))
        held.apply(Change(writes, frozenset(deletes)))
    for record in chosen:
        click.echo(f"cancels {record.run}")


def _chosen(run: str, known: Known, workspace: str) -> Record:
    """The record of a run that can be cancelled."""
    from tau_compile.suggest import nearest

    found = [r for r in known.tree.values() if r.run == run and workspace in ("", r.workspace)]
    if not found:
        lost = any(r.run == run for r in (known.base or {}).values())
        close = nearest(run, [r.run for r in known.tree.values()])
        hint = (
            "; `tau-compile build` restores its record"
            if lost
            else f"; did you mean `{close}`?"
            if close
            else ""
        )
        raise click.UsageError(f"there is no run `{run}`{hint}")
    if len(found) > 1:
        names = " or ".join(f"--workspace {r.workspace}" for r in found)
        raise click.UsageError(f"two workspaces have a run `{run}`: add {names}")
    record = found[0]
    if record.state != "active":
        raise click.UsageError(f"{run} is {record.state} already")
    if known.base is not None and record.path not in known.base:
        raise click.UsageError(
            f"{run} is a draft: it is not launched before it is on the base branch. To keep {record.source} from being "
            f"launched: `tau-compile adopt {record.source}`"
        )
    return record

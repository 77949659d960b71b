"""``tau-compile explain``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from tau_compile.cli.building import ROOT
from tau_compile.cli.inputs import AS_OF, FORMAT, Inputs, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tau_compile.explain.fields import Field
    from tau_compile.explain.leaves import Key, Leaf
    from tau_compile.explain.origins import Explained


@click.command(
    "explain",
    epilog="Example:  tau-compile explain tau.yaml 'Job:spec.template.spec.containers[0].image'",
)
@click.argument("file", metavar="FILE|RUN", type=click.Path())
@click.argument("path", default="", metavar="[PATH]")
@click.option(
    "--workspace", "-w", default="", metavar="NAME", help="The workspace, when the file or run does not say."
)
@ROOT
@AS_OF
@FORMAT
def command(file: str, path: str, workspace: str, root: str, as_of: str, format: str) -> None:
    """Say where values come from: which file and line set them, and what lost.

    Without a PATH, a table of every resolved field of a tau.yaml, with the layer and the place that set it and the values
    that it replaced. PATH is a field such as `compute.gpus`, or a rendered value such as `Job:spec.backoffLimit`: then the
    inputs that decide it are shown, the template's line, and patches. `Job:` and every other beginning list what is below.

    FILE may be the overlay of a Workspace with `manage`, too: then the fields are those of `manage`, and an object is called by
    its kind and name, such as `NetworkPolicy/tau-compile-dns:spec`, or by its kind where all of the kind are meant.

    Of a run, the fields are those of its record, and the rendered values those of its manifests in the tree.
    """
    if os.path.isfile(file):
        sys.exit(_of_file(file, path, workspace, as_of, format))
    sys.exit(_of_run(file, path, workspace, root, format))


def _of_file(file: str, path: str, workspace: str, as_of: str, format: str) -> int:
    from tau_compile.compiler import compile_file
    from tau_compile.explain.bench import bench

    inputs = Inputs(file, format, as_of, "look")
    name, data = inputs.read(file)
    if name.startswith("overlays/"):
        return _of_space(inputs, name, path, format)
    said = [
        d for d in compile_file(inputs.repository, name, data, workspace).diagnostics if d.severity == "error"
    ]
    hidden = any(d.id.startswith("TAU80") for d in said)  # a value must not be shown again
    made = None if hidden else bench(inputs.repository, name, data, workspace)
    if made is None:
        return show(said, inputs.sources, format)
    head = {
        "file": name,
        "workspace": made.resolved.workspace.name,
        "cluster": made.resolved.cluster.name,
    }
    if ":" in path:
        from tau_compile.explain.origins import explained

        keys = _leaves(made.leaves, path)
        _print({**head}, explained(made, keys).values(), format)
    else:
        from tau_compile.explain.fields import resolved_fields

        fields = resolved_fields(made)
        _print_fields(head, _fields(fields, path, name), format)
    if said:
        show(said, inputs.sources, "text")
    return 1 if said else 0


def _of_space(inputs: Inputs, name: str, path: str, format: str) -> int:
    from tau_compile.explain.spacebench import space_bench

    repository = inputs.repository
    said = [*repository.overlays.diagnostics, *repository.spaces.diagnostics]
    said = [d for d in dict.fromkeys(said) if d.severity == "error"]
    hidden = any(d.id.startswith("TAU80") for d in said)  # a value must not be shown again
    made = None if hidden else space_bench(repository, name)
    if made is None:
        if said:
            return show(said, inputs.sources, format)
        raise click.UsageError(
            f"{name} is no Workspace with `manage`: a tau.yaml, such a workspace, or a run can be explained"
        )
    head = {"file": name, "workspace": made.one.space.name, "cluster": made.one.cluster.name}
    if ":" in path:
        from tau_compile.explain.origins import explained

        _print(head, explained(made, _leaves(made.leaves, path)).values(), format)
    else:
        from tau_compile.explain.spacefields import space_fields

        _print_fields(head, _manage_fields(space_fields(made), path, name), format)
    if said:
        show(said, inputs.sources, "text")
    return 1 if said else 0


def _manage_fields(fields: list[Field], path: str, of: str) -> list[Field]:
    """The fields of `manage` at a path, or exit with 2 and say which are near."""
    from tau_compile.explain.fields import asked

    found = asked(fields, path) if path else fields
    if not found:
        names = [field.path for field in fields]
        raise click.UsageError(
            f"`{path}` is not set for {of}" + _near(path, names, "without a PATH all are listed")
        )
    return found


def _of_run(run: str, path: str, workspace: str, root: str, format: str) -> int:
    from tau_compile.checkout.records import in_tree
    from tau_compile.explain.fields import recorded_fields
    from tau_compile.explain.runs import explained_run, full
    from tau_compile.source.project import root_of
    from tau_compile.suggest import nearest

    top = root_of(root)
    known, broken = in_tree(top)
    found = [r for r in known.values() if r.run == run and workspace in ("", r.workspace)]
    if not found:
        if broken:
            show(broken, {}, "text")
        close = nearest(run, [r.run for r in known.values()])
        raise click.UsageError(
            f"there is no file and no run `{run}`" + (f"; did you mean `{close}`?" if close else "")
        )
    if len(found) > 1:
        names = " or ".join(f"--workspace {r.workspace}" for r in found)
        raise click.UsageError(f"two workspaces have a run `{run}`: add {names}")
    record = full(top, found[0])
    head = {
        "run": run,
        "state": record.state,
        "file": record.source,
        "workspace": record.workspace,
        "cluster": record.cluster,
    }
    if ":" not in path:
        _print_fields(head, _fields(recorded_fields(record), path, run), format)
        return 0
    if not record.manifests:
        raise click.UsageError(
            f"{run} is {record.state}: it has no manifests in the tree; its fields can be explained, "
            f"such as `tau-compile explain {run} compute.gpus`"
        )
    leaves, explain, notes = explained_run(top, record)
    found_leaves = explain(_leaves(leaves, path))
    for note in notes:
        click.echo(note, err=True)
    _print(head, found_leaves, format)
    return 0


def _leaves(found: dict[Key, Leaf], path: str) -> list[Key]:
    """The leaves at a path, or exit with 2 and say which are near."""
    from tau_compile.explain.leaves import matching

    keys = matching(found, path)
    if keys:
        return keys
    kinds = list(dict.fromkeys(leaf.object for leaf in found.values()))
    asked = path.partition(":")[0].casefold()
    kind = next((k for k in kinds if asked in (k.casefold(), k.partition("/")[0].casefold())), "")
    if not kind:
        raise click.UsageError(
            f"there is no `{path.partition(':')[0]}` among the objects: {', '.join(kinds)}"
        )
    wanted = f"{kind}:{path.partition(':')[2]}"
    names = [leaf.name for leaf in found.values() if leaf.object == kind]
    raise click.UsageError(
        f"nothing is rendered at `{path}`" + _near(wanted, names, f"`{kind}:` lists all of it")
    )


def _fields(fields: list[Field], path: str, of: str) -> list[Field]:
    """The fields at a path, or exit with 2 and say which are near."""
    if not path:
        return fields
    from tau_compile.explain import defaults
    from tau_compile.explain.fields import asked

    found = asked(fields, path)
    if found:
        return found
    if path in defaults.fields():
        raise click.UsageError(f"`{path}` is not set for {of}, and has no default that has an effect")
    names = {*(field.path for field in fields), *(f.written for f in fields if f.written), *defaults.fields()}
    raise click.UsageError(
        f"there is no field `{path}`" + _near(path, sorted(names), "without a PATH all are listed")
    )


def _near(path: str, names: Sequence[str], otherwise: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(path, names, n=3, cutoff=0.7)
    return f"; did you mean {' or '.join(f'`{name}`' for name in close)}?" if close else f"; {otherwise}"


def _print_fields(head: dict[str, Any], fields: list[Field], format: str) -> None:
    from tau_compile.explain.report import field_data, fields_text
    from tau_compile.printers import json_text

    if format == "json":
        click.echo(json_text({**head, "fields": [field_data(field) for field in fields]}), nl=False)
    else:
        click.echo(fields_text(fields), nl=False)


def _print(head: dict[str, Any], found: Any, format: str) -> None:
    from tau_compile.explain.report import leaf_data, leaf_text, leaves_text
    from tau_compile.printers import json_text

    leaves: list[Explained] = list(found)
    if format == "json":
        click.echo(json_text({**head, "leaves": [leaf_data(one) for one in leaves]}), nl=False)
    else:
        click.echo(leaf_text(leaves[0]) if len(leaves) == 1 else leaves_text(leaves), nl=False)

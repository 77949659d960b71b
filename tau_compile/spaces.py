"""Workspaces as code, compiled: overlays → the files of ``rendered/<cluster>/workspaces/<workspace>/``. It has no effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Related, error
from tau_compile.emit.yaml import dump
from tau_compile.named import NamedTuple
from tau_compile.policy.manage import managed, unmanaged
from tau_compile.policy.manage_rules import beside_kueue, is_compute, items, secrets, unprovided
from tau_compile.render.space import render
from tau_compile.rules.credentials import find_in_text
from tau_compile.rules.sops import sealed
from tau_compile.rules.space import check_object
from tau_compile.runs.tree import KUSTOMIZATION, TOP, committed, file_name, kustomization
from tau_compile.source.nodes import Scalar, find, scalars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Mapping as Map

    from tau_compile.diagnostics import Span
    from tau_compile.policy.manage import Managed
    from tau_compile.policy.model import Overlays
    from tau_compile.policy.patches import Patch
    from tau_compile.policy.patching import Touch
    from tau_compile.policy.strategic import Steps
    from tau_compile.render.space import Wanted
    from tau_compile.render.templates import Templates
    from tau_compile.workload.code import Tree

FOLDER = "workspaces"
_LARGEST = 1 << 20


class Folder(NamedTuple):
    """What one workspace's folder holds, by file name, the kustomization that lists it included.

    ``wrote`` are the places of the values that patches set, by file name and path.
    """

    one: Managed
    files: Map[str, bytes]
    wrote: Map[str, Map[Steps, Span]]

    @property
    def path(self) -> str:
        """The folder, from the root."""
        return folder(self.one.cluster.name, self.one.space.name)


class Spaces(NamedTuple):
    """All workspaces with something to render. With an error among ``diagnostics`` the files are not to be used."""

    folders: tuple[Folder, ...]
    diagnostics: tuple[Diagnostic, ...]
    touches: tuple[Touch, ...] = ()  # what became of the overlays' patches


NONE = Spaces((), ())


def folder(cluster: str, workspace: str) -> str:
    """A workspace's folder, from the root."""
    return f"{TOP}/{cluster}/{FOLDER}/{workspace}"


def compile_spaces(overlays: Overlays, tree: Tree, renderer: Templates, own: Map[str, str]) -> Spaces:
    """Render every workspace that has a ``manage`` section, and the checks of all. ``own`` are the repository's own templates."""
    said: list[Diagnostic] = []
    folders = []
    touches: list[Touch] = []
    for one in managed(overlays, said):
        said += _credentials(one)
        made, problems = render(one, renderer)
        said += problems
        by_name, wrote = _checked(one, made, own, said, touches)
        files = _files(overlays, one, tree, by_name, said)
        folders.append(Folder(one, {**files, KUSTOMIZATION: kustomization(files)}, wrote))
    for one in unmanaged(overlays):
        files = {file_name(other): dump(other).encode() for other in others(overlays, one)}
        if files:
            folders.append(Folder(one, {**files, KUSTOMIZATION: kustomization(files)}, {}))
    return Spaces(tuple(folders), tuple(said), tuple(touches))


def _checked(
    one: Managed,
    made: Sequence[tuple[Wanted, dict[str, Any]]],
    own: Map[str, str],
    said: list[Diagnostic],
    touches: list[Touch],
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[Steps, Span]]]:
    """The objects with their patches by file name, and what patches wrote; those that are wrong are left out."""
    right = []
    for want, rendered in made:
        wrong = check_object(want, rendered, one.space, own, one.space.span)
        said += wrong
        right += [] if wrong else [(want, rendered)]
    patches = patches_of(one)
    if not patches:
        return {file_name(rendered): rendered for _, rendered in right}, {}
    from tau_compile.rules.output import placed
    from tau_compile.rules.patched import rejudged
    from tau_compile.rules.space import judged
    from tau_compile.rules.space_patched import refused

    wants = {file_name(rendered): want for want, rendered in right}
    result = rejudged(
        {file_name(rendered): rendered for _, rendered in right},
        patches,
        lambda made, name: judged(wants[name], made, one.space),
        lambda made, before, name: [*judged(wants[name], made, one.space), *refused(made, one)],
        lambda found, name: placed(found, wants[name].template, own, one.space.span),
    )
    said += result.diagnostics
    for name, places in result.wrote.items():
        if wants[name].kind == "ResourceQuota":
            said += [
                beside_kueue(str(path[-1]), span)
                for path, span in places.items()
                if path[:2] == ("spec", "hard") and is_compute(str(path[-1]))
            ]
    touches += result.touches
    return result.objects, result.wrote


def patches_of(one: Managed) -> list[Patch]:
    """The patches for objects of a workspace, those of the lowest layer first."""
    return [
        patch for part in (one.platform, one.cluster, one.space) for patch in part.patches if patch.for_spaces
    ]


def _files(
    overlays: Overlays,
    one: Managed,
    tree: Tree,
    made: Map[str, dict[str, Any]],
    said: list[Diagnostic],
) -> dict[str, bytes]:
    files = {name: dump(rendered).encode() for name, rendered in made.items()}
    for other in others(overlays, one):
        files[file_name(other)] = dump(other).encode()
    owners = dict(secrets(one.node))
    before = len(said)
    files |= _sealed(one, tree, owners, said)
    if len(said) == before:
        said += unprovided(one, owners)
    return files


def others(overlays: Overlays, one: Managed) -> list[dict[str, Any]]:
    """Objects of the folder that no template makes, each labelled as ``render.space.labels`` says."""
    if one.platform.admission is None and one.space.admission is None:
        return []
    from tau_compile.render.admission import policies_of

    return policies_of(overlays, one.cluster, one.space)


def _sealed(one: Managed, tree: Tree, owners: dict[str, Span], said: list[Diagnostic]) -> dict[str, bytes]:
    """Files that SOPS encrypted, as they are, by the name they get; the names of their Secrets join the ``owners``."""
    files: dict[str, bytes] = {}
    for scalar in items(find(one.node, "secrets.sops")):
        assert isinstance(scalar, Scalar)
        data = _read(tree, scalar.text)
        if data is None:
            message = f"`{scalar.text}` is no file that can be read"
            said.append(
                error(
                    "TAU383", message, scalar.span, "name a file of this repository; links are not followed"
                )
            )
            continue
        name, problems = sealed(scalar.text, data, one.space.namespace, scalar.span)
        said += problems
        other = owners.setdefault(name, scalar.span) if name else scalar.span
        if other is not scalar.span:
            said.append(
                error(
                    "TAU380",
                    f"two of one name: the Secret `{name}`",
                    scalar.span,
                    "remove one",
                    (Related(other, "the other one"),),
                )
            )
        elif name:
            files[f"secret-{name}.yaml"] = committed(data)
    return files


def _read(tree: Tree, path: str) -> bytes | None:
    """A file below folders that are no links."""
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        found = tree.info("/".join(parts[:depth]))
        if (
            found is None
            or found.kind != ("file" if depth == len(parts) else "folder")
            or found.size > _LARGEST
        ):
            return None
    try:
        return tree.read(path, _LARGEST)
    except OSError:
        return None


def _credentials(one: Managed) -> Iterator[Diagnostic]:
    """Literals that look like credentials, in annotations above all."""
    for _, scalar in scalars(one.node):
        yield from find_in_text(scalar.text, scalar.span, "`manage`")

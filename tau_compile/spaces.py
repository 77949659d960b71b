"""Workspaces as code, compiled: overlays → the files of ``rendered/<cluster>/workspaces/<workspace>/``. It has no effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Related, error
from tau_compile.emit.yaml import dump
from tau_compile.named import NamedTuple
from tau_compile.policy.manage import managed, unmanaged
from tau_compile.policy.manage_rules import items, secrets, unprovided
from tau_compile.render.space import render
from tau_compile.rules.credentials import find_in_text
from tau_compile.rules.sops import sealed
from tau_compile.rules.space import check_object
from tau_compile.runs.tree import KUSTOMIZATION, TOP, committed, file_name, kustomization
from tau_compile.source.nodes import Mapping, Scalar, find

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Mapping as Map

    from tau_compile.diagnostics import Span
    from tau_compile.policy.manage import Managed
    from tau_compile.policy.model import Overlays
    from tau_compile.render.templates import Templates
    from tau_compile.source.nodes import Node
    from tau_compile.workload.code import Tree

FOLDER = "workspaces"
_LARGEST = 1 << 20


class Folder(NamedTuple):
    """What one workspace's folder holds, by file name, the kustomization that lists it included."""

    one: Managed
    files: Map[str, bytes]

    @property
    def path(self) -> str:
        """The folder, from the root."""
        return folder(self.one.cluster.name, self.one.space.name)


class Spaces(NamedTuple):
    """All workspaces with something to render. With an error among ``diagnostics`` the files are not to be used."""

    folders: tuple[Folder, ...]
    diagnostics: tuple[Diagnostic, ...]


NONE = Spaces((), ())


def folder(cluster: str, workspace: str) -> str:
    """A workspace's folder, from the root."""
    return f"{TOP}/{cluster}/{FOLDER}/{workspace}"


def compile_spaces(overlays: Overlays, tree: Tree, renderer: Templates, own: Map[str, str]) -> Spaces:
    """Render every workspace that has a ``manage`` section, and the checks of all. ``own`` are the repository's own templates."""
    said: list[Diagnostic] = []
    folders = []
    for one in managed(overlays, said):
        said += _credentials(one)
        files = _files(overlays, one, tree, renderer, own, said)
        folders.append(Folder(one, {**files, KUSTOMIZATION: kustomization(files)}))
    for one in unmanaged(overlays):
        files = {file_name(other): dump(other).encode() for other in _others(overlays, one)}
        if files:
            folders.append(Folder(one, {**files, KUSTOMIZATION: kustomization(files)}))
    return Spaces(tuple(folders), tuple(said))


def _files(
    overlays: Overlays,
    one: Managed,
    tree: Tree,
    renderer: Templates,
    own: Map[str, str],
    said: list[Diagnostic],
) -> dict[str, bytes]:
    made, problems = render(one, renderer)
    said += problems
    files: dict[str, bytes] = {}
    for want, rendered in made:
        wrong = check_object(want, rendered, one.space, own, one.space.span)
        said += wrong
        if not wrong:
            files[file_name(rendered)] = dump(rendered).encode()
    for other in _others(overlays, one):
        files[file_name(other)] = dump(other).encode()
    owners = dict(secrets(one.node))
    before = len(said)
    files |= _sealed(one, tree, owners, said)
    if len(said) == before:
        said += unprovided(one, owners)
    return files


def _others(overlays: Overlays, one: Managed) -> list[dict[str, Any]]:
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
    for scalar in _scalars(one.node):
        yield from find_in_text(scalar.text, scalar.span, "`manage`")


def _scalars(node: Node) -> Iterator[Scalar]:
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, Mapping):
        for entry in node.entries:
            yield from _scalars(entry.value)
    else:
        for item in node.items:
            yield from _scalars(item)

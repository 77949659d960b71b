"""A workspace on the bench: its objects made once as they are, and then again with an overlay changed.

Files that SOPS encrypted are copied, and nothing here is about them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import has_errors
from tau_compile.explain.bench import (
    Made,
    Recorder,
    again,
    layer_names,
    lenient,
    read_file,
    some,
    with_nodes,
)
from tau_compile.explain.inputs import Edit, edited
from tau_compile.explain.leaves import Key, Leaf, Naming, leaves, of_space, same
from tau_compile.policy.manage import managed
from tau_compile.policy.overlays import load
from tau_compile.policy.patching import apply_all
from tau_compile.render.space import render
from tau_compile.spaces import others, patches_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tau_compile.compiler import Repository
    from tau_compile.diagnostics import Diagnostic
    from tau_compile.explain.templates import Rendered
    from tau_compile.policy.manage import Managed
    from tau_compile.policy.model import Overlays
    from tau_compile.render.templates import Templates
    from tau_compile.source.nodes import Node
    from tau_compile.workload.code.model import CodeFile


class SpaceBench:
    """One workspace; see ``Tested``. ``one`` is the workspace as it is."""

    path = ""
    digest = ""
    code: Sequence[CodeFile] | None = None

    def __init__(self, repository: Repository, one: Managed, overlays: Overlays) -> None:
        self.repository, self.one = repository, one
        recorder = Recorder(repository)
        self.leaves: dict[Key, Leaf] = leaves(_objects(overlays, one, recorder), of_space)  # type: ignore[arg-type]
        self.rendered: Sequence[Rendered] = recorder.seen
        self._file = one.space.span.file
        parts = (one.platform, one.cluster, one.space)
        self._files = {part.span.file for part in parts}
        self._own = some(repository.overlay_files, self._files)
        self._packaged = [read_file(file) for file in repository.packaged]
        nodes = {file.path: file.node for file in (*self._own, *self._packaged) if file.node is not None}
        packaged = {file.path for file in self._packaged}
        # The workspace's own overlay first, then those below it.
        order = [part.span.file for part in reversed(parts)]
        some_others = [path for path in nodes if path in packaged and path not in order]
        self.documents: dict[str, Node] = {path: nodes[path] for path in (*order, *some_others)}

    @property
    def naming(self) -> Naming:
        """See ``Tested``."""
        return of_space

    @property
    def layers(self) -> dict[str, str]:
        """See ``Tested``."""
        return layer_names(self.documents, self.one.platform, self.one.cluster, self.one.space)

    def changed(self, edits: Sequence[Edit]) -> Made | None:
        """What comes out after some edits; None if nothing does."""
        nodes: dict[str, Node] = {}
        for edit in edits:
            nodes[edit.file] = edited(nodes.get(edit.file, self.documents[edit.file]), edit)
        try:
            loaded = load(with_nodes(self._own, nodes), with_nodes(self._packaged, nodes), lenient=True)
            overlays = loaded.overlays
            if overlays is None:
                return None
            said: list[Diagnostic] = list(loaded.diagnostics)
            found = managed(overlays, said)
            one = next((each for each in found if each.space.span.file == self._file), None)
            if one is None:
                return None
            there = {
                overlays.platform.span.file,
                one.space.span.file,
                *(c.span.file for c in overlays.clusters),
            }
            if not self._files <= there:
                return None  # a document that takes part is broken, and was left out
            made = leaves(_objects(overlays, one, self.repository.renderer), of_space)
        except Exception:
            return None  # what is made in spite of errors may break anywhere: then it says nothing
        alike = made.keys() == self.leaves.keys() and all(same(made[key], self.leaves[key]) for key in made)
        return Made(self.leaves if alike else made, not has_errors(said))


def space_bench(repository: Repository, file: str) -> SpaceBench | None:
    """Put the workspace of an overlay on the bench; None when it has no ``manage``, or nothing can be made of it."""
    loaded = lenient(repository)
    overlays = loaded.overlays
    if overlays is None:
        return None
    one = next((each for each in managed(overlays, []) if each.space.span.file == file), None)
    return None if one is None else SpaceBench(again(repository, loaded), one, overlays)


def _objects(overlays: Overlays, one: Managed, renderer: Templates) -> list[dict[str, Any]]:
    made, _ = render(one, renderer)
    objects = {str(place): rendered for place, (_, rendered) in enumerate(made)}
    return [*apply_all(objects, patches_of(one)).objects.values(), *others(overlays, one)]

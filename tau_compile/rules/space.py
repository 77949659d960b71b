"""What came out of the templates of a workspace, judged: the schemas of the kinds, names, and what an agent may prune."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.rules.output import placed, refused
from tau_compile.rules.parts import mapping
from tau_compile.rules.rendered import Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tau_compile.diagnostics import Diagnostic, Span
    from tau_compile.policy.model import Workspace
    from tau_compile.render.space import Wanted

# Kinds with something in them that no manifest brings back, and what keeps each agent from pruning them.
_PRECIOUS = ("Namespace", "PersistentVolumeClaim")
_GLOBAL = ("Namespace",)


def check_object(
    want: Wanted, made: dict[str, Any], space: Workspace, templates: Mapping[str, str], document: Span
) -> list[Diagnostic]:
    """Everything that is wrong with one object of a workspace; at ``document`` where no template is the repository's own."""
    return [placed(found, want.template, templates, document) for found in judged(want, made, space)]


def judged(want: Wanted, made: dict[str, Any], space: Workspace) -> Iterator[Wrong]:
    """Everything that is wrong with what was made for ``want``."""
    kind = want.kind
    if made.get("kind") != kind:
        message = f"it makes a {made.get('kind')}, and not a {kind}"
        yield Wrong("TAU432", "kind", message, f"render `kind: {kind}`")
        return
    yield from refused(made)
    metadata = mapping(made, "metadata")
    if metadata.get("name") != want.name:
        message, cure = (
            f"the {kind} is not called `{want.name}`",
            "render the name that the packaged template renders",
        )
        yield Wrong("TAU432", "name", message, cure)
    if kind not in _GLOBAL and metadata.get("namespace") != space.namespace:
        message = f"the {kind} is not in the workspace's namespace `{space.namespace}`"
        yield Wrong("TAU431", "namespace", message, "render `namespace: {{ space.namespace }}`")
    if mapping(metadata, "labels").get("app.kubernetes.io/managed-by") != "tau-compile":
        message = "without its labels nobody knows whose object this is, and no build would remove it"
        yield Wrong("TAU432", "labels", message, "render the labels that the packaged template renders")
    if kind in _PRECIOUS and not _kept(mapping(metadata, "annotations")):
        message = f"an agent would delete the {kind} when its manifest goes, and all that lies in it"
        yield Wrong(
            "TAU377", "annotations", message, "render the annotations that the packaged template renders"
        )


def _kept(annotations: dict[str, Any]) -> bool:
    # A41, F6
    options = str(annotations.get("argocd.argoproj.io/sync-options", "")).replace(" ", "").split(",")
    flux = str(annotations.get("kustomize.toolkit.fluxcd.io/prune", "")).lower()
    return "Prune=false" in options and flux == "disabled"

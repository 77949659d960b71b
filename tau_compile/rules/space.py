"""What came out of the templates of a workspace, judged: the schemas of the kinds, names, and what an agent may prune."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.rules.output import Judge

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    namespace = space.namespace
    judge = Judge(made, want.template, templates, document)
    metadata = made.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    if made.get("kind") != want.kind:
        message = f"it makes a {made.get('kind')}, and not a {want.kind}"
        judge.refuse("TAU432", "kind", message, f"render `kind: {want.kind}`")
        return judge.said
    judge.schema()
    if metadata.get("name") != want.name:
        message, cure = (
            f"the {want.kind} is not called `{want.name}`",
            "render the name that the packaged template renders",
        )
        judge.refuse("TAU432", "name", message, cure)
    if want.kind not in _GLOBAL and metadata.get("namespace") != namespace:
        message = f"the {want.kind} is not in the workspace's namespace `{namespace}`"
        judge.refuse("TAU431", "namespace", message, "render `namespace: {{ space.namespace }}`")
    labels = metadata.get("labels")
    if (labels if isinstance(labels, dict) else {}).get("app.kubernetes.io/managed-by") != "tau-compile":
        message = "without its labels nobody knows whose object this is, and no build would remove it"
        judge.refuse("TAU432", "labels", message, "render the labels that the packaged template renders")
    if want.kind in _PRECIOUS:
        _kept(judge, metadata)
    return judge.said


def _kept(judge: Judge, metadata: dict[str, Any]) -> None:
    # A41, F6
    found = metadata.get("annotations")
    found = found if isinstance(found, dict) else {}
    options = str(found.get("argocd.argoproj.io/sync-options", "")).replace(" ", "").split(",")
    flux = str(found.get("kustomize.toolkit.fluxcd.io/prune", "")).lower()
    if "Prune=false" not in options or flux != "disabled":
        judge.refuse(
            "TAU377",
            "annotations",
            f"an agent would delete the {judge.made.get('kind')} when its manifest goes, and all that lies in it",
            "render the annotations that the packaged template renders",
        )

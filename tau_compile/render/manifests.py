"""A workload and its place → the Kubernetes objects of one run, rendered from the templates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.render import job, metadata, rayjob
from tau_compile.render.payload import config_map

if TYPE_CHECKING:
    from tau_compile.diagnostics import Diagnostic
    from tau_compile.render.plan import Run
    from tau_compile.render.templates import Templates


def render(run: Run, templates: Templates) -> tuple[dict[str, dict[str, Any]], list[Diagnostic]]:
    """The run's objects by template, in the order they are applied, and what is wrong with a template."""
    workload = run.workload
    shared = {
        "run": {
            "id": run.id,
            "namespace": run.namespace,
            "labels": metadata.run_labels(run),
            "own_labels": metadata.own_labels(run),
            "annotations": metadata.run_annotations(run),
            "apply_once": metadata.APPLY_ONCE,
            "deadline": workload.deadline,
        }
    }
    names: list[str] = []
    context: dict[str, Any] = dict(shared)
    if run.payload is not None and not run.embedded:
        names.append("configmap.yaml.j2")
        context["code"] = config_map(run.payload, run.code_name)
    if workload.kind == "job":
        context |= job.context(run)
        names += ["service.yaml.j2", "job.yaml.j2"] if workload.pods > 1 else ["job.yaml.j2"]
    else:
        context |= rayjob.context(run)
        names.append("rayjob.yaml.j2")
    objects: dict[str, dict[str, Any]] = {}
    said: list[Diagnostic] = []
    for name in names:
        made, problems = templates.render(name, context)
        said += problems
        if made is not None:
            objects[name] = made
    return objects, said

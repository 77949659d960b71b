"""What came out of the templates, judged: the schemas of the kinds, and what may never be rendered on a run.

The packaged templates pass by construction and by test. Templates of the repository's own are input like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Span, error
from tau_compile.schema.objects import problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tau_compile.render.plan import Run

MAX_BYTES = 1024 * 1024  # etcd takes about 1.5 MiB (J49)


def check_objects(
    objects: list[dict[str, Any]], run: Run, templates: Mapping[str, str], document: Span
) -> list[Diagnostic]:
    """Everything that is wrong with the objects of one run."""
    said: list[Diagnostic] = []
    for made in objects:
        kind, name = made.get("kind", "object"), _get(made, "metadata", "name")
        where = _place(str(kind), templates, document)
        for problem in problems(made):
            said.append(
                error(
                    "TAU430",
                    f"{kind} `{name}` would be refused: `{problem.path}`: {problem.message}",
                    where,
                    "mend the template that makes it" if where != document else "report this as a bug",
                )
            )
        said += _never(made, where)
        if _get(made, "metadata", "namespace") != run.namespace:
            said.append(
                error(
                    "TAU431",
                    f"{kind} `{name}` is not in the run's namespace `{run.namespace}`",
                    where,
                    "render `metadata.namespace: {{ run.namespace }}`",
                )
            )
    return said


def _never(made: dict[str, Any], where: Span) -> list[Diagnostic]:
    kind, spec = made.get("kind"), made.get("spec")
    said: list[Diagnostic] = []
    if kind in ("Job", "RayJob"):
        labels = _get(made, "metadata", "labels")
        if not (isinstance(labels, dict) and labels.get("kueue.x-k8s.io/queue-name")):
            said.append(
                error(
                    "TAU510",
                    f"the {kind} has no queue label and would run outside quota (K54)",
                    where,
                    "render `labels: {{ run.labels }}` in its metadata",
                )
            )
        if isinstance(spec, dict) and "suspend" in spec:
            said.append(
                error(
                    "TAU721",
                    "`spec.suspend` belongs to Kueue: Git's value would start or stop the run (G1)",
                    where,
                    "remove it from the template",
                )
            )
    if kind == "Job" and isinstance(spec, dict) and "ttlSecondsAfterFinished" in spec:
        said.append(
            error(
                "TAU722",
                "a TTL on a Job makes the GitOps agent run it again (G6)",
                where,
                "remove `ttlSecondsAfterFinished` from the template",
            )
        )
    metadata = made.get("metadata")
    if isinstance(metadata, dict) and "generateName" in metadata:
        said.append(
            error(
                "TAU723",
                "`generateName` cannot be applied from Git (G13)",
                where,
                "render `name: {{ run.id }}`",
            )
        )
    return said


_TEMPLATES = {
    "Job": "job.yaml.j2",
    "RayJob": "rayjob.yaml.j2",
    "Service": "service.yaml.j2",
    "ConfigMap": "configmap.yaml.j2",
}


def _place(kind: str, templates: Mapping[str, str], document: Span) -> Span:
    name = _TEMPLATES.get(kind, "")
    if name in templates or any(part.startswith("parts/") for part in templates):
        return Span(f"templates/{name}", 1, 1, 1, 1)
    return document


def _get(value: Any, *path: str) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value

"""What came out of the templates, judged: the schemas of the kinds, and what may never be rendered on a run.

The packaged templates pass by construction and by test. Templates of the repository's own are input like any other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Span, error
from tau_compile.rules.parts import part
from tau_compile.rules.rendered import Wrong, wrong
from tau_compile.schema.objects import problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tau_compile.render.plan import Run

# Kind → the template that makes it.
_TEMPLATES = {
    "Job": "job.yaml.j2",
    "RayJob": "rayjob.yaml.j2",
    "Service": "service.yaml.j2",
    "ConfigMap": "configmap.yaml.j2",
}


def check_objects(
    objects: Mapping[str, dict[str, Any]], run: Run, templates: Mapping[str, str], document: Span
) -> list[Diagnostic]:
    """Everything that is wrong with the objects of one run, by the template that made each.

    ``templates`` are the repository's own; without any of them, what is wrong is our fault and stands at ``document``.
    """
    return [
        placed(found, name, templates, document)
        for name, made in objects.items()
        for found in judged(made, name, run)
    ]


def judged(made: dict[str, Any], template: str, run: Run) -> list[Wrong]:
    """Everything that is wrong with the object that ``template`` made."""
    return list(_judged(made, template, run))


def _judged(made: dict[str, Any], template: str, run: Run) -> Iterator[Wrong]:
    kind = made.get("kind")
    if _TEMPLATES.get(str(kind)) != template:
        wanted = next(kind for kind, name in _TEMPLATES.items() if name == template)
        yield Wrong("TAU432", "kind", f"it makes a {kind}, and not a {wanted}", f"render `kind: {wanted}`")
        return
    yield from refused(made)
    yield from _names(made, run)
    if kind in ("Job", "RayJob"):
        yield from _run(made)


def refused(made: dict[str, Any]) -> Iterator[Wrong]:
    """What the schema of the kind refuses."""
    generated = part(made, "metadata", "generateName") is not None
    for problem in problems(made):
        if not (generated and problem.path.startswith("metadata")):  # TAU723 says it better
            path = f"`{problem.path}`: " if problem.path and problem.path not in problem.message else ""
            message = f"the {made.get('kind')} it makes would be refused: {path}{problem.message}"
            yield Wrong("TAU430", problem.path.rpartition(".")[2], message, "mend the template")


def _names(made: dict[str, Any], run: Run) -> Iterator[Wrong]:
    kind = made["kind"]
    names = {"ConfigMap": ("code.name", run.code_name), "Service": ("job.service", run.peers)}
    value, name = names.get(kind, ("run.id", run.id))
    if part(made, "metadata", "generateName") is not None:
        # G13
        yield Wrong(
            "TAU723",
            "generateName",
            "`generateName` cannot be applied from Git",
            "render `name: {{ run.id }}`",
        )
    elif part(made, "metadata", "name") != name:
        yield Wrong(
            "TAU432", "name", f"the {kind} is not called `{name}`", f"render `name: {{{{ {value} }}}}`"
        )
    if part(made, "metadata", "namespace") != run.namespace:
        yield Wrong(
            "TAU431",
            "namespace",
            f"the {kind} is not in the run's namespace `{run.namespace}`",
            "render `namespace: {{ run.namespace }}`",
        )


def _run(made: dict[str, Any]) -> Iterator[Wrong]:
    kind, spec = made["kind"], made.get("spec")
    labels = part(made, "metadata", "labels")
    if not (isinstance(labels, dict) and labels.get("kueue.x-k8s.io/queue-name")):
        # K54
        yield Wrong(
            "TAU510",
            "labels",
            f"the {kind} has no queue label and would run outside of every quota",
            "render `labels: {{ run.labels }}` in its metadata",
        )
    if isinstance(spec, dict) and "suspend" in spec:
        # G1
        yield Wrong(
            "TAU721",
            "suspend",
            "`suspend` belongs to Kueue: Git's value would start or stop the run",
            "remove it",
        )
    if kind == "Job" and isinstance(spec, dict) and "ttlSecondsAfterFinished" in spec:
        # G6
        yield Wrong(
            "TAU722",
            "ttlSecondsAfterFinished",
            "a TTL on a Job makes the GitOps agent run it again",
            "remove `ttlSecondsAfterFinished`",
        )
    yield from wrong(made)


def placed(found: Wrong, template: str, templates: Mapping[str, str], document: Span) -> Diagnostic:
    """A fault at its key: in the first template of the repository's own that writes it, if any does."""
    rule, key, message, hint = found
    # The template itself may be a packaged one that includes a part of the repository's own.
    own = {n: text for n, text in templates.items() if n == template or n.startswith("parts/")}
    for name in sorted(own, key=lambda name: (name != template, name)):
        at = re.search(rf"^[ \t-]*[\"']?{re.escape(key)}[\"']?:", own[name], re.MULTILINE) if key else None
        if at:
            line = own[name].count("\n", 0, at.start()) + 1
            column = at.group().index(key) + 1
            span = Span(f"templates/{name}", line, column, line, column + len(key))
            return error(rule, f"template `{name}`: {message}", span, hint)
    if own:
        name = template if template in own else min(own)
        return error(rule, f"template `{name}`: {message}", Span(f"templates/{name}", 1, 1, 1, 1), hint)
    return error(rule, message, document, "report this as a bug in tau-compile")

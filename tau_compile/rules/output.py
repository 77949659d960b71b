"""What came out of the templates, judged: the schemas of the kinds, and what may never be rendered on a run.

The packaged templates pass by construction and by test. Templates of the repository's own are input like any other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Span, error
from tau_compile.rules.rendered import wrong
from tau_compile.schema.objects import problems

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    return [d for name, made in objects.items() for d in Judge(made, name, templates, document).judge(run)]


class Judge:
    """Judges one object; ``said`` collects what is wrong with it."""

    def __init__(
        self, made: dict[str, Any], template: str, templates: Mapping[str, str], document: Span
    ) -> None:
        self.made, self.template, self.document = made, template, document
        # The template itself may be a packaged one that includes a part of the repository's own.
        self.own = {n: text for n, text in templates.items() if n == template or n.startswith("parts/")}
        self.said: list[Diagnostic] = []

    def judge(self, run: Run) -> list[Diagnostic]:
        """Everything that is wrong with an object of a run."""
        kind = self.made.get("kind")
        if _TEMPLATES.get(str(kind)) != self.template:
            wanted = next(kind for kind, name in _TEMPLATES.items() if name == self.template)
            self.refuse(
                "TAU432", "kind", f"it makes a {kind}, and not a {wanted}", f"render `kind: {wanted}`"
            )
            return self.said
        self.schema()
        self.names(run)
        if kind in ("Job", "RayJob"):
            self.run()
        return self.said

    def schema(self) -> None:
        """What the schema of the kind refuses."""
        generated = _get(self.made, "metadata", "generateName") is not None
        for problem in problems(self.made):
            if not (generated and problem.path.startswith("metadata")):  # TAU723 says it better
                path = f"`{problem.path}`: " if problem.path and problem.path not in problem.message else ""
                message = f"the {self.made.get('kind')} it makes would be refused: {path}{problem.message}"
                self.refuse("TAU430", problem.path.rpartition(".")[2], message, "mend the template")

    def names(self, run: Run) -> None:
        """Name and namespace."""
        kind = self.made["kind"]
        names = {"ConfigMap": ("code.name", run.code_name), "Service": ("job.service", run.peers)}
        value, name = names.get(kind, ("run.id", run.id))
        if _get(self.made, "metadata", "generateName") is not None:
            # G13
            self.refuse(
                "TAU723",
                "generateName",
                "`generateName` cannot be applied from Git",
                "render `name: {{ run.id }}`",
            )
        elif _get(self.made, "metadata", "name") != name:
            self.refuse(
                "TAU432", "name", f"the {kind} is not called `{name}`", f"render `name: {{{{ {value} }}}}`"
            )
        if _get(self.made, "metadata", "namespace") != run.namespace:
            self.refuse(
                "TAU431",
                "namespace",
                f"the {kind} is not in the run's namespace `{run.namespace}`",
                "render `namespace: {{ run.namespace }}`",
            )

    def run(self) -> None:
        """What may never, and what must always, stand on a run."""
        kind, spec = self.made["kind"], self.made.get("spec")
        labels = _get(self.made, "metadata", "labels")
        if not (isinstance(labels, dict) and labels.get("kueue.x-k8s.io/queue-name")):
            # K54
            self.refuse(
                "TAU510",
                "labels",
                f"the {kind} has no queue label and would run outside of every quota",
                "render `labels: {{ run.labels }}` in its metadata",
            )
        if isinstance(spec, dict) and "suspend" in spec:
            # G1
            self.refuse(
                "TAU721",
                "suspend",
                "`suspend` belongs to Kueue: Git's value would start or stop the run",
                "remove it",
            )
        if kind == "Job" and isinstance(spec, dict) and "ttlSecondsAfterFinished" in spec:
            # G6
            self.refuse(
                "TAU722",
                "ttlSecondsAfterFinished",
                "a TTL on a Job makes the GitOps agent run it again",
                "remove `ttlSecondsAfterFinished`",
            )
        for found in wrong(self.made):
            self.refuse(*found)

    def refuse(self, id: str, key: str, message: str, hint: str) -> None:
        """Report what is wrong at ``key``: in the first template of the repository's own that writes it, if any does."""
        for name in sorted(self.own, key=lambda name: (name != self.template, name)):
            found = (
                re.search(rf"^[ \t-]*[\"']?{re.escape(key)}[\"']?:", self.own[name], re.MULTILINE)
                if key
                else None
            )
            if found:
                line = self.own[name].count("\n", 0, found.start()) + 1
                column = found.group().index(key) + 1
                span = Span(f"templates/{name}", line, column, line, column + len(key))
                self.said.append(error(id, f"template `{name}`: {message}", span, hint))
                return
        if self.own:
            name = self.template if self.template in self.own else min(self.own)
            span = Span(f"templates/{name}", 1, 1, 1, 1)
            self.said.append(error(id, f"template `{name}`: {message}", span, hint))
        else:
            self.said.append(error(id, message, self.document, "report this as a bug in tau-compile"))


def _get(value: Any, *path: str) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value

"""A workload and its place → the Kubernetes objects of one run, rendered from the templates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Span, error
from tau_compile.render import job, metadata, rayjob
from tau_compile.render.payload import config_map
from tau_compile.source.limits import Limits
from tau_compile.source.reader import read
from tau_compile.source.scalars import plain_data

if TYPE_CHECKING:
    from jinja2 import Environment

    from tau_compile.render.plan import Run

_LIMITS = Limits(size=8 * 1024 * 1024, depth=64, nodes=1_000_000)


def render(run: Run, env: Environment) -> tuple[list[dict[str, Any]], list[Diagnostic]]:
    """The run's objects in the order they are applied, and what is wrong with a template of the repository's own."""
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
        names += ["service.yaml.j2", "job.yaml.j2"] if workload.count > 1 else ["job.yaml.j2"]
    else:
        context |= rayjob.context(run)
        names.append("rayjob.yaml.j2")
    objects: list[dict[str, Any]] = []
    said: list[Diagnostic] = []
    for name in names:
        made, problems = _render(env, name, context)
        said += problems
        if made is not None:
            objects.append(made)
    return objects, said


def _render(
    env: Environment, name: str, context: dict[str, Any]
) -> tuple[dict[str, Any] | None, list[Diagnostic]]:
    from jinja2 import TemplateError, TemplateSyntaxError

    from tau_compile.render.engine import MAX_OUTPUT

    try:
        parts, size = [], 0
        for part in env.get_template(name).generate(context):
            size += len(part)
            if size > MAX_OUTPUT:
                return None, [_broken(name, 1, f"it makes more than {MAX_OUTPUT:,} characters")]
            parts.append(part)
    except TemplateSyntaxError as problem:
        return None, [
            _broken(problem.name or name, problem.lineno, problem.message or "it is not a template")
        ]
    except TemplateError as problem:
        return None, [_broken(name, _line(problem), problem.message or type(problem).__name__)]
    except Exception as problem:  # a template is input: whatever it provokes is its author's to mend
        return None, [_broken(name, _line(problem), f"{type(problem).__name__}: {problem}")]
    text = "".join(parts)
    result = read(text.encode("utf-8", "surrogatepass"), f"templates/{name} (as rendered)", _LIMITS)
    if result.node is None or result.diagnostics:
        return None, [
            error("TAU321", f"template `{name}` does not make a YAML document: {d.message}", d.span, d.hint)
            for d in result.diagnostics
        ]
    data = plain_data(result.node)
    if not isinstance(data, dict):
        return None, [_broken(name, 1, "it makes a list or a scalar, not an object")]
    return data, []


def _line(problem: BaseException) -> int:
    """The template's line, which Jinja2 writes into the traceback."""
    line, place = 1, problem.__traceback__
    while place is not None:
        if place.tb_frame.f_globals.get("__jinja_template__") is not None:
            line = place.tb_lineno
        place = place.tb_next
    return line


def _broken(name: str, line: int, why: str) -> Diagnostic:
    return error(
        "TAU320",
        f"template `{name}` cannot be rendered: {why}",
        Span(f"templates/{name}", line, 1, line, 1),
        "compare it with the packaged template of the same name",
    )

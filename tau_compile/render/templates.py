"""A repository's templates: a name and a context in, one object as plain data out."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Span, error
from tau_compile.render import packaged
from tau_compile.render.values import MAX_OUTPUT, TooLarge, filled, skeleton, written
from tau_compile.source.limits import Limits
from tau_compile.source.reader import read
from tau_compile.source.scalars import plain_data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tau_compile.render.engine import Sandbox
    from tau_compile.source.reader import ReadResult

_LIMITS = Limits(size=MAX_OUTPUT, depth=64, nodes=1_000_000)
_SHAPES = 500  # skeletons to remember; one a shape of workload


class Templates:
    """The packaged templates, and the repository's own in their place, by path below ``templates/``."""

    def __init__(self, own: Mapping[str, str]) -> None:
        self._own = own
        self._shapes: dict[tuple[str, int], Any] = {}

    @cached_property
    def _sandbox(self) -> Sandbox:
        """Made once; Jinja2 is loaded here and nowhere else."""
        from tau_compile.render.engine import Sandbox

        return Sandbox(self._own)

    def render(self, name: str, context: dict[str, Any]) -> tuple[dict[str, Any] | None, list[Diagnostic]]:
        """One object, or what is wrong with the template."""
        try:
            text, values = (None if self._own else packaged.text(name, context)) or self._sandbox.text(
                name, context
            )
        except TooLarge:
            return None, [
                _broken(name, 1, f"it makes more than {MAX_OUTPUT:,} characters, or loops too often")
            ]
        except Exception as problem:  # a template is input: whatever it provokes is its author's to mend
            return None, [_explained(name, problem)]
        data = self._filled(name, text, values)
        if data is None:
            whole = written(text, values)
            result = _read(name, whole)
            if result.node is None or result.diagnostics:
                return None, [_unreadable(name, whole, d) for d in result.diagnostics]
            data = plain_data(result.node)
        if not isinstance(data, dict):
            return None, [_broken(name, 1, "it makes a list or a scalar, not an object")]
        return data, []

    def _filled(self, name: str, text: str, values: list[Any]) -> Any | None:
        """The object, if every value stands in the text as a value of its own."""
        key = (text, len(values))
        if key not in self._shapes:
            if len(self._shapes) >= _SHAPES:
                self._shapes.clear()
            result = _read(name, text)
            usable = result.node is not None and not result.diagnostics
            self._shapes[key] = skeleton(result.node, len(values)) if usable and result.node else None
        shape = self._shapes[key]
        return None if shape is None else filled(shape, values)


def _read(name: str, text: str) -> ReadResult:
    return read(text.encode("utf-8", "surrogatepass"), f"templates/{name}", _LIMITS)


def _unreadable(name: str, text: str, problem: Diagnostic) -> Diagnostic:
    line = problem.span.line if problem.span else 1
    shown = text.split("\n")[line - 1].strip()[:60]
    message = f"template `{name}` does not make one YAML document: line {line} of its output, `{shown}`: "
    return error("TAU321", message + problem.message, Span(f"templates/{name}", 1, 1, 1, 1), problem.hint)


def _explained(name: str, problem: Exception) -> Diagnostic:
    from jinja2 import TemplateNotFound, TemplateSyntaxError

    if isinstance(problem, TemplateSyntaxError):
        return _broken(problem.name or name, problem.lineno, problem.message or "it is not a template")
    where, line = _place(problem) or (name, 1)
    if isinstance(problem, RecursionError):
        return _broken(where, line, "it includes itself")
    if isinstance(problem, TemplateNotFound):
        return _broken(where, line, f"there is no template `{problem.name}`")
    why = getattr(problem, "message", None) or str(problem) or type(problem).__name__
    why = re.sub(r"'dict object' has no attribute '(\w+)'", r"there is no `\1` there", why)
    return _broken(where, line, re.sub(r"^'(\w+)' is undefined$", r"there is no `\1`", why))


def _place(problem: BaseException) -> tuple[str, int] | None:
    """(template, line): Jinja2 puts frames of the templates' own into the traceback."""
    found, place = None, problem.__traceback__
    while place is not None:
        if "__jinja_exception__" in place.tb_frame.f_globals:
            found = (place.tb_frame.f_code.co_filename, place.tb_lineno)
        place = place.tb_next
    return found


def _broken(name: str, line: int, why: str) -> Diagnostic:
    return error(
        "TAU320",
        f"template `{name}` cannot be rendered: {why}",
        Span(f"templates/{name}", line, 1, line, 1),
        "compare it with the packaged template of the same name",
    )

"""The Jinja2 environment: an immutable sandbox in which every ``{{ value }}`` stands for one whole value.

Nothing a user writes can change the structure of a manifest, because no value is ever pasted as text. A template in a
pull request is hostile too: it gets values, a handful of filters, and nothing to call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2 import BaseLoader, StrictUndefined, TemplateNotFound, TemplateSyntaxError, Undefined, nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import pass_context

from tau_compile.render.packaged import indent, packaged
from tau_compile.render.values import MAX_OUTPUT, TooLarge, Values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jinja2 import Environment
    from jinja2.runtime import Context

FILTERS = ("length",)
TESTS = ("defined",)


class Sandbox(ImmutableSandboxedEnvironment):
    """No operators that make large values out of small ones, no calls, and no text taken for a value."""

    intercepted_binops = frozenset({"+", "*", "**", "%", "//", "-", "/"})

    def __init__(self, overrides: Mapping[str, str]) -> None:
        self.values = Values()
        super().__init__(
            loader=_Loader(overrides),
            undefined=StrictUndefined,
            finalize=self._finalize,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            auto_reload=False,
        )
        self.globals.clear()
        self.filters = {name: self.filters[name] for name in FILTERS} | {"indent": indent}
        self.tests = {name: self.tests[name] for name in TESTS}

    def text(self, name: str, context: dict[str, Any]) -> tuple[str, list[Any]]:
        """A template's text with tokens, and their values. Raises Jinja2's errors, `TooLarge`, and what JSON cannot say."""
        self.values = Values()
        parts, size = [], 0
        for part in self.get_template(name).generate(context):
            size += len(part)
            if size > MAX_OUTPUT:
                raise TooLarge
            parts.append(part)
        return "".join(parts), self.values.found

    @pass_context  # without a context, constants would come here while a template is compiled
    def _finalize(self, _: Context, value: Any) -> str:
        if isinstance(value, Undefined):
            value._fail_with_undefined_error()
        return self.values.token(value)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for node in tree.find_all((nodes.AssignBlock, nodes.FilterBlock)):
            if not (isinstance(node, nodes.FilterBlock) and node.filter.name == "indent"):
                raise TemplateSyntaxError("rendered text cannot become a value", node.lineno, name, filename)
        return tree

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Refuse arithmetic."""
        raise SecurityError(f"the operator `{operator}` is not available in a template")

    def is_safe_callable(self, obj: Any) -> bool:
        """Refuse every call."""
        return False


class _Loader(BaseLoader):
    """Templates of the repository, by path below ``templates/``, and the packaged ones."""

    def __init__(self, overrides: Mapping[str, str]) -> None:
        self.overrides = overrides

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Find a template."""
        text = self.overrides.get(template)
        if text is None:
            text = packaged(template)
        if text is None:
            raise TemplateNotFound(template)
        return text, template, lambda: True

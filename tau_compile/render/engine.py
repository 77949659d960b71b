"""The Jinja2 environment: an immutable sandbox in which every ``{{ value }}`` stands for one whole value.

Nothing a user writes can change the structure of a manifest, because no value is ever pasted as text. A template in a
pull request is hostile too: it gets values, a handful of filters, and nothing to call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2 import BaseLoader, StrictUndefined, TemplateNotFound, TemplateSyntaxError, Undefined, nodes
from jinja2.compiler import CodeGenerator
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import pass_context

from tau_compile.render.packaged import indent, packaged
from tau_compile.render.values import MAX_OUTPUT, TooLarge, Values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from jinja2 import Environment, Template
    from jinja2.compiler import Frame
    from jinja2.runtime import Context

FILTERS = ("length",)
TESTS = ("defined",)
LONGEST = 64 * 1024  # characters of a text that is put together with `~`
# What a template could build without end, or run without an end, and what it may do instead.
_REFUSED: tuple[tuple[type[nodes.Node], str], ...] = (
    (nodes.AssignBlock, "rendered text cannot become a value"),
    (nodes.Call, "a template cannot call anything"),
    (nodes.Macro, "macros are not available; use `include`"),
    (nodes.CallBlock, "macros are not available; use `include`"),
    (nodes.Import, "macros are not available; use `include`"),
    (nodes.FromImport, "macros are not available; use `include`"),
    (nodes.Extends, "templates do not inherit; use `include`"),
    (nodes.Block, "templates do not inherit; use `include`"),
    (nodes.List, "a list is written as YAML, not inside of braces"),
    (nodes.Dict, "a mapping is written as YAML, not inside of braces"),
)


class _Code(CodeGenerator):
    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
        """Join with a limit."""
        self.write("environment.joined((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")


class Sandbox(ImmutableSandboxedEnvironment):
    """No operators that make large values out of small ones, no calls, and no text taken for a value."""

    code_generator_class = _Code
    intercepted_binops = frozenset({"+", "*", "**", "%", "//", "-", "/"})

    def __init__(self, overrides: Mapping[str, str]) -> None:
        self.values = Values()
        self.own = overrides
        self.work = 0
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
        self.filters = {name: self.filters[name] for name in FILTERS} | {
            "indent": indent,
            "counted": self._counted,
        }
        self.tests = {name: self.tests[name] for name in TESTS}

    def text(self, name: str, context: dict[str, Any]) -> tuple[str, list[Any]]:
        """A template's text with tokens, and their values. Raises Jinja2's errors, `TooLarge`, and what JSON cannot say."""
        self.values, self.work = Values(), 0
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
        for kind, why in _REFUSED:
            for node in tree.find_all(kind):
                raise TemplateSyntaxError(why, node.lineno, name, filename)
        for block in tree.find_all(nodes.FilterBlock):
            if block.filter.name != "indent" or isinstance(block.filter.node, nodes.Filter):
                raise TemplateSyntaxError("rendered text cannot become a value", block.lineno, name, filename)
        if name in self.own:
            for loop in tree.find_all(nodes.For):
                weight = nodes.Const(16 + sum(len(text.data) for text in loop.find_all(nodes.TemplateData)))
                loop.iter = nodes.Filter(loop.iter, "counted", [weight], [], None, None, lineno=loop.lineno)
        return tree

    @pass_context  # so that it does not run while a template is compiled
    def _counted(self, _: Context, items: Iterable[Any], weight: int) -> Iterator[Any]:
        """The items of a loop, as long as all loops together have not written too much."""
        for item in items:
            self._spend(weight)
            yield item

    def _spend(self, weight: int) -> None:
        self.work += weight
        if self.work > MAX_OUTPUT:
            raise TooLarge

    def get_template(self, name: Any, parent: str | None = None, globals: Any = None) -> Template:
        """A template, which costs as much as it is long each time that it is used."""
        self._spend(16 + len(self.own.get(name, "")))
        return super().get_template(name, parent, globals)

    @staticmethod
    def joined(parts: tuple[Any, ...]) -> str:
        """The texts of an expression with `~`, one behind the other."""
        if not all(isinstance(part, str | int | float) for part in parts):
            raise TypeError("`~` joins texts and numbers")
        text = "".join(map(str, parts))
        if len(text) > LONGEST:
            raise TooLarge
        return text

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

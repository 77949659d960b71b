"""The Jinja2 environment: an immutable sandbox in which every ``{{ value }}`` comes out as one JSON scalar or collection.

Nothing a user writes can change the structure of a manifest, because no value is ever pasted as text. A template in a
pull request is hostile too: it gets values, a handful of filters, and nothing to call.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from jinja2 import BaseLoader, StrictUndefined, TemplateNotFound, Undefined
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tau_compile.data import locate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jinja2 import Environment, Template
    from jinja2.runtime import Context

FILTERS = ("indent", "length")
TESTS = ("defined",)
MAX_OUTPUT = 8 * 1024 * 1024  # characters of one rendered manifest

# What JSON leaves as it is and some YAML reader does not: DEL and C1 controls, line and paragraph separators, the byte
# order mark, and code points that are not characters.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


def finalize(value: Any) -> str:
    """A value as JSON on one line, readable by every YAML reader."""
    if isinstance(value, Undefined):
        value._fail_with_undefined_error()
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class _Sandbox(ImmutableSandboxedEnvironment):
    """No operators that make large values out of small ones, and no calls."""

    intercepted_binops = frozenset({"+", "*", "**", "%", "//", "-", "/"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        raise SecurityError(f"the operator `{operator}` is not available in a template")

    def is_safe_callable(self, obj: Any) -> bool:
        return False


class _Loader(BaseLoader):
    """Templates of the repository, by path below ``templates/``, and the packaged ones.

    A packaged template that was compiled when the package was built is loaded from that, if its text is still the same.
    """

    def __init__(self, overrides: Mapping[str, str]) -> None:
        self.overrides = overrides

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        text = self.overrides.get(template)
        if text is None:
            text = _packaged(template)
        return text, template, lambda: True

    def load(self, environment: Environment, name: str, globals: Any = None) -> Template:
        if name not in self.overrides:
            from tau_compile.render.compiled import code_for

            code = code_for(name, _packaged(name))
            if code is not None:
                return environment.template_class.from_code(environment, code, globals or {}, lambda: True)
        return super().load(environment, name, globals)


def _packaged(name: str) -> str:
    parts = name.split("/")
    path = locate("templates", *parts)
    if not all(parts) or ".." in parts or not os.path.isfile(path):
        raise TemplateNotFound(name)
    with open(path, encoding="utf-8") as file:
        return file.read()


def environment(overrides: Mapping[str, str] | None = None) -> Environment:
    """A fresh environment; ``overrides`` are the repository's own templates by path below ``templates/``."""
    env = _Sandbox(
        loader=_Loader(overrides or {}),
        undefined=StrictUndefined,
        finalize=finalize,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    env.globals.clear()
    env.filters = {name: env.filters[name] for name in FILTERS}
    env.tests = {name: env.tests[name] for name in TESTS}
    return env

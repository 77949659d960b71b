"""The packaged templates: their texts, and what they were translated into when the package was built.

The build writes ``tau_compile/_templates.py``: each template as a Python function, so that a cold start neither imports Jinja2
nor compiles anything. It counts only while every template's text is still the one that was translated; without it, or after
an edit, Jinja2 renders as it renders a repository's own templates, to the same result.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from tau_compile.data import locate
from tau_compile.render.values import MAX_OUTPUT, TooLarge, Values

if TYPE_CHECKING:
    from collections.abc import Callable

    # (context, takes a piece of text, turns a value into text)
    Template = Callable[[dict[str, Any], Callable[[str], None], Callable[[Any], str]], None]


def packaged(name: str) -> str | None:
    """The text of a packaged template, by path below ``templates/``; None if there is none."""
    parts = name.split("/")
    path = locate("templates", *parts)
    if not all(parts) or ".." in parts or not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def names() -> list[str]:
    """All packaged templates, by path below ``templates/``."""
    root = locate("templates")
    found = []
    for folder, _, files in os.walk(root):
        found += [os.path.relpath(os.path.join(folder, file), root) for file in files if file.endswith(".j2")]
    return sorted(name.replace(os.sep, "/") for name in found)


@cache
def translated(space: bool = False) -> dict[str, Template]:
    """The packaged templates as functions; empty when some template has changed since.

    Those of runs and those of workspaces (``space``) are looked at apart: who renders one of them reads no other.
    """
    try:
        from tau_compile import _templates
    except ImportError:
        return {}
    texts: dict[str, str] = _templates.TEXTS
    if any(packaged(name) != text for name, text in texts.items() if _of_space(name) == space):
        return {}
    functions: dict[str, Template] = _templates.TEMPLATES
    return functions


def text(name: str, context: dict[str, Any]) -> tuple[str, list[Any]] | None:
    """A packaged template's text with tokens, and their values; None if Jinja2 has to be asked."""
    function = (translated(True) if _of_space(name) else translated()).get(name)
    if function is None:
        return None
    values = Values()
    parts: list[str] = []
    try:
        function(context, parts.append, values.token)
    except Exception:
        return None  # Jinja2 says what is wrong, and where
    return "".join(parts), values.found


def _of_space(name: str) -> bool:
    return name.startswith("workspace/")


def indent(text: str, width: int = 4, first: bool = False, blank: bool = False) -> str:
    """The filter ``indent``, for templates of either kind: lines but the first and empty ones, unless asked."""
    if type(width) is not int:
        raise TypeError("indent takes a number of columns")
    pad = " " * min(width, 64)
    first_line, *rest = f"{text}\n".splitlines()
    lines = [pad + first_line if first else first_line]
    indented = "\n".join(lines + [pad + line if line or blank else line for line in rest])
    if len(indented) > MAX_OUTPUT:
        raise TooLarge
    return indented

"""The packaged templates → one Python module of plain functions, so that nobody's cold start compiles them.

Only what our templates use is known here: values, ``if``, ``for``, ``with``, ``include`` and the filter ``indent``. Anything else
raises `Untranslatable`; the template then needs another way to say it, or this module another few lines.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from jinja2 import nodes

from tau_compile.render.engine import Sandbox
from tau_compile.render.packaged import names, packaged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_HEAD = '''\
"""The packaged templates as functions; written by tau_compile/_build/translate.py when the package was built."""

from tau_compile.render.packaged import indent
'''
# What Jinja2 would take for a method of a dict, a list or a text instead of a key.
_METHODS = frozenset(name for kind in (dict, list, str) for name in dir(kind))
_COMPARE = {
    "eq": "==",
    "ne": "!=",
    "gt": ">",
    "gteq": ">=",
    "lt": "<",
    "lteq": "<=",
    "in": "in",
    "notin": "not in",
}


class Untranslatable(Exception):  # noqa: N818
    """A template uses something that is not known here."""


def write(package: Path) -> None:
    """Write ``_templates.py`` into the package's folder."""
    text = module({name: packaged(name) or "" for name in names()})
    new = package / f"_templates.{os.getpid()}.new"
    new.write_text(text, encoding="utf-8", newline="\n")
    new.replace(package / "_templates.py")


def module(texts: Mapping[str, str]) -> str:
    """The source of a module with ``TEXTS``, the texts themselves, and ``TEMPLATES``, a function for each."""
    functions = {name: f"template_{index}" for index, name in enumerate(sorted(texts))}
    parts = [_HEAD]
    for name in sorted(texts):
        parts.append("\n\n" + "\n".join(_Function(name, functions).lines(texts[name])) + "\n")
    parts.append(
        "\n\nTEXTS = {\n" + "".join(f"    {name!r}: {texts[name]!r},\n" for name in sorted(texts)) + "}\n"
    )
    parts.append(
        "TEMPLATES = {\n" + "".join(f"    {name!r}: {functions[name]},\n" for name in sorted(texts)) + "}\n"
    )
    return "".join(parts)


class _Function:
    """One template. In the code ``c`` is the context, ``put`` takes text, and ``value`` turns a value into text."""

    def __init__(self, name: str, functions: Mapping[str, str]) -> None:
        self.name = name
        self.functions = functions
        self.made = 0

    def lines(self, text: str) -> Iterator[str]:
        yield f"def {self.functions[self.name]}(c, put, value):  # {self.name}"
        yield from self._body(Sandbox({}).parse(text, self.name).body, "    ", "c", "put")

    def _body(self, body: list[nodes.Node], pad: str, c: str, put: str) -> Iterator[str]:
        empty = True
        for node in body:
            for line in self._statement(node, pad, c, put):
                empty = False
                yield line
        if empty:
            yield f"{pad}pass"

    def _statement(self, node: nodes.Node, pad: str, c: str, put: str) -> Iterator[str]:
        if isinstance(node, nodes.Output):
            for part in node.nodes:
                if isinstance(part, nodes.TemplateData):
                    yield f"{pad}{put}({part.data!r})"
                else:
                    yield f"{pad}{put}(value({self._value(part, c)}))"
        elif isinstance(node, nodes.If) and not node.elif_:
            yield f"{pad}if {self._value(node.test, c)}:"
            yield from self._body(node.body, pad + "    ", c, put)
            if node.else_:
                yield f"{pad}else:"
                yield from self._body(node.else_, pad + "    ", c, put)
        elif isinstance(node, nodes.For) and isinstance(node.target, nodes.Name):
            if (
                node.else_
                or node.test
                or node.recursive
                or any(n.name == "loop" for n in node.find_all(nodes.Name))
            ):
                raise self._unknown(node)
            item, inner = self._new("item"), self._new("c")
            yield f"{pad}for {item} in {self._value(node.iter, c)}:"
            yield f"{pad}    {inner} = {{**{c}, {node.target.name!r}: {item}}}"
            yield from self._body(node.body, pad + "    ", inner, put)
        elif isinstance(node, nodes.With) and all(isinstance(target, nodes.Name) for target in node.targets):
            inner = self._new("c")
            pairs = zip(node.targets, node.values, strict=True)
            shown = ", ".join(f"{target.name!r}: {self._value(value, c)}" for target, value in pairs)  # type: ignore[attr-defined]
            yield f"{pad}{inner} = {{**{c}, {shown}}}"
            yield from self._body(node.body, pad, inner, put)
        elif isinstance(node, nodes.Include) and isinstance(node.template, nodes.Const) and node.with_context:
            if node.template.value not in self.functions:
                raise self._unknown(node)
            yield f"{pad}{self.functions[node.template.value]}({c}, {put}, value)"
        elif isinstance(node, nodes.FilterBlock) and not node.filter.kwargs:
            parts = self._new("parts")
            arguments = "".join(f", {self._value(argument, c)}" for argument in node.filter.args)
            yield f"{pad}{parts} = []"
            yield from self._body(node.body, pad, c, f"{parts}.append")
            yield f'{pad}{put}(indent("".join({parts}){arguments}))'
        else:
            raise self._unknown(node)

    def _value(self, node: nodes.Node, c: str) -> str:
        if isinstance(node, nodes.Name):
            return f"{c}[{node.name!r}]"
        if isinstance(node, nodes.Const):
            return repr(node.value)
        if isinstance(node, nodes.Getattr) and node.attr not in _METHODS and not node.attr.startswith("_"):
            return f"{self._value(node.node, c)}[{node.attr!r}]"
        if isinstance(node, nodes.Not):
            return f"(not {self._value(node.node, c)})"
        if isinstance(node, nodes.And | nodes.Or):
            word = "and" if isinstance(node, nodes.And) else "or"
            return f"({self._value(node.left, c)} {word} {self._value(node.right, c)})"
        if isinstance(node, nodes.Compare) and len(node.ops) == 1:
            (operand,) = node.ops
            return f"({self._value(node.expr, c)} {_COMPARE[operand.op]} {self._value(operand.expr, c)})"
        raise self._unknown(node)

    def _new(self, word: str) -> str:
        self.made += 1
        return f"{word}{self.made}"

    def _unknown(self, node: nodes.Node) -> Untranslatable:
        return Untranslatable(
            f"templates/{self.name}:{node.lineno}: {type(node).__name__}, in this form, is not translated"
        )

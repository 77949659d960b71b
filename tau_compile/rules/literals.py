"""Credentials that somebody wrote into a tau.yaml or an overlay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.rules import credentials
from tau_compile.source.nodes import Mapping, Scalar, Sequence, find, scalars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.diagnostics import Diagnostic, Span
    from tau_compile.source.nodes import Node


def credentials_in(node: Mapping) -> list[Diagnostic]:
    """Literals in a merged document that look like credentials: under telling names, and by their shape anywhere."""
    said: list[Diagnostic] = []
    env = find(node, "runtime.env")
    literals = [
        (entry.key.name, entry.value.text, entry.value.span)
        for entry in (env.entries if isinstance(env, Mapping) else ())
        if isinstance(entry.value, Scalar)
    ]
    said.extend(credentials.find(literals))
    pip = find(node, "runtime.pip")
    for item in pip.items if isinstance(pip, Sequence) else ():
        if isinstance(item, Scalar):
            said.extend(credentials.find_in_text(item.text, item.span, "runtime.pip"))
    said.extend(credentials.find(_settings("", find(node, "execution.configs")), "setting"))
    searched = ("runtime.env", "runtime.pip", "execution.configs")
    for path, scalar in scalars(node):
        if not path.startswith(searched):
            said.extend(credentials.find_in_text(scalar.text, scalar.span, f"`{path}`"))
    return said


def _settings(name: str, node: Node | None) -> Iterator[tuple[str, str, Span]]:
    """(name, value, its place) of everything below a node; the items of a list have the name of the list."""
    if isinstance(node, Scalar):
        yield name, node.text, node.span
    elif isinstance(node, Mapping):
        for entry in node.entries:
            yield from _settings(entry.key.name, entry.value)
    elif node is not None:
        for item in node.items:
            yield from _settings(name, item)

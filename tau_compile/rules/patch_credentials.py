"""Credentials that somebody wrote into a patch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.rules import credentials
from tau_compile.source.nodes import Mapping, Scalar, scalars

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tau_compile.diagnostics import Diagnostic
    from tau_compile.policy.patches import Patch
    from tau_compile.source.nodes import Node

_INSTEAD = (
    "take it from a Secret: `valueFrom: {secretKeyRef: {name: SECRET, key: KEY}}` in the place of `value`; if it is a real one, "
    "revoke it: it stays in the history of this repository"
)


def credentials_in_patches(patches: Iterable[Patch]) -> list[Diagnostic]:
    """Literals that look like credentials: of variables and start parameters by their names, anywhere by their shape."""
    said: list[Diagnostic] = []
    for patch in patches:
        named: set[int] = set()
        for what, name, value in _named(patch.body):
            found = credentials.find([(name, value.text, value.span)], what)
            named.update([id(value)] if found else [])
            said += found
        for path, scalar in scalars(patch.body, item="[]"):
            if id(scalar) not in named:
                said += credentials.find_in_text(scalar.text, scalar.span, f"`{path}` of a patch")
    return [one._replace(hint=_INSTEAD) for one in said]


def _named(node: Node) -> Iterator[tuple[str, str, Scalar]]:
    """(what it is, its name, its literal value) of variables and of Ray's start parameters (redis-password is one)."""
    if isinstance(node, Mapping):
        name, value = node.get("name"), node.get("value")
        if isinstance(name, Scalar) and isinstance(value, Scalar):
            yield "environment variable", name.text, value
        for entry in node.entries:
            if entry.key.name == "rayStartParams" and isinstance(entry.value, Mapping):
                for one in entry.value.entries:
                    if isinstance(one.value, Scalar):
                        yield "start parameter", one.key.name, one.value
            yield from _named(entry.value)
    elif not isinstance(node, Scalar):
        for item in node.items:
            yield from _named(item)

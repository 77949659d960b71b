"""A positioned document checked against a schema of ours: its data, and everything that is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import ordered
from tau_compile.named import NamedTuple
from tau_compile.schema.coerce import read_as
from tau_compile.schema.store import Prepared, prepare

if TYPE_CHECKING:
    from tau_compile.diagnostics import Diagnostic
    from tau_compile.source.nodes import Node


class Checked(NamedTuple):
    """``data`` is the document as plain data; with an error among ``diagnostics`` it is not to be used."""

    data: Any
    diagnostics: tuple[Diagnostic, ...]


def check(node: Node, schema: Prepared | dict[str, Any], *, file_kind: str) -> Checked:
    """Check ``node``; ``file_kind`` names such files in messages ("tau.yaml"). Reports every fault at once.

    On a valid document this costs two short walks: nothing that explains faults is imported.
    """
    ready = schema if isinstance(schema, Prepared) else prepare(schema)
    coerced = read_as(node, ready.shape)
    if ready.verdict(coerced.data):
        return Checked(coerced.data, tuple(ordered(coerced.diagnostics)) if coerced.diagnostics else ())
    from tau_compile.schema.report import report

    found = [*coerced.diagnostics, *report(node, ready, coerced, file_kind)]
    return Checked(coerced.data, tuple(ordered(found)))

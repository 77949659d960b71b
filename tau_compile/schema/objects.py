"""Rendered Kubernetes objects against the schemas of their kinds."""

from __future__ import annotations

from typing import Any

from tau_compile.named import NamedTuple
from tau_compile.schema import store

_MANY = 100


class Problem(NamedTuple):
    """One fault: the dotted path inside the object, and what is wrong there."""

    path: str
    message: str


def problems(obj: dict[str, Any]) -> list[Problem]:
    """What the structural schema of ``obj``'s kind would refuse, sorted; an unknown kind is a problem too."""
    version, kind = obj.get("apiVersion"), obj.get("kind")
    name = (
        store.kubernetes_name(version, kind) if isinstance(version, str) and isinstance(kind, str) else None
    )
    if name is None:
        return [Problem("kind", f"there is no schema for {kind} of {version}")]
    schema = store.prepared(name)
    return [] if schema.verdict(obj) else _explained(obj, schema)


def _explained(obj: dict[str, Any], schema: store.Prepared) -> list[Problem]:
    from itertools import islice

    from tau_compile.schema.explain import below, explain
    from tau_compile.schema.faults import faults
    from tau_compile.suggest import nearest

    found: set[Problem] = set()
    for fault in islice(faults(schema.schema, schema.document, obj), _MANY):
        path = ""
        for step in fault.path:
            path = f"{path}[{step}]" if isinstance(step, int) else below(path, step)
        if fault.keyword == "additionalProperties":
            path = below(path, fault.detail)
            close = nearest(fault.detail, fault.holders[-1].get("properties", ()))
            hint = f"; did you mean {close}?" if close else ""
            found.add(Problem(path, explain(fault, path).message + hint))
        else:
            said = explain(fault, path)
            # Of a value that is not allowed, only the hint says what would be.
            hint = f"; {said.hint}" if said.id == "TAU205" and said.hint.startswith("write ") else ""
            found.add(Problem(path, said.message + hint))
    return sorted(found) or [Problem("", "the object does not fit its schema")]

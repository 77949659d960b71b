"""Faults as diagnostics at the exact key or value."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, error
from tau_compile.schema import known
from tau_compile.schema.explain import below, explain
from tau_compile.schema.faults import Fault, faults
from tau_compile.schema.hints import Unknown, unknown_key
from tau_compile.schema.place import Place, trail
from tau_compile.schema.words import spelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tau_compile.schema.coerce import Coerced
    from tau_compile.schema.store import Prepared
    from tau_compile.source.nodes import Node

_MANY = 200  # faults of one file that are told, and unknown keys that are compared with all known ones
_COMPARED = 20


def report(node: Node, schema: Prepared, coerced: Coerced, file_kind: str) -> list[Diagnostic]:
    """A diagnostic for each fault of ``coerced.data``, but for those about values already complained of."""
    index = known.index(schema.schema, schema.document, coerced.data)
    out: list[Diagnostic] = []
    compared = 0
    for fault in _worth_telling(islice(faults(schema.schema, schema.document, coerced.data), _MANY)):
        places = trail(node, fault.path)
        if any(id(place.node) in coerced.settled for place in places):
            continue
        place = places[-1]
        if fault.keyword == "additionalProperties":
            compared += 1
            out.append(_unknown(fault, place, index, compared <= _COMPARED))
        elif fault.keyword == "required":
            out.append(_missing(fault, place, index))
        else:
            out.append(_other(fault, place))
    if not out and not coerced.diagnostics:  # never let pass what the verdict refused
        hint = "compare it with the schema: `tau-compile schema`"
        out.append(error("TAU202", f"this is not a valid {file_kind}", trail(node, ())[0].head, hint))
    return out


def _worth_telling(found: Iterable[Fault]) -> Iterator[Fault]:
    """Leave out what follows from another fault of the same value."""
    listed = list(found)
    wrong_type = {fault.path for fault in listed if fault.keyword == "type"}
    empty = {fault.path for fault in listed if fault.keyword == "minLength" and not fault.value}
    told: set[tuple[object, ...]] = set()
    for fault in listed:
        if fault.path in wrong_type and fault.keyword != "type":
            continue
        if fault.path in empty and fault.keyword != "minLength":
            continue
        key = (fault.path, fault.keyword, repr(fault.detail))
        if key not in told:
            told.add(key)
            yield fault


def _names(fault: Fault, name: str) -> known.Names:
    return (*(step for step in fault.path if isinstance(step, str)), name)


def _unknown(fault: Fault, mapping: Place, index: known.Index, compare: bool) -> Diagnostic:
    place = trail(mapping.node, (fault.detail,))[-1]
    path = place.path if place.key and place.key.written else below(mapping.path, place.path)
    key = Unknown(_names(fault, fault.detail), mapping.path, fault.value[fault.detail])
    hint = unknown_key(key, index) if compare else ""
    said = explain(fault, path)
    return error(said.id, said.message, place.head, hint or "remove it")


def _missing(fault: Fault, mapping: Place, index: known.Index) -> Diagnostic:
    said = explain(fault, mapping.path)
    found = index.here.get(_names(fault, fault.detail))
    hint = f"add `{fault.detail}`"
    if found:
        examples, about, more = found.note("examples"), found.note("description"), found.note("x-tau-hint")
        const = found.note("const")
        example = examples[0] if examples else const
        if example is not None:
            hint = f"add `{fault.detail}: {spelled(example)}`"
        elif about:
            hint += (
                f": {about[0].lower() if about.split()[0][1:].islower() else about[0]}{about[1:].rstrip('.')}"
            )
        hint = "; ".join(part for part in (hint, more) if part)
    return error(said.id, said.message, mapping.head, hint)


def _other(fault: Fault, place: Place) -> Diagnostic:
    said = explain(fault, place.path)
    if fault.keyword == "uniqueItems":
        again, first = (trail(place.node, (index,))[-1].span for index in fault.detail)
        return error(said.id, said.message, again, said.hint, (Related(first, "the same item"),))
    on_key = fault.keyword in ("propertyNames", "false")
    on_start = fault.keyword in ("alternatives", "dependentRequired", "not", "oneOf", "contains")
    span = place.head if on_key or on_start else place.span
    return error(said.id, said.message, span, said.hint)

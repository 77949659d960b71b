"""The fields that can be limited: paths of the canonical tau.yaml, patterns of them, and totals over all pods."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from tau_compile.runs.identity import QUANTITIES
from tau_compile.schema import store
from tau_compile.schema.known import index
from tau_compile.source.forms import KIND_SPELLINGS, SPELLINGS
from tau_compile.source.wildcards import Part
from tau_compile.source.wildcards import matcher as wildcards
from tau_compile.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tau_compile.schema.known import Known

TOTALS = {"total.gpus": "integer", "total.cpus": "quantity", "total.memory": "quantity"}
ORDERED = frozenset({"quantity", "duration", "integer", "number"})
# Maps whose keys are the user's own: all that follows is one name, dots and all.
FREE = ("runtime.env", "policy.node_selector", "execution.configs")
# Lists whose items have a name: the name stands where the index would.
NAMED = ("storage.mounts", "storage.image_assets")
_ENGINES = ("job", "rayjob")


@cache
def _index() -> dict[tuple[str, ...], Known]:
    prepared = store.prepared("tau.schema.json#/$defs/canonical")
    return index(prepared.schema, prepared.document).here


@cache
def kinds() -> dict[str, str]:
    """Each canonical field: quantity, duration, integer, number, boolean, text, list or map."""
    duration = store.load("tau.schema.json")["$defs"]["duration"]
    found = _index()
    kept: dict[str, str] = {}
    for names, known in found.items():
        path = ".".join(names)
        if known.usable and path not in _elsewhere() and not path.startswith(tuple(f"{f}." for f in FREE)):
            kept[path] = _kind(path, known, duration)
    return kept


@cache
def words(path: str) -> tuple[str, ...]:
    """The words that a field, or an item of it, can be; empty where any text can be."""
    known = _index().get(tuple(path.split(".")))
    if known is None:
        return ()
    listed = known.note("enum") or (known.note("items") or {}).get("enum") or ()
    return tuple(word for word in listed if isinstance(word, str))


def _kind(path: str, known: Known, duration: object) -> str:
    if path in QUANTITIES:
        return "quantity"
    if any(schema is duration for schema in known.schemas):
        return "duration"
    word = known.note("type")
    first = word[0] if isinstance(word, list) else word
    return {"object": "map", "array": "list", "string": "text"}.get(first, first or "text")


@cache
def _elsewhere() -> dict[str, str]:
    """Other spellings of a field, which are not in the canonical form, and the field."""
    found = {path: target for target, paths in SPELLINGS for path in paths if path != target}
    found |= dict.fromkeys((p for p in KIND_SPELLINGS if p != "run.workload_kind"), "run.workload_kind")
    return found | {"runtime.env_secret": "runtime.env"}


def kind_of(path: str) -> str:
    """The kind of a path in a document: a field, a name of a free map, or part of a named item."""
    known = kinds().get(path) or TOTALS.get(path)
    if known:
        return known
    for free in FREE:
        if path.startswith(f"{free}."):
            return "text" if free != "execution.configs" else "any"
    for named in NAMED:
        if path.startswith(f"{named}."):
            _, _, rest = path[len(named) + 1 :].partition(".")
            return kinds().get(f"{named}.{rest}", "map") if rest else "map"
    return ""


def matching(field: str) -> list[str]:
    """The kinds of what a field or pattern can match; empty when it can match nothing."""
    if "*" not in field:
        found = kind_of(field)
        return [found] if found else []
    fits = matcher(field)
    found_kinds = {kind for path, kind in _all() if fits(path)}
    found_kinds |= {
        "any" if free == "execution.configs" else "text" for free in FREE if field.startswith(f"{free}.")
    }
    return sorted(found_kinds)


def _all() -> Iterator[tuple[str, str]]:
    for path, kind in kinds().items():
        for named in NAMED:
            if path.startswith(f"{named}."):
                path = f"{named}.x{path[len(named) :]}"
        yield path, kind
    yield from TOTALS.items()


@cache
def matcher(field: str) -> Callable[[str], bool]:
    """Whether a path is what a pattern means. ``*`` stands for text without dots; in a free map, for any."""
    free = next((name for name in FREE if field.startswith(f"{name}.")), "")
    parts = [Part(free)]
    for word in re.split(r"(\*+)", field[len(free) :]):
        parts.append(Part(wild=True, barred="" if free else ".") if word.startswith("*") else Part(word))
    return wildcards(parts)


def suggestion(field: str) -> str:
    """What was probably meant by a field that does not exist."""
    meant = _elsewhere().get(field)
    if meant and meant != field:
        return f"write `{meant}`, the canonical field"
    parts = field.rpartition(".")
    close = nearest(field, [*kinds(), *TOTALS]) or next(
        (path for path in sorted(kinds()) if path.endswith(f".{parts[2]}")), ""
    )
    return f"did you mean `{close}`?" if close else "docs/reference/tau-yaml.md lists the fields"

"""Explanations as text for people and as data for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.explain.origins import shown
from tau_compile.printers import printable, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tau_compile.explain.fields import Field, Set
    from tau_compile.explain.origins import Explained, Origin

WIDTH = 60  # characters of a value in a table
_NO_TEMPLATE = "tau-compile itself"
_SEVERAL = 4  # conditions that are worth a line each


def fields_text(fields: Sequence[Field]) -> str:
    """A table of fields; the values that lost stand below the one that won."""
    rows = [("FIELD", "VALUE", "SET BY", "PLACE")]
    for field in fields:
        name = f"{field.path} (written {field.written})" if field.written else field.path
        rows.append((name, _cut(field.by.value), field.by.layer, field.by.place))
        rows += [("  lost", _cut(lost.value), lost.layer, lost.place) for lost in field.lost]
    return table(rows)


def leaf_text(one: Explained) -> str:
    """Everything about one leaf."""
    rows = [(_heading(origin), _input(origin), origin.layer, origin.place) for origin in one.inputs]
    if not one.known:
        rows.append(("from", "inputs that are not known any more", "", ""))
    elif one.constant:
        rows.append(("constant", "no input decides this value", "", ""))
    rows += [("if", _input(origin), origin.layer, origin.place) for origin in one.conditions[:_SEVERAL]]
    if len(one.conditions) > _SEVERAL:
        rows.append(("if", f"and {len(one.conditions) - _SEVERAL} more", "", ""))
    if one.line is not None:
        rows.append(("printed by", one.line.shown, "", ""))
    elif one.known and not one.patched:
        rows.append(("written by", _NO_TEMPLATE, "", ""))
    if one.patched and one.known:
        rows.append(
            ("patched", "not what a template printed" if one.line else "no template printed it", "", "")
        )
    return f"{printable(one.leaf.name)} = {_cut(one.leaf.value, 1000)}\n{table(rows, '  ')}"


def leaves_text(found: Iterable[Explained]) -> str:
    """Tables of leaves, one an object: each leaf with the places that decide it and the line that printed it."""
    from itertools import groupby

    return "".join(_leaves_text(list(group)) for _, group in groupby(found, key=lambda one: one.leaf.object))


def _leaves_text(all_of_them: list[Explained]) -> str:
    start = _shared([(one.leaf.object, *one.leaf.raw[:-1]) for one in all_of_them])
    rows = [("PATH", "VALUE", "FROM", "PRINTED BY")]
    for one in all_of_them:
        places = [f"{o.place} {o.path or o.text}" for o in one.inputs] or ["constant" if one.known else "?"]
        without = "patch" if one.patched else _NO_TEMPLATE
        line = one.line.shown if one.line else without if one.known else ""
        path = one.leaf._replace(raw=one.leaf.raw[len(start) - 1 :]).path
        rows.append((path, _cut(one.leaf.value, 40), places[0], line))
        rows += [("", "", place, "") for place in places[1:]]
    above = all_of_them[0].leaf._replace(raw=start[1:]).name
    return f"{printable(above)}\n{table(rows, '  ')}"


def _shared(paths: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """What all paths begin with."""
    first, last = min(paths, key=str), max(paths, key=str)
    length = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return first[: min(len(first), len(last)) if length is None else length]


def _heading(origin: Origin) -> str:
    return "patch" if origin.what == "patch" else "from"


def _input(origin: Origin) -> str:
    if origin.what in ("intent", "code"):
        return origin.text
    return f"the name {origin.path}" if origin.what == "name" else f"{origin.path}: {_cut(origin.text)}"


def _cut(value: Any, width: int = WIDTH) -> str:
    text = printable(shown(value))
    return text if len(text) <= width else f"{text[: width - 1]}…"


def field_data(field: Field) -> dict[str, Any]:
    """A field as JSON."""
    written = {"written": field.written} if field.written else {}
    lost = [_set_data(one) for one in field.lost]
    return {"path": field.path, **written, **_set_data(field.by), "lost": lost}


def _set_data(one: Set) -> dict[str, Any]:
    return {"value": one.value, "layer": one.layer, **_place_data(one.place)}


def _place_data(place: str) -> dict[str, Any]:
    if not place:
        return {"place": None}
    file, line, column = place.rsplit(":", 2)
    return {"place": {"file": file, "line": int(line), "column": int(column)}}


def leaf_data(one: Explained) -> dict[str, Any]:
    """A leaf as JSON."""
    line = one.line
    template = {"name": line.template, "line": line.number, "own": line.own} if line else None
    return {
        "object": one.leaf.object,
        "path": one.leaf.path,
        "value": one.leaf.value,
        "constant": one.constant,
        "known": one.known,
        "patched": one.patched,
        "template": template,
        "inputs": [_origin_data(origin) for origin in one.inputs],
        "conditions": [_origin_data(origin) for origin in one.conditions],
    }


def _origin_data(origin: Origin) -> dict[str, Any]:
    return {
        "what": origin.what,
        "path": origin.path,
        "text": origin.text,
        "layer": origin.layer,
        **_place_data(origin.place),
    }

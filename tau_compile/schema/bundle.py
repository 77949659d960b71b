"""A schema as one file that stands by itself: definitions of neighbouring files are taken in."""

from __future__ import annotations

import json
import re
from typing import Any

from tau_compile.schema import store

_HERE = "#/$defs/"
_NEIGHBOUR = re.compile(r'"([a-z-]+\.schema\.json)#/\$defs/')


def bundled(name: str) -> str:
    """The JSON text of ``schemas/<name>.schema.json`` with the definitions it refers to."""
    file = f"{name}.schema.json"
    schema = json.loads(json.dumps(store.load(file)))
    taken: dict[tuple[str, str], Any] = {}
    wanted = {found for found in _references(schema, file) if found[0] != file}
    while wanted - taken.keys():
        for home, key in sorted(wanted - taken.keys()):
            taken[home, key] = store.load(home)["$defs"][key]
            wanted |= _references(taken[home, key], home)
    if taken:
        schema.setdefault("$defs", {}).update({key: value for (_, key), value in taken.items()})
    text = json.dumps(schema, ensure_ascii=False, indent=2)
    return _NEIGHBOUR.sub(f'"{_HERE}', text) + "\n"


def _references(node: Any, home: str) -> set[tuple[str, str]]:
    """(file, name) of every definition that a schema in the file ``home`` refers to."""
    if isinstance(node, dict):
        own = node.get("$ref")
        file, mark, key = own.partition(_HERE) if isinstance(own, str) else ("", "", "")
        found = {(file or home, key)} if mark else set()
        return found.union(*(_references(value, home) for value in node.values()))
    if isinstance(node, list):
        return set().union(*(_references(value, home) for value in node))
    return set()

"""A schema as one file that stands by itself: definitions of neighbouring files are taken in."""

from __future__ import annotations

import json
from typing import Any

from tau_compile.schema import store

_NEIGHBOURS = ("platform.schema.json", "tau.schema.json")


def bundled(name: str) -> str:
    """The JSON text of ``schemas/<name>.schema.json`` with the definitions it refers to."""
    file = f"{name}.schema.json"
    schema = json.loads(json.dumps(store.load(file)))
    for neighbour in _NEIGHBOURS:  # what is taken from the first may refer to the second
        if neighbour == file:
            continue
        shared = store.load(neighbour)["$defs"]
        wanted = _references(schema, f"{neighbour}#/$defs/")
        taken: dict[str, Any] = {}
        while wanted - taken.keys():
            for key in sorted(wanted - taken.keys()):
                taken[key] = shared[key]
                wanted |= _references(shared[key], "#/$defs/")
        schema.setdefault("$defs", {}).update(taken)
    text = json.dumps(schema, ensure_ascii=False, indent=2)
    for neighbour in _NEIGHBOURS:
        text = text.replace(f'"{neighbour}#/', '"#/')
    return text + "\n"


def _references(node: Any, prefix: str) -> set[str]:
    if isinstance(node, dict):
        own = node.get("$ref")
        found = {own.removeprefix(prefix)} if isinstance(own, str) and own.startswith(prefix) else set()
        return found.union(*(_references(value, prefix) for value in node.values()))
    if isinstance(node, list):
        return set().union(*(_references(value, prefix) for value in node))
    return set()

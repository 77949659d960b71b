"""Parts of rendered objects, which may be of any shape: templates and patches make them."""

from __future__ import annotations

from typing import Any


def part(value: Any, *path: str) -> Any:
    """The value at a path of keys, or None."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def mapping(value: Any, *path: str) -> dict[str, Any]:
    """The mapping at a path of keys; an empty one where there is none."""
    found = part(value, *path)
    return found if isinstance(found, dict) else {}


def maps(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The mappings in a list, which need not be there."""
    found = holder.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []

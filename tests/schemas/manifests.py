"""Manifests that the schemas must accept, and ways to make them wrong."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.tools import yamlread

GOOD = Path(__file__).with_name("good")
GONE = object()  # as a fault's value: the field is taken out

Step = str | int


@cache
def good() -> dict[str, dict[str, Any]]:
    """Every object below ``good/`` as Kubernetes' own reader reads it, by ``<file>/<kind>``."""
    texts = {
        f"{path.stem}/{index}": text
        for path in sorted(GOOD.glob("*.yaml"))
        for index, text in enumerate(path.read_text(encoding="utf-8").split("\n---\n"))
    }
    objects = {}
    for label, reading in zip(texts, yamlread(list(texts.values())), strict=True):
        value = reading["value"]
        objects[f"{label.split('/')[0]}/{value['kind']}"] = value
    return objects


class Fault(NamedTuple):
    """A good object with one field made wrong."""

    id: str
    base: str  # a key of `good()`
    path: tuple[Step, ...]
    value: Any
    at: tuple[Step, ...]  # where a validator must put the blame

    def manifest(self) -> dict[str, Any]:
        """The wrong object."""
        root = copy.deepcopy(good()[self.base])
        node: Any = root
        for step in self.path[:-1]:
            node = node[step]
        if self.value is GONE:
            del node[self.path[-1]]
        else:
            node[self.path[-1]] = self.value
        return root


def wrong(id: str, base: str, path: str, value: Any) -> Fault:
    """A field of the wrong type or value: the blame is on the field. Numbers in the path are list indices."""
    steps = _steps(path)
    return Fault(id, base, steps, value, steps)


def unknown(id: str, base: str, path: str, value: Any) -> Fault:
    """A field that the schema does not have: the blame is on the object that holds it."""
    steps = _steps(path)
    return Fault(id, base, steps, value, steps[:-1])


def missing(id: str, base: str, path: str) -> Fault:
    """A required field taken out: the blame is on the object that lacks it."""
    return unknown(id, base, path, GONE)


def _steps(path: str) -> tuple[Step, ...]:
    return tuple(int(step) if step.isdigit() else step for step in path.split("/"))

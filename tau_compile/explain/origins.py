"""A rendered leaf explained: its value, the inputs that decide it, the line that printed it, and what a patch did to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.explain.probe import Effect, effects
from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

    from tau_compile.explain.bench import Tested
    from tau_compile.explain.leaves import Key, Leaf
    from tau_compile.explain.templates import Line


class Origin(NamedTuple):
    """One input. ``what`` is ``value``, ``name`` (a key), ``code`` (a file that ships), ``intent`` or ``patch``."""

    place: str
    path: str
    text: str
    layer: str
    what: str


class Explained(NamedTuple):
    """``inputs`` decide the value, ``conditions`` only that it is there. ``line`` is None for what no template printed.

    ``patched`` tells that the object's template printed something else, or nothing; some objects have none. ``known`` is False
    where the inputs cannot be found any more.
    """

    leaf: Leaf
    inputs: tuple[Origin, ...]
    conditions: tuple[Origin, ...]
    line: Line | None
    patched: bool
    known: bool = True

    @property
    def constant(self) -> bool:
        """Whether no input decides the value: it is the template's own."""
        return self.known and not self.inputs


def explained(bench: Tested, wanted: Collection[Key]) -> dict[Key, Explained]:
    """Explain some leaves."""
    from tau_compile.explain.templates import printed

    lines = printed(bench.rendered, bench.repository.templates, bench.naming)
    templated = {key[0] for key in lines}
    names = bench.layers
    found = {}
    for key, of in effects(bench, wanted).items():
        leaf, line = bench.leaves[key], lines.get(key)
        found[key] = Explained(
            leaf,
            tuple(_origin(bench, names, e) for e in of if e.kind == "value"),
            tuple(_origin(bench, names, e) for e in of if e.kind == "presence"),
            line.line if line else None,
            key[0] in templated and (line is None or line.value != leaf.value),
        )
    return found


def _origin(bench: Tested, names: dict[str, str], effect: Effect) -> Origin:
    one = effect.input
    place = f"{one.file}:{one.span.line}:{one.span.column}"
    layer = names.get(one.file, "code")
    if one.what == "intent":
        return Origin(place, "", f"the intent of {bench.path}", layer, "intent")
    if one.what == "code":
        return Origin(place, "", f"the file {one.file}", layer, "code")
    return Origin(place, one.path, one.text, layer, "patch" if one.path.startswith("patches") else one.what)


def shown(value: Any) -> str:
    """A value on one line."""
    import json

    return (
        value
        if isinstance(value, str) and value and value.isprintable()
        else json.dumps(value, ensure_ascii=False)
    )

"""What the author of an unknown key probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tau_compile.schema.words import choices, either
from tau_compile.suggest import distance

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.schema.known import Index, Known, Names

_LONGEST = 64  # of a key for which a comparison is worth its time
_FEW = 3


class Unknown(NamedTuple):
    """A key that no schema has: its path without list indices, its mapping's place as shown, its value."""

    path: Names
    home: str
    value: Any

    def show(self, path: Names) -> str:
        """A known path for a message, in backticks; with the list indices of the key's own mapping."""
        beside = path[:-1] == self.path[:-1] and self.home
        return f"`{self.home}.{path[-1]}`" if beside else f"`{'.'.join(path)}`"


def unknown_key(key: Unknown, index: Index) -> str:
    """A hint; "" when nothing comes near.

    In this order: another spelling of a neighbour; a key of the document's other form; the same key at
    another level (B-47); the nearest known path (taugrid-config 1.3); a neighbour with one word more; the
    place where all of its children belong; the nearest key anywhere; the keys that are known here.
    """
    if len(key.path[-1]) > _LONGEST:
        return ""
    usable = _usable(index)
    return (
        _respelled(key, usable)
        or _other_form(key, index)
        or _elsewhere(key, usable)
        or _nearest(key, usable)
        or _wordy(key, usable)
        or _children(key, usable)
        or _anywhere(key, usable)
        or _neighbours(key, usable)
    )


def _usable(index: Index) -> list[Names]:
    """The paths worth suggesting: not refused, not an alias, not a mapping in which nothing is left."""
    parents = {known.path[:-1] for known in index.here.values()}
    usable = [known.path for known in index.here.values() if known.usable and not _alias(known, index)]
    alive = {path[:length] for path in usable if path not in parents for length in range(1, len(path) + 1)}
    return [path for path in usable if path in alive]


def _alias(known: Known, index: Index) -> bool:
    """Whether there is a better spelling of the same field in this form."""
    canonical = known.note("x-tau-canonical")
    return (
        canonical is not None
        and canonical != ".".join(known.path)
        and tuple(canonical.split(".")) in index.here
    )


def _bare(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()


def _respelled(key: Unknown, usable: Iterable[Names]) -> str:
    *mapping, name = key.path
    for path in usable:
        if list(path[:-1]) == mapping and _bare(path[-1]) == _bare(name):
            return f"did you mean {key.show(path)}?"
    return ""


def _other_form(key: Unknown, index: Index) -> str:
    found = index.other.get(key.path)
    if found is None:
        return ""
    dotted = ".".join(key.path)
    here = [known.path for known in index.here.values() if known.note("x-tau-canonical") == dotted]
    canonical = tuple((found.note("x-tau-canonical") or "").split("."))
    if not here and canonical in index.here:
        here = [canonical]
    instead = f"; here, write {either(map(key.show, here))}" if here else ""
    return f"it belongs to the other form of this file{instead}"


def _elsewhere(key: Unknown, usable: Iterable[Names]) -> str:
    same = [path for path in usable if _bare(path[-1]) == _bare(key.path[-1])]
    level = min(map(len, same), default=0)
    near = sorted(path for path in same if len(path) == level)
    if not near or len(near) > _FEW:
        return ""
    if level == 1:
        return f"it belongs at the top level: `{near[0][0]}`"
    places = either(f"`{'.'.join(path[:-1])}`" for path in near)
    return f"it belongs under {places}: {either(map(key.show, near))}"


def _nearest(key: Unknown, usable: Iterable[Names]) -> str:
    name, dotted = key.path[-1], ".".join(key.path)
    limit = max(2, min(6, len(name) // 3))
    best: tuple[int, int, Names] | None = None
    for path in usable:
        other = ".".join(path)
        far = whole = distance(dotted, other) if abs(len(dotted) - len(other)) <= limit else 999
        if len(path) == len(key.path) and abs(len(name) - len(path[-1])) <= limit:
            far = min(far, distance(name, path[-1]))
        if far <= limit and (best is None or (far, whole, path) < best):
            best = (far, whole, path)
    return f"did you mean {key.show(best[2])}?" if best else ""


def _wordy(key: Unknown, usable: Iterable[Names]) -> str:
    """Neighbours with all the words of the key and one more: ``retries`` and ``max_retries``."""
    *mapping, name = key.path
    words = set(name.split("_"))
    near = sorted(path for path in usable if list(path[:-1]) == mapping and words <= set(path[-1].split("_")))
    return f"did you mean {either(map(key.show, near))}?" if 0 < len(near) <= _FEW else ""


def _children(key: Unknown, usable: list[Names]) -> str:
    """The known mapping in which every key of an unknown one belongs."""
    if not isinstance(key.value, dict) or not key.value:
        return ""
    parents: set[Names] | None = None
    for name in list(key.value)[:20]:
        holders = {path[:-1] for path in usable if path[-1] == name and len(path) > 1}
        parents = holders if parents is None else parents & holders
    return f"did you mean {key.show(*parents)}?" if parents and len(parents) == 1 else ""


def _anywhere(key: Unknown, usable: Iterable[Names]) -> str:
    name, limit = key.path[-1], max(1, len(key.path[-1]) // 4)
    if len(name) < _FEW:
        return ""
    near = [
        path
        for path in usable
        if abs(len(name) - len(path[-1])) <= limit and distance(name, path[-1]) <= limit
    ]
    level = min(map(len, near), default=0)
    found = sorted(path for path in near if len(path) == level)
    return f"did you mean {either(map(key.show, found))}?" if 0 < len(found) <= _FEW else ""


def _neighbours(key: Unknown, usable: Iterable[Names]) -> str:
    names = [path[-1] for path in usable if path[:-1] == key.path[:-1]]
    return f"known keys here: {choices(names, 24, 'and')}" if names else ""

"""Rendered objects as leaves by path, and paths as people write them.

An item of a list is known by its name (or whatever its kind of list is keyed by), so that a variable that comes or goes does
not move all others: ``spec.containers[0].env[3].value`` is shown by index and compared by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# What tells the items of a list apart, the likeliest first; the first field that all items have, each another, counts.
# Tolerations have no name: one is what it says.
_TOGETHER = {"tolerations": ("key", "operator", "value", "effect", "tolerationSeconds")}
_KEYS = ("name", "mountPath", "groupName", "key", "topologyKey", "containerPort", "path")
_PLAIN = re.compile(r"[A-Za-z0-9_-]+").fullmatch


class Item(NamedTuple):
    """An item of a list, known by one of its fields, or by several."""

    known: tuple[tuple[str, str], ...]

    @property
    def ways(self) -> tuple[str, ...]:
        """How people name it, where one field does: ``main``, ``name=main``."""
        ((field, value),) = self.known if len(self.known) == 1 else (("", ""),)
        return (value, f"{field}={value}", f"'{value}'") if field else ()


Step = str | int | Item
Key = tuple[Step, ...]  # the object's own name first


class Leaf(NamedTuple):
    """One value of an object. ``raw`` leads to it by keys and indexes; an empty list or mapping is a leaf too."""

    object: str
    raw: tuple[str | int, ...]
    value: Any

    @property
    def path(self) -> str:
        """``spec.template.spec.containers[0].image``."""
        parts = []
        for step in self.raw:
            if isinstance(step, int):
                parts.append(f"[{step}]")
            else:
                parts.append(f".{step}" if _PLAIN(step) else f"['{step}']")
        return "".join(parts).removeprefix(".")

    @property
    def name(self) -> str:
        """``Job:spec.backoffLimit``."""
        return f"{self.object}:{self.path}"


def same(one: Leaf, other: Leaf) -> bool:
    """Whether two leaves have one value; `1` is not `true`."""
    return type(one.value) is type(other.value) and bool(one.value == other.value)


def named(objects: Iterable[Mapping[str, Any]]) -> dict[Step, Mapping[str, Any]]:
    """The objects by their kind; the second of a kind is ``Kind-2``."""
    found: dict[Step, Mapping[str, Any]] = {}
    for made in objects:
        kind = str(made.get("kind", "Object"))
        count = sum(str(name).partition("-")[0] == kind for name in found)
        found[f"{kind}-{count + 1}" if count else kind] = made
    return found


def of_space(objects: Iterable[Mapping[str, Any]]) -> dict[Step, Mapping[str, Any]]:
    """The objects of a workspace by kind and name: there are several of a kind, and an input may be the name of one."""
    found: dict[Step, Mapping[str, Any]] = {}
    for made in objects:
        metadata = made.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        found[Item((("kind", str(made.get("kind", "Object"))), ("name", str(name))))] = made
    return found


Naming = Callable[[Iterable[Mapping[str, Any]]], Mapping[Step, Mapping[str, Any]]]


def leaves(objects: Iterable[Mapping[str, Any]], names: Naming = named) -> dict[Key, Leaf]:
    """All leaves of all objects."""
    found: dict[Key, Leaf] = {}
    for step, made in names(objects).items():
        label = "/".join(value for _, value in step.known) if isinstance(step, Item) else str(step)
        for key, raw, value in _walk(made, (step,), ()):
            found[key] = Leaf(label, raw, value)
    return found


def _walk(
    node: Any, key: Key, raw: tuple[str | int, ...]
) -> Iterator[tuple[Key, tuple[str | int, ...], Any]]:
    if isinstance(node, dict) and node:
        for name, value in node.items():
            yield from _walk(value, (*key, name), (*raw, name))
    elif isinstance(node, list) and node:
        fields = _fields(node, key[-1])
        for place, value in enumerate(node):
            step: Step = Item(tuple((f, str(value.get(f, ""))) for f in fields)) if fields else place
            yield from _walk(value, (*key, step), (*raw, place))
    else:
        yield key, raw, node


def _fields(items: list[Any], name: Step) -> tuple[str, ...]:
    if not all(isinstance(item, dict) for item in items):
        return ()
    if name in _TOGETHER:
        return _TOGETHER[str(name)]
    for field in _KEYS:
        values = [item.get(field) for item in items]
        if all(isinstance(value, str | int) for value in values) and len(set(values)) == len(values):
            return (field,)
    return ()


def items(found: Iterable[Key]) -> dict[Key, list[Key]]:
    """The named items of each list, as keys, in order."""
    lists: dict[Key, dict[Key, None]] = {}
    for key in found:
        for length, step in enumerate(key):
            if isinstance(step, Item):
                lists.setdefault(key[:length], {})[key[: length + 1]] = None
    return {where: list(of) for where, of in lists.items()}


def realigned(base: Mapping[Key, list[Key]], there: Mapping[Key, Leaf], text: str) -> Mapping[Key, Leaf]:
    """Leaves with an item that has another name now under the name that it had.

    ``base`` are the `items` of before. An item has another name if as many are new in its list as are gone, and those that are
    gone were known by ``text``, which is what was changed.
    """
    moved: dict[Key, Key] = {}
    now = items(there)
    for where, old in base.items():
        new = now.get(where, [])
        gone = [item for item in old if item not in new]
        fresh = [item for item in new if item not in old]
        if len(gone) == len(fresh) and all(_speaks(item[-1], text) for item in gone):
            moved |= zip(fresh, gone, strict=True)
    if not moved:
        return there
    return {_moved(key, moved): leaf for key, leaf in there.items()}


def _moved(key: Key, moved: Mapping[Key, Key]) -> Key:
    for length in range(len(key), 0, -1):
        old = moved.get(key[:length])
        if old is not None:
            return _moved(old[:-1], moved) + old[-1:] + key[length:]
    return key


def _speaks(item: Step, text: str) -> bool:
    """Whether a text comes back in what an item is known by."""
    known = item.known if isinstance(item, Item) else ()
    return _bare(text) in "".join(_bare(value) for _, value in known)


def _bare(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def matching(found: Mapping[Key, Leaf], asked: str) -> list[Key]:
    """The leaves at or below a path such as ``Job:spec.template``, ``ConfigMap:`` or ``Job:…containers[main].image``.

    An object may be called by its kind and name, as in ``NetworkPolicy/tau-compile-dns:spec``.
    A key with dots or slashes may stand in ``['…']`` or as it is; an item may be named by index, by name, or as ``[name=main]``.
    """
    kind, _, path = asked.partition(":")
    kind = kind.casefold()
    bare = kind.partition("/")[0]
    return [
        key
        for key, leaf in found.items()
        if _is_object(leaf.object.casefold(), kind, bare) and _leads(_dotted(path), key[1:], leaf.raw)
    ]


def _is_object(name: str, asked: str, bare: str) -> bool:
    """Whether an object is meant: by its name in full; by its kind alone; or, of a run, with the name of the object behind."""
    kind, slash, _ = name.partition("/")
    return name == asked or (kind == asked if slash else kind == bare)


def _dotted(path: str) -> str:
    path = path.strip()
    return path if not path or path.startswith("[") else f".{path.removeprefix('.')}"


def _leads(path: str, key: Key, raw: tuple[str | int, ...]) -> bool:
    if not path:
        return True
    if not raw:
        return False
    step = key[0]
    if isinstance(raw[0], int):
        ways = [f"[{raw[0]}]", f".{raw[0]}"]
        if isinstance(step, Item):
            ways += [f"[{way}]" for way in step.ways]
    else:
        ways = [f".{raw[0]}", f"['{raw[0]}']", f'["{raw[0]}"]', f"[{raw[0]}]"]
    for way in ways:
        rest = path[len(way) :]
        if path.startswith(way) and (not rest or rest[0] in ".[") and _leads(rest, key[1:], raw[1:]):
            return True
    return False

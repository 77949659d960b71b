"""Which enforced values apply to a workload, and by what other fields somebody could get around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.policy.fit import LAUNCHERS
from tau_compile.schema import store
from tau_compile.source.nodes import Mapping, Scalar, Sequence, find

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tau_compile.guard.tree import Tree
    from tau_compile.guard.values import Value

_CLASSES = ("policy.workload_priority_class", "policy.pod_priority_class")
# A field → others that would decide in its place.
_RIVALS = {
    "policy.priority_tier": (*_CLASSES, "policy.disable_default_priorities"),
    **dict.fromkeys(_CLASSES, ("policy.priority_tier", "policy.disable_default_priorities")),
}
_CLEAR = "policy.clear_node_selector"
# On Ray the shared size is that of the workers, unless they have one of their own.
SHARED = {f"compute.{f}": f"compute.worker_{f}" for f in ("cpus", "cpu_limit", "memory", "memory_limit")}


def around(value: Value, own: Tree, ray: bool) -> list[Value]:
    """What of a user's document contradicts an enforced value, or would get around it."""
    found = []
    mine = own.get(value.path)
    if mine is not None and mine.same != value.same:
        found.append(mine)
    shared = own.get(SHARED[value.path]) if ray and value.path in SHARED else None
    if shared is not None and shared.same != value.same:
        found.append(shared)
    if value.path.startswith("execution.configs."):
        above = value.path.rpartition(".")[0]
        while above != "execution.configs":
            mine = own.get(above)
            if mine is not None and mine.whole:
                found.append(mine)
            above = above.rpartition(".")[0]
    others = [own.get(path) for path in rivals(value)]
    return found + [rival for rival in others if rival is not None and not is_off(rival)]


def outranked(locked: Iterable[Value], node: Mapping, ray: bool) -> list[str]:
    """Paths of a lower layer that would get around what is enforced."""
    paths: dict[str, None] = {}
    locked = list(locked)
    enforced = {value.path for value in locked}
    for value in locked:
        paths |= dict.fromkeys(rivals(value))
        if ray and value.path in SHARED:
            paths[SHARED[value.path]] = None
    return [path for path in paths if path not in enforced and find(node, path) is not None]


def rivals(value: Value) -> tuple[str, ...]:
    """Other fields that would decide in the place of an enforced one."""
    return (_CLEAR,) if value.path.startswith("policy.node_selector.") else _RIVALS.get(value.path, ())


def is_off(value: Value) -> bool:
    """Whether it says `false`, and so decides nothing."""
    return isinstance(value.node, Scalar) and value.node.text.lower() == "false"


def applicable(node: Mapping, ray: bool) -> Mapping:
    """An enforced layer without what a workload of the other kind has no use for."""
    kind = "rayjob" if ray else "job"
    sections = store.load("tau.schema.json")["$defs"]
    unfit = []
    for entry in node.entries:
        if isinstance(entry.value, Mapping):
            fields = sections.get(entry.key.name, {}).get("properties", {})
            for inner in entry.value.entries:
                engines = fields.get(inner.key.name, {}).get("x-tau-engines", ("job", "rayjob"))
                if kind not in engines:
                    unfit.append(f"{entry.key.name}.{inner.key.name}")
    launcher = find(node, "execution.launcher")
    if isinstance(launcher, Scalar) and launcher.text not in LAUNCHERS[kind]:
        unfit += ["execution.launcher", "execution.configs"]
    return without(node, unfit)


def without(node: Mapping, paths: Collection[str], above: str = "") -> Mapping:
    """A tree without the values at some paths; sections that this empties are gone too."""
    if not paths:
        return node
    entries = []
    for entry in node.entries:
        path = f"{above}.{entry.key.name}" if above else entry.key.name
        if path in paths:
            continue
        value = entry.value
        if isinstance(value, Mapping) and any(one.startswith(f"{path}.") for one in paths):
            value = without(value, paths, path)
            if not value.entries:
                continue
        elif isinstance(value, Sequence):
            kept = tuple(item for item in value.items if f"{path}.{_name(item)}" not in paths)
            if value.items and not kept:
                continue
            value = Sequence(value.span, kept)
        entries.append(entry._replace(value=value))
    return Mapping(node.span, tuple(entries))


def _name(item: object) -> str:
    name = item.get("name") if isinstance(item, Mapping) else None
    return name.text if isinstance(name, Scalar) else ""

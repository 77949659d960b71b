"""Defaults of overlays that a workload of this kind has no use for: they are left out, as if the overlay did not say them.

A workspace with Jobs and RayJobs may give defaults for both. What a user writes is never left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.policy.merge import Layer, merge
from tau_compile.policy.profile import is_ray
from tau_compile.schema import store
from tau_compile.source.nodes import Mapping, Scalar, find

if TYPE_CHECKING:
    from collections.abc import Iterable

LAUNCHERS = {"job": ("python", "torchrun"), "rayjob": ("ray-train", "ray-tune")}
# Settings of one launcher.
FAMILIES = {
    "torchrun": ("nodes", "processes_per_node"),
    "ray-tune": ("metric", "mode", "num_samples", "max_concurrent_trials"),
}


def fitting(below: list[Layer], document: Mapping) -> list[Layer]:
    """The layers of overlay defaults, lowest first, without what does not apply to this workload's kind and launcher."""
    if not below:
        return below
    kind = "rayjob" if is_ray(merge([*below, Layer("tau.yaml", document)]).node) else "job"
    launcher = _launcher(kind, [document, *(layer.node for layer in reversed(below))], document)
    return [Layer(layer.name, _fit(layer.node, kind, launcher)) for layer in below]


def _launcher(kind: str, nodes: Iterable[Mapping], document: Mapping) -> str:
    for node in nodes:
        word = _launcher_of(node)
        if word and (node is document or word in LAUNCHERS[kind]):
            return word
    return LAUNCHERS[kind][0]


def _launcher_of(node: Mapping) -> str:
    found = find(node, "execution.launcher")
    return found.text if isinstance(found, Scalar) else ""


def _fit(node: Mapping, kind: str, launcher: str) -> Mapping:
    # Flags, sections of Ray Train and a search space are all `configs`: they belong to the launcher beside them.
    other = _launcher_of(node) not in ("", launcher)
    entries = []
    for entry in node.entries:
        section, value = entry.key.name, entry.value
        if section == "profiler" and kind == "rayjob" and _is(find(value, "mode"), "ncu"):
            continue
        if isinstance(value, Mapping):
            fields = store.load("tau.schema.json")["$defs"].get(section, {}).get("properties", {})
            kept = tuple(
                e
                for e in value.entries
                if kind in _engines(fields, e.key.name)
                and not (section == "execution" and _of_another(e.key.name, launcher, other))
            )
            if len(kept) < len(value.entries):
                entry = entry._replace(value=Mapping(value.span, kept))
        entries.append(entry)
    return Mapping(node.span, tuple(entries))


def _engines(fields: dict[str, Any], name: str) -> Any:
    return fields.get(name, {}).get("x-tau-engines", ("job", "rayjob"))


def _of_another(name: str, launcher: str, other: bool) -> bool:
    if name in ("launcher", "configs"):
        return other
    return any(name in settings for family, settings in FAMILIES.items() if family != launcher)


def _is(node: object, word: str) -> bool:
    return isinstance(node, Scalar) and node.text == word

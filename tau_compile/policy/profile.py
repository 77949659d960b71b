"""A profile as a layer, and the user's values that contradict it (taugrid-config 2.4).

What a profile fixes may be repeated, not contradicted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, error
from tau_compile.source.nodes import Entry, Key, Mapping, Scalar, find, spelled

if TYPE_CHECKING:
    from tau_compile.policy.model import Profile

OLDER_PLACEMENTS = {
    "independent": "unconstrained",
    "single-node-nvlink": "same-host",
    "multi-node-nccl": "same-network-domain",
}
_CLASSES = ("workload_priority_class", "pod_priority_class")
REFUSED_BESIDE_PROFILE = ("shape", "gpu_class", "node_selector", "clear_node_selector")


def placement_word(word: str) -> str:
    """Today's word for a placement (taugrid-config 8.1)."""
    return OLDER_PLACEMENTS.get(word, word)


def is_ray(document: Mapping) -> bool:
    """Whether a canonical document is a RayJob."""
    kind = find(document, "run.workload_kind")
    return isinstance(kind, Scalar) and kind.text.lower() == "rayjob"


def fixed_values(profile: Profile, document: Mapping) -> dict[str, str]:
    """The canonical paths that a profile fixes, with their values as text."""
    count = "compute.workers" if is_ray(document) else "execution.nodes"
    values = {
        "compute.gpus": str(profile.gpus_per_worker),
        count: str(profile.worker_count),
        "policy.mode": profile.mode,
        "policy.topology": placement_word(profile.placement),
        "policy.queue": profile.queue,
        "policy.workload_priority_class": profile.workload_priority,
        "policy.pod_priority_class": profile.pod_priority,
        "policy.disable_default_priorities": "true" if profile.no_priorities else "",
    }
    return {path: value for path, value in values.items() if value}


def layer(profile: Profile, document: Mapping) -> Mapping:
    """The profile's fixed values, without its ``defaults``, as a partial canonical tree."""
    tier = find(document, "policy.priority_tier")
    replaced = (
        isinstance(tier, Scalar) and tier.text == "priority"
    )  # the tier replaces only the two classes (2.4)
    sections: dict[str, list[Entry]] = {}
    for path, value in fixed_values(profile, document).items():
        section, _, field = path.partition(".")
        if replaced and field in _CLASSES:
            continue
        plain = field in ("gpus", "workers", "nodes", "disable_default_priorities")
        span = profile.priority_span if field in _CLASSES and profile.priority_span else profile.span
        sections.setdefault(section, []).append(Entry(Key(field, span), Scalar(span, value, plain)))
    return Mapping(
        profile.span,
        tuple(
            Entry(Key(name, profile.span), Mapping(profile.span, tuple(e))) for name, e in sections.items()
        ),
    )


def unlike_profile(document: Mapping, profile: Profile, said: list[Diagnostic]) -> None:
    """Refuse what the user's document says against the profile; the queue is judged with the workspace's."""
    here = (Related(profile.span, f"profile `{profile.name}`"),)
    for path, value in fixed_values(profile, document).items():
        node = find(document, path)
        if path == "policy.queue" or not isinstance(node, Scalar):
            continue
        same = placement_word(node.text) == value if path == "policy.topology" else node.text.lower() == value
        if not same:
            said.append(
                error(
                    "TAU318",
                    f"`{spelled(document, path)}: {node.text}` contradicts profile `{profile.name}`, which fixes it at `{value}`",
                    node.span,
                    "remove the line, or choose another profile with policy.profile",
                    here,
                )
            )
    policy = document.get("policy")
    for name in REFUSED_BESIDE_PROFILE:
        entry = policy.entry(name) if isinstance(policy, Mapping) else None
        if entry is not None:
            said.append(
                error(
                    "TAU319",
                    f"`policy.{name}` cannot be combined with profile `{profile.name}`",
                    entry.key.span,
                    "remove the line, or choose another profile with policy.profile",
                    here,
                )
            )

"""TauGrid's own policy objects, accepted in the place of overlay documents.

``TauCluster`` (its ``workloadProfiles``) becomes a Cluster and Profiles, ``TauWorkspace`` a Workspace (taugrid-config 4.1, 4.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, error, has_errors, warning
from tau_compile.policy.model import Cluster, PriorityClass, Profile, Taint, Workspace
from tau_compile.schema import store
from tau_compile.schema.check import check
from tau_compile.source.nodes import Entry, Key, Mapping, Scalar, Sequence, find, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator


KINDS = ("TauCluster", "TauWorkspace")
# What TauGrid's GPU nodes carry (taugrid-config 3.3, 4.4).
_GPU_TAINTS = (Taint("nvidia.com/gpu", "", "NoSchedule"), Taint("sku", "gpu", "NoSchedule"))
_USED = {
    "TauCluster": frozenset({"workloadProfiles"}),
    "TauWorkspace": frozenset({"target", "queue", "defaults", "workloadIdentity"}),
}


def convert(node: Mapping, kind: str, said: list[Diagnostic]) -> Iterator[Cluster | Profile | Workspace]:
    """The overlay values that one TauGrid object stands for."""
    spec = node.get("spec")
    name = text_of(find(node, "metadata.name")) or "cluster"
    if not isinstance(spec, Mapping):
        said.append(error("TAU303", f"this {kind} has no `spec`", node.span, "add the object's `spec`"))
        return
    for entry in spec.entries:
        if entry.key.name not in _USED[kind]:
            said.append(
                warning(
                    "TAU304",
                    f"`spec.{entry.key.name}` of a {kind} has no effect here",
                    entry.key.span,
                    "write what it means into overlays/clusters/ or overlays/workspaces/",
                )
            )
    if kind == "TauCluster":
        yield from _cluster(node, spec, name, said)
    else:
        yield _workspace(node, spec, name)


def _cluster(node: Mapping, spec: Mapping, name: str, said: list[Diagnostic]) -> Iterator[Cluster | Profile]:
    from tau_compile.policy.overlays import profile

    listed = spec.get("workloadProfiles")
    profiles: list[Profile] = []
    for item in listed.items if isinstance(listed, Sequence) else ():
        found = item.get("name") if isinstance(item, Mapping) else None
        if not isinstance(item, Mapping) or not isinstance(found, Scalar):
            said.append(
                error("TAU303", "a workload profile is a mapping with a `name`", item.span, "add `name`")
            )
            continue
        checked = check(_as_profile(item, found), store.overlay("Profile"), file_kind="Profile")
        said += checked.diagnostics
        if not has_errors(checked.diagnostics):
            profiles.append(profile(checked.data, found.text, item, found.span, None))
    classes = {c for p in profiles for c in (p.workload_priority, p.pod_priority) if c}
    yield Cluster(
        name,
        (find(node, "metadata.name") or node).span,
        "",
        "",
        "",
        _GPU_TAINTS,
        (),
        (),
        (),
        tuple(PriorityClass(c, "") for c in sorted(classes)),
        (),
        None,
    )
    yield from profiles


def _as_profile(item: Mapping, name: Scalar) -> Mapping:
    """The item as a Profile document, every value at its own place."""
    span = item.span
    metadata = Mapping(span, (Entry(Key("name", name.span), name),))
    head = (
        Entry(Key("apiVersion", span), Scalar(span, "tau-compile/v1", False)),
        Entry(Key("kind", span), Scalar(span, "Profile", False)),
        Entry(Key("metadata", span), metadata),
    )
    return Mapping(span, head + tuple(e for e in item.entries if e.key.name != "name"))


def _workspace(node: Mapping, spec: Mapping, name: str) -> Workspace:
    def text(path: str) -> str:
        return text_of(find(spec, path))

    queue = spec.get("queue")
    identity = text("workloadIdentity.serviceAccountName")
    return Workspace(
        name,
        (find(node, "metadata.name") or node).span,
        "",
        text("target.namespace") or name,
        text("queue") or "jobqueue",
        identity,
        text("defaults.outputRoot"),
        (),
        (),
        (("azure.workload.identity/use", "true"),) if identity else (),
        (),
        _workspace_defaults(spec),
        queue.span if queue else None,
    )


def _workspace_defaults(spec: Mapping) -> Mapping | None:
    tier = find(spec, "defaults.priority")
    if not isinstance(tier, Scalar):
        return None
    word = Scalar(tier.span, "default" if tier.text == "normal" else tier.text, False)
    policy = Mapping(tier.span, (Entry(Key("priority_tier", tier.span), word),))
    return Mapping(tier.span, (Entry(Key("policy", tier.span), policy),))

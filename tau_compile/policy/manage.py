"""Workspaces as code: what each workspace with a ``manage`` section gets, and what contradicts it.

The Platform's and the Cluster's ``workspaces`` lie under the workspace's own ``manage``: maps merge, lists replace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Related, error
from tau_compile.named import NamedTuple
from tau_compile.policy import select
from tau_compile.policy.manage_rules import contents
from tau_compile.policy.merge import Layer, Merged, merge
from tau_compile.schema import store
from tau_compile.schema.coerce import read_as
from tau_compile.source.nodes import Mapping, Scalar
from tau_compile.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.diagnostics import Span
    from tau_compile.policy.model import Cluster, Overlays, Platform, Workspace

_SHAPE = "workspace.schema.json#/$defs/manage"
# Labels that are rendered for reasons of their own.
_ITS_NAME = "kubernetes.io/metadata.name"
_PREFIXES = ("pod-security.kubernetes.io/", "kubernetes.io/", "tau-compile/")


class Managed(NamedTuple):
    """A workspace to render. ``data`` is the merged section as plain data, ``node`` the same with places.

    ``queues`` are (LocalQueue, ClusterQueue); ``labels`` those of the namespace that ``manage`` and Kueue ask for.
    """

    platform: Platform
    cluster: Cluster
    space: Workspace
    node: Mapping
    data: dict[str, Any]
    queues: tuple[tuple[str, str], ...]
    labels: dict[str, str]


def managed(overlays: Overlays, said: list[Diagnostic]) -> list[Managed]:
    """Every workspace with ``manage`` whose cluster is known, by name; what is wrong goes into ``said``."""
    found: list[Managed] = []
    owners: dict[tuple[str, str], Workspace] = {}
    for space in sorted(overlays.workspaces, key=lambda space: space.name):
        if space.manage is None:
            continue
        cluster = select.cluster(overlays, space, said)
        if cluster is None:
            continue
        owner = owners.setdefault((cluster.name, space.namespace), space)
        if owner is not space:
            said.append(_two_owners(owner, space, cluster))
        node, data = section(overlays.platform, cluster, space)
        labels = _labels(node, cluster, space, said)
        one = Managed(overlays.platform, cluster, space, node, data, _queues(cluster, space, said), labels)
        said += contents(one)
        found.append(one)
    return found


def unmanaged(overlays: Overlays) -> list[Managed]:
    """The other workspaces, with nothing to make: what lies outside of their namespaces may still be about them."""
    found = []
    for space in sorted(overlays.workspaces, key=lambda space: space.name):
        cluster = (
            select.cluster(overlays, space, []) if space.manage is None else None
        )  # said for its workloads
        if cluster is not None:
            found.append(Managed(overlays.platform, cluster, space, Mapping(space.span, ()), {}, (), {}))
    return found


def section(platform: Platform, cluster: Cluster, space: Workspace) -> tuple[Mapping, dict[str, Any]]:
    """The merged section of a workspace that has one: with places, and as plain data."""
    node = layered(platform, cluster, space).node
    return node, read_as(node, store.prepared(_SHAPE).shape).data


def layered(platform: Platform, cluster: Cluster, space: Workspace) -> Merged:
    """The section of a workspace that has one, merged from its layers."""
    layers = (
        (f"platform `{platform.name}`", platform.workspaces),
        (f"cluster `{cluster.name}`", cluster.workspaces),
        (f"workspace `{space.name}`", space.manage),
    )
    return merge([Layer(name, layer) for name, layer in layers if layer is not None])


def _two_owners(owner: Workspace, space: Workspace, cluster: Cluster) -> Diagnostic:
    return error(
        "TAU370",
        f"workspaces `{owner.name}` and `{space.name}` both make the namespace `{space.namespace}` of cluster `{cluster.name}`",
        space.namespace_span or space.span,
        "leave `manage` to one of them, or give them namespaces of their own",
        (Related(owner.namespace_span or owner.span, f"workspace `{owner.name}`"),),
    )


def _queues(cluster: Cluster, space: Workspace, said: list[Diagnostic]) -> tuple[tuple[str, str], ...]:
    """The LocalQueues that the cluster's catalogue has in this namespace (K38: any other is accepted and admits nothing)."""
    found: dict[str, str] = {}
    places: dict[str, Span] = {}
    for queue in cluster.queues:
        for namespace, name in queue.local_queues:
            if namespace != space.namespace:
                continue
            if found.setdefault(name, queue.name) != queue.name:
                said.append(
                    error(
                        "TAU371",
                        f"the LocalQueue `{name}` of namespace `{namespace}` leads to `{found[name]}` and to `{queue.name}`",
                        queue.span,
                        "keep it under one ClusterQueue",
                        (Related(places[name], f"under `{found[name]}`"),),
                    )
                )
            places.setdefault(name, queue.span)
    if space.queue not in found:
        close = nearest(space.queue, sorted(found))
        said.append(
            error(
                "TAU371",
                f"the LocalQueue `{space.queue}` leads nowhere: no ClusterQueue of cluster `{cluster.name}` has it in namespace "
                f"`{space.namespace}`",
                space.queue_span or space.span,
                f"did you mean `{close}`?"
                if close
                else f"list `{{namespace: {space.namespace}, name: {space.queue}}}` under `localQueues` of a ClusterQueue",
                (Related(cluster.span, f"cluster `{cluster.name}`"),),
            )
        )
    return tuple(sorted(found.items()))


def _labels(node: Mapping, cluster: Cluster, space: Workspace, said: list[Diagnostic]) -> dict[str, str]:
    """Labels of the namespace: what selectors of Kueue look for (K23, K53) cannot be given another value."""
    # The API server gives each namespace this label.
    found: dict[str, tuple[str, Span]] = {_ITS_NAME: (space.namespace, space.namespace_span or space.span)}
    given = node.get("labels")
    for entry in given.entries if isinstance(given, Mapping) else ():
        name = entry.key.name
        if name.startswith(_PREFIXES) or name == "app.kubernetes.io/managed-by":
            cure = (
                "write `podSecurity`"
                if name.startswith("pod-security")
                else "remove it, or use a key of your own"
            )
            said.append(
                error(
                    "TAU373", f"the label `{name}` of a namespace is not yours to set", entry.key.span, cure
                )
            )
        elif isinstance(entry.value, Scalar):
            found[name] = entry.value.text, entry.value.span
    for who, name, value in looked_for(cluster, space):
        text, place = found.setdefault(name, (value.text, value.span))
        if text != value.text:
            said.append(
                error(
                    "TAU372",
                    f"the namespace `{space.namespace}` would carry `{name}: {text}`, and {who} looks for `{value.text}`: "
                    "nothing in it would be admitted",
                    place,
                    "remove the label, or give it the value that is looked for"
                    if name != _ITS_NAME
                    else "let the LocalQueue lead to a ClusterQueue that admits from this namespace",
                    (Related(value.span, "looked for here"),),
                )
            )
    return {name: text for name, (text, _) in sorted(found.items()) if name != _ITS_NAME}


def looked_for(cluster: Cluster, space: Workspace) -> Iterator[tuple[str, str, Scalar]]:
    """(who, label, value) of all labels of the namespace without which Kueue admits nothing in it."""
    leading = [q for q in cluster.queues if any(place == space.namespace for place, _ in q.local_queues)]
    wanted = [(cluster.namespace_labels, f"Kueue of cluster `{cluster.name}`")]
    wanted += [(queue.namespace_labels, f"ClusterQueue `{queue.name}`") for queue in leading]
    for labels, who in wanted:
        for entry in labels.entries if labels is not None else ():
            assert isinstance(entry.value, Scalar)
            yield who, entry.key.name, entry.value

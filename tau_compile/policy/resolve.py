"""One workload's canonical tau.yaml and the overlays → its resolved configuration.

Layers, lowest first: platform, cluster, workspace, profile, tau.yaml. (The built-in defaults are those of the schema.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, error
from tau_compile.named import NamedTuple
from tau_compile.policy import select
from tau_compile.policy.fit import fitting
from tau_compile.policy.merge import Layer, Merged, merge
from tau_compile.policy.profile import layer as profile_layer
from tau_compile.policy.profile import placement_word, unlike_profile
from tau_compile.source.forms import without_implied
from tau_compile.source.nodes import Mapping, Scalar, find, spelled
from tau_compile.suggest import nearest

if TYPE_CHECKING:
    from typing import Protocol

    from tau_compile.policy.model import Cluster, Overlays, Platform, Profile, Workspace
    from tau_compile.policy.patches import Patch

    class Locks(Protocol):
        """What the platform enforces. It compares values, which is above this room."""

        def above(self, cluster: Cluster, space: Workspace) -> list[Layer]:
            """The layers above tau.yaml that do not depend on the profile."""

        def settle(
            self,
            below: list[Layer],
            document: Mapping,
            place: tuple[Cluster, Workspace, Profile | None],
            said: list[Diagnostic],
        ) -> Settled:
            """Layers below and above tau.yaml, and tau.yaml without what it merely implies."""


class Waived(NamedTuple):
    """A waiver that was used: what it lifted (names of limits, enforced paths), why, and its last day."""

    lifted: tuple[str, ...]
    reason: str
    expires: str


class Settled(NamedTuple):
    """A workload's layers when something is enforced: below tau.yaml, its own, and above; lowest first."""

    below: list[Layer]
    document: Mapping
    above: list[Layer]
    waived: tuple[Waived, ...]


class Resolved(NamedTuple):
    """A workload's configuration with everything the platform decided.

    ``merged.node`` is the canonical tree; ``workload_priority`` and ``pod_priority`` are class names, empty for none.
    """

    document: Mapping
    merged: Merged
    platform: Platform
    cluster: Cluster
    workspace: Workspace
    profile: Profile | None
    queue: str
    workload_priority: str
    pod_priority: str
    waived: tuple[Waived, ...] = ()

    @property
    def patches(self) -> tuple[Patch, ...]:
        """The patches of its layers, the lowest first: in this order they are applied."""
        own = self.profile.patches if self.profile else ()
        return self.platform.patches + self.cluster.patches + self.workspace.patches + own


def resolve(
    document: Mapping,
    overlays: Overlays,
    folder: str,
    chosen: str,
    said: list[Diagnostic],
    locks: Locks | None = None,
) -> Resolved | None:
    """Resolve one canonical document; None, with the reasons in ``said``, when its place cannot be found.

    ``locks`` are given when any overlay enforces something.
    """
    space = select.workspace(overlays, document, folder, chosen, said)
    cluster = select.cluster(overlays, space, said) if space else None
    if space is None or cluster is None:
        return None
    _assert_namespace(document, space, said)
    below = [
        Layer(name, node)
        for name, node in (
            (f"platform `{overlays.platform.name}`", overlays.platform.defaults),
            (f"cluster `{cluster.name}`", cluster.defaults),
            (f"workspace `{space.name}`", space.defaults),
        )
        if node is not None
    ]
    top = Layer("tau.yaml", document)
    before = len(said)
    above = locks.above(cluster, space) if locks else []
    profile = select.profile(overlays, merge([*below, top, *above]).node, space.namespace, said)
    if profile is None and len(said) > before:
        return None
    if profile is not None and profile.defaults is not None:
        below.append(Layer(f"profile `{profile.name}`", profile.defaults))
    waived: tuple[Waived, ...] = ()
    if locks is None:
        below = fitting(below, document)
    else:
        below, document, above, waived = locks.settle(below, document, (cluster, space, profile), said)
        top = Layer("tau.yaml", document)
    if profile is not None:
        document = without_implied(document, "compute.gpus")  # the profile says how many
        top = Layer("tau.yaml", document)
        ruled = merge([top, *above]).node if above else document
        fixed = Layer(f"profile `{profile.name}`", profile_layer(profile, ruled))
        if profile.defaults is not None:
            below[-1] = fixed._replace(node=merge([below[-1], fixed]).node)
        else:
            below.append(fixed)
        unlike_profile(document, profile, said)
    merged = merge([*below, top, *above])
    if above:  # it stays the workload's document, whoever has the last word
        merged = merged._replace(node=Mapping(document.span, merged.node.entries))
    queue = _queue(merged.node, document, space, cluster, profile, said)
    workload, pod = _priorities(merged.node, document, cluster, profile, said)
    return Resolved(
        document, merged, overlays.platform, cluster, space, profile, queue, workload, pod, waived
    )


def _assert_namespace(document: Mapping, space: Workspace, said: list[Diagnostic]) -> None:
    asked = find(document, "policy.namespace")
    if isinstance(asked, Scalar) and asked.text != space.namespace:
        said.append(
            error(
                "TAU315",
                f"`policy.namespace: {asked.text}` is not the namespace of workspace `{space.name}`, "
                f"which is `{space.namespace}`",
                asked.span,
                "remove `policy.namespace`, or choose another workspace with policy.workspace",
                (Related(space.span, f"workspace `{space.name}`"),),
            )
        )


def _queue(
    merged: Mapping,
    document: Mapping,
    space: Workspace,
    cluster: Cluster,
    profile: Profile | None,
    said: list[Diagnostic],
) -> str:
    given = profile.queue if profile and profile.queue else space.queue
    asked = find(document, "policy.queue")
    if isinstance(asked, Scalar) and asked.text not in ("auto", given):
        owner = profile if profile and profile.queue else space
        said.append(
            error(
                "TAU316",
                f"`policy.queue: {asked.text}` is not the queue of "
                f"{'profile' if owner is profile else 'workspace'} `{owner.name}`, which is `{given}`",
                asked.span,
                "remove `policy.queue`: the platform sets it",
                (Related(owner.span, "set here"),),
            )
        )
        return given
    known = sorted(
        {name for q in cluster.queues for namespace, name in q.local_queues if namespace == space.namespace}
    )
    if cluster.queues and given not in known:
        owner = profile if profile and profile.queue else space
        close = nearest(given, known)
        cure = (
            f"did you mean `{close}`?"
            if close
            else (
                f"LocalQueues of that namespace: {', '.join(known)}"
                if known
                else "list the LocalQueue under `queues` of the cluster"
            )
        )
        said.append(
            error(
                "TAU501",
                f"cluster `{cluster.name}` has no LocalQueue `{given}` in namespace `{space.namespace}`: "
                "the workload would wait for ever",  # K38
                owner.queue_span or owner.span,
                f"for the platform team: {cure}",
                (Related(asked.span, "the workload asks for it too"),) if isinstance(asked, Scalar) else (),
            )
        )
    return given


def _priorities(
    merged: Mapping, document: Mapping, cluster: Cluster, profile: Profile | None, said: list[Diagnostic]
) -> tuple[str, str]:
    workload, pod = find(merged, "policy.workload_priority_class"), find(merged, "policy.pod_priority_class")
    tier, off = find(merged, "policy.priority_tier"), find(merged, "policy.disable_default_priorities")
    disabled = isinstance(off, Scalar) and off.text.lower() == "true"
    named = [node for node in (workload, pod) if isinstance(node, Scalar)]
    if disabled and (named or (isinstance(tier, Scalar) and tier.text == "priority")):
        other = named[0] if named else tier
        assert other is not None
        assert off is not None
        said.append(
            error(
                "TAU317",
                "priorities are switched off and chosen at the same time",
                other.span,
                "remove `policy.disable_default_priorities`, or the priority",
                (Related(off.span, "switched off here"),),
            )
        )
    known = {p.name for p in cluster.priority_classes}
    own = [node for node in named if node.span.file == merged.span.file]
    if own and tier is not None and tier.span.file == merged.span.file:
        said.append(
            error(
                "TAU325",
                f"`{spelled(merged, 'policy.priority_tier')}` would replace the priority class that is given beside it",
                tier.span,
                "keep one of the two",
                (Related(own[0].span, "the priority class"),),
            )
        )
    if own:
        tier = None  # a class of the workload's own wins over a tier of the platform
    if not disabled and isinstance(tier, Scalar) and not (profile and tier.text == "default"):
        match = next((p.name for p in cluster.priority_classes if p.tier == tier.text), "")
        if match:
            return match, match
        if tier.text == "priority":
            said.append(
                error(
                    "TAU502",
                    f"cluster `{cluster.name}` has no priority class for the tier `priority`",
                    tier.span,
                    "for the platform team: add a priority class with `tier: priority` to the cluster"
                    if tier.span.file != document.span.file
                    else f"remove `{spelled(merged, 'policy.priority_tier')}`, or ask the platform team for a priority class "
                    "with `tier: priority`",
                )
            )
    for node in named:
        if node.text not in known:
            close = nearest(node.text, known)
            theirs = node.span.file != document.span.file
            said.append(
                error(
                    "TAU503",
                    f"cluster `{cluster.name}` has no priority class `{node.text}`: the workload would never "
                    "be queued",  # K62
                    node.span,
                    "for the platform team: " * theirs
                    + (
                        f"did you mean `{close}`?"
                        if close
                        else (
                            f"known: {', '.join(sorted(known))}"
                            if known
                            else "list the class under `priorityClasses` of the cluster"
                            if theirs
                            else "remove it; the platform team lists the classes of a cluster under `priorityClasses`"
                        )
                    ),
                )
            )
    if named or disabled:
        return (
            workload.text if isinstance(workload, Scalar) else "",
            pod.text if isinstance(pod, Scalar) else "",
        )
    default = next((p.name for p in cluster.priority_classes if p.tier == "default"), "")
    return default, default


def placement(merged: Mapping) -> str:
    """The placement word in today's spelling; ``unconstrained`` when nothing says otherwise."""
    node = find(merged, "policy.topology")
    return placement_word(node.text) if isinstance(node, Scalar) else ""

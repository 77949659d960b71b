"""What a ``manage`` section may not say although its schema lets it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Related, error, warning
from tau_compile.quantity import parse
from tau_compile.source.nodes import Mapping, Scalar, Sequence, find

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tau_compile.diagnostics import Span
    from tau_compile.policy.manage import Managed
    from tau_compile.source.nodes import Node

# Object counts that have no `count/` before them.
_COUNTS = frozenset(
    (
        "configmaps",
        "persistentvolumeclaims",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "services",
    )
) | {"services.loadbalancers", "services.nodeports"}
_COMPUTE = frozenset(("cpu", "memory", "pods", "ephemeral-storage"))
_EVERYONE = frozenset(("system:authenticated", "system:unauthenticated", "system:masters"))


def contents(one: Managed) -> Iterator[Diagnostic]:
    """Everything that is wrong with one workspace's section."""
    yield from _taken(one)
    yield from _groups(one.node)
    yield from _operator(one)
    yield from _quota(one.node)
    yield from _limit_range(one.node)
    yield from _ranges(one.node)
    yield from _twice(one)


def items(node: Node | None) -> tuple[Node, ...]:
    """The items of a list; none of anything else."""
    return node.items if isinstance(node, Sequence) else ()


def _entries(node: Node | None) -> Iterator[tuple[str, str, Span, Span]]:
    """(key, text, place of the key, place of the value) of a map of scalars."""
    for entry in node.entries if isinstance(node, Mapping) else ():
        if isinstance(entry.value, Scalar):
            yield entry.key.name, entry.value.text, entry.key.span, entry.value.span


def _scalars(node: Node | None) -> Iterator[Scalar]:
    yield from (item for item in items(node) if isinstance(item, Scalar))


def _groups(node: Mapping) -> Iterator[Diagnostic]:
    for group in _scalars(node.get("researchers")):
        if is_everyone(group.text):
            message, hint = everyone(group.text)
            yield error("TAU374", message, group.span, hint)


def is_everyone(group: str) -> bool:
    """Whether everybody, or every program, is in a group."""
    return group in _EVERYONE or group.startswith("system:serviceaccounts")


def everyone(group: str) -> tuple[str, str]:
    """What is wrong with such a group, and the cure."""
    return (
        f"`{group}` is not a team: everybody, or every program, in it could read what runs here",
        "name the group of the team as the identity provider calls it",
    )


def _operator(one: Managed) -> Iterator[Diagnostic]:
    network = one.data.get("network", {})
    if not network.get("isolate", True) or "rayOperator" in network:
        return
    yield error(
        "TAU375",
        f"nobody says in which namespace of cluster `{one.cluster.name}` the KubeRay operator runs: it could not ask the Ray "
        "head on port 8265, and no RayJob would ever start",
        one.space.span,
        "write `workspaces: {network: {rayOperator: NAMESPACE}}` into the Cluster, or `network: {isolate: false}` here",
        (Related(one.cluster.span, f"cluster `{one.cluster.name}`"),),
    )


def _taken(one: Managed) -> Iterator[Diagnostic]:
    """Namespaces of the cluster and of operators: closed, they could serve nobody any more."""
    network = one.data.get("network", {})
    theirs = dict.fromkeys(network.get("scrapers", ()), "metrics are read from there")
    theirs |= dict.fromkeys(network.get("dns", {}).get("namespaces", ()), "names are looked up there")
    theirs[network.get("rayOperator", "")] = "the KubeRay operator runs there"
    name = one.space.namespace
    why = "it is Kubernetes' own" if name.startswith("kube-") else theirs.get(name)
    if why:
        yield error(
            "TAU392",
            f"`{name}` is no namespace to make for a team: {why}",
            one.space.namespace_span or one.space.span,
            "give the workspace a namespace of its own, or leave `manage` out",
        )


def _quota(node: Mapping) -> Iterator[Diagnostic]:
    for name, text, key, value in _entries(node.get("quota")):
        wrong = refused_quota(name, text)
        if wrong:
            message, hint = wrong
            yield error("TAU376", message, value if _counts(name) else key, hint)
        elif is_compute(name):
            yield beside_kueue(name, key)


def is_compute(name: str) -> bool:
    """Whether a line of a quota is about what Kueue hands out."""
    return not _counts(name) and (
        "/" in name or name in _COMPUTE or name.startswith(("requests.", "limits.", "hugepages-"))
    )


def _counts(name: str) -> bool:
    return name.startswith("count/") or name in _COUNTS or name.endswith("/persistentvolumeclaims")


def refused_quota(name: str, text: str) -> tuple[str, str] | None:
    """What is wrong with one line of a quota, and the cure."""
    if _counts(name):
        return (
            None if text.isdigit() else (f"`{name}: {text}` is no number of objects", "write a whole number")
        )
    if is_compute(name):
        return None
    hint = f"write `count/{name}`, with the group: `count/jobs.batch`"
    return f"`{name}` is nothing that a quota counts", hint


def beside_kueue(name: str, place: Span) -> Diagnostic:
    """What to think of a quota on compute."""
    return warning(
        "TAU376",
        f"a quota on `{name}` stands beside Kueue's: a pod that takes ten minutes to stop keeps the next run "
        "from starting",
        place,
        "leave compute to the ClusterQueue, and count objects: `count/jobs.batch`, `count/rayjobs.ray.io`",
    )


def _limit_range(node: Mapping) -> Iterator[Diagnostic]:
    for item in items(node.get("limitRange")):
        kind = find(item, "type")
        of_pods = isinstance(kind, Scalar) and kind.text != "Container"
        for field in ("default", "defaultRequest"):
            section = find(item, field)
            if of_pods and section is not None:
                yield error(
                    "TAU378",
                    f"`{field}` is for containers only",
                    section.span,
                    "write it into an item with `type: Container`",
                )
            for name, _, key, _ in _entries(section):
                if name not in ("cpu", "memory"):  # B-04
                    yield warning(
                        "TAU378",
                        f"`{field}` adds `{name}` to pods, and Kueue counts it: in a ClusterQueue that does not cover `{name}` "
                        "nothing would be admitted",
                        key,
                        f"remove it, unless every ClusterQueue of the namespace covers `{name}`",
                    )
        yield from _disordered(item)


def _disordered(item: Node) -> Iterator[Diagnostic]:
    """Bounds that the API server refuses together: min ≤ defaultRequest ≤ default ≤ max, and ratios of at least one."""
    rising: dict[str, tuple[str, str]] = {}
    for field in ("min", "defaultRequest", "default", "max"):
        for name, text, _, place in _entries(find(item, field)):
            below, lower = rising.get(name, ("", ""))
            if below and parse(lower) > parse(text):
                yield error(
                    "TAU378",
                    f"`{field}` of {name} is {text}, less than its `{below}` of {lower}",
                    place,
                    "let them rise: min, defaultRequest, default, max",
                )
            else:
                rising[name] = field, text
    for name, text, _, place in _entries(find(item, "maxLimitRequestRatio")):
        if parse(text) < parse("1"):
            yield error(
                "TAU378",
                f"a limit of {name} is never less than its request",
                place,
                "write a ratio of at least 1",
            )


def _ranges(node: Mapping) -> Iterator[Diagnostic]:
    from ipaddress import ip_network

    lists = [find(node, "network.dns.cidrs")]
    openings = [item for field in ("egress", "ingress") for item in items(find(node, f"network.{field}"))]
    lists += [find(item, field) for item in openings for field in ("cidrs", "except")]
    known: dict[str, Any] = {}
    for scalar in (scalar for listed in lists for scalar in _scalars(listed)):
        try:
            known[scalar.text] = ip_network(scalar.text)
        except ValueError as problem:
            why = ": its address is not the first one of the range" * ("host bits" in str(problem))
            yield error(
                "TAU379",
                f"`{scalar.text}` is no range of addresses{why}",
                scalar.span,
                "write the first address of the range and its length, such as 10.20.0.0/16",
            )
    for opening in openings:
        around = [known[cidr.text] for cidr in _scalars(find(opening, "cidrs")) if cidr.text in known]
        for hole in _scalars(find(opening, "except")):
            inner = known.get(hole.text)
            if inner is not None and not any(
                inner.version == net.version and inner != net and inner.subnet_of(net) for net in around
            ):
                yield error(
                    "TAU379",
                    f"`except: {hole.text}` lies in none of the `cidrs` beside it",
                    hole.span,
                    "remove it, or name a part of one of the ranges",
                )


def secrets(node: Mapping) -> Iterator[tuple[str, Span]]:
    """(name, place) of every Secret that the section names itself; what SOPS files hold is not known here."""
    for scalar in _scalars(find(node, "secrets.existing")):
        yield scalar.text, scalar.span
    for item in items(find(node, "secrets.external")):
        name = find(item, "name")
        if isinstance(name, Scalar):
            yield name.text, name.span


def _twice(one: Managed) -> Iterator[Diagnostic]:
    named = []
    for field, what in (("serviceAccounts", "service account"), ("claims", "claim")):
        for item in items(one.node.get(field)):
            written = find(item, "name")
            if isinstance(written, Scalar):
                named.append((what, written.text, written.span))
    named += [("Secret", text, place) for text, place in secrets(one.node)]
    first: dict[tuple[str, str], Span] = {}
    for what, name, span in named:
        other = first.setdefault((what, name), span)
        if other is not span:
            yield error(
                "TAU380",
                f"two of one name: the {what} `{name}`",
                span,
                "remove one",
                (Related(other, "the other one"),),
            )


def unprovided(one: Managed, known: Collection[str]) -> Iterator[Diagnostic]:
    """Secrets that the workspace's pods name and that are not among the ``known`` ones (J47)."""
    if one.node.get("secrets") is None:
        return  # nobody says what there is
    needed = (
        ("imagePullSecrets", one.space.image_pull_secrets),
        ("envFromSecrets", one.space.env_from_secrets),
    )
    for field, names in needed:
        for name in names:
            if name not in known:
                yield error(
                    "TAU381",
                    f"`{field}` of workspace `{one.space.name}` names the Secret `{name}`, which nobody provides: pods would "
                    "wait for it",
                    one.space.span,
                    f"add it under `secrets`, under `existing: [{name}]` if somebody else makes it",
                )

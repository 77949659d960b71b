"""Objects of a workspace after their patches: what a patch can get wrong although the schema of the kind takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.policy.manage import looked_for
from tau_compile.policy.manage_rules import everyone, is_everyone, refused_quota
from tau_compile.quantity import NANO, parse, try_parse
from tau_compile.rules.parts import mapping, maps
from tau_compile.rules.pods import refused_labels
from tau_compile.rules.rendered import Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.policy.manage import Managed

_CURE = "correct the patch: the API server would refuse the object"
_NOTHING = parse("0")
_RBAC = "rbac.authorization.k8s.io"


def refused(made: dict[str, Any], one: Managed) -> Iterator[Wrong]:
    """What the API server, or Kueue, would say about one object of a workspace."""
    kind = str(made.get("kind"))
    yield from refused_labels(f"of the {kind}", mapping(made, "metadata"))
    if kind == "Namespace":
        yield from _namespace(made, one)
    elif kind == "Role":
        yield from _rules(made)
    elif kind == "RoleBinding":
        yield from _subjects(made)
    elif kind == "ResourceQuota":
        for name, amount in mapping(made, "spec", "hard").items():
            parsed = try_parse(str(amount))
            if parsed is None:
                continue  # the schema of the kind refuses it
            # 2000 objects are rendered as `2k`.
            wrong = refused_quota(str(name), str(parsed.nanos // NANO) if parsed.is_whole else str(amount))
            if wrong:
                yield Wrong("TAU376", str(name), *wrong)
    elif kind == "PersistentVolumeClaim":
        size = mapping(made, "spec", "resources", "requests").get("storage")
        parsed = try_parse(str(size))
        if parsed is None or parsed <= _NOTHING:
            yield _wrong("storage", f"a claim asks for some storage, and not for `{size}`")
    elif kind == "NetworkPolicy":
        yield from _network(made)


def _namespace(made: dict[str, Any], one: Managed) -> Iterator[Wrong]:
    labels = mapping(made, "metadata", "labels")
    for who, name, value in looked_for(one.cluster, one.space):
        text = labels.get(name)
        if text != value.text:
            now = f"carry `{name}: {text}`" if name in labels else f"not carry `{name}`"
            yield Wrong(
                "TAU372",
                name,
                f"the namespace `{one.space.namespace}` would {now}, and {who} looks for `{value.text}`: nothing in it would "
                "be admitted",
                "remove the label from the patch",
            )


def _rules(made: dict[str, Any]) -> Iterator[Wrong]:
    for rule in maps(made, "rules"):
        if "nonResourceURLs" in rule:
            yield _wrong("nonResourceURLs", "a Role of a namespace says nothing about paths")
        elif not all(rule.get(field) for field in ("apiGroups", "resources", "verbs")):
            yield _wrong("rules", "a rule of the Role names no `apiGroups`, no `resources` or no `verbs`")


def _subjects(made: dict[str, Any]) -> Iterator[Wrong]:
    for subject in maps(made, "subjects"):
        kind, name = subject.get("kind"), str(subject.get("name", ""))
        group = _RBAC if kind in ("Group", "User") else ""
        if kind == "Group" and is_everyone(name):
            yield Wrong("TAU374", "name", *everyone(name))
        elif kind not in ("Group", "User", "ServiceAccount"):
            yield _wrong("kind", f"`{kind}` is no kind of subject: Group, User and ServiceAccount are")
        elif (subject.get("apiGroup") or group) != group:
            yield _wrong("apiGroup", f"the `apiGroup` of a {kind} is `{group}`")
        elif not name or (kind == "ServiceAccount" and not subject.get("namespace")):
            yield _wrong(
                "subjects", f"a {kind} among the subjects lacks its `{'namespace' if name else 'name'}`"
            )


def _network(made: dict[str, Any]) -> Iterator[Wrong]:
    spec = mapping(made, "spec")
    for section, peers in (("ingress", "from"), ("egress", "to")):
        for opening in maps(spec, section):
            for peer in maps(opening, peers):
                yield from _peer(peer)
            for port in maps(opening, "ports"):
                yield from _port(port)


def _peer(peer: dict[str, Any]) -> Iterator[Wrong]:
    from ipaddress import ip_network

    if not peer or ("ipBlock" in peer and len(peer) > 1):
        yield _wrong("ipBlock", "a peer of a NetworkPolicy is either an `ipBlock` or chosen by selectors")
    block = mapping(peer, "ipBlock")
    holes = block.get("except")
    ranges = [block["cidr"]] if "cidr" in block else []
    known = []
    for text in [*ranges, *(holes if isinstance(holes, list) else ())]:
        try:
            known.append(ip_network(str(text)))
        except ValueError:
            cure = "write the first address of the range and its length, such as 10.20.0.0/16"
            yield Wrong("TAU379", "cidr", f"`{text}` is no range of addresses", cure)
            return
    for hole in known[1:]:
        around: Any = known[0]
        if hole.version != around.version or hole == around or not hole.subnet_of(around):
            yield Wrong("TAU379", "except", f"`except: {hole}` is no part of `{around}`", "remove it")


def _port(port: dict[str, Any]) -> Iterator[Wrong]:
    number, end = port.get("port"), port.get("endPort")
    if isinstance(number, int) and not 1 <= number <= 65535:
        yield _wrong("port", f"{number} is no port")
    if end is not None and not (isinstance(number, int) and isinstance(end, int) and number <= end <= 65535):
        yield _wrong("endPort", f"`endPort: {end}` does not follow the number of its `port`")


def _wrong(key: str, message: str) -> Wrong:
    return Wrong("TAU358", key, message, _CURE)

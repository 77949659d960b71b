"""Who may connect to whom under a set of network policies, as Kubernetes defines it.

A pod is closed in a direction as soon as one policy of its namespace selects it for that direction; it is open then to what any
of those policies lists. A connection needs the leave of both ends. An address that is no pod has no policies.
"""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Policy = dict[str, Any]


class Pod(NamedTuple):
    namespace: str
    labels: Mapping[str, str]


End = Pod | str  # a pod, or an address outside of the cluster


def connects(policies: Iterable[Policy], source: End, target: End, port: int, protocol: str = "TCP") -> bool:
    listed = list(policies)
    return _lets(listed, source, target, port, protocol, "Egress") and _lets(
        listed, target, source, port, protocol, "Ingress"
    )


def _lets(policies: list[Policy], here: End, there: End, port: int, protocol: str, way: str) -> bool:
    if isinstance(here, str):
        return True
    about = [
        policy["spec"]
        for policy in policies
        if policy["metadata"]["namespace"] == here.namespace
        and way in policy["spec"]["policyTypes"]
        and selects(policy["spec"]["podSelector"], here.labels)
    ]
    side = "to" if way == "Egress" else "from"
    return not about or any(
        _matches(rule, side, here.namespace, there, port, protocol)
        for spec in about
        for rule in spec.get(way.lower(), ())
    )


def _matches(rule: dict[str, Any], side: str, namespace: str, there: End, port: int, protocol: str) -> bool:
    ports = rule.get("ports")
    if ports and not any(item["port"] == port and item.get("protocol", "TCP") == protocol for item in ports):
        return False
    peers = rule.get(side)
    return not peers or any(_peer(peer, namespace, there) for peer in peers)


def _peer(peer: dict[str, Any], namespace: str, there: End) -> bool:
    if "ipBlock" in peer:
        if isinstance(there, Pod):
            return False  # for addresses of the cluster's own, implementations differ
        block, address = peer["ipBlock"], ip_address(there)
        return address in ip_network(block["cidr"]) and not any(
            address in ip_network(hole) for hole in block.get("except", ())
        )
    if isinstance(there, str):
        return False
    if "namespaceSelector" in peer:
        if not selects(peer["namespaceSelector"], {"kubernetes.io/metadata.name": there.namespace}):
            return False
    elif there.namespace != namespace:
        return False
    return selects(peer.get("podSelector", {}), there.labels)


def selects(selector: dict[str, Any], labels: Mapping[str, str]) -> bool:
    for item in selector.get("matchExpressions", ()):
        assert item["operator"] == "Exists", "the others are not needed here"
        if item["key"] not in labels:
            return False
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())

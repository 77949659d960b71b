"""Network policies of a workspace: everything is closed, but for what runs need and what the platform opens.

Policies add up (an opening in one is an opening), so each of them says one thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

DASHBOARD_PORT = 8265  # the operator asks the Ray head here how a job is doing (R9, R60)
METRICS_PORT = 8080  # of Ray's pods (R60)
_DNS_PORT = 53
# Where the cache on each node listens that Kubernetes documents (NodeLocal DNSCache). It is no pod, and no namespace has it.
_DNS_CACHE = "169.254.20.10/32"
_EVERY_POD: dict[str, Any] = {}
# Pods of runs carry this label; torchrun (29500 and the ports that NCCL takes) and Ray need every port between them (R60).
_RUNS = {"matchExpressions": [{"key": "tau-compile/run-id", "operator": "Exists"}]}
_HEADS = {"matchLabels": {"ray.io/node-type": "head"}}
# Object storage and model hubs, as long as nobody says where they are.
_HTTPS = {"cidrs": ["0.0.0.0/0", "::/0"], "ports": [443]}

Policy = dict[str, Any]


def policies(network: dict[str, Any]) -> Iterator[Policy]:
    """Contexts of ``workspace/networkpolicy.yaml.j2``, for the section ``network``; none when it is not to be isolated."""
    if not network.get("isolate", True):
        return
    yield _policy("default-deny", _EVERY_POD, types=["Ingress", "Egress"])
    names = _dns(network.get("dns", {}))
    if names["to"]:  # nobody in the list is everybody
        yield _policy("dns", _EVERY_POD, egress=[names])
    yield _policy(
        "runs", _RUNS, ingress=[{"from": [{"podSelector": _RUNS}]}], egress=[{"to": [{"podSelector": _RUNS}]}]
    )
    operator = network.get("rayOperator")
    if operator:
        yield _policy("ray-operator", _HEADS, ingress=[_from([operator], DASHBOARD_PORT)])
    if network.get("scrapers"):
        yield _policy("scrapers", _RUNS, ingress=[_from(network["scrapers"], METRICS_PORT)])
    egress = [_opening(item, "to") for item in network.get("egress", [_HTTPS])]
    if egress:
        yield _policy("egress", _RUNS, egress=egress)
    ingress = [_opening(item, "from") for item in network.get("ingress", ())]
    if ingress:
        yield _policy("ingress", _RUNS, ingress=ingress)


def _policy(name: str, pods: dict[str, Any], types: list[str] | None = None, **rules: list[Any]) -> Policy:
    """One policy: without rules for a direction that it is about, that direction is closed."""
    about = types or [word for word in ("Ingress", "Egress") if word.lower() in rules]
    return {
        "name": f"tau-compile-{name}",
        "pods": pods,
        "types": about,
        "ingress": rules.get("ingress", []),
        "egress": rules.get("egress", []),
    }


def _dns(section: dict[str, Any]) -> dict[str, Any]:
    ports = section.get("ports", [_DNS_PORT])
    names = section.get("namespaces", ["kube-system"])
    cidrs = section.get("cidrs", [_DNS_CACHE])
    return {
        "to": [*map(_namespace, names), *({"ipBlock": {"cidr": cidr}} for cidr in cidrs)],
        "ports": [{"port": port, "protocol": word} for port in ports for word in ("UDP", "TCP")],
    }


def _from(namespaces: list[str], port: int) -> dict[str, Any]:
    return {"from": [_namespace(name) for name in namespaces], "ports": [{"port": port, "protocol": "TCP"}]}


def _opening(item: dict[str, Any], side: str) -> dict[str, Any]:
    peers = [_namespace(name) for name in item.get("namespaces", ())]
    peers += [_block(cidr, item.get("except", ())) for cidr in item.get("cidrs", ())]
    ports = [{"port": port, "protocol": item.get("protocol", "TCP")} for port in item["ports"]]
    return {side: peers, "ports": ports}


def _block(cidr: str, holes: list[str]) -> dict[str, Any]:
    """A range without those holes that lie in it: the API server takes no others."""
    inside = [hole for hole in holes if _within(hole, cidr)]
    return {"ipBlock": {"cidr": cidr, **({"except": inside} if inside else {})}}


def _within(hole: str, cidr: str) -> bool:
    from ipaddress import ip_network

    try:
        inner, around = ip_network(hole), ip_network(cidr)
        return inner.version == around.version and inner.subnet_of(around)  # type: ignore[arg-type]
    except ValueError:  # said where the section is read
        return False


def _namespace(name: str) -> dict[str, Any]:
    """All pods of a namespace, by the label that every namespace has."""
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}

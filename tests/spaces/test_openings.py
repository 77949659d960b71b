"""What a closed namespace leaves open, judged by what Kubernetes would do with the policies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tau_compile.rules.rendered import pods
from tests.spaces.making import OPERATOR, of_kind, spaces
from tests.spaces.network import End, Pod, connects
from tests.support.compiling import JOB, RAYJOB, compiled, repository

if TYPE_CHECKING:
    from collections.abc import Mapping


def rendered(text: str, what: str) -> dict[str, str]:
    """Labels of a pod that we render."""
    (labels,) = (
        pod["metadata"]["labels"]
        for made in compiled(text).objects
        for place, pod in pods(made)
        if what in place
    )
    return dict(labels)


RANK = Pod("vision", rendered(JOB, "Job"))
HEAD = Pod("vision", {**rendered(RAYJOB, "head"), "ray.io/node-type": "head"})  # KubeRay's own label
WORKER = Pod("vision", {**rendered(RAYJOB, "group"), "ray.io/node-type": "worker"})
SUBMITTER = Pod("vision", rendered(RAYJOB, "submitter"))
OTHER = Pod("vision", {"app": "shell"})  # not of a run
STRANGER = Pod("speech", {"tau-compile/run-id": "asr-00000000"})
KUBERAY = Pod("kuberay-system", {"app.kubernetes.io/name": "kuberay-operator"})
PROMETHEUS = Pod("monitoring", {"app": "prometheus"})
DNS = Pod("kube-system", {"k8s-app": "kube-dns"})
INTERNET = "203.0.113.7"


def policies(**network: Any) -> list[dict[str, Any]]:
    return list(of_kind(spaces({"network": network}), "NetworkPolicy").values())


@pytest.mark.parametrize(
    ("source", "target", "port", "protocol"),
    [
        (RANK, RANK, 29500, "TCP"),  # torchrun's rendezvous
        (RANK, RANK, 43117, "TCP"),  # what NCCL takes
        (RANK, RANK, 43117, "UDP"),
        (WORKER, HEAD, 6379, "TCP"),
        (HEAD, WORKER, 20003, "TCP"),
        (WORKER, WORKER, 20003, "TCP"),
        (SUBMITTER, HEAD, 8265, "TCP"),
        (KUBERAY, HEAD, 8265, "TCP"),
        (HEAD, DNS, 53, "UDP"),
        (RANK, DNS, 53, "TCP"),
        (OTHER, DNS, 53, "UDP"),
        (HEAD, "169.254.20.10", 53, "UDP"),  # the cache on each node
        (RANK, INTERNET, 443, "TCP"),
        (WORKER, "2001:db8::1", 443, "TCP"),
        (PROMETHEUS, HEAD, 8080, "TCP"),
        (PROMETHEUS, WORKER, 8080, "TCP"),
    ],
)
def test_open(source: End, target: End, port: int, protocol: str) -> None:
    assert connects(policies(scrapers=["monitoring"]), source, target, port, protocol)


@pytest.mark.parametrize(
    ("source", "target", "port", "protocol"),
    [
        (KUBERAY, HEAD, 6379, "TCP"),
        (KUBERAY, HEAD, 10001, "TCP"),
        (KUBERAY, WORKER, 8265, "TCP"),
        (KUBERAY, RANK, 8265, "TCP"),
        (PROMETHEUS, HEAD, 8265, "TCP"),
        (STRANGER, HEAD, 8265, "TCP"),
        (STRANGER, RANK, 29500, "TCP"),
        (RANK, STRANGER, 29500, "TCP"),
        (OTHER, RANK, 29500, "TCP"),
        (OTHER, HEAD, 8265, "TCP"),
        (RANK, OTHER, 80, "TCP"),
        (INTERNET, HEAD, 8265, "TCP"),
        (INTERNET, RANK, 443, "TCP"),
        (RANK, INTERNET, 80, "TCP"),
        (RANK, INTERNET, 443, "UDP"),
        (RANK, "169.254.169.254", 80, "TCP"),  # a cloud's metadata
        (OTHER, INTERNET, 443, "TCP"),
        (RANK, DNS, 443, "TCP"),
        (RANK, STRANGER, 53, "UDP"),
        (Pod("default", {}), HEAD, 8265, "TCP"),
    ],
)
def test_closed(source: End, target: End, port: int, protocol: str) -> None:
    assert not connects(policies(scrapers=["monitoring"]), source, target, port, protocol)


def test_nobody_scrapes_who_is_not_named() -> None:
    assert not connects(policies(), PROMETHEUS, HEAD, 8080)


def test_every_opening_is_needed() -> None:
    """Without any one of the policies something that runs need is closed: none of them is there for nothing."""
    every = policies(scrapers=["monitoring"])
    needed: list[tuple[End, End, int]] = [
        (RANK, RANK, 29500),
        (KUBERAY, HEAD, 8265),
        (RANK, INTERNET, 443),
        (PROMETHEUS, WORKER, 8080),
    ]
    for left_out in every:
        rest = [policy for policy in every if policy is not left_out]
        lost = [case for case in needed if not connects(rest, *case)] or not connects(
            rest, RANK, DNS, 53, "UDP"
        )
        gained = connects(rest, STRANGER, OTHER, 80)
        assert lost or gained, left_out["metadata"]["name"]


@pytest.mark.parametrize(
    ("network", "source", "target", "port", "is_open"),
    [
        ({"egress": []}, RANK, INTERNET, 443, False),
        ({"egress": [{"cidrs": ["10.0.0.0/8"], "ports": [9000]}]}, RANK, "10.2.0.1", 9000, True),
        ({"egress": [{"cidrs": ["10.0.0.0/8"], "ports": [9000]}]}, RANK, INTERNET, 443, False),
        ({"egress": [{"cidrs": ["10.0.0.0/8"], "except": ["10.1.0.0/16"], "ports": [443]}]}, RANK, "10.1.2.3", 443, False),
        ({"egress": [{"namespaces": ["speech"], "ports": [443]}]}, RANK, STRANGER, 443, True),
        ({"egress": [{"namespaces": ["speech"], "ports": [443]}]}, RANK, STRANGER, 80, False),
        ({"ingress": [{"namespaces": ["speech"], "ports": [8265]}]}, STRANGER, HEAD, 8265, True),
        ({"ingress": [{"namespaces": ["speech"], "ports": [8265]}]}, STRANGER, HEAD, 6379, False),
        ({"rayOperator": "ray"}, KUBERAY, HEAD, 8265, False),
        ({"isolate": False}, STRANGER, HEAD, 6379, True),
        ({"dns": {"namespaces": ["openshift-dns"], "ports": [5353]}}, RANK, Pod("openshift-dns", {}), 5353, True),
        ({"dns": {"namespaces": ["openshift-dns"], "ports": [5353]}}, RANK, DNS, 53, False),
        ({"dns": {"cidrs": ["10.96.0.10/32"]}}, RANK, "10.96.0.10", 53, True),
        ({"dns": {"cidrs": ["10.96.0.10/32"]}}, RANK, "169.254.20.10", 53, False),
        ({"dns": {"cidrs": []}}, RANK, DNS, 53, True),
        ({"dns": {"cidrs": [], "namespaces": []}}, RANK, DNS, 53, False),
    ],
)  # fmt: skip
def test_what_a_platform_opens_and_closes(
    network: Mapping[str, Any], source: End, target: End, port: int, is_open: bool
) -> None:
    assert connects(policies(**network), source, target, port) is is_open


def test_a_range_gets_only_the_holes_that_lie_in_it() -> None:
    opening = {"cidrs": ["10.0.0.0/8", "192.168.0.0/16"], "except": ["10.1.0.0/16"], "ports": [443]}
    made = of_kind(spaces({"network": {"egress": [opening]}}), "NetworkPolicy")["tau-compile-egress"]
    assert made["spec"]["egress"][0]["to"] == [
        {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}},
        {"ipBlock": {"cidr": "192.168.0.0/16"}},
    ]


@pytest.mark.parametrize("side", ["egress", "ingress"])
@pytest.mark.parametrize("peers", [{"cidrs": []}, {"namespaces": []}, {"cidrs": [], "namespaces": []}, {}])
def test_an_opening_to_nobody_is_not_one_to_everybody(side: str, peers: dict[str, Any]) -> None:
    text = json.dumps(
        {
            "apiVersion": "tau-compile/v1",
            "kind": "Workspace",
            "metadata": {"name": "vision"},
            "queue": "jobqueue",
            "manage": {"network": {side: [{**peers, "ports": [443]}]}},
        }
    )
    said = repository([text]).overlays.diagnostics
    assert said
    assert {d.severity for d in said} == {"error"}


def test_the_cluster_says_where_its_operator_is() -> None:
    made = spaces({}, {"network": {"rayOperator": "ray"}})
    assert connects(of_kind(made, "NetworkPolicy").values(), Pod("ray", {}), HEAD, 8265)
    assert [d.id for d in spaces({}, {}).diagnostics] == ["TAU375"]
    assert OPERATOR["network"]["rayOperator"] == KUBERAY.namespace

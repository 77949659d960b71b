"""The policies of a workspace, judged by Kubernetes' own library: what is right passes, what is wrong is refused in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tau_compile.emit.yaml import dump_all
from tau_compile.render.admission import policies, policies_of
from tau_compile.runs.tree import file_name
from tests.admission.worlds import (
    CHECKS,
    GONE,
    PLATFORM,
    WORKSPACE,
    changed,
    example_overlays,
    good,
    job,
    made,
    pod,
    ray,
    runs,
)
from tests.support.celcheck import Request, celcheck
from tests.support.compiling import repository
from tests.support.tools import ROOT, kubeconform

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KINDS = ["batch/v1/Job", "ray.io/v1/RayCluster", "ray.io/v1/RayJob", "ray.io/v1/RayService", "v1/Pod"]
LABELS = "metadata/labels/kueue.x-k8s.io|"
JOB = "spec/template/spec/"
HEAD = "spec/rayClusterSpec/headGroupSpec/template/spec/"
WORKERS = "spec/rayClusterSpec/workerGroupSpecs/1/"
IMAGE = "containers/0/image"
LIMITS = "containers/0/resources/limits/"
GROUP, OF_WORKER = "spec/rayClusterSpec/workerGroupSpecs/0/", f"template/spec/{LIMITS}nvidia.com|gpu"
QUEUES = "the label kueue.x-k8s.io/queue-name must name a queue of this workspace: jobqueue, overflow"
PRIORITY = "the label kueue.x-k8s.io/priority-class must be one of this cluster (research, urgent)"
CLASS = "the priorityClassName of a pod must be one of this cluster (research, urgent)"
FROM = "images must come from docker.io/pytorch, docker.io/library, mcr.microsoft.com, registry.example.com, not: "
TTL = "a Job must not have ttlSecondsAfterFinished: what deletes itself is made and run again from Git"


def gpus(number: int) -> str:
    """The message about a number of GPUs."""
    return f"a run may have 32 GPUs, not {number}"


def test_every_expression_compiles_and_fits_the_types_of_its_kind() -> None:
    answer = celcheck(made(), types=True)
    assert (answer.errors, answer.types) == ([], [])
    assert sorted(kind for found in answer.checked.values() for kind in found) == KINDS
    assert len(answer.checked) == len(KINDS)


def test_the_type_check_sees_a_field_that_does_not_exist() -> None:
    found = made()
    found[0]["spec"]["validations"][0]["expression"] = "object.spec.paralelism > 0"
    found[2]["spec"]["variables"][0]["expression"] = "object.spec.rayCluster"
    answer = celcheck(found[:4], types=True)
    assert answer.errors == []
    seen = {policy for policy, _, text in answer.types if "undefined field" in text}
    assert seen == {found[0]["metadata"]["name"], found[2]["metadata"]["name"]}


def test_an_expression_that_does_not_compile_is_seen() -> None:
    found = made()
    found[0]["spec"]["validations"][0]["expression"] = "object.spec.parallelism >"
    found[0]["spec"]["matchConditions"][0]["expression"] = "'a text'"
    fields = [field for _, field, _ in celcheck(found).errors]
    assert fields == ["spec.matchConditions[0].expression", "spec.validations[0].expression"]


@pytest.mark.parametrize(
    "folders, pattern",
    [(("gitops-repo",), "examples/gitops-repo/rendered/**/*.yaml"), ((), "tests/golden-examples/[!o]*.yaml")],
    ids=["gitops-repo", "examples"],
)
def test_what_we_render_is_accepted(folders: tuple[str, ...], pattern: str) -> None:
    found = example_overlays(*folders)
    cluster = found.clusters[0]
    objects = [made for workspace in found.workspaces for made in policies_of(found, cluster, workspace)]
    rendered = [made for made in runs(pattern) if made["metadata"]["namespace"] != "taugrid-default"]
    answer = celcheck(objects, rendered)
    assert answer.errors == []
    for number, judged in enumerate(answer.decisions):
        assert len(judged) >= 5, rendered[number]["metadata"]
        assert answer.refusals(number) == []
        assert max(d.cost for d in judged) < 10_000  # of 10 million


def test_what_is_right_is_accepted() -> None:
    answer = celcheck(made(), list(good()))
    assert [len(judged) for judged in answer.decisions] == [6, 5, 5, 5, 5, 5]
    assert [answer.refusals(n) for n in range(len(answer.decisions))] == [[]] * 6


FAULTS: list[tuple[dict[str, Any], str, Any, list[str]]] = [
    (job(), LABELS + "queue-name", GONE, [QUEUES]),
    (job(), LABELS + "queue-name", "theirs", [QUEUES]),
    (job(), "metadata/labels", GONE, [QUEUES]),
    (ray(), LABELS + "queue-name", GONE, [QUEUES]),
    (ray("RayCluster"), LABELS + "queue-name", "", [QUEUES]),
    (ray("RayService"), LABELS + "queue-name", GONE, [QUEUES]),
    (pod(gpus=1), LABELS + "queue-name", GONE, [QUEUES]),
    (job(), LABELS + "priority-class", "critical", [PRIORITY]),
    (job(), JOB + "priorityClassName", "system-node-critical", [CLASS]),
    (ray(), HEAD + "priorityClassName", "critical", [CLASS]),
    (ray(), WORKERS + "template/spec/priorityClassName", "critical", [CLASS]),
    (ray(), "spec/submitterPodTemplate/spec/priorityClassName", "critical", [CLASS]),
    (
        changed(pod(), "spec/priority", 2000000000),
        "spec/priorityClassName",
        "system-cluster-critical",
        [CLASS],
    ),
    (job(), "spec/ttlSecondsAfterFinished", 60, [TTL]),
    (job(), "spec/ttlSecondsAfterFinished", 0, [TTL]),
    (job(), JOB + IMAGE, "ghcr.io/team/trainer:1", [FROM + "ghcr.io/team/trainer:1"]),
    (job(), JOB + IMAGE, "team/trainer", [FROM + "team/trainer"]),
    (job(), JOB + IMAGE, "mcr.microsoft.com.example.org/a", [FROM + "mcr.microsoft.com.example.org/a"]),
    (job(), JOB + IMAGE, "mcr.microsoft.com:5000/a", [FROM + "mcr.microsoft.com:5000/a"]),
    (job(), JOB + IMAGE, "docker.io/pytorchx/a", [FROM + "docker.io/pytorchx/a"]),
    (job(), JOB + IMAGE, "Pytorch/a", [FROM + "Pytorch/a"]),
    (
        job(),
        JOB + IMAGE,
        "mcr.microsoft.com/a ghcr.io/b",
        [FROM + "ghcr.io/b"],
    ),  # no image; but it fools nobody
    (job(), JOB + "initContainers", [{"name": "i", "image": "ghcr.io/b"}], [FROM + "ghcr.io/b"]),
    (ray(), HEAD + IMAGE, "ghcr.io/b", [FROM + "ghcr.io/b"]),
    (ray(), WORKERS + "template/spec/" + IMAGE, "ghcr.io/b", [FROM + "ghcr.io/b"]),
    (
        ray(),
        WORKERS + "template/spec/initContainers",
        [{"name": "i", "image": "ghcr.io/b"}],
        [FROM + "ghcr.io/b"],
    ),
    (ray(), HEAD + "ephemeralContainers", [{"name": "i", "image": "ghcr.io/b"}], [FROM + "ghcr.io/b"]),
    (ray(), "spec/submitterPodTemplate/spec/" + IMAGE, "ghcr.io/b", [FROM + "ghcr.io/b"]),
    (ray(), "spec/rayClusterSpec/autoscalerOptions", {"image": "ghcr.io/b"}, [FROM + "ghcr.io/b"]),
    (
        ray("RayCluster"),
        "spec/headGroupSpec/template/spec/" + IMAGE,
        "ghcr.io/b",
        [FROM + "ghcr.io/b"],
    ),
    (
        ray("RayService"),
        "spec/rayClusterConfig/headGroupSpec/template/spec/" + IMAGE,
        "ghcr.io/b",
        [FROM + "ghcr.io/b"],
    ),
    (pod(), "spec/" + IMAGE, "ghcr.io/b", [FROM + "ghcr.io/b"]),
    (changed(job(), "spec/completions", 9), "spec/parallelism", 9, [gpus(36)]),
    (job(), JOB + LIMITS + "nvidia.com|gpu", "17", [gpus(34)]),
    (job(), JOB + LIMITS + "nvidia.com|mig-1g.10gb", "13", [gpus(34)]),
    (job(), JOB + LIMITS + "habana.ai|gaudi", "13", [gpus(34)]),
    (job(), JOB + LIMITS + "nvidia.com|gpu", "1k", [gpus(2000)]),
    (
        job(),
        JOB + "initContainers",
        [{"name": "i", "image": "ubuntu", "resources": {"limits": {"nvidia.com/gpu": "30"}}}],
        [gpus(68)],
    ),
    (ray(), WORKERS + "replicas", 7, [gpus(36)]),
    (ray(), WORKERS + "minReplicas", 7, [gpus(36)]),
    (ray(), WORKERS + "numOfHosts", 4, [gpus(40)]),
    (ray(), HEAD + LIMITS + "nvidia.com|gpu", 20, [gpus(36)]),
    (ray(), "spec/submitterPodTemplate/spec/" + LIMITS + "nvidia.com|gpu", "20", [gpus(36)]),
    (
        ray(),
        "spec/rayClusterSpec/autoscalerOptions",
        {"resources": {"limits": {"nvidia.com/gpu": 20}}},
        [gpus(36)],
    ),
    (
        changed(ray(), "spec/rayClusterSpec/enableInTreeAutoscaling", True),
        WORKERS + "maxReplicas",
        20,
        [gpus(88)],
    ),
    # What counts less than none makes no room for something else.
    (changed(ray(), WORKERS + "numOfHosts", -50), GROUP + "replicas", 9, [gpus(36)]),
    (changed(ray(), WORKERS + OF_WORKER, "-50"), GROUP + "replicas", 9, [gpus(36)]),
    (changed(ray(), HEAD + LIMITS + "amd.com|gpu", "-50"), GROUP + "replicas", 7, [gpus(36)]),
    (ray("RayCluster"), "spec/workerGroupSpecs/0/replicas", 7, [gpus(36)]),
    (pod(gpus=8), "spec/" + LIMITS + "nvidia.com|gpu", "33", [gpus(33)]),
]


def test_what_is_wrong_is_refused_and_told() -> None:
    answer = celcheck(made(), [changed(made, path, value) for made, path, value, _ in FAULTS])
    for number, (_, path, value, messages) in enumerate(FAULTS):
        assert answer.refusals(number) == messages, (path, value)
        assert {d.verdict for d in answer.decisions[number]} == {"admit", "deny"}


FINE: list[tuple[dict[str, Any], str, Any]] = [
    (job(), LABELS + "queue-name", "overflow"),
    (job(), LABELS + "priority-class", GONE),
    (job(), LABELS + "priority-class", "urgent"),
    (job(), JOB + "priorityClassName", GONE),
    (job(), JOB + IMAGE, "ubuntu"),
    (job(), JOB + IMAGE, "ubuntu:24.04"),
    (job(), JOB + IMAGE, "docker.io/library/ubuntu@sha256:" + "0" * 64),
    (job(), JOB + IMAGE, "registry.example.com/a/b/c:1"),
    (job(), "spec/parallelism", 8),
    (changed(job(), "spec/parallelism", 40), "spec/completions", 8),  # as many at a time as have work
    (ray(), WORKERS + "maxReplicas", 20),  # nothing scales it
    (ray(), WORKERS + "replicas", 6),
    (ray(), "spec/rayClusterSpec", GONE),  # runs on a cluster that exists; Kueue has its own opinion
    (ray(), "spec/submitterPodTemplate", GONE),
    (ray(), "spec/rayClusterSpec/workerGroupSpecs", GONE),
    (ray(), "spec/ttlSecondsAfterFinished", 60),
    (changed(pod(), "spec/priority", 0), "spec/priorityClassName", "cluster-default"),
    (pod(), "spec/containers/0/resources", GONE),
]


def test_what_is_unusual_and_right_is_accepted() -> None:
    answer = celcheck(made(), [changed(made, path, value) for made, path, value in FINE])
    for number, (_, path, value) in enumerate(FINE):
        assert answer.refusals(number) == [], (path, value)
        assert answer.decisions[number]


def wrong() -> list[dict[str, Any]]:
    """One of each kind that every check would refuse."""
    bad = [changed(made, "metadata/labels", {}) for made in good()]
    bad[0]["spec"]["ttlSecondsAfterFinished"] = 1
    return bad


def test_operators_are_exempt() -> None:
    accounts = [
        "system:serviceaccount:kueue-system:kueue-controller-manager",
        "system:serviceaccount:kuberay-system:kuberay-operator",
        "system:serviceaccount:default:kuberay-operator",
        "system:serviceaccount:kube-system:job-controller",
        "system:kube-controller-manager",
    ]
    answer = celcheck(made(), [Request(each, account) for each in wrong() for account in accounts])
    assert answer.decisions == [[]] * 30


def test_nobody_else_is_exempt() -> None:
    others = [
        "system:serviceaccount:vision:kueue-controller-manager",
        "system:serviceaccount:kueue-system:kueue-controller-manager2",
        "system:masters",
        "jane",
    ]
    answer = celcheck(made(), [Request(wrong()[0], account) for account in others])
    assert [answer.refusals(n) for n in range(len(others))] == [[QUEUES, TTL]] * len(others)


def test_other_accounts_can_be_named() -> None:
    checks = CHECKS + "  operators: {kueue: q/boss, kuberay: r/boss}\n  exempt: ['oidc:jane@example.com']\n"
    space = WORKSPACE + "admission: {exempt: [robot]}\n"
    accounts = [
        "system:serviceaccount:q:boss",
        "system:serviceaccount:r:boss",
        "oidc:jane@example.com",
        "robot",
    ]
    former = "system:serviceaccount:kueue-system:kueue-controller-manager"
    answer = celcheck(made(checks, space), [Request(wrong()[0], a) for a in [*accounts, former]])
    assert answer.decisions[:4] == [[]] * 4
    assert answer.refusals(4) == [QUEUES, TTL]


@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        ("system:masters", False),
        ("system:serviceaccounts", False),
        ("system:serviceaccounts:kueue-system", False),
        ("system:serviceaccount:kueue-system:kueue-controller-manager", True),
        ("system:node:gpu-1", True),
        ("system:mastersandmore", True),
    ],
)
def test_a_group_exempts_nobody_and_is_refused(name: str, accepted: bool) -> None:
    for text in (PLATFORM, WORKSPACE):
        document = f"{text}admission: {{exempt: ['{name}']}}\n"
        assert (repository([document]).overlays.diagnostics == ()) is accepted


def test_other_namespaces_operations_and_kinds_are_left_alone() -> None:
    elsewhere = changed(wrong()[0], "metadata/namespace", "language")
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "vision"}}
    requests = [Request(elsewhere), Request(other), Request(wrong()[0], operation="UPDATE")]
    assert celcheck(made(), requests).decisions == [[], [], []]


def test_audit_warns_and_refuses_nothing() -> None:
    checks = CHECKS.replace("ttl: Deny", "ttl: Audit").replace("queue: Deny", "queue: Audit")
    answer = celcheck(made(checks), [wrong()[0]])
    assert answer.refusals() == []
    said = {d.message: d.actions for d in answer.decisions[0] if d.verdict == "deny"}
    assert said == {QUEUES: ("Audit", "Warn"), TTL: ("Audit", "Warn")}
    names = [o["metadata"]["name"] for o in made(checks) if o["kind"] == "ValidatingAdmissionPolicy"]
    assert names[:3] == [
        "tau-compile-vision-jobs-deny",
        "tau-compile-vision-jobs-audit",
        "tau-compile-vision-rayjobs-deny",
    ]


def test_nothing_is_made_where_nothing_is_checked() -> None:
    assert made("") == []
    assert made("admission: {queue: Ignore, gpusPerRun: {action: Ignore, max: 3}}") == []
    assert made(CHECKS, WORKSPACE + _off()) == []
    only = made("admission: {ttl: Deny}")
    assert [o["kind"] for o in only] == [
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ]
    assert "variables" not in only[0]["spec"]


def _off() -> str:
    return (
        "admission: {queue: Ignore, priority: Ignore, ttl: Ignore, images: {action: Ignore}, "
        "gpusPerRun: {action: Ignore}}\n"
    )


def test_a_cluster_without_a_catalogue_has_the_queues_of_its_workspaces() -> None:
    bare = '{apiVersion: tau-compile/v1, kind: Cluster, metadata: {name: e}, versions: {kubernetes: "1.31"}}'
    found = made("admission: {queue: Deny, priority: Deny}", WORKSPACE, bare)
    answer = celcheck(found, [job(), changed(job(), "metadata/labels", {})])
    none = "the label kueue.x-k8s.io/priority-class must be left out: this cluster has none"
    pods = "the priorityClassName of a pod must be left out: this cluster has none"
    assert answer.refusals(0) == [none, pods]
    assert answer.refusals(1) == [QUEUES.replace(", overflow", ""), pods]


def test_large_objects_stay_far_below_the_cost_limits() -> None:
    large = ray()
    groups = large["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    groups[0]["template"]["spec"]["containers"] *= 10
    large["spec"]["rayClusterSpec"]["workerGroupSpecs"] = [groups[0]] * 16
    many = ", ".join(f"registry-{n}.example.com/some/team/somewhere" for n in range(31))
    checks = CHECKS.replace("registry.example.com]", many + "]").replace("max: 32", "max: 1000000")
    checks = checks.replace(
        "docker.io/pytorch, docker.io/library, mcr.microsoft.com, ", "docker.io/pytorch, "
    )
    answer = celcheck(made(checks), [large])
    assert answer.refusals() == []
    assert (
        0 < max(d.cost for d in answer.decisions[0]) < 1_000_000
    )  # of 10 million for all, 1 million for each


def test_as_written(golden: Callable[[Path, str], None]) -> None:
    checks = CHECKS.replace("queue: Deny", "queue: Audit")
    golden(ROOT / "tests" / "admission" / "expected.yaml", dump_all(made(checks)))


def test_kubeconform_accepts_them() -> None:
    results = kubeconform(dump_all(made(CHECKS.replace("queue: Deny", "queue: Audit"))))
    assert len(results) == 20
    assert [result for result in results if not result.valid] == []
    broken = dump_all(made()).replace("failurePolicy", "failPolicy", 1)
    assert [result.valid for result in kubeconform(broken)].count(False) == 1


def test_what_an_api_server_demands_beside_good_expressions() -> None:
    for policy in (each for each in made() if each["kind"] == "ValidatingAdmissionPolicy"):
        names = [variable["name"] for variable in policy["spec"]["variables"]]
        assert all(re.fullmatch(r"[a-z][a-zA-Z]*", name) for name in names)
        assert len(names) == len(set(names))
        for rule in policy["spec"]["validations"]:
            assert rule["message"] == rule["message"].strip() != ""
            assert "\n" not in rule["message"]


def test_names_are_names_however_long() -> None:
    found = [
        made(CHECKS, WORKSPACE.replace("name: vision", f"name: {name}") + "namespace: vision\n")
        for name in ("a" * 253, "a" * 252 + "b")
    ]
    names = [{o["metadata"]["name"] for o in objects} for objects in found]
    assert max(len(file_name(made)) for objects in found for made in objects) <= 255
    assert not names[0] & names[1]


def test_without_the_other_overlays_the_catalogue_decides() -> None:
    found = example_overlays("gitops-repo")
    one = policies(found.platform, found.clusters[0], found.workspaces[0])
    assert one == policies_of(found, found.clusters[0], found.workspaces[0])

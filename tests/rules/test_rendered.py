"""Templates of a repository's own that make what a cluster would take, and a run must not be."""

from __future__ import annotations

import copy
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tau_compile.rules.rendered import wrong
from tests.support.compiling import JOB, RAYJOB, accepted, pods, workload

if TYPE_CHECKING:
    from collections.abc import Callable

MADE = {"Job": workload(accepted(JOB)), "RayJob": workload(accepted(RAYJOB))}


def judged(kind: str, spoil: Callable[[dict[str, Any]], Any]) -> list[str]:
    made = copy.deepcopy(MADE[kind])
    spoil(made)
    return [found.id for found in wrong(made)]


def group(made: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = made["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]
    return found


def containers(made: dict[str, Any]) -> list[dict[str, Any]]:
    return [c for pod in pods(made).values() for c in pod["spec"]["containers"]]


@pytest.mark.parametrize("kind", ["Job", "RayJob"])
def test_what_the_packaged_templates_make_is_right(kind: str) -> None:
    assert judged(kind, lambda made: None) == []


@pytest.mark.parametrize(
    ("id", "spoil"),
    [
        ("TAU612", lambda made: made["spec"].pop("shutdownAfterJobFinishes")),
        ("TAU612", lambda made: made["spec"].update(shutdownAfterJobFinishes="true")),
        ("TAU613", lambda made: made["spec"].pop("submissionMode")),
        ("TAU613", lambda made: made["spec"].update(submissionMode="SidecarMode")),
        ("TAU614", lambda made: group(made).pop("replicas")),
        ("TAU614", lambda made: group(made).pop("maxReplicas")),
        ("TAU614", lambda made: group(made).update(minReplicas=4)),
        ("TAU614", lambda made: group(made).update(replicas="1")),
        ("TAU615", lambda made: group(made).update(groupName="head")),
        ("TAU615", lambda made: group(made).update(groupName="submitter")),
        ("TAU615", lambda made: group(made).update(groupName="Workers")),
        ("TAU615", lambda made: group(made).update(groupName="w" * 64)),
        ("TAU433", lambda made: made["spec"]["submitterPodTemplate"]["spec"].pop("restartPolicy")),
        ("TAU434", lambda made: made["spec"].update(clusterSelector={"a": "b"})),
    ],
)
def test_rayjobs(id: str, spoil: Callable[[dict[str, Any]], Any]) -> None:
    assert judged("RayJob", spoil) == [id]


@pytest.mark.parametrize(
    ("id", "spoil"),
    [
        ("TAU433", lambda made: made["spec"]["template"]["spec"].update(restartPolicy="Always")),
        ("TAU433", lambda made: made["spec"]["template"]["spec"].pop("restartPolicy")),
        ("TAU434", lambda made: made["spec"].update(selector={})),
        ("TAU434", lambda made: made["spec"].update(manualSelector=False)),
        ("TAU434", lambda made: made["spec"].update(managedBy="example.com/x")),
    ],
)
def test_jobs(id: str, spoil: Callable[[dict[str, Any]], Any]) -> None:
    assert judged("Job", spoil) == [id]


@pytest.mark.parametrize("kind", ["Job", "RayJob"])
def test_annotations(kind: str) -> None:
    assert judged(kind, lambda made: made["metadata"].pop("annotations")) == ["TAU725"]
    hook = {"argocd.argoproj.io/hook": "Sync"}
    assert judged(kind, lambda made: made["metadata"]["annotations"].update(hook)) == ["TAU724"]
    for key, value, found in [
        ("argocd.argoproj.io/sync-options", "Prune=false, Force=true", ["TAU724"]),
        ("argocd.argoproj.io/sync-options", "ServerSideApply=true", []),
        ("kustomize.toolkit.fluxcd.io/force", "enabled", ["TAU724"]),
    ]:
        one = {key: value}
        assert judged(kind, partial(_annotated, one)) == found


def _annotated(more: dict[str, str], made: dict[str, Any]) -> None:
    made["metadata"]["annotations"].update(more)


@pytest.mark.parametrize(
    ("kind", "pod"), [("Job", "main"), *(("RayJob", p) for p in ("head", "worker", "submitter"))]
)
def test_pods(kind: str, pod: str) -> None:
    def container(made: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = pods(made)[pod]["spec"]["containers"][0]
        return found

    def sized(resources: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
        return lambda made: container(made).update(resources=resources)

    queue = {"kueue.x-k8s.io/queue-name": "q"}
    assert judged(kind, lambda made: pods(made)[pod]["metadata"]["labels"].update(queue)) == ["TAU511"]
    assert judged(kind, lambda made: container(made)["securityContext"].update(privileged=True)) == ["TAU810"]
    twice = [{"name": "A", "value": "1"}, {"name": "A", "value": "1"}]
    assert judged(kind, lambda made: container(made).update(env=twice)) == ["TAU435"]
    for resources in (
        {"requests": {"cpu": "1001m"}, "limits": {"cpu": "1"}},
        {"requests": {"memory": "1Gi"}, "limits": {"memory": "1G"}},
        {"requests": {"nvidia.com/gpu": "1"}},
        {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "2"}},
    ):
        assert judged(kind, sized(resources)) == ["TAU436"]
    fine = {"requests": {"cpu": "1"}, "limits": {"cpu": "1000m", "memory": "1Gi", "nvidia.com/gpu": 1}}
    assert judged(kind, lambda made: container(made).update(resources=fine)) == []


@pytest.mark.parametrize("kind", ["Job", "RayJob"])
@pytest.mark.parametrize("odd", [None, [], "x", 1, {}, [None]])
def test_odd_shapes_are_judged_without_an_exception(kind: str, odd: object) -> None:
    for key in ("spec", "metadata"):
        assert isinstance(list(wrong({**MADE[kind], key: odd})), list)
    judged(kind, lambda made: made["spec"].update(template=odd, rayClusterSpec=odd, submitterPodTemplate=odd))
    for key in containers(MADE[kind])[0]:
        made = copy.deepcopy(MADE[kind])
        containers(made)[0][key] = odd
        assert isinstance(list(wrong(made)), list)

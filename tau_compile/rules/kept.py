"""What must be after the patches as it was before: how large a run is, and what its own scripts count on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.named import NamedTuple
from tau_compile.rules.parts import maps
from tau_compile.rules.rendered import pods

if TYPE_CHECKING:
    from collections.abc import Iterator

_COUNTS = ("parallelism", "completions", "completionMode")
_HOT = "tau-hot"  # scratch space, for which a platform may have something better
GROUPS = "the worker groups"
_GROUP = ("replicas", "minReplicas", "maxReplicas", "numOfHosts")


class Fact(NamedTuple):
    """Something about a run. ``size``: queue, launch limits and record count on it, as the program does."""

    what: str
    size: bool


def facts(made: dict[str, Any], same: frozenset[int]) -> Iterator[tuple[Fact, str]]:
    """The facts of a Job or RayJob, as far as they are there; ``same`` are the ids of pod templates that nobody asks about."""
    spec = made.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    yield from _fields(spec, _COUNTS, "")
    cluster = spec.get("rayClusterSpec")
    cluster = cluster if isinstance(cluster, dict) else {}
    yield from _fields(cluster, ("enableInTreeAutoscaling",), "")  # K86
    groups = maps(cluster, "workerGroupSpecs")
    head = cluster.get("headGroupSpec")
    start = head.get("rayStartParams") if isinstance(head, dict) else None
    yield from _fields(start if isinstance(start, dict) else {}, ("num-gpus",), " of the head")
    if groups:
        yield Fact(GROUPS, True), ", ".join(str(group.get("groupName")) for group in groups)
    for group in groups:
        where = f" of the group `{group.get('groupName')}`"
        yield from _fields(group, _GROUP, where)
        start = group.get("rayStartParams")
        yield from _fields(start if isinstance(start, dict) else {}, ("num-gpus",), where)
    for where, pod in pods(made):
        if id(pod) in same:
            continue
        inner = pod.get("spec")
        inner = inner if isinstance(inner, dict) else {}
        for volume in maps(inner, "volumes"):
            if str(volume.get("name")).startswith("tau-") and volume["name"] != _HOT:
                yield Fact(f"the volume `{volume['name']}` {where}", False), str(volume)
        for container in (*maps(inner, "initContainers"), *maps(inner, "containers")):
            who = f"the container `{container.get('name')}` {where}"
            yield from _container(container, who)
            if where == "of the submitter" and "command" in container:  # R41
                yield Fact(f"the command of {who}", False), str(container["command"])


def groups(made: dict[str, Any]) -> list[str]:
    """The names of the worker groups of a RayJob."""
    spec = made.get("spec")
    cluster = spec.get("rayClusterSpec") if isinstance(spec, dict) else None
    return [
        str(one.get("groupName"))
        for one in maps(cluster if isinstance(cluster, dict) else {}, "workerGroupSpecs")
    ]


def _container(container: dict[str, Any], who: str) -> Iterator[tuple[Fact, str]]:
    resources = container.get("resources")
    limits = resources.get("limits") if isinstance(resources, dict) else None
    for name, amount in limits.items() if isinstance(limits, dict) else ():
        if _is_gpu(str(name)):
            yield Fact(f"the `{name}` of {who}", True), str(amount)
    for variable in maps(container, "env"):
        if str(variable.get("name")).startswith("TAU_"):
            yield Fact(f"the variable `{variable['name']}` of {who}", False), str(variable)
    for mount in maps(container, "volumeMounts"):
        if str(mount.get("mountPath")).startswith("/tau/"):
            yield Fact(f"the mount `{mount['mountPath']}` of {who}", False), str(mount)


def _fields(holder: dict[str, Any], names: tuple[str, ...], where: str) -> Iterator[tuple[Fact, str]]:
    for name in names:
        if name in holder:
            value = holder[name]
            yield (
                Fact(f"`{name}`{where}", True),
                str(value).lower() if isinstance(value, bool) else str(value),
            )


def _is_gpu(resource: str) -> bool:
    """Whether a device is what queues and launch limits count as GPUs."""
    return resource.partition("/")[2].startswith(("gpu", "mig-"))

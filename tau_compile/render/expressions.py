"""What the policies of a workspace check, as CEL: for each kind its pods, its variables and its validations.

Every path that a schema leaves open may be missing, and nothing is assumed about the order of anything. The expressions use what
CEL offers at Kubernetes 1.29, the newest that an API server of 1.30 accepts in new expressions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.named import NamedTuple
from tau_compile.policy.admission import prefixes
from tau_compile.render.cel import listed, quoted, spoken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.policy.admission import Admission

QUEUE, PRIORITY = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"
# Whole GPUs beside those of the cluster's classes. Slices begin with `SLICES`, and each counts as one, as in a launch.
GPUS = ("amd.com/gpu", "nvidia.com/gpu", "nvidia.com/gpu.shared")
SLICES = "nvidia.com/mig-"
# What container runtimes take for a host; `ubuntu` is docker.io/library/ubuntu.
_FULL = (
    "(i.matches('^(localhost|[^/]*[.:A-Z][^/]*)/') ? i : "
    "i.contains('/') ? 'docker.io/' + i : 'docker.io/library/' + i)"
)
_JOB_PODS = (
    "[object.spec.?parallelism.orValue(1), "
    "object.spec.?completions.orValue(object.spec.?parallelism.orValue(1))].min()"
)


class Pods(NamedTuple):
    """A list of things with pods: the path from one to its pod spec, and how many pods of it run at a time, if not one."""

    name: str
    path: str = ""
    times: str = ""


class Kind(NamedTuple):
    """One kind that is checked. ``lists`` are CEL lists by name; ``autoscalers`` among them are containers without a pod."""

    group: str
    resource: str
    lists: tuple[tuple[str, str], ...]
    pods: tuple[Pods, ...]


class Check(NamedTuple):
    """One validation and its action. ``detail`` is a CEL text that says more than ``message`` does."""

    action: str
    expression: str
    message: str
    detail: str = ""


class Known(NamedTuple):
    """What the catalogue knows: names of queues and priority classes, and resources that are whole GPUs."""

    queues: tuple[str, ...]
    classes: tuple[str, ...]
    gpus: tuple[str, ...]


def kinds() -> tuple[Kind, ...]:
    """What people, or tools of theirs, create: jobs of both kinds, Ray clusters without a job, and bare pods."""
    return (
        Kind(
            "batch",
            "jobs",
            (("pods", "[object.spec.template.spec]"), ("parallel", _JOB_PODS)),  # K72
            (Pods("pods", "", "variables.parallel"),),
        ),
        _ray("rayjobs", "object.spec.?rayClusterSpec", submitter=True),
        _ray("rayclusters", "object.?spec"),
        _ray("rayservices", "object.spec.?rayClusterConfig"),
        Kind("", "pods", (("pods", "[object.spec]"),), (Pods("pods"),)),
    )


def _ray(resource: str, cluster: str, *, submitter: bool = False) -> Kind:
    def one(path: str) -> str:
        return f"{path}.hasValue() ? [{path}.value()] : []"

    scaled = f"{cluster}.?enableInTreeAutoscaling.orValue(false)"
    # With an autoscaler as many as it may start; else KubeRay goes by replicas, and never below minReplicas (K88, R16, R61).
    # Nothing may count as less than none: it would make room for something else.
    workers = (
        f"[int(({scaled} ? g.?maxReplicas.orValue(1) : [g.?replicas.orValue(1), g.?minReplicas.orValue(0)].max())"
        " * g.?numOfHosts.orValue(1)), 0].max()"
    )
    lists = [
        ("heads", one(f"{cluster}.?headGroupSpec.?template.?spec")),
        ("groups", f"{cluster}.?workerGroupSpecs.orValue([])"),
        (
            "autoscalers",
            one(f"{cluster}.?autoscalerOptions"),
        ),  # a container that KubeRay adds to the head (R60)
    ]
    pods = [Pods("heads"), Pods("groups", ".template.spec", workers)]
    if submitter:
        lists.append(("submitters", one("object.spec.?submitterPodTemplate.?spec")))
        pods.append(Pods("submitters"))
    return Kind("ray.io", resource, tuple(lists), tuple(pods))


def variables(kind: Kind, checks: Admission, known: Known) -> Iterator[tuple[str, str]]:
    """Every variable that validations of the kind may use, each before those that use it."""
    yield from kind.lists
    yield "images", _images(kind)
    yield "foreign", _foreign(checks.registries or ())
    yield "gpuNames", listed(sorted({*GPUS, *known.gpus}))
    yield "gpus", _gpus(kind)


def validations(kind: Kind, checks: Admission, known: Known) -> Iterator[Check]:
    """The checks of a kind."""
    named = f"{_label(QUEUE)} in {listed(known.queues)}"
    yield Check(
        checks.queue,
        # K54; a pod that nobody queues is fine as long as it takes no GPUs.
        f"variables.gpus == 0 || {named}" if kind.resource == "pods" else named,
        f"the label {QUEUE} must name a queue of this workspace: {spoken(known.queues)}",
    )
    classes = listed(("", *known.classes))
    theirs = (
        f"one of this cluster ({spoken(known.classes)})"
        if known.classes
        else "left out: this cluster has none"
    )
    # K62
    yield Check(checks.priority, f"{_label(PRIORITY)} in {classes}", f"the label {PRIORITY} must be {theirs}")
    yield Check(
        checks.priority,
        " &&\n".join(_class_of(kind, pods, classes) for pods in kind.pods),
        f"the priorityClassName of a pod must be {theirs}",
    )
    if checks.registries:
        wanted = f"images must come from {spoken(checks.registries)}"
        yield Check(
            checks.images,
            "variables.foreign.size() == 0",
            wanted,
            f"{quoted(wanted + ', not: ')} + variables.foreign.join(', ')",
        )
    if checks.max_gpus is not None:
        most = f"a run may have {checks.max_gpus} GPUs"
        yield Check(
            checks.gpus,
            f"variables.gpus <= {checks.max_gpus}",
            most,
            f"{quoted(most + ', not ')} + string(variables.gpus)",
        )
    if kind.resource == "jobs":
        # G6
        yield Check(
            checks.ttl,
            "!has(object.spec.ttlSecondsAfterFinished)",
            "a Job must not have ttlSecondsAfterFinished: what deletes itself is made and run again from Git",
        )


def _label(name: str) -> str:
    return f"object.metadata.?labels[?{quoted(name)}].orValue('')"


def _class_of(kind: Kind, pods: Pods, classes: str) -> str:
    spec = f"p{pods.path}"
    # A server fills in a cluster's default class when a pod is created; only one that pushes others aside matters.
    harmless = f" || {spec}.?priority.orValue(0) <= 0" if kind.resource == "pods" else ""
    return f"variables.{pods.name}.all(p, {spec}.?priorityClassName.orValue('') in {classes}{harmless})"


def _images(kind: Kind) -> str:
    """All images, as one list. A name with a blank in it, which no runtime accepts, is judged part by part."""
    found = [
        f"variables.{pods.name}.map(p, p{pods.path}.?{part}.orValue([]).map(c, c.?image.orValue('')).join(' '))"
        for pods in kind.pods
        for part in ("containers", "initContainers", "ephemeralContainers")
    ]
    if "autoscalers" in dict(kind.lists):
        found.append("variables.autoscalers.map(c, c.?image.orValue(''))")
    return "(" + " +\n".join(found) + ").join(' ').split(' ')"


def _foreign(registries: tuple[str, ...]) -> str:
    return f"variables.images.filter(i, i != '' &&\n!{listed(prefixes(registries))}.exists(r,\n({_FULL} + ':').startsWith(r)))"


def _gpus(kind: Kind) -> str:
    """The GPUs of all pods together, those of init containers too."""
    of_one = (
        "c.?resources.?limits.orValue({})"
        f".filter(k, k in variables.gpuNames || k.startsWith({quoted(SLICES)}))"
        ".map(k, quantity(string(c.resources.limits[k])).asInteger()).filter(n, n > 0).sum()"
    )
    found = []
    for pods in kind.pods:
        spec = f"g{pods.path}"
        of_pod = " +\n".join(
            f"{spec}.?{part}.orValue([]).map(c, {of_one}).sum()" for part in ("containers", "initContainers")
        )
        times = f" *\n{pods.times}" if pods.times else ""
        found.append(f"variables.{pods.name}.map(g,\n({of_pod}){times}).sum()")
    if "autoscalers" in dict(kind.lists):
        found.append(f"variables.autoscalers.map(c, {of_one}).sum()")
    return " +\n".join(found)

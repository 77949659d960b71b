"""The checks of ``admission:``, made here first: what the cluster's own policies would refuse is refused with its place and cure.

Queues, priority classes and TTLs are the compiler's own affair (TAU501, TAU503, TAU722); here are images and numbers of GPUs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Related, error, warning
from tau_compile.policy.admission import allowed, settled
from tau_compile.quantity import try_parse
from tau_compile.source.nodes import Mapping, Scalar, find

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tau_compile.diagnostics import Diagnostic, Span
    from tau_compile.policy.admission import Admission
    from tau_compile.policy.resolve import Resolved
    from tau_compile.source.nodes import Node

_SLICES, _GPUS = "nvidia.com/mig-", ("amd.com/gpu", "nvidia.com/gpu", "nvidia.com/gpu.shared")
# Where the size of a run is chosen.
_SIZES = ("compute.gpus", "execution.nodes", "compute.workers", "policy.shape", "policy.profile")
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


def judged(objects: Iterable[dict[str, Any]], resolved: Resolved) -> Iterator[Diagnostic]:
    """What the policies of the workload's workspace would say to its objects. ``Audit`` makes warnings."""
    checks = settled(resolved.platform, resolved.workspace)
    if checks is None:
        return
    for made in objects:
        if made.get("kind") in ("Job", "RayJob"):
            yield from _images(made, checks, resolved)
            yield from _gpus(made, checks, resolved)


def _images(made: dict[str, Any], checks: Admission, resolved: Resolved) -> Iterator[Diagnostic]:
    if not checks.active(checks.images) or not checks.registries:
        return
    # No image has a blank in its name; where one does, each part is judged, as the policies do.
    for image in sorted({part for name in _all_images(made) for part in name.split(" ") if part}):
        if allowed(image, checks.registries):
            continue
        shown = ", ".join(f"`{registry}`" for registry in checks.registries)
        origin = (
            ""
            if "/" in image and "." in image.partition("/")[0]
            else "; one without a registry is docker.io's"
        )
        yield _said(
            "TAU389",
            checks.images,
            f"the image `{image}` is not from a registry that this workspace may use",
            _where(resolved.merged.node, image) or _in_patches(resolved, image) or resolved.document.span,
            f"use an image from {shown}{origin}",
            checks.registries_span or checks.span,
        )


def _gpus(made: dict[str, Any], checks: Admission, resolved: Resolved) -> Iterator[Diagnostic]:
    if not checks.active(checks.gpus) or checks.max_gpus is None:
        return
    names = {*_GPUS, *(each.resource for each in resolved.cluster.gpu_classes)}
    number = sum(times * _of_pod(pod, names) for pod, times in _pods(made))
    if number <= checks.max_gpus:
        return
    node = resolved.merged.node
    places = [found for path in _SIZES if (found := find(node, path)) is not None]
    # The workload's own lines first: that is where its size is chosen.
    places.sort(key=lambda found: found.span.file != resolved.document.span.file)
    yield _said(
        "TAU390",
        checks.gpus,
        f"the run has {number} GPUs, and a run of this workspace may have {checks.max_gpus}",
        places[0].span if places else resolved.document.span,
        "ask for fewer GPUs, fewer nodes or workers, or ask the platform team",
        checks.max_span or checks.span,
    )


def _said(id: str, action: str, message: str, span: Span, hint: str, policy: Span) -> Diagnostic:
    say = error if action == "Deny" else warning
    return say(id, message, span, hint, (Related(policy, "allowed here"),))


def _pods(made: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    """The pod specs of a run, and how many pods of each there are at a time. Templates were checked against schemas."""
    spec = made.get("spec") or {}
    if made["kind"] == "Job":
        parallel = spec.get("parallelism", 1)
        yield spec["template"]["spec"], min(parallel, spec.get("completions", parallel))
        return
    cluster = spec.get("rayClusterSpec") or {}
    yield cluster["headGroupSpec"]["template"]["spec"], 1
    for group in cluster.get("workerGroupSpecs", ()):
        least = max(group.get("replicas", 1), group.get("minReplicas", 0))
        most = group.get("maxReplicas", 1) if cluster.get("enableInTreeAutoscaling") else least
        yield group["template"]["spec"], max(most * group.get("numOfHosts", 1), 0)
    if "autoscalerOptions" in cluster:  # of a container that KubeRay adds to the head (R60)
        yield {"containers": [cluster["autoscalerOptions"]]}, 1
    if "submitterPodTemplate" in spec:
        yield spec["submitterPodTemplate"]["spec"], 1


def _all_images(made: dict[str, Any]) -> Iterator[str]:
    for pod, _ in _pods(made):
        for part in _CONTAINERS:
            for container in pod.get(part, ()):
                yield container.get("image", "")


def _of_pod(pod: dict[str, Any], names: set[str]) -> int:
    return sum(
        max(amount.units, 0) if (amount := try_parse(str(limit))) else 0
        for part in _CONTAINERS[:2]
        for container in pod.get(part, ())
        for name, limit in container.get("resources", {}).get("limits", {}).items()
        if name in names or name.startswith(_SLICES)
    )


def _in_patches(resolved: Resolved, text: str) -> Span | None:
    """The place of a text in the last patch that has it."""
    found = (_where(patch.body, text) for patch in reversed(resolved.patches))
    return next((span for span in found if span), None)


def _where(node: Node, text: str) -> Span | None:
    """The place of the first value that is this text."""
    if isinstance(node, Scalar):
        return node.span if node.text == text else None
    children = (e.value for e in node.entries) if isinstance(node, Mapping) else iter(node.items)
    return next((span for child in children if (span := _where(child, text))), None)

"""Objects after their patches: every rule again, and what only a patch can get wrong.

The packaged templates make no pod without containers and no mount without a volume; a patch may, and the API server would refuse
it. And a patch has no say in how large a run is: queue, launch limits and the program itself count on what tau.yaml says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.named import NamedTuple
from tau_compile.policy.patching import apply_all
from tau_compile.rules.output import judged, placed
from tau_compile.rules.rendered import Wrong, pods

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tau_compile.diagnostics import Diagnostic, Span
    from tau_compile.policy.patches import Patch
    from tau_compile.policy.patching import Touch
    from tau_compile.render.plan import Run

_COUNTS = ("parallelism", "completions", "completionMode")
_GROUP = ("groupName", "replicas", "minReplicas", "maxReplicas", "numOfHosts")


class Judged(NamedTuple):
    """The objects of one run after its patches, what became of the patches, and what is wrong."""

    objects: dict[str, dict[str, Any]]
    touches: tuple[Touch, ...]
    diagnostics: list[Diagnostic]


def patched(
    objects: Mapping[str, dict[str, Any]],
    patches: Sequence[Patch],
    run: Run,
    templates: Mapping[str, str],
    document: Span,
) -> Judged:
    """Apply ``patches`` to rendered objects and judge the result; a fault stands where a patch wrote it, or at its template."""
    changed = apply_all(objects, patches)
    said = list(changed.diagnostics)
    if any(d.severity == "error" for d in said):
        return Judged(changed.objects, changed.touches, said)
    for name, made in changed.objects.items():
        by, before = changed.by.get(name), objects[name]
        if by is None:
            said += [placed(one, name, templates, document) for one in judged(made, name, run)]
            continue
        found = _judged(made, name, run, before)
        if found:
            from functools import partial

            from tau_compile.rules.blame import blamed

            known = _judged(before, name, run, before)  # what the template did wrong
            said += [
                placed(one, name, templates, document) for one in judged(made, name, run) if one in known
            ]
            new = [one for one in found if one not in known]
            said += blamed(new, before, by, partial(_judged, name=name, run=run, before=before))
    return Judged(changed.objects, changed.touches, said)


def _judged(made: dict[str, Any], name: str, run: Run, before: dict[str, Any]) -> list[Wrong]:
    return [*judged(made, name, run), *_after_patches(made, before)]


def _after_patches(made: dict[str, Any], before: dict[str, Any]) -> Iterator[Wrong]:
    kind = made.get("kind")
    if kind not in ("Job", "RayJob"):
        return
    for where, pod in pods(made):
        if pod:
            yield from _pod(where, pod)
    was, now = dict(_sizes(before)), dict(_sizes(made))
    for what in sorted(was.keys() | now.keys()):
        if was.get(what) != now.get(what):
            yield Wrong(
                "TAU357",
                "",
                f"a patch may not change {what}, which tau.yaml decides: it is {_shown(was.get(what))} and would be "
                f"{_shown(now.get(what))}",
                "remove it from the patch; `compute` in tau.yaml, a profile or `defaults` set the size of a run",
            )


def _pod(where: str, pod: dict[str, Any]) -> Iterator[Wrong]:
    spec = pod.get("spec")
    if not isinstance(spec, dict):
        return
    if not _maps(spec, "containers"):
        yield _refused("containers", f"the pod {where} has no container")
    for name in ("initContainers", "containers"):
        for container in _maps(spec, name):
            who = f"container `{container.get('name')}` {where}"
            if not container.get("image"):
                yield _refused("image", f"{who} has no image")
            volumes = {volume.get("name") for volume in _maps(spec, "volumes")}
            for mount in _maps(container, "volumeMounts"):
                if mount.get("name") not in volumes:
                    path = mount.get("mountPath")
                    yield _refused(
                        "volumeMounts",
                        f"{who} mounts `{mount.get('name')}` at `{path}`, and there is no such volume",
                    )


def _refused(key: str, message: str) -> Wrong:
    return Wrong("TAU358", key, message, "correct the patch: the API server would refuse the pod")


def _sizes(made: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What makes the size of a run: counts of pods, and whole devices of each container."""
    spec = made.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    for name in _COUNTS:
        yield f"`spec.{name}`", spec.get(name)
    cluster = spec.get("rayClusterSpec")
    for group in _maps(cluster, "workerGroupSpecs") if isinstance(cluster, dict) else ():
        for name in _GROUP:
            yield f"`{name}` of the group `{group.get('groupName')}`", group.get(name)
        start = group.get("rayStartParams")
        if isinstance(start, dict):
            yield f"`num-gpus` of the group `{group.get('groupName')}`", start.get("num-gpus")
    for where, pod in pods(made):
        inner = pod.get("spec")
        for container in _maps(inner, "containers") if isinstance(inner, dict) else ():
            resources = container.get("resources")
            for section in ("requests", "limits"):
                amounts = resources.get(section) if isinstance(resources, dict) else None
                for name, amount in amounts.items() if isinstance(amounts, dict) else ():
                    if _is_gpu(name):
                        what = f"the {section} of `{name}` of the container `{container.get('name')}` {where}"
                        yield what, str(amount)


def _is_gpu(resource: str) -> bool:
    """Whether a device is what queues and launch limits count as GPUs."""
    name = resource.partition("/")[2]
    return name.startswith(("gpu", "mig-"))


def _shown(value: Any) -> str:
    return "not there" if value is None else f"`{value}`"


def _maps(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = holder.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []

"""Pod templates that the API server would refuse although their schema takes them.

The packaged templates make none: a patch may. In a RayJob nobody else would notice before its pods are made (R14).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tau_compile.rules.parts import maps
from tau_compile.rules.rendered import Wrong
from tau_compile.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?").fullmatch
_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?").fullmatch
_KEY = re.compile(
    r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
).fullmatch
_VARIABLE = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*").fullmatch
_NATIVE = ("cpu", "memory", "ephemeral-storage")
_EFFECTS = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")


def refused(where: str, pod: dict[str, Any]) -> Iterator[Wrong]:
    """What the API server would say about a pod template."""
    spec = pod.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    metadata = pod.get("metadata")
    yield from refused_labels(f"of the pod {where}", metadata if isinstance(metadata, dict) else {})
    if not maps(spec, "containers"):
        yield _wrong("containers", f"the pod {where} has no container")
    names = [str(one.get("name")) for part in ("initContainers", "containers") for one in maps(spec, part)]
    for name in dict.fromkeys(names):
        if not _LABEL(name) or names.count(name) > 1:  # J40
            yield _wrong("name", f"container `{name}` {where}: a name that is given twice or no DNS label")
    there = [str(one.get("name")) for one in maps(spec, "containers") if one.get("image")]
    volumes = {volume.get("name") for volume in maps(spec, "volumes")}
    for part in ("initContainers", "containers"):
        for container in maps(spec, part):
            name = str(container.get("name"))
            if not container.get("image"):
                yield _wrong("image", f"container `{name}` {where} has no image", _named(name, there))
            yield from _container(f"container `{name}` {where}", container, volumes)
    for one in maps(spec, "tolerations"):
        why = _toleration(one)
        if why:
            yield _wrong("tolerations", f"a toleration of the pod {where} {why}")


def refused_labels(where: str, metadata: dict[str, Any]) -> Iterator[Wrong]:
    """Keys and values that are none (J45)."""
    for section in ("labels", "annotations"):
        found = metadata.get(section)
        for key, value in found.items() if isinstance(found, dict) else ():
            if not _KEY(str(key)):
                yield _wrong(str(key), f"`{key}` {where} is no key of {section}")
            if section == "labels" and not _VALUE(str(value)):
                yield _wrong(
                    str(key),
                    f"the label `{key}` {where} cannot be `{value}`: up to 63 letters, digits, `-`, `_` and `.`",
                )


def _named(name: str, there: list[str]) -> str:
    close = nearest(name, there)
    known = f"known are {', '.join(f'`{one}`' for one in there)}; " if there else ""
    return f"{f'did you mean `{close}`? ' if close else known}a new container needs an `image`"


def _container(who: str, container: dict[str, Any], volumes: set[Any]) -> Iterator[Wrong]:
    for mount in maps(container, "volumeMounts"):  # J44
        if mount.get("name") not in volumes:
            path = mount.get("mountPath")
            yield _wrong(
                "volumeMounts", f"{who} mounts `{mount.get('name')}` at `{path}`, and there is no such volume"
            )
    for variable in maps(container, "env"):
        if not _VARIABLE(str(variable.get("name"))):
            yield _wrong("env", f"{who} has the variable `{variable.get('name')}`, which is no name of one")
    resources = container.get("resources")
    for section in ("requests", "limits"):
        amounts = resources.get(section) if isinstance(resources, dict) else None
        for name in amounts if isinstance(amounts, dict) else ():
            known = "/" in str(name) or name in _NATIVE or str(name).startswith("hugepages-")
            if not known:  # J43
                yield _wrong(
                    str(name), f"{who} has {section} of `{name}`: a device has a name such as nvidia.com/gpu"
                )


def _toleration(one: dict[str, Any]) -> str:
    """What is wrong with a toleration (J46), or nothing."""
    operator, effect = one.get("operator", "Equal"), one.get("effect", "")
    if operator not in ("Equal", "Exists"):
        return f"has the operator `{operator}`, which is neither `Equal` nor `Exists`"
    if effect not in _EFFECTS:
        return f"has the effect `{effect}`, which is none"
    if not one.get("key") and operator != "Exists":
        return "has no key: then its operator is `Exists`"
    if operator == "Exists" and one.get("value"):
        return f"has a value beside `operator: Exists`: `{one.get('value')}`"
    if "tolerationSeconds" in one and effect != "NoExecute":
        return "has tolerationSeconds, which only goes with `effect: NoExecute`"
    return ""


def _wrong(key: str, message: str, cure: str = "") -> Wrong:
    return Wrong("TAU358", key, message, cure or "correct the patch: the API server would refuse the object")

"""``runtime.env``: names a user may not set, sizes, and secret references (taugrid-config 1.4, 1.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.source.nodes import Mapping, Scalar, find
from tau_compile.suggest import nearest
from tau_compile.workload.model import EnvVar
from tau_compile.workload.view import scalar

if TYPE_CHECKING:
    from tau_compile.source.nodes import Node
    from tau_compile.workload.model import Kind
    from tau_compile.workload.view import View

VALUE_LIMIT, TOTAL_LIMIT = 64 * 1024, 128 * 1024  # bytes
# What KubeRay refuses on a Ray cluster without these features, or sets itself (R19, R21).
_OF_KUBERAY = (
    "RAY_ADDRESS",
    "RAY_ENABLE_AUTOSCALER_V2",
    "RAY_REDIS_ADDRESS",
    "REDIS_PASSWORD",
    "REDIS_USERNAME",
)
_SET_BY_RETRY = ("TAU_RESUME_FROM", "TAU_RETRY_ATTEMPT", "TAU_RETRY_MAX", "TAU_RETRY_REASON")


def read_env(view: View, kind: Kind, torchrun: bool) -> tuple[EnvVar, ...]:
    """The user's variables, sorted by name."""
    env = view.mapping("runtime.env")
    nccl = view.flag("execution.allow_nccl_override")
    found: list[EnvVar] = []
    total = 0
    for entry in env.entries if env else ():
        name, value = entry.key.name, entry.value
        by_platform = entry.key.span.file != view.node.span.file
        ray = kind == "rayjob"
        reason = reserved_name(name, torchrun, nccl or by_platform) or (of_ray(name, value) if ray else None)
        if reason:
            view.error("TAU251", f"environment variable `{name}` {reason[0]}", entry.key.span, reason[1])
        if isinstance(value, Scalar):
            size = len(value.text.encode("utf-8", "replace"))
            total += len(name) + size + 2
            if size > VALUE_LIMIT:
                view.error(
                    "TAU252",
                    f"the value of `{name}` has {size:,} bytes; at most {VALUE_LIMIT:,} fit",
                    value.span,
                    "put the content into a file beside the entrypoint, or into run.source",
                )
            found.append(EnvVar(name, value.text))
        elif isinstance(value, Mapping):
            reference = find(value, "valueFrom.secretKeyRef")
            if isinstance(reference, Mapping):
                found.append(EnvVar(name, "", (scalar(reference.get("name")), scalar(reference.get("key")))))
    used = any(variable.name.upper().startswith("NCCL_") for variable in found)
    if nccl and not used and view.own("execution.allow_nccl_override"):
        view.warning(
            "TAU903",
            "`execution.allow_nccl_override` has no effect: no variable is called NCCL_…",
            view.key_span("execution.allow_nccl_override"),
            "remove the line",
        )
    if total > TOTAL_LIMIT:
        view.error(
            "TAU252",
            f"the literal variables have {total:,} bytes; at most {TOTAL_LIMIT:,} fit",
            view.span("runtime.env"),
            "put the content into files beside the entrypoint, or into run.source",
        )
    return tuple(sorted(found, key=lambda v: v.name))


def of_ray(name: str, value: Node) -> tuple[str, str] | None:
    """Why a variable of a Ray cluster may not be set, and the cure."""
    if name.upper() in _OF_KUBERAY or name.upper().startswith("KUBERAY_GEN_"):
        return "belongs to KubeRay, which sets up the Ray cluster", "remove it"
    if name == "PYTHONPATH" and isinstance(value, Mapping):
        return (
            "cannot come from a Secret on Ray: the folder of the code is put in front of its value",
            "write the folders themselves: `runtime.env: {PYTHONPATH: FOLDER}`",
        )
    return None


def reserved_name(name: str, torchrun: bool, nccl: bool) -> tuple[str, str] | None:
    """Why a variable of any run may not be set, and the cure."""
    upper = name.upper()
    if upper in ("MASTER_ADDR", "MASTER_PORT"):
        return "is set by tau-compile", "remove it: the launcher finds the first node by itself"
    if upper.startswith("TAU_") and name not in _SET_BY_RETRY:
        close = nearest(name, _SET_BY_RETRY)
        return (
            "is in the reserved TAU_ namespace",
            f"write `{close}`, or a name without TAU_ in front"
            if close
            else "choose a name without TAU_ in front",
        )
    if upper.startswith("NCCL_") and not nccl:
        return (
            "is set by the platform",
            "remove it; or, when you must, add `execution: {allow_nccl_override: true}`",
        )
    if torchrun and (upper.startswith("PET_") or upper == "JOB_COMPLETION_INDEX"):
        return (
            "is how torchrun is told its place",
            "remove it; use execution.nodes, execution.processes_per_node and execution.configs",
        )
    return None

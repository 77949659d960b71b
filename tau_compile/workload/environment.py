"""``runtime.env``: names a user may not set, sizes, and secret references (taugrid-config 1.4, 1.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.source.nodes import Mapping, Scalar, find
from tau_compile.suggest import nearest
from tau_compile.workload.model import EnvVar
from tau_compile.workload.view import scalar

if TYPE_CHECKING:
    from tau_compile.workload.view import View

VALUE_LIMIT, TOTAL_LIMIT = 64 * 1024, 128 * 1024  # bytes
_SET_BY_RETRY = ("TAU_RESUME_FROM", "TAU_RETRY_ATTEMPT", "TAU_RETRY_MAX", "TAU_RETRY_REASON")


def read_env(view: View, torchrun: bool) -> tuple[EnvVar, ...]:
    """The user's variables, sorted by name."""
    env = view.mapping("runtime.env")
    nccl = view.flag("execution.allow_nccl_override")
    found: list[EnvVar] = []
    total = 0
    for entry in env.entries if env else ():
        name, value = entry.key.name, entry.value
        by_platform = entry.key.span.file != view.node.span.file
        reason = _reserved(name, torchrun, nccl or by_platform)
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
    if total > TOTAL_LIMIT:
        view.error(
            "TAU252",
            f"the literal variables have {total:,} bytes; at most {TOTAL_LIMIT:,} fit",
            view.span("runtime.env"),
            "put the content into files beside the entrypoint, or into run.source",
        )
    return tuple(sorted(found, key=lambda v: v.name))


def _reserved(name: str, torchrun: bool, nccl: bool) -> tuple[str, str] | None:
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

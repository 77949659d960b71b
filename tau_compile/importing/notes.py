"""What an object leaves open, where a run has an answer of its own that may surprise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import warning
from tau_compile.importing.ledger import shown
from tau_compile.workload.compute import GPU_DEFAULT, HEAD_DEFAULT, JOB_CPU_DEFAULT, RAY_CPU_DEFAULT

if TYPE_CHECKING:
    from tau_compile.importing.draft import Draft
    from tau_compile.importing.ledger import At


def sizes(draft: Draft, main: At, prefix: str) -> None:
    """Amounts that nobody wrote: a run always has requests and limits."""
    compute = draft.document.get("compute", {})
    default = GPU_DEFAULT if compute.get("gpus") else RAY_CPU_DEFAULT if draft.ray else JOB_CPU_DEFAULT
    if prefix == "head_":
        default = HEAD_DEFAULT
    missing = [
        (word, amount, field)
        for word, amount, field in (("CPU", default[0], "cpus"), ("memory", default[1], "memory"))
        if f"{prefix}{field}" not in compute
    ]
    if missing and main:
        what = " and ".join(f"{amount} of {word}" for word, amount, _ in missing)
        fields = ", ".join(f"{prefix}{field}: {amount}" for _, amount, field in missing)
        _say(
            main,
            f"asks for no {' or '.join(word for word, _, _ in missing)}, and gets {what}",
            f"compute: {{{fields}}}",
        )
    limits = main.get("resources.limits")
    if f"{prefix}memory" in compute and not limits.key("memory"):
        request = compute[f"{prefix}memory"].text
        _say(
            main,
            f"has no limit of memory, and gets its request, {request}, as one",
            f"compute: {{{prefix}memory_limit: {request}}}",
        )


def directory(draft: Draft, main: At) -> None:
    """A program started where its image says; a run with /data starts there."""
    data = draft.ray or "data_pvc" in draft.document.get("storage", {})
    started = "entrypoint" in draft.document.get("run", {})
    if data and started and main and "working_dir" not in draft.document.get("runtime", {}):
        _say(
            main,
            "names no folder to start in, and starts in /data instead of the image's own",
            "runtime: {working_dir: /app}",
        )


def _say(main: At, what: str, field: str) -> None:
    name = main.ledger.item.title
    message = f"the container `{shown(main.path)}` of {name} {what}"
    main.ledger.said.append(warning("TAU397", message, main.span, f"write what it needs: `{field}`"))

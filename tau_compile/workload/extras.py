"""``profiler``, ``resilience`` and ``runtime.rdma``, and the limits on a run's life (taugrid-config 1.4, 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Related
from tau_compile.quantity import NANO, Quantity, parse, read_memory
from tau_compile.workload.duration import seconds
from tau_compile.workload.model import Profiler, Rdma, Retry
from tau_compile.workload.view import scalar

if TYPE_CHECKING:
    from tau_compile.workload.model import Gpu, Kind, Program, Size, Storage
    from tau_compile.workload.view import View

_LONGEST = 10 * 365 * 24 * 3600  # ten years, in seconds: longer is a slip of the pen
_REASONS = {"preempted": "Preempted", "evicted": "Evicted", "oomkilled": "OOMKilled"}


def read_duration(view: View, path: str, positive: bool = True) -> int | None:
    """A duration in whole seconds."""
    text = view.text(path)
    value = seconds(text)
    if value is None:
        return None
    if (positive and value == 0) or value > _LONGEST:
        view.error(
            "TAU295",
            f"`{view.name(path)}: {text}` is {'nothing' if not value else 'more than ten years'}",
            view.span(path),
            "write a duration such as 72h",
        )
        return None
    return value


def read_deadline(view: View, kind: Kind, submission_mode: str) -> int | None:
    """``run.max_duration`` in seconds; KubeRay's HTTP mode can only give up on a program with one (R44)."""
    value = read_duration(view, "run.max_duration")
    if (
        value is None
        and kind == "rayjob"
        and submission_mode == "HTTPMode"
        and not view.has("run.max_duration")
    ):
        view.error(
            "TAU610",
            "this platform starts Ray programs over HTTP, which never gives up by itself",
            view.node.span,
            "add `run: {max_duration: 24h}`",
        )
    return value


def read_ttl(view: View, kind: Kind) -> None:
    """A TTL would make the GitOps agent run a finished Job again (G6)."""
    path = "run.ttl_seconds_after_finished"
    if not view.has(path):
        return
    if kind == "rayjob":
        view.refuse_key(
            "TAU299",
            path,
            "{} is for a Job, and this is a RayJob",
            "remove it: the Ray cluster is taken down as soon as the program ends",
        )
    else:
        view.warning(
            "TAU720",
            "a finished Job stays until its run is retired: deleting it by a TTL would make the GitOps "
            "agent run it again",
            view.key_span(path),
            "remove the line",
        )


def read_profiler(view: View, kind: Kind, program: Program, storage: Storage, pods: int) -> Profiler | None:
    """The profiler, when there is one."""
    if not view.has("profiler"):
        return None
    mode, rank = view.text("profiler.mode"), view.text("profiler.rank", "all" if kind == "rayjob" else "0")
    if mode == "ncu" and kind == "rayjob":
        view.error(
            "TAU289", "Nsight Compute cannot profile a RayJob", view.span("profiler.mode"), "write `nsys`"
        )
    if program.launcher == "torchrun":
        view.error(
            "TAU261",
            "a profiler and torchrun cannot be combined",
            view.span("profiler.mode"),
            "profile one process: use `launcher: python`",
        )
    if kind == "rayjob" and rank != "all":
        view.error(
            "TAU289",
            "Ray profiles all of its workers",
            view.span("profiler.rank"),
            "write `all`, or leave it out",
        )
    if kind == "job" and rank.isascii() and rank.isdigit() and int(rank[:9]) >= pods:
        view.error(
            "TAU289",
            f"there is no rank {rank[:9]} to profile: the Job has {pods} pod{'s' if pods > 1 else ''}",
            view.span("profiler.rank"),
            "write `all`, or leave it out" if pods == 1 else f"write `all`, or ranks from 0 to {pods - 1}",
        )
    if not storage.output:
        view.error(
            "TAU289",
            "a profiler needs an output folder that outlives the run",
            view.span("profiler.mode"),
            "add `storage.data_pvc` with an existing claim",
        )
    for field in ("warmup", "duration"):
        if mode == "ncu" and view.has(f"profiler.{field}"):
            view.refuse_key("TAU289", f"profiler.{field}", "{} only takes effect with nsys", "remove it")
    active = read_duration(view, "profiler.duration") or (120 if mode == "nsys" else 0)
    return Profiler(mode, rank, read_duration(view, "profiler.warmup", positive=False) or 0, active)


def read_retry(view: View) -> Retry | None:
    """What is tried again, when anything is (taugrid-config 5.1)."""
    attempts = view.integer("resilience.max_retries", 0)
    first = read_duration(view, "resilience.backoff_initial") or 30
    longest = read_duration(view, "resilience.backoff_max") or 300
    if first > longest:
        view.error(
            "TAU291",
            "`resilience.backoff_initial` is longer than `resilience.backoff_max`",
            view.span("resilience.backoff_initial"),
            "make it the shorter of the two",
            (Related(view.span("resilience.backoff_max"), "the longest wait"),)
            if view.has("resilience.backoff_max")
            else (),
        )
    if not attempts:
        for field in ("retry_on", "checkpoint_path", "backoff_initial", "backoff_max"):
            if view.has(f"resilience.{field}"):
                view.warning(
                    "TAU903",
                    f"`{view.name(f'resilience.{field}')}` has no effect without `max_retries`",
                    view.key_span(f"resilience.{field}"),
                    "add `resilience: {max_retries: 1}`, or remove the line",
                )
        return None
    reasons = tuple(_REASONS.get(scalar(i).lower(), scalar(i)) for i in view.items("resilience.retry_on"))
    return Retry(
        attempts, reasons or ("Preempted", "Evicted"), view.text("resilience.checkpoint_path"), first, longest
    )


def read_rdma(view: View, restricted: bool, size: Size, gpu: Gpu) -> tuple[Rdma | None, str]:
    """(the RDMA device, the size of /dev/shm that goes with it or "")."""
    if not view.flag("runtime.rdma.enabled"):
        for field in ("resource_name", "count", "shm_size"):
            if view.has(f"runtime.rdma.{field}"):
                view.warning(
                    "TAU903",
                    f"`runtime.rdma.{field}` has no effect while RDMA is off",
                    view.key_span(f"runtime.rdma.{field}"),
                    "add `enabled: true`, or remove the line",
                )
        return None, ""
    resource = view.text("runtime.rdma.resource_name", "rdma/rdma_shared_device_a")
    domain = resource.partition("/")[0]
    if domain.endswith(("kubernetes.io", "k8s.io")):
        view.error(
            "TAU292",
            f"`{resource}` is in a domain that belongs to Kubernetes",
            view.span("runtime.rdma.resource_name"),
            "write the resource of the RDMA device plugin, such as rdma/hca",
        )
    if resource == gpu.resource:
        view.error(
            "TAU292",
            f"`{resource}` is the resource of the GPUs",
            view.span("runtime.rdma.resource_name"),
            "write the resource of the RDMA device plugin, such as rdma/hca",
        )
    if restricted:
        view.error(
            "TAU292",
            "RDMA needs rights that restricted pod security forbids",  # B-61
            view.span("runtime.rdma.enabled"),
            "remove `runtime.security`, or turn RDMA off",
            (Related(view.span("runtime.security.mode"), "restricted here"),),
        )
    text = view.text("runtime.rdma.shm_size", "32Gi")
    quantity, said = read_memory(text, view.span("runtime.rdma.shm_size"))
    view.said.extend(said)
    if quantity is not None and view.has("runtime.rdma.shm_size") and quantity > parse(size.memory_limit):
        view.error(
            "TAU292",
            f"shared memory of {text} does not fit into the memory limit of {size.memory_limit}",  # B-34
            view.span("runtime.rdma.shm_size"),
            f"raise `{view.call('compute.memory')}`, or make it smaller",
        )
    return Rdma(resource, view.integer("runtime.rdma.count", 1)), quantity.canonical() if quantity else ""


def shared_memory(size: Size, several: bool, asked: str) -> str:
    """Size of /dev/shm: what RDMA asks for, else 16Gi or half the memory limit for several GPUs or processes (B-33, B-34)."""
    if not (several or asked):
        return ""
    limit = parse(size.memory_limit)
    half = Quantity(limit.nanos // 2 // NANO * NANO, limit.style)
    wanted = parse(asked or "16Gi")
    return (wanted if asked or wanted < half else half).canonical()

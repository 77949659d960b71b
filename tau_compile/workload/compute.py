"""``compute``: sizes of the pods and their GPUs (taugrid-config 1.4, 1.8; R59).

On Ray a missing limit is the request. On a Job a missing memory limit is the request too, and a missing CPU limit is the
request rounded up to a whole CPU, so that a small request does not slow the program down for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Related
from tau_compile.quantity import Quantity, parse, read_cpu, read_memory
from tau_compile.source.forms import is_direct
from tau_compile.suggest import nearest
from tau_compile.workload.model import Gpu, Size

if TYPE_CHECKING:
    from tau_compile.policy.model import Cluster
    from tau_compile.workload.model import Kind
    from tau_compile.workload.view import View

# (CPU, memory) of a pod about which nothing is said.
HEAD_DEFAULT = ("2", "8Gi")
GPU_DEFAULT = ("8", "64Gi")
RAY_CPU_DEFAULT = ("2", "8Gi")
JOB_CPU_DEFAULT = ("1", "2Gi")
_HEAD_FIELDS = ("head_cpus", "head_cpu_limit", "head_memory", "head_memory_limit")
_WORKER_FIELDS = ("worker_cpus", "worker_cpu_limit", "worker_memory", "worker_memory_limit")
# Older names of GPU classes (taugrid-config 4.6).
_OLDER_CLASSES = {
    "a100-nvlink-80gb": "a100-80gb",
    "h100-standalone-95gb": "h100-95gb",
    "h200-nvlink-141gb": "h200-141gb",
}
_MODES = {"mig": "mig", "mig-slice": "mig", "dra": "dra"}


def read_sizes(view: View, kind: Kind, gpus: int) -> tuple[Size, Size]:
    """(size of each pod that runs the program, size of the Ray head)."""
    if kind == "job":
        for field in (*_HEAD_FIELDS, *_WORKER_FIELDS):
            if view.has(f"compute.{field}"):
                view.refuse_key(
                    "TAU256",
                    f"compute.{field}",
                    "{} sizes a RayJob, and this is a Job",
                    f"write `{view.call('compute.cpus')}` and `{view.call('compute.memory')}`",
                )
        size = _size(view, "", "", GPU_DEFAULT if gpus else JOB_CPU_DEFAULT, ray=False)
        return size, size
    default = GPU_DEFAULT if gpus else RAY_CPU_DEFAULT
    split = any(view.has(f"compute.{field}") for field in _WORKER_FIELDS)
    worker = _size(view, "worker_", "", default, ray=True)
    if split:
        _unused(view)
    return worker, _size(view, "head_", "" if split else None, HEAD_DEFAULT, ray=True)


def _unused(view: View) -> None:
    """Say which shared sizes neither the head nor the workers take, as both have sizes of their own."""
    for field, request in (
        ("cpus", "cpus"),
        ("cpu_limit", "cpus"),
        ("memory", "memory"),
        ("memory_limit", "memory"),
    ):
        taken = [
            any(view.has(f"compute.{part}_{name}") for name in (field, request))
            for part in ("head", "worker")
        ]
        if view.has(f"compute.{field}") and all(taken):
            view.warning(
                "TAU903",
                f"`compute.{field}` has no effect: the Ray head and the workers have sizes of their own",
                view.key_span(f"compute.{field}"),
                "remove the line",
            )


def _size(view: View, prefix: str, fallback: str | None, default: tuple[str, str], ray: bool) -> Size:
    """One size: fields with ``prefix``, else those with the ``fallback`` prefix, else the default."""

    def path(field: str, request: str) -> str:
        own = f"compute.{prefix}{field}"
        # A shared limit belongs to the shared request, not to a request of the pod's own.
        shared = fallback is not None and not view.has(own) and not view.has(f"compute.{prefix}{request}")
        return f"compute.{fallback}{field}" if shared else own

    cpu = _amount(view, path("cpus", "cpus"), "cpu") or parse(default[0])
    memory = _amount(view, path("memory", "memory"), "memory") or parse(default[1])
    cpu_limit = _amount(view, path("cpu_limit", "cpus"), "cpu")
    memory_limit = _amount(view, path("memory_limit", "memory"), "memory")
    for request, limit, field, asked in (
        (cpu, cpu_limit, "cpu_limit", "cpus"),
        (memory, memory_limit, "memory_limit", "memory"),
    ):
        if limit is not None and limit < request:
            place, origin = path(field, asked), path(asked, asked)
            given = view.has(origin)
            view.error(
                "TAU288",
                f"`{view.name(place)}` is {limit.canonical()}, below the {'request' if given else 'default request'} of "
                f"{request.canonical()}",  # J41
                view.span(place),
                f"raise it to {request.canonical()} or more, or "
                + ("leave it out" if given else f"set `{view.call(origin)}` too"),
                (Related(view.span(origin), "the request"),) if given else (),
            )
    return Size(
        cpu.canonical(),
        (cpu_limit or (cpu if ray else _whole_cpus(cpu))).canonical(),
        memory.canonical(),
        (memory_limit or memory).canonical(),
    )


def _amount(view: View, path: str, what: str) -> Quantity | None:
    text = view.text(path)
    if not text:
        return None
    quantity, said = (read_cpu if what == "cpu" else read_memory)(text, view.span(path))
    view.said.extend(d for d in said if d not in view.said)
    return quantity


def _whole_cpus(cpu: Quantity) -> Quantity:
    return parse(str(cpu.units))


def read_gpus(view: View, kind: Kind, cluster: Cluster) -> Gpu:
    """GPUs of each pod: ``compute.gpus``, ``policy.shape``, MIG, and the class that says where such nodes are."""
    count, shaped = _shape(view)
    name = _today(view, view.text("policy.gpu_class") or shaped)
    mode = _MODES.get(view.word("compute.gpu_resource_mode"), "device-plugin")
    if mode == "dra":
        view.error(
            "TAU224",
            "`gpu_resource_mode: dra` is not compiled",
            view.span("compute.gpu_resource_mode"),
            "leave it out for whole GPUs, or write `mig_profile` for slices",
        )
    profile = view.text("compute.mig_profile")
    if mode == "mig" and not profile:
        view.error(
            "TAU276",
            "MIG slices need a profile",
            view.span("compute.gpu_resource_mode"),
            "add `compute.mig_profile`, such as 1g.10gb",
        )
    if profile and view.has("compute.gpu_resource_mode") and mode == "device-plugin":
        view.error(
            "TAU277",
            f"`mig_profile: {profile}` asks for slices, and `gpu_resource_mode` for whole GPUs",
            view.span("compute.gpu_resource_mode"),
            "write `gpu_resource_mode: mig`, or leave it out",
            (Related(view.span("compute.mig_profile"), "the slices"),),
        )
    if profile and not count:
        view.error(
            "TAU278",
            f"`mig_profile: {profile}` and no GPUs",
            view.span("compute.mig_profile"),
            f"set the number of slices of each pod: `{view.call('compute.gpus')}: 1`",
        )
    if name in ("", "any"):
        _check_any(view, cluster, profile, count)
        resource = f"nvidia.com/mig-{profile}" if profile else "nvidia.com/gpu"
        return Gpu(resource, count, name, ())
    return _classed(view, cluster, name, profile, count)


def _check_any(view: View, cluster: Cluster, profile: str, count: int) -> None:
    """Refuse GPUs that no class of the cluster has, where none is named."""
    classes = cluster.gpu_classes
    offered = sorted({word for known in classes for word in known.mig_profiles})
    if profile and classes and profile not in offered:
        view.error(
            "TAU281",
            f"no GPU class of cluster `{cluster.name}` offers the MIG profile `{profile}`",
            view.span("compute.mig_profile"),
            f"profiles it offers: {', '.join(offered) or 'none'}",
        )
    sizes = [known.gpus_per_node or 0 for known in classes]
    if not profile and sizes and all(sizes) and count > max(sizes):
        view.error(
            "TAU505",
            f"{count} GPUs in one pod, and no node of cluster `{cluster.name}` has more than {max(sizes)}: "
            "the pod could never be placed",
            view.span("compute.gpus"),
            f"ask for at most {max(sizes)} here, and for more nodes or workers",
        )


def _classed(view: View, cluster: Cluster, name: str, profile: str, count: int) -> Gpu:
    known = cluster.gpu_class(name)
    path = "policy.gpu_class" if view.has("policy.gpu_class") else "policy.shape"
    if known is None:
        names = [c.name for c in cluster.gpu_classes]
        close = nearest(name, names)
        view.error(
            "TAU279",
            f"cluster `{cluster.name}` has no GPU class `{name}`",
            view.span(path),
            f"did you mean `{close}`?"
            if close
            else (
                f"known: {', '.join(sorted(names))}"
                if names
                else f"write `{'any' if path == 'policy.gpu_class' else f'{max(count, 1)}xany'}`; "
                "the platform team lists the classes of a cluster under `gpuClasses`"
            ),
        )
        return Gpu("nvidia.com/gpu", count, name, ())
    if profile and profile not in known.mig_profiles:
        offered = ", ".join(known.mig_profiles) or "none"
        view.error(
            "TAU281",
            f"GPU class `{name}` offers no MIG profile `{profile}`",
            view.span("compute.mig_profile"),
            f"profiles it offers: {offered}",
        )
    if not profile and known.gpus_per_node is not None and count > known.gpus_per_node:
        view.error(
            "TAU505",
            f"{count} GPUs in one pod, and a node of class `{name}` has {known.gpus_per_node}: "
            "the pod could never be placed",  # B-12
            view.span("compute.gpus"),
            f"ask for at most {known.gpus_per_node} here, and for more nodes or workers",
        )
    if not count and view.own(path):
        view.warning(
            "TAU902",
            f"`{path}: {view.text(path)}` and no GPUs",
            view.span(path),
            f"set `{view.call('compute.gpus')}`, or remove the class",
        )
    resource = f"nvidia.com/mig-{profile}" if profile else known.resource
    return Gpu(resource, count, name, known.node_labels)


def _today(view: View, name: str) -> str:
    if name not in _OLDER_CLASSES:
        return name
    path = "policy.gpu_class" if view.has("policy.gpu_class") else "policy.shape"
    view.warning(
        "TAU212",
        f"`{name}` is an older name of a GPU class",
        view.span(path),
        f"write `{_OLDER_CLASSES[name]}`",
    )
    return _OLDER_CLASSES[name]


def _shape(view: View) -> tuple[int, str]:
    """(GPUs, class) from ``compute.gpus`` and ``policy.shape``."""
    count = view.integer("compute.gpus", 0)
    number, _, name = view.text("policy.shape").partition("x")
    if not (number.isascii() and number.isdigit()):
        if is_direct(view.node) and not view.has("compute.gpus"):
            view.error(
                "TAU244",
                "a Job in this form must say how many GPUs it needs",
                view.node.span,
                "add `compute: {gpus: 0}` for a CPU Job, or the number of GPUs of each node",
            )
        return count, ""
    shaped = int(number)
    if shaped > 64:
        view.error(
            "TAU280",
            f"`{view.text('policy.shape')}` is more than one node has",
            view.span("policy.shape"),
            "write the GPUs of one node, such as 8xa100-80gb, and the number of nodes or workers elsewhere",
        )
        return max(count, 1), name
    if view.has("compute.gpus") and count != shaped:
        view.error(
            "TAU280",
            f"`policy.shape` says {shaped} GPUs and `{view.name('compute.gpus')}` says {count}",
            view.span("policy.shape"),
            "keep one of the two",
            (Related(view.span("compute.gpus"), "the other one"),),
        )
    given = view.text("policy.gpu_class")
    if given not in ("", name):
        view.error(
            "TAU280",
            f"`policy.shape` says `{name}` and `policy.gpu_class` says `{given}`",
            view.span("policy.shape"),
            "keep one of the two",
            (Related(view.span("policy.gpu_class"), "the other one"),),
        )
    return shaped, name


def check_counts(view: View, kind: Kind) -> int:
    """Pods that run the program: workers of a RayJob, nodes of a Job."""
    workers = view.integer("compute.workers", 1)
    if kind == "rayjob":
        return workers
    if workers > 1:
        view.refuse_key(
            "TAU254",
            "compute.workers",
            "{} counts Ray workers, and this is a Job",
            f"write `execution: {{launcher: torchrun, nodes: {workers}}}`, or `{view.call('run.workload_kind')}: rayjob`",
        )
    return view.integer("execution.nodes", 1)

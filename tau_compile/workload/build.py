"""A resolved configuration → the typed ``Workload``. Each section is read by the module named after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Related
from tau_compile.source.nodes import Mapping, Scalar
from tau_compile.workload import compute, environment, execution, extras, metadata, placement, storage
from tau_compile.workload.model import Workload
from tau_compile.workload.names import check_name
from tau_compile.workload.rayversion import read_ray_version
from tau_compile.workload.requirements import unusable
from tau_compile.workload.view import View, scalar

if TYPE_CHECKING:
    from tau_compile.diagnostics import Diagnostic
    from tau_compile.policy.resolve import Resolved
    from tau_compile.source.nodes import Node
    from tau_compile.workload.model import Kind, Program


def build(resolved: Resolved, said: list[Diagnostic]) -> Workload:
    """Read the whole configuration; what is wrong with it goes into ``said``, all of it at once."""
    view = View(resolved.merged.node, said)
    kind: Kind = "rayjob" if view.word("run.workload_kind") == "rayjob" else "job"
    gpu = compute.read_gpus(view, kind, resolved.cluster)
    program = execution.read_program(view, kind, gpu.number)
    count = compute.check_counts(view, kind)
    size, head = compute.read_sizes(view, kind, gpu.number)
    name = _name(view, kind, count)
    stored = storage.read_storage(view, name, resolved.workspace, count if kind == "job" else 1)
    restricted = view.text("runtime.security.mode") == "restricted"
    rdma, shm = extras.read_rdma(view, restricted, size, gpu)
    flavors = placement.candidate_flavors(resolved, gpu)
    selector = placement.read_node_selector(view, resolved, gpu)
    placement.check_flavors(view, resolved, gpu, flavors, selector)
    placement.check_together(view, resolved, gpu, flavors, count)
    source = storage.read_source(view)
    image = _image(view, kind, gpu.number, resolved)
    pip = _pip(view, kind, resolved.platform.submission_mode)
    profiler = extras.read_profiler(view, kind, program, stored, count)
    storage.check_checkpoints(view, kind, stored)
    _check_shipping(view, kind, program)
    _check_multikueue(view, resolved, count, kind)
    extras.read_ttl(view, kind)
    _check_nul(view, view.node)
    return Workload(
        name=name,
        kind=kind,
        image=image,
        ray_version=read_ray_version(view, image) if kind == "rayjob" else "",
        program=program,
        pods=count,
        size=size,
        head=head,
        gpu=gpu,
        tolerations=placement.read_tolerations(resolved.cluster, flavors, gpu),
        node_selector=selector,
        topology=placement.read_topology(view, resolved, flavors, gpu),
        plain=placement.read_plain(resolved),
        env=environment.read_env(view, kind, program.launcher == "torchrun"),
        pip=pip,
        working_dir=view.text("runtime.working_dir"),
        source=source,
        storage=stored,
        shm=extras.shared_memory(
            size, kind == "job" and (gpu.number > 1 or program.processes > 1 or count > 1), shm
        ),
        rdma=rdma,
        profiler=profiler,
        retry=extras.read_retry(view),
        history=storage.read_history(view, stored, kind),
        restricted=restricted,
        token=view.flag("runtime.service_account_token"),
        deadline=extras.read_deadline(view, kind, resolved.platform.submission_mode),
        labels=metadata.read_labels(view, resolved, kind, name, gpu),
        annotations=metadata.read_annotations(view),
        experiment=metadata.read_experiment(view),
        upstream_checkpoint=view.text("workflow.upstream_checkpoint"),
    )


def _name(view: View, kind: Kind, count: int) -> str:
    name, prefix = view.text("name"), view.text("resource_naming.prefix")
    if not name:
        view.error("TAU204", "the workload has no name", view.node.span, "add `name: my-training`")
        return "unnamed"
    view.said.extend(check_name(name, view.span("name"), kind, count if kind == "job" else 1, prefix))
    return f"{prefix}-{name}" if prefix else name


def _image(view: View, kind: Kind, gpus: int, resolved: Resolved) -> str:
    given = view.text("runtime.image")
    if given:
        return given
    platform = resolved.platform
    default = (platform.ray_image if gpus else platform.ray_cpu_image) if kind == "rayjob" else ""
    if not default:
        view.error(
            "TAU271",
            "the workload names no image"
            if kind == "job"
            else "the workload names no image, and the platform has no Ray image",
            view.node.span,
            "add `runtime: {image: NAME:TAG}`",
        )
    return default


def _pip(view: View, kind: Kind, submission_mode: str) -> tuple[str, ...]:
    found = []
    for item in view.items("runtime.pip"):
        text = scalar(item)
        if kind == "rayjob" and submission_mode == "K8sJobMode" and ("$" in text or "`" in text):
            view.error(
                "TAU611",
                "Ray passes requirements through a shell, which would expand `$` and back-ticks",  # R38
                item.span,
                "write the requirement without them",
            )
        wrong = unusable(text)
        if wrong:
            view.error("TAU294", f"`{text}` {wrong[0]}", item.span, wrong[1])
        found.append(text)
    return tuple(found)


def _check_shipping(view: View, kind: Kind, program: Program) -> None:
    """What cannot go together with how the code gets into the container (taugrid-config 1.4)."""
    if view.has("run.working_dir") and view.has("runtime.working_dir"):
        view.refuse_key(
            "TAU273",
            "runtime.working_dir",
            "{} and `run.working_dir` both say where the program starts",
            "keep `run.working_dir` to ship a folder, or `runtime.working_dir` for a folder of the image",
            (Related(view.key_span("run.working_dir"), "the other one"),),
        )
    if view.has("run.working_dir_excludes") and not view.has("run.working_dir"):
        view.warning(
            "TAU903",
            "`run.working_dir_excludes` has no effect without `run.working_dir`",
            view.key_span("run.working_dir_excludes"),
            "add `run.working_dir`, or remove the line",
        )
    if program.entrypoint:
        return
    for path in (
        "run.working_dir",
        "workflow.extra_scripts",
        "run.source",
        "storage.publish",
        "artifacts.checkpoint",
        "profiler",
        "runtime.pip",
        "execution.launcher",
    ):
        if (
            kind == "job"
            and view.has(path)
            and not (path == "execution.launcher" and program.launcher == "python")
        ):
            view.refuse_key(
                "TAU272",
                path,
                "{} needs a program to start, and this Job runs its image's own entry point",
                "add `run: {entrypoint: FILE}`",
            )


def _check_multikueue(view: View, resolved: Resolved, count: int, kind: Kind) -> None:
    profile = resolved.profile
    if not profile or profile.execution_target != "multiKueue" or kind != "job":
        return
    version = resolved.cluster.kubernetes
    if version and tuple(int(part) for part in version.removeprefix("v").split(".")[:2]) < (1, 32):
        view.error(
            "TAU507",
            f"profile `{profile.name}` hands Jobs on to other clusters, and cluster `{resolved.cluster.name}` has "
            f"Kubernetes {version}, which can do that from 1.32",  # K157
            view.span("run.workload_kind"),
            "use a RayJob, or another profile",
            (Related(profile.span, f"profile `{profile.name}`"),),
        )
    if count > 1:
        view.error(
            "TAU298",
            f"profile `{profile.name}` runs on other clusters, which do not get the Service that connects "
            f"{count} nodes",
            view.span("execution.nodes"),
            "use a RayJob, or another profile",
            (Related(profile.span, f"profile `{profile.name}`"),),
            fixed=True,
        )


def _check_nul(view: View, node: Node) -> None:
    if isinstance(node, Scalar):
        if "\0" in node.text:
            message = "this text holds a NUL character, which no program can receive"
            view.error("TAU253", message, node.span, "remove `\\0`")
    elif isinstance(node, Mapping):
        for entry in node.entries:
            _check_nul(view, entry.value)
    else:
        for item in node.items:
            _check_nul(view, item)

"""A RayJob: head, workers and submitter (taugrid-config 3.4; R37, R38, R59, K84, K88, K89)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.emit.yaml import dump
from tau_compile.render import pods
from tau_compile.render.environment import head_env, worker_env
from tau_compile.render.payload import ARCHIVE_DIR, ARCHIVE_FILE
from tau_compile.workload.model import SUBMITTER

if TYPE_CHECKING:
    from tau_compile.render.plan import Run

ENTRYPOINT = "sh /tau/bin/run.sh"  # no user text: the submitter pastes it into a shell (R37)
GROUP = "workers"
TTL = 15  # seconds until the Ray cluster is taken down; the RayJob itself stays (R51)
_PORTS = (("metrics", 8080), ("gcs", 6379), ("dashboard", 8265), ("client", 10001))


def context(run: Run) -> dict[str, Any]:
    """The template context of ``rayjob.yaml.j2``, beside ``run``."""
    workload = run.workload
    mode = run.resolved.platform.submission_mode
    return {
        "ray": {
            "entrypoint": ENTRYPOINT,
            "submission_mode": mode,
            "ttl": TTL,
            "version": workload.ray_version,
            "runtime_env": _runtime_env(run),
            "group": GROUP,
            "workers": workload.pods,
            "gpus": str(workload.gpu.number),
        },
        "head": _head(run),
        "worker": _worker(run),
        "submitter": _submitter(run) if mode == "K8sJobMode" else None,
    }


def _head(run: Run) -> dict[str, Any]:
    volumes, mounts, inits = pods.code(run)
    more = pods.data(run)
    head = pods.container(
        run,
        "ray-head",
        ports=[{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in _PORTS],
        env=head_env(run),
        env_from=pods.env_from(run),
        resources=pods.resources(run.workload.head, {}),
        volume_mounts=mounts + more[1],
    )
    return pods.pod(
        run,
        annotations=_topology(run),
        tolerations=pods.tolerations(run.workload.plain.tolerations),
        containers=[head],
        init_containers=inits,
        volumes=volumes + more[0],
    )


def _topology(run: Run) -> dict[str, str]:
    """The topology annotation of pods without GPUs."""
    topology = run.workload.plain.topology
    return dict([topology]) if topology else {}


def _worker(run: Run) -> dict[str, Any]:
    workload = run.workload
    volumes, mounts, inits = pods.code(run, started=False)
    # KubeRay mounts /dev/shm by itself (R60); only a size that was asked for is mounted here.
    for more in (pods.data(run), pods.shared_memory(run)):
        volumes, mounts = volumes + more[0], mounts + more[1]
    worker = pods.container(
        run,
        "ray-worker",
        ports=[{"name": "metrics", "containerPort": 8080, "protocol": "TCP"}],
        env=worker_env(run),
        env_from=pods.env_from(run),
        resources=pods.program_resources(workload),
        security=pods.container_security(workload, workload.rdma is not None),
        volume_mounts=mounts,
    )
    return pods.pod(
        run,
        annotations=dict([workload.topology]) if workload.topology else {},
        node_selector=dict(workload.node_selector),
        tolerations=pods.tolerations(workload.tolerations),
        containers=[worker],
        init_containers=inits,
        volumes=volumes,
    )


def _submitter(run: Run) -> dict[str, Any]:
    """Explicit, so that Kueue has nothing to fill in (K89); tolerates what the workers do, so that any flavor serves."""
    submitter = pods.container(run, "ray-job-submitter", resources=pods.resources(SUBMITTER, {}))
    both = dict.fromkeys((*run.workload.plain.tolerations, *run.workload.tolerations))
    return pods.pod(
        run,
        annotations=_topology(run),
        containers=[submitter],
        tolerations=pods.tolerations(tuple(both)),
    )


def _runtime_env(run: Run) -> str:
    """Ray's runtime environment as YAML text, or ""."""
    found: dict[str, Any] = {}
    if run.workload.pip:
        found["pip"] = list(run.workload.pip)
    if run.payload is not None and run.payload.archive is not None:
        found["working_dir"] = f"file://{ARCHIVE_DIR}/{ARCHIVE_FILE}"
    profiler = run.workload.profiler
    if profiler is not None:
        found["nsight"] = {
            "t": "cuda,cudnn,cublas,nvtx,osrt",
            "o": f"{run.workload.storage.output}/profile/worker-%p",
            "delay": str(profiler.warmup),
            "duration": str(profiler.active),
            "kill": "none",
        }
    return dump(found) if found else ""

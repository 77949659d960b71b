"""A Job: one pod, or one pod a node with a headless Service between them (taugrid-config 3.3, demand C1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.policy.resolve import placement
from tau_compile.render import pods
from tau_compile.render.environment import job_env
from tau_compile.render.literal import kube_literal
from tau_compile.render.plan import PEERS_PORT

if TYPE_CHECKING:
    from tau_compile.render.plan import Run


def context(run: Run) -> dict[str, Any]:
    """The template context of ``job.yaml.j2`` and ``service.yaml.j2``, beside ``run``."""
    workload = run.workload
    nodes = workload.pods
    return {
        "job": {"nodes": nodes, "service": run.peers, "port": PEERS_PORT},
        "pod": pods.pod(
            run,
            annotations=dict([workload.topology]) if workload.topology else {},
            subdomain=run.peers if nodes > 1 else "",
            node_selector=dict(workload.node_selector),
            affinity=_apart(run) if nodes > 1 and not _whole_node(run) and not _together(run) else {},
            tolerations=pods.tolerations(workload.tolerations),
            **_content(run),
        ),
    }


def _content(run: Run) -> dict[str, Any]:
    workload = run.workload
    volumes, mounts, inits = pods.code(run)
    for more in (pods.data(run), pods.shared_memory(run)):
        volumes, mounts = volumes + more[0], mounts + more[1]
    started = run.payload is not None
    main = pods.container(
        run,
        "main",
        command=["/bin/sh", "/tau/bin/run.sh"] if started else [],
        args=[] if started else [kube_literal(argument) for argument in workload.program.args],
        working_dir="" if started else workload.working_dir,
        env=job_env(run),
        env_from=pods.env_from(run),
        resources=pods.program_resources(workload),
        security=pods.container_security(workload, workload.rdma is not None),
        volume_mounts=mounts,
    )
    return {"containers": [main], "init_containers": inits, "volumes": volumes}


def _whole_node(run: Run) -> bool:
    """Whether each pod takes all GPUs of a node, so that two never share one."""
    known = run.resolved.cluster.gpu_class(run.workload.gpu.gpu_class)
    return known is not None and known.gpus_per_node == run.workload.gpu.number


def _together(run: Run) -> bool:
    """Whether all pods were asked onto one node."""
    return placement(run.resolved.merged.node) == "same-host"


def _apart(run: Run) -> dict[str, Any]:
    """Ranks of one run on nodes of their own (demand C1)."""
    term = {
        "labelSelector": {"matchLabels": {"batch.kubernetes.io/job-name": run.id}},
        "topologyKey": "kubernetes.io/hostname",
    }
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}

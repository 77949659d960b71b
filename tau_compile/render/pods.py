"""Pods as template context: containers, volumes and security, common to Jobs and Ray clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.render import embedded
from tau_compile.render import payload as files
from tau_compile.render.literal import kube_literal
from tau_compile.render.payload import SOURCE_DIR, script

if TYPE_CHECKING:
    from tau_compile.render.plan import Run
    from tau_compile.workload.model import Size, Toleration, Workload

GRACE = 600  # seconds between the signal to stop and the kill, for a last checkpoint (taugrid-config 3.3)
_NOBODY = 65532
# RDMA: memory must be pinned and the device opened (taugrid-config 3.3, B-61).
_RDMA_RIGHTS = ["DAC_OVERRIDE", "IPC_LOCK", "SYS_RESOURCE"]
_COPY_SIZE = {"cpu": "250m", "memory": "256Mi"}

Context = dict[str, Any]


def resources(size: Size, extended: dict[str, int]) -> Context:
    """Requests and limits; extended resources stand in both, equal (J42)."""
    counts = {name: str(count) for name, count in sorted(extended.items()) if count}
    return {
        "requests": {"cpu": size.cpu, "memory": size.memory, **counts},
        "limits": {"cpu": size.cpu_limit, "memory": size.memory_limit, **counts},
    }


def program_resources(workload: Workload) -> Context:
    """Resources of a container that runs the program."""
    extended = {workload.gpu.resource: workload.gpu.number}
    if workload.rdma:
        extended[workload.rdma.resource] = workload.rdma.number
    return resources(workload.size, extended)


def container_security(workload: Workload, fabric: bool = False) -> Context:
    """The least rights that the container needs; ``fabric`` when it holds the RDMA device."""
    if fabric:
        return {
            "allowPrivilegeEscalation": False,
            "runAsUser": 0,
            "runAsGroup": 0,
            "capabilities": {"drop": ["ALL"], "add": _RDMA_RIGHTS},
        }
    if workload.restricted:
        return {
            "allowPrivilegeEscalation": False,
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "runAsGroup": _NOBODY,
            "capabilities": {"drop": ["ALL"]},
        }
    return {"allowPrivilegeEscalation": False}


def pod_security(workload: Workload) -> Context:
    """The pod's security context."""
    found: Context = {"seccompProfile": {"type": "RuntimeDefault"}}
    if workload.restricted:
        found |= {"runAsNonRoot": True, "runAsUser": _NOBODY, "runAsGroup": _NOBODY, "fsGroup": _NOBODY}
    return found


def tolerations(items: tuple[Toleration, ...]) -> list[Context]:
    """Tolerations as Kubernetes writes them."""
    return [
        {
            "key": t.key,
            **({"operator": "Equal", "value": t.value} if t.value else {"operator": "Exists"}),
            "effect": t.effect,
        }
        for t in items
    ]


def pod(run: Run, **given: Any) -> Context:
    """One pod's context: ``given`` over the common part."""
    space = run.resolved.workspace
    workload = run.workload
    return {
        "labels": {**dict(space.pod_labels), **dict(workload.labels), "tau-compile/run-id": run.id},
        "annotations": {},
        "grace": GRACE,
        "token": workload.token,
        "service_account": space.service_account,
        "priority_class": run.resolved.pod_priority,
        "subdomain": "",
        "node_selector": {},
        "affinity": {},
        "tolerations": [],
        "image_pull_secrets": [{"name": name} for name in space.image_pull_secrets],
        "security": pod_security(workload),
        "init_containers": [],
        "containers": [],
        "volumes": [],
        **given,
    }


def container(run: Run, name: str, **given: Any) -> Context:
    """One container's context: ``given`` over the common part."""
    workload = run.workload
    return {
        "name": name,
        "image": workload.image,
        "command": [],
        "args": [],
        "working_dir": "",
        "ports": [],
        "env_from": [],
        "env": [],
        "security": container_security(workload),
        "volume_mounts": [],
        **given,
    }


def env_from(run: Run) -> list[Context]:
    """Secrets of the workspace whose keys all become variables."""
    return [{"secretRef": {"name": name}} for name in run.resolved.workspace.env_from_secrets]


def shared_memory(run: Run) -> tuple[list[Context], list[Context]]:
    """(volumes, mounts) of /dev/shm."""
    if not run.workload.shm:
        return [], []
    volume = {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": run.workload.shm}}
    return [volume], [{"name": "dshm", "mountPath": "/dev/shm"}]  # noqa: S108


def data(run: Run) -> tuple[list[Context], list[Context]]:
    """(volumes, mounts) of claims, of the hot folder and of /data; Ray has both folders even without a claim."""
    storage = run.workload.storage
    volumes: list[Context] = []
    mounts: list[Context] = []
    always = run.workload.kind == "rayjob"
    if storage.data_claim or always:
        source: Context = (
            {"persistentVolumeClaim": {"claimName": storage.data_claim}}
            if storage.data_claim
            else {"emptyDir": {}}
        )
        volumes.append({"name": "data", **source})
        mounts.append({"name": "data", "mountPath": "/data"})
    if storage.data_claim or always or storage.staged:
        volumes.append({"name": "tau-hot", "emptyDir": {}})
        mounts.append({"name": "tau-hot", "mountPath": "/mnt"})
    for mount in storage.mounts:
        claim: Context = {"claimName": mount.claim} | ({"readOnly": True} if mount.read_only else {})
        volumes.append({"name": mount.name, "persistentVolumeClaim": claim})
        mounts.append(
            {"name": mount.name, "mountPath": mount.path} | ({"readOnly": True} if mount.read_only else {})
        )
    return volumes, mounts


def code(run: Run, started: bool = True) -> tuple[list[Context], list[Context], list[Context]]:
    """(volumes, mounts, init containers) that bring the program: shipped files, ``run.source`` and image assets.

    ``started`` is false for Ray workers, which need the code and none of the scripts.
    """
    volumes: list[Context] = []
    mounts: list[Context] = []
    inits: list[Context] = []
    workload = run.workload
    if run.payload is not None and not run.embedded:
        volumes, mounts = files.volumes(run.payload, run.code_name, started)
    elif run.payload is not None:
        volumes.append({"name": "tau-files", "emptyDir": {}})
        mounts.append({"name": "tau-files", "mountPath": "/tau"})
        chunks = embedded.environment(run.payload)
        inits.append(
            _init(
                run,
                "tau-code",
                workload.image,
                embedded.command(len(chunks)),
                "tau-files",
                "/tau",
                env=chunks,
            )
        )
    if workload.source is not None:
        volumes.append({"name": "tau-source", "emptyDir": {}})
        mounts.append({"name": "tau-source", "mountPath": SOURCE_DIR})
        command = [
            "/bin/sh",
            "-c",
            script("source.sh"),
            "tau-source",
            workload.source.path,
            SOURCE_DIR,
            workload.program.entrypoint,
        ]
        inits.append(_init(run, "tau-source", workload.source.image, command, "tau-source", SOURCE_DIR))
    for asset in workload.storage.assets:
        volume = f"tau-asset-{asset.name}"
        volumes.append({"name": volume, "emptyDir": {}})
        # A folder or a file arrives under its own name; links, as model caches have them, become what they point to.
        name = asset.source.rpartition("/")[2]
        mounts.append({"name": volume, "mountPath": asset.path, "subPath": name, "readOnly": True})
        command = ["/bin/cp", "-R", "-L", asset.source, "/tau-asset/"]
        inits.append(_init(run, volume, asset.image, command, volume, "/tau-asset"))
    return volumes, mounts, inits


def _init(
    run: Run, name: str, image: str, command: list[str], volume: str, path: str, **given: Any
) -> Context:
    return container(
        run,
        name,
        image=image,
        command=[kube_literal(word) for word in command],
        resources={"requests": dict(_COPY_SIZE), "limits": dict(_COPY_SIZE)},
        volume_mounts=[{"name": volume, "mountPath": path}],
        **given,
    )

"""Environment variables of the containers, in layers: the platform's first, then the user's, then what must hold.

A name appears once (R11); the later layer wins. Values pass the kubelet unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.render.literal import kube_literal
from tau_compile.render.payload import BIN_DIR, CODE_DIR, SOURCE_DIR
from tau_compile.render.plan import PEERS_PORT

if TYPE_CHECKING:
    from tau_compile.render.plan import Run
    from tau_compile.workload.model import Workload

_INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"


def job_env(run: Run) -> list[dict[str, Any]]:
    """Variables of a Job's container."""
    layers: list[dict[str, Any]] = [{}, _user(run.workload), _fixed(run)]
    if run.workload.program.launcher == "torchrun":
        layers[0].update(_torchrun_defaults(run.workload))
        layers[2].update(_torchrun(run))
    if run.payload is not None or run.workload.source is not None:
        layers[2].update(_launch(run))
    return _listed(layers)


def head_env(run: Run) -> list[dict[str, Any]]:
    """Variables of the Ray head's container, where the program itself runs."""
    fixed = {**_ray(run), **_fixed(run), **_launch(run), **_tune(run)}
    return _listed([_ray_defaults(), _user(run.workload), fixed])


def worker_env(run: Run) -> list[dict[str, Any]]:
    """Variables of the Ray workers' container."""
    fixed = {**_ray(run), **_fixed(run)}
    for name in ("TAU_OUTPUT_STAGING_DIR", "TAU_CHECKPOINT"):  # only the head publishes
        fixed.pop(name, None)
    return _listed([_ray_defaults(), _user(run.workload), fixed])


def _listed(layers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    merged: dict[str, Any] = {}
    for layer in layers:
        merged.update(layer)
    entries = []
    for name in sorted(merged):
        value = merged[name]
        entries.append(
            {"name": name, "value": value} if isinstance(value, str) else {"name": name, "valueFrom": value}
        )
    return entries


def _user(workload: Workload) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for variable in workload.env:
        if variable.secret is None:
            found[variable.name] = kube_literal(variable.value)
        else:
            found[variable.name] = {"secretKeyRef": {"name": variable.secret[0], "key": variable.secret[1]}}
    return found


def _fixed(run: Run) -> dict[str, Any]:
    """The TAU_ variables (taugrid-config 3.3)."""
    workload, storage = run.workload, run.workload.storage
    found = {"TAU_RUN_ID": run.id}
    if run.resolved.profile:
        found["TAU_PROFILE"] = run.resolved.profile.name
    if storage.data_claim or workload.kind == "rayjob":
        found |= {
            "TAU_DATA_DIR": "/data",
            "TAU_HOT_DIR": "/mnt",
            "TAU_DATASETS_DIR": "/mnt/datasets",
            "TAU_CHECKPOINTS_DIR": "/mnt/checkpoints",
            "TAU_DURABLE_DATASETS_DIR": "/data/datasets",
            "TAU_DURABLE_CHECKPOINTS_DIR": "/data/checkpoints",
        }
    elif storage.staged:
        found["TAU_HOT_DIR"] = "/mnt"
    if storage.output:
        found["TAU_OUTPUT_DIR"] = kube_literal(storage.output)
    if storage.staged:
        found["TAU_OUTPUT_STAGING_DIR"] = f"/mnt/tau-output/{run.id}"
    if storage.checkpoint:
        found["TAU_CHECKPOINT"] = kube_literal(storage.checkpoint)
    if workload.history:
        found["TAU_METRICS_HISTORY"] = kube_literal(":".join(workload.history))
    experiment, group = workload.experiment
    if experiment:
        found["TAU_EXPERIMENT"] = kube_literal(experiment)
    if group:
        found["TAU_GROUP"] = kube_literal(group)
    if workload.upstream_checkpoint:
        found["TAU_UPSTREAM_CHECKPOINT"] = kube_literal(workload.upstream_checkpoint)
    if workload.profiler and workload.kind == "job":
        found |= _profiler(run)
    return found


def _profiler(run: Run) -> dict[str, str]:
    profiler = run.workload.profiler
    assert profiler is not None
    found = {
        "TAU_PROFILE_MODE": profiler.mode,
        "TAU_PROFILE_RANK": profiler.rank,
        "TAU_PROFILE_OUT_DIR": kube_literal(f"{run.workload.storage.output}/profile"),
    }
    if profiler.mode == "nsys":
        found |= {
            "TAU_PROFILE_WARMUP_SEC": str(profiler.warmup),
            "TAU_PROFILE_ACTIVE_SEC": str(profiler.active),
        }
    return found


def _launch(run: Run) -> dict[str, str]:
    """What run.sh is told."""
    workload = run.workload
    found = {"TAU_BIN": BIN_DIR}
    if workload.working_dir:
        found["TAU_WORKDIR"] = kube_literal(workload.working_dir)
    elif workload.source is not None:
        found["TAU_WORKDIR"] = SOURCE_DIR
    elif run.payload is not None and run.payload.archive is not None:
        pass  # Ray starts the program in its own copy of the folder
    elif _ships_folder(run):
        found["TAU_WORKDIR"] = CODE_DIR
    elif workload.storage.data_claim or workload.kind == "rayjob":
        found["TAU_WORKDIR"] = "/data"
    return found


def _ships_folder(run: Run) -> bool:
    from tau_compile.source.nodes import find

    return find(run.resolved.merged.node, "run.working_dir") is not None


def _torchrun_defaults(workload: Workload) -> dict[str, str]:
    several = workload.program.processes > 1 or workload.pods > 1
    return {"OMP_NUM_THREADS": "1"} if several else {}


def _torchrun(run: Run) -> dict[str, Any]:
    """Torchrun reads its flags from PET_ variables, so that the command stays plain (demand C1)."""
    workload = run.workload
    common = {"MASTER_PORT": str(PEERS_PORT), "PET_NPROC_PER_NODE": str(workload.program.processes)}
    if workload.pods == 1:
        return {**common, "MASTER_ADDR": "localhost", "PET_STANDALONE": "1"}
    first = f"{run.id}-0.{run.peers}"
    return {
        **common,
        "MASTER_ADDR": first,
        "PET_NNODES": str(workload.pods),
        "PET_NODE_RANK": {"fieldRef": {"fieldPath": _INDEX}},
        "PET_RDZV_BACKEND": "c10d",
        "PET_RDZV_ENDPOINT": f"{first}:{PEERS_PORT}",
        "PET_RDZV_ID": run.id,
    }


def _ray_defaults() -> dict[str, str]:
    return {"HF_HOME": "/tmp/hf", "NCCL_DEBUG": "WARN", "NCCL_SOCKET_IFNAME": "eth0"}  # noqa: S108


def _ray(run: Run) -> dict[str, str]:
    """Variables that the head and the workers share (taugrid-config 3.4)."""
    workload = run.workload
    ranks = workload.pods * (workload.gpu.number or 1)
    found = {
        "TAU_DIST_BACKEND": "nccl" if workload.gpu.number else "gloo",
        "TAU_NUM_WORKERS": str(ranks),
        "TAU_WORLD_SIZE": str(ranks),
    }
    if workload.program.train_config:
        found["TAU_RAY_TRAIN_CONFIG_JSON"] = kube_literal(workload.program.train_config)
    user = next((v.value for v in workload.env if v.name == "PYTHONPATH" and v.secret is None), "")
    root = SOURCE_DIR if workload.source is not None else CODE_DIR
    found["PYTHONPATH"] = kube_literal(f"{root}:{user}" if user else root)
    return found


def _tune(run: Run) -> dict[str, str]:
    tune = run.workload.program.tune
    if tune is None:
        return {}
    workload = run.workload
    root = SOURCE_DIR if workload.source is not None else CODE_DIR
    # The pods' GPUs are shared out among the trials that run at a time.
    ranks = workload.pods * (workload.gpu.number or 1)
    # Tune needs a folder, even one that goes with the pod.
    folder = {} if workload.storage.output else {"TAU_OUTPUT_DIR": f"/data/{workload.name}"}
    return {
        **folder,
        "TAU_NUM_WORKERS": str(max(1, ranks // tune.concurrent)),
        "TAU_TUNE_TRAIN_PATH": kube_literal(f"{root}/{entry_path(run)}"),
        "TAU_TUNE_METRIC": kube_literal(tune.metric),
        "TAU_TUNE_MODE": tune.mode,
        "TAU_TUNE_NUM_SAMPLES": str(tune.samples),
        "TAU_TUNE_MAX_CONCURRENT_TRIALS": str(tune.concurrent),
        "TAU_TUNE_PARAM_SPACE": kube_literal(tune.space),
        "TAU_GPUS_PER_WORKER": str(workload.gpu.number),
    }


def entry_path(run: Run) -> str:
    """The entrypoint's path below the code or source folder."""
    if run.payload is not None and run.payload.bundle.entrypoint:
        return run.payload.bundle.entrypoint
    return run.workload.program.entrypoint

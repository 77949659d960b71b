"""Documents in which as many fields as possible have a value, as plain data, and ways to change them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.compiling import IMAGE, RAY

if TYPE_CHECKING:
    from collections.abc import Iterator

DIGEST = "@sha256:" + "0123456789abcdef" * 4

JOB: dict[str, Any] = {
    "schema_version": 1,
    "name": "train",
    "resource_naming": {"prefix": "team"},
    "run": {
        "entrypoint": "train.py",
        "working_dir": ".",
        "working_dir_excludes": ["*.bin"],
        "max_duration": "1h",
    },
    "runtime": {
        "image": IMAGE,
        "pip": ["torch"],
        "env": {"A": "x"},
        "env_secret": {"B": "secret:key"},
        "rdma": {"enabled": True, "resource_name": "rdma/hca", "shm_size": "1Gi"},
    },
    "compute": {"gpus": 1, "cpus": "8", "memory": "64Gi", "cpu_limit": "9", "memory_limit": "65Gi"},
    "policy": {
        "node_selector": {"zone": "a"},
        "team": "t",
        "workspace": "taugrid-default",
        "namespace": "taugrid-default",
        "queue": "jobqueue",
    },
    "storage": {
        "data_pvc": "claim",
        "output": "/data/out",
        "mounts": [{"name": "sets", "mountPath": "/sets", "pvc": "sets"}],
        "image_assets": [
            {"name": "tok", "image": f"ghcr.io/t/tok{DIGEST}", "source_path": "/tok", "mount_path": "/tok"}
        ],
    },
    "execution": {"launcher": "python", "configs": {"flag": "value"}},
    "resilience": {
        "max_retries": 1,
        "checkpoint_path": "/data/c",
        "backoff_initial": "1s",
        "backoff_max": "2s",
    },
    "profiler": {"mode": "nsys", "rank": "0", "warmup": "1s", "duration": "2s"},
    "metrics": {"history": ["m.jsonl"]},
    "experiment": {"project": "p", "name": "n", "group": "g"},
    "research": {"experiment": "n"},
    "model": {"name": "m", "base": "b", "task": "t", "tags": ["x"], "primary_metric": "loss"},
    "artifacts": {"checkpoint": "last"},
    "workflow": {"extra_scripts": ["lib/util.py:util.py"], "upstream_checkpoint": "/data/up"},
}
RAYJOB = {
    **JOB,
    "run": {**JOB["run"], "workload_kind": "rayjob"},
    "runtime": {**JOB["runtime"], "image": RAY},
    "compute": {
        "gpus": 1,
        "worker_cpus": "8",
        "worker_memory": "64Gi",
        "head_cpus": "1",
        "head_memory": "4Gi",
    },
    "execution": {"launcher": "ray-tune", "metric": "loss", "configs": {"lr": ["a"]}},
    "profiler": {"mode": "nsys"},
}
SOURCE = {
    "schema_version": 1,
    "name": "train",
    "run": {"entrypoint": "train.py", "source": {"image": f"ghcr.io/t/code{DIGEST}", "path": "/src"}},
    "runtime": {"image": IMAGE},
}
PLAIN = {
    "schema_version": 1,
    "name": "train",
    "runtime": {
        "image": IMAGE,
        "working_dir": "/opt/x",
        "env": [
            {"name": "A", "value": "x"},
            {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        ],
    },
    "execution": {"configs": {"flag": "value"}},
}
DIRECT = {
    "name": "train",
    "engine": "job",
    "script": "train.py",
    "image": IMAGE,
    "compute": {"gpus": 1, "cpu_request": "8", "memory_request": "64Gi"},
    "storage": {
        "volumes": ["sets=pvc:sets"],
        "mounts": ["sets:/sets"],
        "output": "/sets/x",
        "checkpoint": "last",
    },
    "experiment": {"title": "t"},
}
DOCUMENTS = {"job": JOB, "rayjob": RAYJOB, "source": SOURCE, "plain": PLAIN, "direct": DIRECT}
FILES = {"lib/util.py": b"x = 1\n", "weights.bin": b"\x00\x01"}


def texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all texts of a document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from texts(inner, (*path, place))
    elif isinstance(value, str):
        yield path


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The document with another value at a path."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


def written(document: Any) -> bytes:
    """A document as YAML that any text survives."""
    text = json.dumps(document, ensure_ascii=False)
    return "".join(c if c.isprintable() or c == " " else f"\\u{ord(c):04x}" for c in text).encode()

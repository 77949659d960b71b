"""Real objects of clusters against ``import``: what comes out must validate, and a real workload must render on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from tests.support.cli import run

if TYPE_CHECKING:
    from pathlib import Path

QUEUES, PROFILES = "kind-kueue-lanes.yaml", "kind-profiles.yaml"
WORKLOADS = ("kind-smoke-job.yaml", "kind-smoke-ray.yaml")


def check_imports(folder: Path, repository: Path) -> list[str]:
    """What is wrong with a repository made from the folder's Kueue objects and profiles; [] also if it has none."""
    if not (folder / QUEUES).is_file() or not (folder / PROFILES).is_file():
        return []
    repository.mkdir(parents=True)
    head = {"apiVersion": "tau.azure.com/v1alpha1", "kind": "TauCluster", "metadata": {"name": "kind"}}
    workspace = head | {"kind": "TauWorkspace", "metadata": {"name": "ray"}, "spec": {"queue": "kind-cpu"}}
    cluster = head | yaml.safe_load((folder / PROFILES).read_text(encoding="utf-8"))
    (repository / "tau-compile.yaml").write_text("{}\n")
    (repository / "exported.yaml").write_text(yaml.safe_dump_all([cluster, workspace]))
    steps = [
        ["import", "taugrid", "exported.yaml", str(folder / QUEUES), "--output", "."],
        ["validate", "overlays"],
    ]
    for name in WORKLOADS:
        if (folder / name).is_file():
            place = repository / name.removesuffix(".yaml")
            place.mkdir()
            text = (folder / name).read_text(encoding="utf-8")
            (place / "tau.yaml").write_text(text)
            (place / yaml.safe_load(text)["entrypoint"]).write_text("#!/bin/sh\ntrue\n")
            steps.append(["render", f"{place.name}/tau.yaml"])
    return [
        f"{' '.join(step)}: exit {done.exit}: {done.stderr}"
        for step in steps
        if (done := run(step, repository)).exit
    ]

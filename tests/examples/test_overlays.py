"""What the example overlays decide for a workload that says little."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.examples.repository import EXAMPLES, NAMES, copy, objects, pod_templates
from tests.support.cli import run

if TYPE_CHECKING:
    from pathlib import Path

JOB = "schema_version: 1\nname: small\nrun: {entrypoint: prepare.sh}\nruntime: {image: debian:12-slim}\n"


@pytest.fixture
def example(tmp_path: Path) -> Path:
    return copy(tmp_path / "repository")


def pod(folder: Path, *lines: str) -> dict[str, Any]:
    """The pod template of the CPU example with other settings."""
    (folder / "cpu-job" / "tau.yaml").write_text(JOB + "".join(f"{line}\n" for line in lines))
    outcome = run(["render", "cpu-job/tau.yaml"], folder)
    assert (outcome.exit, outcome.stderr) == (0, "")
    template: dict[str, Any] = objects(outcome.stdout)[-1]["spec"]["template"]
    return template


def test_cpu_pods_ask_for_no_topology(rendered: dict[str, str]) -> None:
    # Their flavor has none, and Kueue would leave them pending for ever (K146).
    for name in NAMES:
        for made in objects(rendered[name]):
            for template in pod_templates(made):
                limits = [c["resources"]["limits"] for c in template["spec"]["containers"]]
                gpus = any(key.startswith("nvidia.com/") for limit in limits for key in limit)
                keys = template["metadata"].get("annotations", {})
                assert any("topology" in key for key in keys) == gpus, (name, made["kind"])


def test_cpu_pods_on_a_cluster_where_every_node_has_a_topology(example: Path) -> None:
    cluster = example / "overlays" / "clusters" / "gpu-east.yaml"
    cluster.write_text(cluster.read_text().replace("- name: cpu\n", "- name: cpu\n  topology: gpu-fabric\n"))
    assert pod(example)["metadata"]["annotations"] == {"kueue.x-k8s.io/podset-unconstrained-topology": "true"}


def test_a_single_pod_is_on_one_host_by_itself(example: Path) -> None:
    assert "annotations" not in pod(example, "policy: {topology: same-host}")["metadata"]


def test_tolerations_come_from_what_the_workload_may_get(example: Path) -> None:
    def keys(*lines: str) -> list[str]:
        return [t["key"] for t in pod(example, *lines)["spec"].get("tolerations", ())]

    assert keys() == []
    assert keys("compute: {gpus: 1}") == ["nvidia.com/gpu", "dedicated"]
    assert keys("compute: {gpus: 1}", "policy: {gpu_class: a100-80gb}") == ["nvidia.com/gpu"]


def test_a_cluster_of_its_own_and_the_default_workspace(tmp_path: Path) -> None:
    clusters = tmp_path / "overlays" / "clusters"
    clusters.mkdir(parents=True)
    cluster = {"apiVersion": "tau-compile/v1", "kind": "Cluster", "metadata": {"name": "own"}}
    (clusters / "own.yaml").write_text(yaml.safe_dump(cluster))
    (tmp_path / "tau.yaml").write_text(JOB)
    (tmp_path / "prepare.sh").write_text((EXAMPLES / "cpu-job" / "prepare.sh").read_text())
    outcome = run(["render", "tau.yaml"], tmp_path)
    assert (outcome.exit, outcome.stderr) == (0, "")
    assert "namespace: taugrid-default\n" in outcome.stdout

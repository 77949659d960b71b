"""What tau-compile rendered, imported and rendered again, is the same pod."""

from __future__ import annotations

import json
import shlex
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.cli import run
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = ROOT / "examples"
FILES = sorted(path.relative_to(EXAMPLES) for path in EXAMPLES.rglob("tau.yaml"))
# Of the golden cases, those whose objects say all that their tau.yaml said: no patched or replaced template, no team that
# a profile asks for, no files inside the pod.
CASES = [
    "cpu-in-a-gpu-queue",
    "direct-data-mount",
    "direct-job",
    "direct-ray",
    "job",
    "job-everything",
    "job-image-entrypoint",
    "job-shell-script",
    "mig",
    "profiler-job",
    "profiler-ncu",
    "profiler-ray",
    "ray-default-image",
    "ray-http",
    "ray-image-of-the-package",
    "ray-sizes",
    "ray-train",
    "ray-tune",
    "rdma",
    "restricted",
    "restricted-ray",
    "source-and-assets",
    "source-on-ray",
    "source-python",
    "staged-checkpoint",
    "taugrid-objects",
    "torchrun",
    "torchrun-nodes",
    "torchrun-whole-nodes",
    "warning",
    "working-dir-job",
    "working-dir-ray",
    "workspace-folder",
]


def essence(text: str) -> Any:
    """A rendering without what names the run: its objects, and the files that it ships."""
    objects = list(yaml.safe_load_all(text))
    identity = next(m["metadata"]["name"] for m in objects if m["kind"] in ("Job", "RayJob"))
    files = [made.get("data") for made in objects if made["kind"] == "ConfigMap"]
    others = [made for made in objects if made["kind"] != "ConfigMap"]
    return json.loads(json.dumps(others).replace(identity, "RUN")), files


def again(folder: Path, path: str, *options: str, patched: bool = False) -> None:
    """Render a file, import what came out, render that, and compare; what a patch added is reported, and added again."""
    first = run(["render", path, *options], folder)
    assert first.exit == 0, first.stderr
    (folder / "objects.yaml").write_text(first.stdout)
    output = f"{path.rpartition('/')[0] or '.'}/again"
    imported = run(["import", "job", "objects.yaml", "--output", output], folder)
    assert imported.exit == 0, imported.stderr
    assert patched or imported.stderr.count("TAU") == 0, imported.stderr
    second = run(["render", f"{output}/tau.yaml", *options], folder)
    assert second.exit == 0, second.stderr
    assert essence(second.stdout) == essence(first.stdout)


@pytest.mark.parametrize("file", FILES, ids=str)
def test_examples(file: Path, tmp_path: Path) -> None:
    top = "gitops-repo" if file.parts[0] == "gitops-repo" else "."
    shutil.copytree(EXAMPLES, tmp_path / "r", ignore=shutil.ignore_patterns("rendered", "runs"))
    folder = tmp_path / "r" / top
    (folder / "tau-compile.yaml").touch()
    day = ("--as-of", "2026-12-01")  # within the waiver of one of them
    again(folder, str(file.relative_to(top)), *day, patched=top != ".")


@pytest.mark.parametrize("name", CASES)
def test_golden_cases(name: str, tmp_path: Path) -> None:
    from tests.test_golden import prepare

    folder = tmp_path / "r"
    verb, path, *options = prepare(ROOT / "tests" / "golden" / f"render-{name}", folder)
    assert verb == "render", shlex.join([verb, path])
    again(folder, path, *options)

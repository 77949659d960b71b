"""``make demo``: render every example, show what came out, and where it lies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
OUT = HERE.parent / "build" / "demo"
FIRST = "one-gpu-ray"
LINES = 32


def main() -> int:
    """Render the examples with the command line that users have; stop at the first that fails."""
    OUT.mkdir(parents=True, exist_ok=True)
    names = sorted(path.parent.name for path in HERE.glob("*/tau.yaml"))
    for name in sorted(names, key=lambda name: name != FIRST):
        command = [sys.executable, "-m", "tau_compile", "render", f"examples/{name}/tau.yaml"]
        done = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=False)  # noqa: S603
        sys.stderr.write(done.stderr)
        if done.returncode != 0:
            return done.returncode
        (OUT / f"{name}.yaml").write_text(done.stdout, encoding="utf-8")
        show(name, done.stdout)
    print(f"{len(names)} workloads rendered; the manifests lie in build/demo/")
    return 0


def show(name: str, text: str) -> None:
    """A few lines about one workload, and for the first the beginning of its RayJob."""
    objects: list[dict[str, Any]] = list(yaml.safe_load_all(text))
    run = objects[-1]
    labels = run["metadata"]["labels"]
    print(f"{name}: {run['kind']} {run['metadata']['name']}")
    print(f"  objects  {', '.join(made['kind'] for made in objects)}")
    print(f"  queue    {labels['kueue.x-k8s.io/queue-name']} in namespace {run['metadata']['namespace']}")
    print(f"  pods     {pods(run)}")
    print(f"  file     build/demo/{name}.yaml\n")
    if name == FIRST:
        start = text[text.index("apiVersion: ray.io/v1") :].splitlines()
        print("\n".join(f"    {line}" for line in start[:LINES]) + "\n    ...\n")


def pods(run: dict[str, Any]) -> str:
    """``4 × 8 nvidia.com/gpu, 96 CPU, 768Gi``."""
    if run["kind"] == "Job":
        count, template = run["spec"].get("parallelism", 1), run["spec"]["template"]
        return f"{count} × {amounts(template)}"
    group = run["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]
    return f"a Ray head and {group['replicas']} × {amounts(group['template'])}"


def amounts(template: dict[str, Any]) -> str:
    """What one pod asks for."""
    asked = template["spec"]["containers"][0]["resources"]["requests"]
    extended = [f"{count} {name}" for name, count in asked.items() if "/" in name]
    return ", ".join([*extended, f"{asked['cpu']} CPU", asked["memory"]])


if __name__ == "__main__":
    sys.exit(main())

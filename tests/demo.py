"""``make demo``: render every example and show what came out. The first argument is the folder for the manifests."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
FIRST = "one-gpu-ray"  # the one whose manifest is shown
LINES = 30


def main(arguments: list[str]) -> int:
    """Exit code 0 when every example renders."""
    target = Path(arguments[0])
    target.mkdir(parents=True, exist_ok=True)
    found = sorted(ROOT.glob("examples/*/tau.yaml"), key=lambda path: (path.parent.name != FIRST, path))
    failed = 0
    for path in found:
        name, asked = path.parent.name, path.relative_to(ROOT).as_posix()
        written = target / f"{name}.yaml"
        with written.open("wb") as file:
            command = [sys.executable, "-m", "tau_compile", "render", asked]
            failed += bool(subprocess.run(command, cwd=ROOT, stdout=file, check=False).returncode)
        objects = [one for one in yaml.safe_load_all(written.read_text(encoding="utf-8")) if one]
        print(f"{title(path.parent)}\n  tau-compile render {asked} > {written.as_posix()}")
        print("".join(f"    {line}\n" for line in table([row(one) for one in objects])))
    shown = (target / f"{FIRST}.yaml").read_text(encoding="utf-8").partition("\nkind: RayJob")
    head = f"apiVersion: ray.io/v1\nkind: RayJob{shown[2]}".splitlines()
    print(f"The RayJob of {FIRST}, its first {LINES} of {len(head)} lines:\n")
    print("".join(f"    {line}\n" for line in head[:LINES]))
    print(f"{len(found)} workloads; their manifests are in {target.as_posix()}/.")
    return 1 if failed or not found else 0


def title(folder: Path) -> str:
    """What the example is, as its README's heading says."""
    return (folder / "README.md").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def row(made: dict[str, Any]) -> tuple[str, ...]:
    """Kind and name of an object, and how many GPUs it asks for in which queue."""
    name = f"{made['metadata']['namespace']}/{made['metadata']['name']}"
    queue = made["metadata"].get("labels", {}).get("kueue.x-k8s.io/queue-name")
    return (
        (made["kind"], name, gpus(made["kind"], made["spec"]), f"queue {queue}")
        if queue
        else (made["kind"], name)
    )


def gpus(kind: str, spec: dict[str, Any]) -> str:
    """All GPUs, or slices of GPUs, of a Job or RayJob."""
    pods = (
        [(spec.get("parallelism", 1), spec["template"])]
        if kind == "Job"
        else [(group["replicas"], group["template"]) for group in spec["rayClusterSpec"]["workerGroupSpecs"]]
    )
    wanted: Counter[str] = Counter()
    for number, pod in pods:
        for container in pod["spec"]["containers"]:
            for resource, amount in container["resources"]["limits"].items():
                if resource.startswith("nvidia.com/"):
                    wanted[resource.removeprefix("nvidia.com/").replace("gpu", "GPU")] += number * int(amount)
    return ", ".join(f"{amount} {resource}" for resource, amount in sorted(wanted.items())) or "no GPU"


def table(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows with their columns below each other."""
    widths = [max((len(one[column]) for one in rows if len(one) > column), default=0) for column in range(4)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(one, widths, strict=False)).rstrip()
        for one in rows
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

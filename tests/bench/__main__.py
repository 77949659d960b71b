"""``make bench``: cold starts against kustomize on the same work, and many workloads in one process.

All whole-process figures come from rounds in which every command runs once, so that a slow moment hits all of them alike.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from tests.packaging.environments import installed, training, wheel
from tests.support.tools import ROOT

AIMS = {"render": 2.0, "validate": 1.5}  # times kustomize, wall time
AIM_EACH = 2.5  # milliseconds of processor time a workload
MANY = Path(__file__).with_name("many.py")


class Times(NamedTuple):
    """Milliseconds of one run."""

    wall: float
    processor: float


def main(arguments: list[str]) -> int:
    """Print the figures; misses of an aim are marked, and no failure: machines differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--counts", type=int, nargs="*", default=[100, 1000])
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "bench")
    asked = parser.parse_args(arguments)
    folder = asked.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    programs = installed(sys.executable, wheel(folder / "dist"), folder / "venv")
    print(f"{os.cpu_count()} processors, Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}\n")
    cold(folder, programs, asked.rounds)
    for count in asked.counts:
        many(folder, programs, count)
    return 0


def cold(folder: Path, programs: Path, rounds: int) -> None:
    """Whole processes, one workload."""
    file = training(folder / "workload")
    # A root of its own: this checkout's own templates/ would count as a repository's replacements.
    (file.parent / "tau-compile.yaml").touch()
    program, python = programs / "tau-compile", programs / "python"
    base = folder / "base"
    base.mkdir()
    manifests = subprocess.run(
        [program, "render", file.name], cwd=file.parent, check=True, capture_output=True
    ).stdout
    (base / "manifests.yaml").write_bytes(manifests)
    (base / "kustomization.yaml").write_text("resources: [manifests.yaml]\n")
    commands: dict[str, list[str | Path]] = {
        "kustomize": [*kustomize(), base],
        "render": [program, "render", "tau.yaml"],
        "validate": [program, "validate", "tau.yaml"],
        "--version": [program, "--version"],
        "import click, yaml": [python, "-c", "import click, yaml"],
        "import click": [python, "-c", "import click"],
        "nothing": [python, "-c", "pass"],
    }
    found: dict[str, list[Times]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            found[name].append(once(command, file.parent))
    print(
        f"One workload, a process of its own, medians of {rounds} rounds. kustomize builds the manifests that render prints.\n"
    )
    print("                        wall ms   processor ms   times kustomize (wall, processor)")
    known = {name: Times(*map(statistics.median, zip(*times, strict=True))) for name, times in found.items()}
    for name, times in known.items():
        wall, processor = (a / b for a, b in zip(times, known["kustomize"], strict=True))
        aim = f"   aim {AIMS[name]}{'' if wall <= AIMS[name] else ': missed'}" if name in AIMS else ""
        print(
            f"  {name:20}  {times.wall:7.1f}        {times.processor:7.1f}   {wall:.2f}, {processor:.2f}{aim}"
        )
    print()


def once(command: list[str | Path], folder: Path) -> Times:
    """Run a command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Times(wall * 1000, processor * 1000)


def kustomize() -> list[str]:
    """kubectl's kustomize, else one built from its Go module."""
    if shutil.which("kubectl"):
        return ["kubectl", "kustomize"]
    built = ROOT / ".tools" / "bin" / "kustomize"
    if not built.exists():
        built.parent.mkdir(parents=True, exist_ok=True)
        build: list[str | Path] = [
            "sh",
            ROOT / "tests/tools/go.sh",
            "-C",
            MANY.parent / "kustomize",
            "build",
            "-mod=readonly",
        ]
        package = "sigs.k8s.io/kustomize/kustomize/v5"
        subprocess.run(
            [*build, "-o", built, package], check=True, env=os.environ | {"PYTHON": sys.executable}
        )
    return [str(built), "build"]


def many(folder: Path, programs: Path, count: int) -> None:
    """Many workloads in one process."""
    target = folder / f"many-{count}"
    command: list[str | Path] = [programs / "python", MANY, target, str(count)]
    figures = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    missed = "" if figures["total"] <= AIM_EACH else ": missed"
    print(
        f"{count} different workloads in one process: {figures['total']:.2f} ms each   aim {AIM_EACH}{missed}"
    )
    print("  " + ", ".join(f"{part} {spent:.2f}" for part, spent in figures["parts"].items()) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

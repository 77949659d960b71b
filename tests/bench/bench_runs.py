"""Runs at scale: ``python -m tests.bench.bench_runs``. Builds that launch many, and the everyday build with a few edits.

All whole processes, on a real Git repository. Misses of an aim are marked, and no failure: machines differ.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from tests.bench.__main__ import kustomize
from tests.bench.many import write
from tests.packaging.environments import installed, wheel
from tests.support.tools import ROOT

AIM_EACH = 2.5  # milliseconds a launch and core
AIM_TIMES = 15  # launches in the time of one kustomize build
AIM_MEMORY = 200  # MiB of the largest process
AIM_EVERYDAY = 3.0  # seconds
EDITS = 5


class Cost(NamedTuple):
    """Seconds of wall and processor time of a process and its workers, and MiB of the largest of them."""

    wall: float
    processor: float
    memory: float


def main(arguments: list[str]) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_runs")
    parser.add_argument("--counts", type=int, nargs="*", default=[1000, 10000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "bench-runs")
    parser.add_argument(
        "--checkout", action="store_true", help="measure this checkout, not an installed wheel"
    )
    asked = parser.parse_args(arguments)
    folder = asked.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tau = [sys.executable, "-m", "tau_compile"]
    if not asked.checkout:
        programs = installed(sys.executable, wheel(folder / "dist"), folder / "venv")
        tau = [str(programs / "tau-compile")]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    print(f"{cores} cores, Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}\n")
    each: list[float] = []
    for count in asked.counts:
        repository = folder / f"runs-{count}"
        cost = launches(tau, repository, count, asked.rounds if count <= 1000 else 1)
        one = one_kustomize(repository, asked.rounds)
        each.append(cost.processor * 1000 / count)
        print(f"{count} launches: {cost.wall:.2f} s, {cost.processor:.2f} s of processor time")
        by_core = cost.wall * 1000 * cores / count
        print(f"  {by_core:.2f} ms a launch and core{_aim(by_core, AIM_EACH)}")
        print(f"  {each[-1]:.2f} ms of processor time a launch{_aim(each[-1], AIM_EACH)}")
        times = one * count / cost.wall
        print(
            f"  {times:.0f} launches in the time of one kustomize build{_aim(times, AIM_TIMES, least=True)}"
        )
        print(f"  {cost.memory:.0f} MiB{_aim(cost.memory, AIM_MEMORY)}\n")
        everyday(tau, repository, count, asked.rounds)
    if len(each) > 1:
        print(
            f"{each[-1] / each[0]:.2f} times as much processor time a launch at {asked.counts[-1]} as at {asked.counts[0]}\n"
        )
    return 0


def _aim(value: float, aim: float, least: bool = False) -> str:
    missed = value < aim if least else value > aim
    return f"   aim {aim:g}{': missed' if missed else ''}"


def launches(tau: list[str], repository: Path, count: int, rounds: int) -> Cost:
    """A build that launches everything: the quickest of several, each in a repository of its own."""
    costs = []
    for number in range(rounds):
        place = repository if number == 0 else repository.with_name(f"{repository.name}-{number}")
        place.mkdir()
        write(str(place), count)
        with open(place / "tau-compile.yaml", "a") as file:
            file.write(f"launch: {{max_runs: {count}}}\n")
        git(place, "init", "-q", "-b", "main")
        git(place, "config", "gc.auto", "0")  # not while something is measured
        commit(place, "sources")
        os.sync()
        costs.append(once([*tau, "build"], place))
        assert len(list((place / "runs").glob("*/*.json"))) == count
    return min(costs)


def one_kustomize(repository: Path, rounds: int) -> float:
    """Seconds of one kustomize build of one run, the median."""
    run = next(path for path in sorted(repository.glob("rendered/*/runs/*/*")) if path.name != "anchor")
    return statistics.median(once([*kustomize(), str(run)], repository).wall for _ in range(rounds))


def everyday(tau: list[str], repository: Path, count: int, rounds: int) -> None:
    """A few edits where everything else is launched already, and nothing to do at all."""
    commit(repository, "launched")
    git(repository, "gc", "-q")
    found: dict[str, list[Cost]] = {"nothing to do": [], "build": [], "check": []}
    for number in range(rounds):
        found["nothing to do"].append(once([*tau, "build"], repository))
        for edit in range(EDITS):
            with open(repository / "workloads" / f"w{edit}" / "train.py", "a") as file:
                file.write(f"print({number})\n")
        found["check"].append(once([*tau, "check"], repository, 3))
        found["build"].append(once([*tau, "build"], repository))
        git(repository, "checkout", "-q", ".")
        git(repository, "clean", "-fdq", "runs", "rendered")
    for name, costs in found.items():
        wall, processor, memory = (statistics.median(column) for column in zip(*costs, strict=True))
        what = name if name == "nothing to do" else f"{name} with {EDITS} edits"
        print(f"{count} records, {what}: {wall:.2f} s{_aim(wall, AIM_EVERYDAY)}")
        print(f"  {processor:.2f} s of processor time, {memory:.0f} MiB")
    print()


def once(command: list[str], folder: Path, expected: int = 0) -> Cost:
    """Run a command."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=_environment()
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == expected, f"{command} ended with {process.returncode}"
    return Cost(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def git(folder: Path, *arguments: str) -> None:
    """Call Git."""
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env=_environment())


def commit(folder: Path, message: str) -> None:
    """Commit everything."""
    git(folder, "add", "-A")
    git(
        folder,
        "-c",
        "user.name=bench",
        "-c",
        "user.email=bench@example.com",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        message,
    )


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PYTHONDONTWRITEBYTECODE": ""}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

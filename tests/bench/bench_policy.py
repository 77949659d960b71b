"""What policy costs: ``python -m tests.bench.bench_policy``. The same build with and without locks, limits, a waiver and patches.

Whole processes, in turns, so that a slow moment hits both alike.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
from pathlib import Path

from tests.bench.bench_runs import commit, git, once
from tests.bench.many import write
from tests.packaging.environments import installed, wheel
from tests.support.tools import ROOT

AIM = 30.0  # percent of processor time
DAY = "2027-01-01"
POLICY = """\
apiVersion: tau-compile/v1
kind: Platform
metadata:
  name: lab
enforce:
  runtime:
    env:
      NCCL_DEBUG: WARN
limits:
- name: gpus
  field: total.gpus
  max: 1000
- name: memory
  field: compute.memory
  max: 4Ti
- name: images
  field: runtime.image
  pattern: registry\\.example/.+
waivers:
- workload: training-1
  limits: [gpus]
  reason: what an exception costs
  expires: 2027-06-30
patches:
- target:
    kind: Job
  patch:
    spec:
      template:
        spec:
          dnsConfig:
            options:
            - name: ndots
              value: "2"
- target:
    kind: RayJob
  patch:
    metadata:
      annotations:
        example.com/owner: platform
"""


def main(arguments: list[str]) -> int:
    """Print the figures; a miss of the aim is marked, and no failure: machines differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_policy")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "bench-policy")
    asked = parser.parse_args(arguments)
    folder = asked.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tau = [str(installed(sys.executable, wheel(folder / "dist"), folder / "venv") / "tau-compile")]
    spent: dict[bool, list[float]] = {False: [], True: []}
    for number in range(asked.rounds):
        for policy in spent:
            place = repository(folder / f"{number}-{policy}", asked.count, policy)
            spent[policy].append(once([*tau, "build", "--as-of", DAY], place).processor)
            assert len(list((place / "runs").glob("*/*.json"))) == asked.count
            shutil.rmtree(place)
    plain, guarded = (statistics.median(times) for times in spent.values())
    more = 100 * (guarded - plain) / plain
    print(f"{asked.count} launches, medians of {asked.rounds} rounds: {plain:.2f} s of processor time")
    print(f"  with an enforced value, three limits, a waiver and two patches: {guarded:.2f} s")
    print(f"  policy costs {more:.0f} %   aim {AIM:g}{': missed' if more > AIM else ''}")
    return 0


def repository(place: Path, count: int, policy: bool) -> Path:
    """A Git repository of different workloads, with the policy or without."""
    place.mkdir()
    write(str(place), count)
    with open(place / "tau-compile.yaml", "a") as file:
        file.write(f"launch: {{max_runs: {count}}}\n")
    if policy:
        (place / "overlays").mkdir(exist_ok=True)
        (place / "overlays" / "platform.yaml").write_text(POLICY)
    git(place, "init", "-q", "-b", "main")
    git(place, "config", "gc.auto", "0")
    commit(place, "sources")
    return place


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

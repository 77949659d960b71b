"""Starts a small Ray head, submits jobs to it as KubeRay does, and stops it. A program of the slow environment.

``cluster.py FOLDER TEMPORARY``: FOLDER/jobs.json lists [name, variables, how]; `how` is "submit" (through the job server, as on
a cluster) or "direct" (the driver as a process of its own). Each job is ``sh $TAU_BIN/run.sh``. What it printed and
its exit code go to FOLDER/results.json. Everything ends within the times given below.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

SERVER = "http://127.0.0.1:8265"
HEAD = ["ray", "start", "--head", "--block", "--port=6379", "--num-cpus=4", "--object-store-memory=100000000"]
START_SECONDS, JOB_SECONDS, ALL_SECONDS = 120, 240, 560


def wait_for_server(head: subprocess.Popen[bytes]) -> None:
    """Return when jobs can be submitted."""
    end = time.monotonic() + START_SECONDS
    token = {"Authorization": f"Bearer {os.environ['RAY_AUTH_TOKEN']}"}
    while time.monotonic() < end and head.poll() is None:
        try:
            with urllib.request.urlopen(
                urllib.request.Request(f"{SERVER}/api/jobs/", headers=token), timeout=5
            ):
                return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("Ray did not start")


def command(variables: dict[str, str], how: str) -> list[str]:
    """The words that start one job."""
    script = f"{variables['TAU_BIN']}/run.sh"
    if how == "direct":
        return ["sh", script]
    environment = json.dumps({"env_vars": variables})
    return [
        "ray",
        "job",
        "submit",
        "--address",
        SERVER,
        "--runtime-env-json",
        environment,
        "--",
        "sh",
        script,
    ]


def run(variables: dict[str, str], how: str) -> tuple[int, str]:
    """(exit code, output) of one job."""
    given = variables | {"RAY_ADDRESS": "127.0.0.1:6379"} if how == "direct" else {}
    try:
        done = subprocess.run(
            command(variables, how),
            env=os.environ | given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=JOB_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return -1, (late.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


def main() -> None:
    """Run all jobs, one after the other."""
    signal.alarm(ALL_SECONDS)
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("the jobs took too long"))
    folder = Path(sys.argv[1])
    with (folder / "head.log").open("wb") as log:
        head = subprocess.Popen(
            [*HEAD, f"--temp-dir={sys.argv[2]}"],
            stdout=log,
            stderr=log,
        )
        try:
            wait_for_server(head)
            jobs = json.loads((folder / "jobs.json").read_text())
            results = {name: run(variables, how) for name, variables, how in jobs}
            (folder / "results.json").write_text(json.dumps(results))
        finally:
            head.send_signal(signal.SIGTERM)
            try:
                head.wait(timeout=30)
            except subprocess.TimeoutExpired:
                head.kill()


if __name__ == "__main__":
    main()

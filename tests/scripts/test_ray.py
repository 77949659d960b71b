"""A real Ray on CPU: training, submitted as KubeRay does it, and searching, through run.sh and tune_driver.py."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tau_compile.render.argv import encode
from tests.scripts import loopback
from tests.scripts.box import Box

# The user's code. `bare` is in the same folder as the entry file, as in a project.
BARE = """
def loss(config):
    if config["lr"] == "bad":
        raise ValueError("this point cannot work")
    return (config["lr"] - 0.2) ** 2 + config["model"]["depth"]
"""
SEARCH = """
import os
from bare import loss
from ray import train, tune

def train_func(config):
    report = train.report if config["lr"] == 0.1 else tune.report
    for step in (1, 2):
        report({"loss": loss(config) / step, "world": int(os.environ.get("WORLD_SIZE", "1"))})
"""
RETURNS = """
import torch, torch.distributed as dist
from bare import loss

def train_func(config):
    total = torch.tensor([dist.get_rank() + 1.0])
    dist.all_reduce(total)
    return {"loss": loss(config), "total": total.item()}
"""
FAILS = """
def train_func(config):
    raise ValueError("boom")
"""
TRAIN = """
import json, os, sys
import torch, torch.distributed as dist
from ray import train
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer

def loop(config):
    total = torch.tensor([dist.get_rank() + 1.0])
    dist.all_reduce(total)
    if train.get_context().get_world_rank() == 0:
        os.makedirs(out + "/ckpt")
        with open(out + "/ckpt/result.json", "w") as file:
            json.dump([total.item(), train.get_context().get_world_size(), config], file)
    train.report({"total": total.item()})

out = os.environ["TAU_OUTPUT_DIR"]
TorchTrainer(
    loop,
    train_loop_config={"argv": sys.argv[1:]},
    scaling_config=ScalingConfig(num_workers=int(os.environ["TAU_NUM_WORKERS"])),
    run_config=RunConfig(name="train", storage_path=out),
).fit()
"""
HIDE = """
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name.split(".")[0] == "torch" else find(name, *rest)
"""


class Jobs:
    """What the jobs printed and left behind, by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs: list[tuple[str, dict[str, str], str]] = []
        (folder / "hide").mkdir()
        # An image without torch, for the jobs that name this folder.
        (folder / "hide" / "sitecustomize.py").write_text(HIDE)

    def add(self, name: str, code: str, command: list[str], how: str, **env: str) -> None:
        box = Box(self.folder / name, "sh")
        (self.folder / name / "code").mkdir()
        (self.folder / name / "code" / "bare.py").write_text(BARE)
        (self.folder / name / "code" / "main.py").write_text(code)
        (box.bin / "argv").write_bytes(encode(command).encode())
        given = {
            "TAU_BIN": str(box.bin),
            "TAU_RUN_ID": f"{name}-1",
            "TAU_WORKDIR": str(self.folder / name / "code"),
            "TAU_OUTPUT_DIR": str(self.folder / name / "out"),
            "GLOO_SOCKET_IFNAME": "lo",
        }
        self.jobs.append((name, given | env, how))

    def search(self, name: str, code: str, space: dict[str, Any], **env: str) -> None:
        given = {
            "TAU_TUNE_TRAIN_PATH": str(self.folder / name / "code" / "main.py"),
            "TAU_TUNE_METRIC": "loss",
            "TAU_TUNE_MAX_CONCURRENT_TRIALS": "2",
            "TAU_TUNE_PARAM_SPACE": json.dumps(space),
        }
        command = ["python3", str(self.folder / name / "tau" / "bin" / "tune_driver.py")]
        self.add(name, code, command, "direct", **given | env)

    def run(self, python: Path) -> dict[str, tuple[int, str]]:
        (self.folder / "jobs.json").write_text(json.dumps(self.jobs))
        environment = os.environ | {
            "PATH": f"{python.parent}:{os.environ['PATH']}",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": os.urandom(32).hex(),
            "RAY_USAGE_STATS_ENABLED": "0",
            # Less to start, and nothing to wait for at the end.
            "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER": "0",
            "RAY_TRAIN_METRICS_ENABLED": "0",
            "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0",
            "PYTHONPATH": "",
        }
        with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp") as temporary:  # sockets want a short path
            program = Path(__file__).with_name("cluster.py")
            done = subprocess.run(
                [*loopback.prefix(), str(python), str(program), str(self.folder), temporary],
                env=environment,
                capture_output=True,
                text=True,
                timeout=600,
                check=False,
            )
        assert done.returncode == 0, done.stderr + (self.folder / "head.log").read_text()
        found: dict[str, tuple[int, str]] = json.loads((self.folder / "results.json").read_text())
        return found


def all_jobs(folder: Path) -> Jobs:
    jobs = Jobs(folder)
    hide = {"PYTHONPATH": str(folder / "hide")}
    command = ["python3", str(folder / "train" / "code" / "main.py"), 'a "b" $HOME\n', ""]
    jobs.add("train", TRAIN, command, "submit", TAU_NUM_WORKERS="2", TAU_CHECKPOINT="ckpt")
    jobs.search("grid", SEARCH, {"lr": [0.1, 0.4, "bad"], "model": {"depth": 1}}, **hide)
    jobs.search("workers", RETURNS, {"lr": 0.5, "model": {"depth": 1}}, TAU_NUM_WORKERS="2")
    jobs.search("fails", FAILS, {}, **hide)
    return jobs


def best(result: tuple[int, str]) -> dict[str, Any]:
    """What a search printed as its result."""
    code, output = result
    assert code == 0, output
    (line,) = (line for line in output.splitlines() if line.startswith("TAU_TUNE_RESULT "))
    found: dict[str, Any] = json.loads(line.removeprefix("TAU_TUNE_RESULT "))
    return found


@pytest.mark.slow
def test_training_and_searching(tmp_path: Path, slow_python: Path) -> None:
    """One test, so that one Ray serves all jobs however the tests are spread over processes."""
    results = all_jobs(tmp_path).run(slow_python)

    # Ray Train: two processes that know each other; the arguments arrive; the checkpoint is indexed.
    code, output = results["train"]
    assert code == 0, output
    out = tmp_path / "train" / "out"
    assert json.loads((out / "ckpt" / "result.json").read_text()) == [3.0, 2, {"argv": ['a "b" $HOME\n', ""]}]
    assert json.loads((out / "artifacts.json").read_text())["artifacts"][0]["files"] == 1

    # A grid in which one point fails, and both ways to report are used.
    found = best(results["grid"])
    assert found.pop("value") == pytest.approx((0.01 + 1) / 2)
    path = Path(found.pop("path"))
    assert path.is_dir()
    assert path.parent == tmp_path / "grid" / "out" / "grid-1"
    assert found.pop("config") == {"lr": 0.1, "model": {"depth": 1}}
    assert found == {"metric": "loss", "mode": "min", "trials": 3, "failed": 1}

    # Two processes a trial, and metrics returned instead of reported.
    found = best(results["workers"])
    assert found["value"] == pytest.approx(1.09)
    assert (found["trials"], found["failed"]) == (1, 0)
    assert json.loads((Path(found["path"]) / "result.json").read_text().splitlines()[-1])["total"] == 3.0

    # No trial that works is a failure with its reason.
    code, output = results["fails"]
    assert code == 1
    assert "tau: 1 of 1 trials failed; the first with: ValueError: boom\n" in output
    assert output.rstrip().endswith("tau: every trial failed")

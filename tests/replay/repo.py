"""A real Git repository that a test works in as people do: edit, build, commit, branch, merge, push."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

from tests.support.cli import Outcome, run, run_process

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CLUSTER = """\
apiVersion: tau-compile/v1
kind: Cluster
metadata: {name: NAME}
versions: {kubernetes: "1.30", kueue: "0.19.2", kuberay: "1.6.2"}
gpuTaints:
- {key: nvidia.com/gpu, effect: NoSchedule}
gpuClasses:
- {name: a100-80gb, gpusPerNode: 8}
flavors:
- {name: a100, gpuClass: a100-80gb}
queues:
- name: research
  flavors: [a100]
  localQueues:
  - {namespace: vision, name: jobqueue}
  - {namespace: speech, name: jobqueue}
"""
WORKSPACE = """\
apiVersion: tau-compile/v1
kind: Workspace
metadata: {name: NAME}
cluster: east
namespace: NAME
queue: jobqueue
outputRoot: /data
"""
TRAIN = """\
schema_version: 1
name: NAME
run:
  entrypoint: train.py
  max_duration: 4h
compute: {gpus: GPUS, memory: 64Gi}
runtime:
  image: example.com/train:1
"""


def files() -> dict[str, str]:
    """One cluster, two workspaces, three workloads."""
    found = {
        "overlays/platform.yaml": "apiVersion: tau-compile/v1\nkind: Platform\nmetadata: {name: lab}\n",
        "overlays/clusters/east.yaml": CLUSTER.replace("NAME", "east"),
        "overlays/workspaces/vision.yaml": WORKSPACE.replace("NAME", "vision"),
        "overlays/workspaces/speech.yaml": WORKSPACE.replace("NAME", "speech"),
    }
    for space, name, gpus in (("vision", "train", 2), ("vision", "eval", 1), ("speech", "asr", 4)):
        found[f"workloads/{space}/{name}/tau.yaml"] = workload(name, gpus)
        found[f"workloads/{space}/{name}/train.py"] = f"print('{name}')\n"
    return found


def workload(name: str, gpus: int = 1) -> str:
    return TRAIN.replace("NAME", name).replace("GPUS", str(gpus))


class Repo:
    """``path`` is the top of the work tree; ``root`` the tau-compile repository in it, usually the same."""

    def __init__(self, path: Path, below: str = "") -> None:
        self.path = path
        self.root = path / below
        self._clock = 0

    @classmethod
    def create(cls, path: Path, contents: Mapping[str, str], below: str = "", git: bool = True) -> Repo:
        repo = cls(path, below)
        repo.root.mkdir(parents=True)
        if git:
            repo.git("init", "-q", "-b", "main")
        repo.write(contents)
        return repo

    def clone(self, path: Path, *options: str) -> Repo:
        """A clone of this repository, which may be bare."""
        self.git("clone", "-q", *options, f"file://{self.path}", str(path))
        return Repo(path, str(self.root.relative_to(self.path)))

    def git(self, *arguments: str, exit: int = 0) -> str:
        self._clock += 60
        when = f"{1_700_000_000 + self._clock} +0000"
        environment = os.environ | {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        done = subprocess.run(
            ["git", "-C", str(self.path), *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert done.returncode == exit, f"git {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def write(self, contents: Mapping[str, str | bytes]) -> None:
        for path, content in contents.items():
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)

    def edit(self, path: str, old: str, new: str) -> None:
        before = (self.root / path).read_bytes()
        assert before.count(old.encode()) == 1, f"{old!r} is not in {path} once"
        (self.root / path).write_bytes(before.replace(old.encode(), new.encode()))

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def delete(self, path: str) -> None:
        place = self.root / path
        shutil.rmtree(place) if place.is_dir() else place.unlink()

    def move(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)

    def commit(self, message: str = "a change") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str, start: str = "main") -> None:
        self.git("switch", "-q", "-c", name, start)

    def switch(self, name: str) -> None:
        self.git("switch", "-q", name)

    def tau(self, *arguments: str, exit: int = 0) -> Outcome:
        """Call tau-compile in the root; in this process, which is quick."""
        outcome = run(arguments, self.root)
        assert outcome.exit == exit, f"exit {outcome.exit}\n{outcome.stdout}{outcome.stderr}"
        return outcome

    def process(self, *arguments: str, **variables: str) -> Outcome:
        """Call tau-compile as a process of its own."""
        wanted = {name: value for name, value in os.environ.items() if name.startswith("GIT_")}
        return run_process(arguments, self.root, **{**wanted, "HOME": str(self.path), **variables})

    def build(self, *options: str, exit: int = 0) -> dict[str, list[str]]:
        """Build, and say which runs each verb was about."""
        outcome = self.tau("build", "--format", "json", *options, exit=exit)
        found: dict[str, list[str]] = {}
        for action in json.loads(outcome.stdout)["actions"] if exit == 0 else ():
            found.setdefault(action["verb"], []).append(action["run"])
        return found

    def check(self, *options: str, exit: int = 0) -> dict[str, Any]:
        """Check; the answer as JSON. Nothing in the tree changes."""
        before = self.snapshot()
        outcome = self.tau("check", "--format", "json", *options, exit=exit)
        assert self.snapshot() == before
        answer: dict[str, Any] = json.loads(outcome.stdout)
        return answer

    def launch(self, message: str = "launch") -> dict[str, list[str]]:
        """What the serialised job on the base branch does: build and commit."""
        built = self.build()
        self.commit(message)
        return built

    def records(self) -> dict[str, dict[str, Any]]:
        """Records by run id; no two workspaces have the same one in these tests."""
        return {
            path.stem: json.loads(path.read_bytes()) for path in sorted((self.root / "runs").glob("*/*.json"))
        }

    def states(self) -> dict[str, str]:
        """The state of each run by the name of its workload, with ``/2`` and so on for later attempts; one a workload."""
        found = {}
        for record in self.records().values():
            name = record["name"] + (f"/{record['attempt']}" if record["attempt"] > 1 else "")
            assert name not in found, f"two runs of {name}"
            found[name] = record["state"]
        return found

    def run_of(self, name: str) -> str:
        (run,) = (run for run, record in self.records().items() if record["name"] == name)
        return run

    def rendered(self) -> set[str]:
        """Run ids whose manifests are in the tree."""
        return {path.name for path in self.root.glob("rendered/*/runs/*/*") if path.name != "anchor"}

    def snapshot(self) -> dict[str, tuple[bytes, int]]:
        """Content and time of every file that is not Git's or the writer's own."""
        found = {}
        for path in sorted(self.path.rglob("*")):
            top = path.relative_to(self.path).parts[0]
            if path.is_file() and top not in (".git", ".tau-compile"):
                found[str(path.relative_to(self.path))] = (path.read_bytes(), path.stat().st_mtime_ns)
        return found

    def files_of(self, run: str) -> dict[str, bytes]:
        """A run's record and manifests, by path from the root."""
        places = [*self.root.glob(f"runs/*/{run}.json"), *self.root.glob(f"rendered/*/runs/*/{run}/*")]
        return {str(path.relative_to(self.root)): path.read_bytes() for path in sorted(places)}

    def end(self, run: str, outcome: str = "succeeded", name: str = "0001-end.json") -> None:
        """What the collector commits when a run ends."""
        (record,) = (json.loads(path.read_bytes()) for path in self.root.glob(f"runs/*/{run}.json"))
        statement = {"predicate": {"run": run, "namespace": record["namespace"], "outcome": outcome}}
        self.write(
            {f"evidence/{record['cluster']}/{record['digest'][:2]}/{run}/{name}": json.dumps(statement)}
        )

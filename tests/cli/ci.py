"""Git repositories and CI jobs as tests need them: the shell of the stubs that `init` writes is really run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import yaml

from tests.support.cli import run
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WORKFLOW = ".github/workflows/tau-compile.yml"
SOURCE = "workloads/research/{0}/tau.yaml"


def environment(**more: str) -> dict[str, str]:
    """Nothing of this machine's Git settings."""
    who = {
        f"GIT_{role}_{what}": "t@example.com"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    fixed = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    return {**fixed, **who, "PYTHONDONTWRITEBYTECODE": "1", **more}


def git(folder: Path, *arguments: str) -> str:
    """Call Git; what it printed."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr}"
    return done.stdout.strip()


def commit(folder: Path, message: str = "a change") -> str:
    """Commit everything; the commit."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def workflow(text: str) -> dict[str, Any]:
    """A workflow file. YAML 1.1 takes its key `on` for a boolean."""
    read = yaml.safe_load(text)
    assert isinstance(read, dict)
    return {"on" if key is True else key: value for key, value in read.items()}


def uncommented(text: str, first: str) -> str:
    """The comment block that starts with the line ``first``, as if its comment signs were taken out."""
    lines = text.splitlines()
    start = next(place for place, line in enumerate(lines) if line.strip() == first)
    found = []
    for line in lines[start:]:
        bare = line.strip()
        if not bare.startswith("#"):
            break
        pad = line[: len(line) - len(line.lstrip())]
        found.append(pad + bare.removeprefix("#").removeprefix(" "))
    return "\n".join(found) + "\n"


class Runner:
    """A machine that runs jobs: a folder of programs, among them a ``tau-compile`` that may be interfered with."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        self.meanwhile = folder / "meanwhile.sh"
        self.installed = folder / "installed"
        self.program("python", f'echo "$@" >>"{self.installed}"')
        self.program("sleep", ":")
        # After a build, once: what somebody else does at this moment.
        self.program(
            "tau-compile",
            f'PYTHONPATH="{ROOT}" "{sys.executable}" -m tau_compile "$@" || exit\n'
            f'[ "$1" = build ] || exit 0\n'
            f'if [ -f "{self.meanwhile}" ]; then . "{self.meanwhile}"; fi',
        )

    def program(self, name: str, body: str) -> None:
        """Add a program to the machine."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def start(self, folder: Path, script: str, **variables: str) -> subprocess.Popen[str]:
        """Start one `run:` block, as GitHub and GitLab do."""
        values = environment(PATH=f"{self.bin}{os.pathsep}{os.environ['PATH']}", **variables)
        command = ["bash", "-e", "-c", script]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=folder, env=values, stdout=pipe, stderr=pipe, text=True)

    def run(self, folder: Path, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run one block to its end."""
        process = self.start(folder, script, **variables)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(script, process.returncode, out, err)

    def steps(
        self, folder: Path, job: Mapping[str, Any], context: Mapping[str, str], **variables: str
    ) -> list[subprocess.CompletedProcess[str]]:
        """Run all `run:` steps of a GitHub job in a checkout, up to the first that fails."""
        done = []
        for step in job["steps"]:
            if "run" not in step:
                continue
            given = {name: context[value] for name, value in step.get("env", {}).items()}
            done.append(self.run(folder, step["run"], **variables, **given))
            if done[-1].returncode != 0:
                break
        return done


class Forge:
    """A bare repository that people and jobs clone, and a machine that runs the jobs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.remote = folder / "remote.git"
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main", "remote.git")
        git(self.remote, "config", "receive.advertisePushOptions", "true")
        git(folder, "init", "--quiet", "--initial-branch=main", "first")
        assert run(["init", "first"], folder).exit == 0
        commit(folder / "first", "Start")
        git(folder / "first", "push", "--quiet", str(self.remote), "main")
        self.runner = Runner(folder / "machine")

    def clone(self, name: str, branch: str = "main", detach: bool = True) -> Path:
        """A checkout as a runner makes it."""
        git(self.folder, "clone", "--quiet", f"--branch={branch}", str(self.remote), name)
        if detach:
            git(self.folder / name, "checkout", "--quiet", "--detach")
        return self.folder / name

    def add(self, clone: Path, name: str, branch: str = "main") -> None:
        """Commit and push another workload."""
        source = clone / SOURCE.format(name)
        source.parent.mkdir(parents=True, exist_ok=True)
        text = (clone / SOURCE.format("hello")).read_text().replace("name: hello", f"name: {name}")
        source.write_text(text)
        (source.parent / "main.py").write_text(f"print({name!r})\n")
        commit(clone, f"Add {name}")
        git(clone, "push", "--quiet", "origin", f"HEAD:{branch}")

    def files(self, branch: str = "main") -> list[str]:
        return git(self.remote, "ls-tree", "-r", "--name-only", branch).splitlines()

    def runs(self, branch: str = "main") -> list[str]:
        """The names of the workloads that have runs, one for each run."""
        found = [re.match(r"runs/research/(.+)-[0-9a-f]{8}\.json", path) for path in self.files(branch)]
        return [match[1] for match in found if match]

    def subjects(self, branch: str = "main") -> list[str]:
        return git(self.remote, "log", "--format=%s", branch).splitlines()

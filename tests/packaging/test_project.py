"""The project's own machinery says one thing in all places."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from typing import TYPE_CHECKING

import yaml

from tests.demo import main
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_continuous_integration_runs_what_the_readme_names() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert "make test" in " ".join(step.get("run", "") for step in job["steps"])
    for step in job["steps"]:
        assert "uses" not in step or re.fullmatch(r"[\w/-]+@v\d+\.\d+\.\d+", step["uses"])
    known = {
        c.rpartition(" ")[2]
        for c in PROJECT["project"]["classifiers"]
        if c.startswith("Programming Language")
    }
    assert set(job["strategy"]["matrix"]["python"]) == known
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text(encoding="utf-8")
    assert "`make test`" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_make_explains_its_targets() -> None:
    # `make test` runs this test: what it tells its own children must not reach this call.
    quiet = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    }
    said = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True, env=quiet).stdout
    told = {line.split()[0] for line in said.splitlines()}
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony
    assert told == set(phony[1].split()) - {"check-docs"}
    assert {"demo", "test", "tools", "schemas", "bench", "corpus"} <= told


def test_the_pre_commit_hook_takes_the_files_that_are_meant() -> None:
    hook, check = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert (hook["id"], hook["entry"]) == ("tau-validate", "tau-compile validate")
    assert (check["id"], check["entry"]) == ("tau-compile-check", "tau-compile check --pending")
    meant = re.compile(hook["files"])
    for path in ("tau.yaml", "workloads/a/b/tau.yml", "x/.tau.yaml", "overlays/clusters/c.yaml"):
        assert meant.search(path), path
    for path in ("atau.yaml", "rendered/c/runs/w/r/job-r.yaml", "x/overlays/c.yaml", "tau.yaml.bak"):
        assert not meant.search(path), path


def test_the_demonstration_shows_every_example(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    said = capfd.readouterr()
    names = sorted(path.parent.name for path in ROOT.glob("examples/*/tau.yaml"))
    assert len(names) >= 8
    assert sorted(path.stem for path in tmp_path.glob("*.yaml")) == names
    for name in names:
        assert f"  tau-compile render examples/{name}/tau.yaml > " in said.out
    assert "\n    kind: RayJob\n" in said.out
    assert said.err == ""

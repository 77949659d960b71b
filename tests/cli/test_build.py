"""The verbs that build: what they load, how often they plan, and what they print."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tau_compile.runs.plan import plan
from tests.replay.repo import Repo, files
from tests.support.cli import run
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

TRAIN = "workloads/vision/train/tau.yaml"
LOADED = """
import sys
from tau_compile.cli import main
try:
    main(sys.argv[1:])
except SystemExit as ended:
    assert not ended.code, ended.code
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.create(tmp_path / "repo", files(), git=False)
    made.tau("build")
    return made


def _loaded(repo: Repo, *arguments: str) -> set[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments],
        cwd=repo.root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [["build"], ["check"], ["check", "--format", "json"]])
def test_nothing_to_do_loads_little(repo: Repo, arguments: list[str]) -> None:
    loaded = _loaded(repo, *arguments)
    assert "yaml" in loaded  # the overlays are read
    assert not loaded & {
        "jinja2",
        "jsonschema",
        "ruamel",
        "kubernetes",
        "importlib_metadata",
        "asyncio",
        "logging",
        "pickle",
    }
    assert not loaded & {"subprocess", "tempfile", "multiprocessing"}  # no Git to ask, nothing to hand out


def test_a_launch_loads_no_validator(repo: Repo) -> None:
    repo.edit(TRAIN, "4h", "5h")
    assert not _loaded(repo, "build") & {"jsonschema", "ruamel", "kubernetes", "multiprocessing", "tempfile"}


@pytest.mark.parametrize("verb", ["build", "check"])
def test_a_verb_plans_once(repo: Repo, verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def planned(*arguments: Any) -> Any:
        calls.append(verb)
        return plan(*arguments)

    monkeypatch.setattr("tau_compile.checkout.builder.plan", planned)
    repo.end(repo.run_of("train"))
    repo.tau(verb)
    assert calls == [verb]


def test_check_says_the_same_as_text_and_as_json(repo: Repo) -> None:
    repo.edit(TRAIN, "4h", "5h")
    repo.end(repo.run_of("eval"))
    text = repo.tau("check", exit=3)
    answer = json.loads(repo.tau("check", "--format", "json", exit=3).stdout)
    assert answer.keys() == {"differences", "pending", "notes", "mend", "diagnostics"}
    lines = text.stdout.splitlines()
    assert [line for line in lines if line[0] != " "] == [
        *(finding["text"] for finding in answer["differences"]),
        *(f"pending: {finding['text']}" for finding in answer["pending"]),
    ]
    assert text.stderr == f"not up to date: run `{answer['mend']}`, then commit runs/ and rendered/\n"


def test_the_command_that_mends_is_the_one_to_type(repo: Repo, tmp_path: Path) -> None:
    repo.edit(TRAIN, "4h", "5h")
    outcome = run(["check", "--repository", "repo"], tmp_path)
    assert outcome.exit == 3
    assert "run `tau-compile build --repository repo`" in outcome.stderr
    assert run(["build", "--repository", "repo"], tmp_path).exit == 0
    assert run(["check", "--repository", "repo"], tmp_path) == (0, "", "up to date\n")
    assert run(["check"], repo.root / "workloads") == (0, "", "up to date\n")


def test_many_files_of_one_run_are_not_all_listed(repo: Repo) -> None:
    run_id = repo.run_of("train")
    repo.edit(TRAIN, "max_duration: 4h", "max_duration: 5h\n  on_change: replace")
    repo.edit(TRAIN, "runtime:", "execution: {launcher: torchrun, nodes: 2}\nruntime:")
    lines = repo.tau("check", exit=3).stdout.splitlines()
    assert lines[0].startswith("launches train-")
    assert any(line.startswith(f"cancels {run_id}: train-") for line in lines)
    assert sum(line.startswith("  missing: ") for line in lines) <= 6


def test_errors_of_many_files_come_all_at_once_and_nothing_is_written(repo: Repo) -> None:
    before = repo.snapshot()
    repo.edit(TRAIN, "gpus:", "gpu:")
    repo.edit("workloads/speech/asr/tau.yaml", "gpus:", "gpu:")
    repo.edit("workloads/vision/eval/tau.yaml", "4h", "5h")
    outcome = repo.tau("build", exit=1)
    assert outcome.stderr.count("error TAU201") == 2
    assert outcome.stdout == ""
    changed = {path for path, value in repo.snapshot().items() if before.get(path) != value}
    assert not any(path.startswith(("runs/", "rendered/")) for path in changed)
    assert len(json.loads(repo.tau("check", "--format", "json", exit=1).stdout)["diagnostics"]) == 2


def test_overlays_with_errors(repo: Repo) -> None:
    repo.edit("overlays/platform.yaml", "lab", "LAB")
    for verb in (["build"], ["check"], ["adopt", "workloads"]):
        assert "overlays/platform.yaml:3:18: error" in repo.tau(*verb, exit=1).stderr


def test_a_project_file_with_errors(repo: Repo) -> None:
    repo.write({"tau-compile.yaml": "launch: {max_run: 1}\n"})
    for verb in (["build"], ["check"], ["adopt", "workloads"], ["cancel", "x"], ["rerun", TRAIN]):
        assert "tau-compile.yaml:1:10: error TAU201" in repo.tau(*verb, exit=2).stderr


def test_an_empty_repository(tmp_path: Path) -> None:
    assert run(["build"], tmp_path) == (0, "nothing to do; no file changes\n", "")
    assert run(["check"], tmp_path) == (0, "", "up to date\n")
    assert run(["list"], tmp_path).stdout.split() == ["RUN", "STATE", "WORKSPACE", "GPUS", "AGE", "SOURCE"]


def test_a_folder_that_cannot_be_written_is_checked(repo: Repo) -> None:
    """`check` takes no lock and leaves no trace."""
    lock = repo.root / ".tau-compile"
    for path in sorted(lock.iterdir()):
        path.unlink()
    lock.rmdir()
    repo.tau("check")
    assert not lock.exists()

"""What a machine may do to a build: links, folders that cannot be read, locales, Git's settings and its environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tau_compile.checkout import launch
from tests.replay.repo import Repo, files, workload
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TRAIN = "workloads/vision/train/tau.yaml"
# Names of files are bytes, and this is a locale that knows letters of ASCII only.
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize(
    "place",
    ["runs", "runs/vision", "rendered", "rendered/east", "rendered/east/runs", "rendered/east/runs/vision"],
)
def test_a_link_in_the_place_of_a_folder(launched: Repo, place: str) -> None:
    """Git keeps the link, so an agent would find nothing, and prune what runs."""
    launched.move(place, "elsewhere")
    (launched.root / place).symlink_to(launched.root / "elsewhere")
    for verb, code in (("check", 3), ("build", 1)):
        outcome = launched.tau(verb, exit=code)
        assert (
            f"{place}:1:1: error TAU744: a symbolic link stands in the place of the folder" in outcome.stderr
        )
        assert "up to date\n" not in outcome.stderr.splitlines()
    (launched.root / place).unlink()
    launched.git("checkout", "--", place)
    launched.delete("elsewhere")
    assert launched.build().keys() == {"keep"}


def test_a_link_in_the_place_of_a_run(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.move(f"rendered/east/runs/vision/{run}", "elsewhere")
    (launched.root / f"rendered/east/runs/vision/{run}").symlink_to("../../../../elsewhere")
    assert "TAU744" in launched.tau("check", exit=3).stderr
    # Links that lead to no folder, or that are none of ours, are no matter here.
    (launched.root / f"rendered/east/runs/vision/{run}").unlink()
    launched.move("elsewhere", f"rendered/east/runs/vision/{run}")
    (launched.root / "rendered/east/notes").symlink_to("../../overlays")
    (launched.root / "runs/vision/notes.txt").symlink_to("notes.txt")
    assert launched.build().keys() == {"keep"}


@pytest.mark.parametrize(
    "place",
    ["runs/vision", "rendered/east/runs/vision", "workloads/vision", "overlays/workspaces", "evidence/east"],
)
def test_a_folder_that_cannot_be_read_is_not_taken_for_an_empty_one(
    launched: Repo, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may read all, so the refusal is made up."""
    launched.end(launched.run_of("train"))
    refused = os.path.join(launched.root, place)

    def guarded(real: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def call(path: Any = ".") -> Any:
            if os.fspath(path) == refused:
                raise PermissionError(13, "Permission denied", path)
            return real(path)

        return call

    monkeypatch.setattr(os, "listdir", guarded(os.listdir))
    monkeypatch.setattr(os, "scandir", guarded(os.scandir))
    for verb in ("build", "check"):
        assert refusal(launched, verb) == f"{refused}: Permission denied"
    assert not launched.git("status", "--short", "runs", "rendered")


def refusal(repo: Repo, verb: str) -> str:
    """What the program says, in this process, of what the system refuses."""
    from click.testing import CliRunner

    from tau_compile.cli import cli

    result = CliRunner().invoke(cli, [verb, "--repository", str(repo.root)])
    assert isinstance(result.exception, OSError), result.output
    return f"{result.exception.filename}: {result.exception.strerror}"


def test_a_record_is_read_back_however_large_it_may_be(launched: Repo) -> None:
    """A tau.yaml of 1 MiB at the most has a record of several."""
    folder = "workloads/vision/" + "/".join(["x" * 60] * 4)
    variables = "".join(f"    V{number}: abc\n" for number in range(9000))
    launched.write(
        {f"{folder}/tau.yaml": workload("big") + f"  env:\n{variables}", f"{folder}/train.py": "print(1)\n"}
    )
    launched.build()
    (record,) = launched.root.glob("runs/vision/big-*.json")
    assert record.stat().st_size > 2 << 20
    launched.commit("big")
    assert launched.build().keys() == {"keep"}
    record.write_bytes(record.read_bytes() + b" " * (3 << 20))
    assert "error TAU731: the run record is larger than 4 MiB" in launched.tau("build", exit=1).stderr


def test_a_record_that_would_be_too_large_is_not_launched(
    launched: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched.edit(TRAIN, "4h", "5h")
    monkeypatch.setattr(launch, "MAX_BYTES", 1 << 10)
    assert f"{TRAIN}:1:1: error TAU745: the record of train-" in launched.tau("build", exit=1).stderr
    assert launched.git("status", "--short", "runs", "rendered") == ""


def test_names_are_the_same_in_every_locale(repo: Repo) -> None:
    folder = "workloads/vision/größe"
    repo.write(
        {
            f"{folder}/tau.yaml": workload("size").replace("  entry", "  working_dir: .\n  entry"),
            f"{folder}/train.py": "print(1)\n",
            f"{folder}/länge.py": "print('ä')\n",
        }
    )
    repo.commit("letters")
    built = repo.process("build", **ASCII)
    assert (built.exit, built.stderr) == (0, "")
    assert repo.build().keys() == {"launch"}
    assert repo.check()["differences"] == []  # the drafts of the one are the drafts of the other
    assert repo.records()[repo.run_of("size")]["source"] == f"{folder}/tau.yaml"
    repo.commit("launch")
    assert f"  {folder}/tau.yaml\n" in repo.process("list", **ASCII).stdout
    assert repo.process("check", **ASCII).exit == 0


def test_a_work_tree_that_lies_elsewhere(launched: Repo, tmp_path: Path) -> None:
    """Paths at the base would count from there, and every run would look like a draft."""
    launched.git("config", "core.worktree", str(tmp_path))
    for verb in ("build", "check"):
        assert "by `core.worktree`; there is no .git in it" in launched.tau(verb, exit=2).stderr
    assert len(launched.records()) == 3


@pytest.mark.parametrize(
    "variables",
    [
        {"GIT_TRACE": "1", "GIT_TRACE2": "1"},
        {"GIT_INTERNAL_SUPER_PREFIX": "x/"},
        {"GIT_LITERAL_PATHSPECS": "1", "GIT_ICASE_PATHSPECS": "1"},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.quotepath", "GIT_CONFIG_VALUE_0": "false"},
        {"TZ": "Asia/Tokyo", "SOURCE_DATE_EPOCH": "1", "PYTHONHASHSEED": "7"},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_variables_that_change_no_answer(
    launched: Repo, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    launched.git("switch", "-q", "--orphan", "strange")  # Git answers with an exit code, and no text
    launched.git("checkout", "main", "--", ".")
    launched.commit("histories without a common commit")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert launched.tau("build").stdout == "keeps 3 runs; no file changes\n"
    assert "3 commits" not in launched.tau("list").stdout


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("diff.orderFile", "nowhere"),
        ("diff.relative", "true"),
        ("diff.external", "false"),
        ("log.diffMerges", "off"),
        ("log.showSignature", "true"),
    ],
)
def test_settings_of_git_that_change_no_answer(tmp_path: Path, name: str, value: str) -> None:
    """The ages of runs and the sources that one was launched from, in a repository below the top."""
    repo = Repo.create(tmp_path / "top", files(), "below")
    repo.commit("sources")
    repo.branch("launch")
    repo.launch()
    repo.git("switch", "-q", "main")
    repo.write({"notes.txt": "1"})
    repo.commit("other work")
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "launch")
    repo.write({"notes.txt": "2"})
    repo.commit("more work")
    run = repo.run_of("train")
    repo.edit(TRAIN, "64Gi", "65Gi")
    question = ("explain", run, "Job:spec.template.spec.containers[0].resources.limits.memory")
    before = [repo.tau("list").stdout, repo.tau(*question).stdout]
    assert before[0].count("1 commit ") == 3
    assert f"{TRAIN}:6:28" in before[1]
    repo.git("config", name, value)
    assert [repo.tau("list").stdout, repo.tau(*question).stdout] == before


def test_what_git_cannot_answer_is_no_wrong_usage(launched: Repo) -> None:
    launched.git("branch", "-m", "trunk")
    assert launched.tau("build", exit=2).stderr.startswith("Error: the base branch `main` is not in this")
    head = launched.git("rev-parse", "HEAD").strip()
    for path in sorted((launched.root / ".git/objects").glob("??/*")):
        if path.parent.name + path.name != head:
            path.unlink()
    for verb in ("list", "check", "build"):
        assert launched.tau(verb, exit=2).stderr.startswith("Error: "), verb


def test_a_full_disk_is_said_once(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tau_compile.emit.state.State.commit", full)
    said = "tau-compile: nothing was written: no space left on device\n"
    assert repo.tau("build", exit=1).stderr == said
    assert not (repo.root / "runs").exists()


def test_a_safe_directory_that_the_environment_names(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ships is what Git tracks, and Git is asked in the same way everywhere."""
    repo.edit(TRAIN, "entrypoint", "working_dir: .\n  entrypoint")
    repo.commit("a working directory")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    for name, value in (("COUNT", "1"), ("KEY_0", "safe.directory"), ("VALUE_0", "*")):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert len(repo.build()["launch"]) == 3


def test_a_file_that_never_was_a_record_can_be_removed(launched: Repo) -> None:
    launched.write({"runs/vision/settings.json": "{}", "runs/other/x.json": "[]"})
    assert "error TAU731" in launched.tau("build", exit=1).stderr
    launched.commit("merged all the same")
    launched.branch("mend")
    launched.delete("runs/vision/settings.json")
    launched.delete("runs/other")
    assert launched.build().keys() == {"keep"}
    assert launched.check()["differences"] == []


def test_nothing_to_do_loads_no_template_engine(launched: Repo) -> None:
    """Records, evidence and Git's answers are read with what Python brings."""
    launched.end(launched.run_of("asr"))
    launched.launch("retire")
    script = (
        "import sys\nfrom tau_compile.cli import main\ntry:\n    main(sys.argv[1:])\nexcept SystemExit as ended:\n"
        "    assert not ended.code\nprint(*sorted({name.partition('.')[0] for name in sys.modules}))\n"
    )
    for verb in (["build"], ["check"], ["check", "--base", "main"]):
        done = subprocess.run(
            [sys.executable, "-c", script, *verb],
            cwd=launched.root,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        loaded = set(done.stdout.splitlines()[-1].split())
        assert "subprocess" in loaded  # Git was asked
        assert not loaded & {
            "jinja2",
            "jsonschema",
            "referencing",
            "ruamel",
            "kubernetes",
            "asyncio",
            "logging",
        }


def test_concurrent_builds_leave_the_tree_of_one(launched: Repo) -> None:
    launched.edit(TRAIN, "4h", "5h")
    command = [sys.executable, "-m", "tau_compile", "build", "--format", "json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen(command, cwd=launched.root, env=environment, stdout=-1, stderr=-1) for _ in range(4)
    ]
    answers = [(*process.communicate(), process.returncode) for process in running]
    assert {code for *_, code in answers} <= {0, 1}
    assert all(b"another tau-compile is writing here" in err for _, err, code in answers if code == 1)
    assert sum(json.loads(out)["written"] for out, _, code in answers if code == 0) == 4
    assert launched.check()["differences"] == []


def test_a_mask_that_hides_new_files_is_no_difference(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "repo", files())
    repo.commit("sources")
    before = os.umask(0o077)
    try:
        repo.build()
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (repo.root / "runs").glob("*/*.json")} == {0o600}
    repo.commit("launch")
    modes = {line[:6] for line in repo.git("ls-files", "--stage", "runs", "rendered").splitlines()}
    assert modes == {"100644"}
    assert repo.check()["differences"] == []


@pytest.mark.parametrize("below", ["a\nb", "[a]*", ":(top)", 'tab\t"q', "ü x", "-x"])
def test_a_root_of_an_odd_name(tmp_path: Path, below: str) -> None:
    repo = Repo.create(tmp_path / "top", files(), below)
    repo.commit("sources")
    repo.launch()
    assert repo.check()["differences"] == []
    assert "0 commits" in repo.tau("list").stdout
    repo.edit(TRAIN, "4h", "5h")
    assert len(repo.build()["launch"]) == 1


def test_temporary_files_find_no_place(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many new runs wait in one until they are written."""
    repo.write({"tau-compile.yaml": "launch: {max_runs: 1000}\n"})
    for number in range(130):
        folder = f"workloads/vision/many/{number}"
        repo.write({f"{folder}/tau.yaml": workload(f"m{number}"), f"{folder}/train.py": "1\n"})
    monkeypatch.setattr("tempfile.TemporaryFile", partial(open, "/dev/full", "r+b", 0))
    assert refusal(repo, "build") == "None: No space left on device"
    assert not (repo.root / "runs").exists()

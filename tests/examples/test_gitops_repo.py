"""The complete repository in examples/gitops-repo, with its runs as they were launched.

What is in its runs/ and rendered/ is frozen, as it is in any repository: newer templates, overlays and versions of
tau-compile leave it alone, so these tests never render it again. Who changes its workloads on purpose, before they count
as launched anywhere, makes both folders from scratch:

    python -m tests.examples.test_gitops_repo
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.ci import commit, git
from tests.support.cli import run, run_process
from tests.support.tools import ROOT, kubeconform

HERE = ROOT / "examples" / "gitops-repo"
MADE = ("runs", "rendered")
DAY = "2026-12-01"  # within the waiver of one of the workloads
SOURCES = sorted(path.relative_to(HERE).as_posix() for path in HERE.glob("workloads/*/*/tau.yaml"))
NOTHING_TO_DO = "keeps 8 runs; no file changes\n"
UP_TO_DATE = (0, "", "up to date\n")


def copy(folder: Path, *left_out: str) -> Path:
    """Copy the repository into a folder; what a look around left behind stays."""
    ignored = shutil.ignore_patterns("__pycache__", ".tau-compile", *left_out)
    shutil.copytree(HERE, folder, ignore=ignored)
    return folder


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Content and time of every file that is committed."""
    names = git(folder, "ls-files").splitlines()
    return {name: ((folder / name).read_bytes(), (folder / name).stat().st_mtime_ns) for name in names}


def records() -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted(HERE.glob("runs/*/*.json"))]


@pytest.fixture
def launched(tmp_path: Path) -> Path:
    """A copy whose only branch is main, with everything committed: all runs count as launched."""
    folder = copy(tmp_path / "repository")
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)
    return folder


def test_one_cluster_two_teams_eight_workloads() -> None:
    assert len(list(HERE.glob("overlays/clusters/*.yaml"))) == 1
    assert Counter(source.split("/")[1] for source in SOURCES) == {"vision": 4, "language": 4}
    found = records()
    assert sorted(record["source"] for record in found) == SOURCES
    assert {record["state"] for record in found} == {"active"}
    assert Counter(record["kind"] for record in found) == {"job": 5, "rayjob": 3}
    table = re.findall(r"^\| `(\S+)` \|", (HERE / "README.md").read_text(), re.MULTILINE)
    assert sorted(f"workloads/{name}/tau.yaml" for name in table) == SOURCES


def test_every_rendered_file_belongs_to_a_run_an_anchor_or_a_workspace() -> None:
    wanted = {
        f"rendered/{r['cluster']}/runs/{r['workspace']}/{r['run']}/{name}"
        for r in records()
        for name in r["manifests"]
    }
    there = {path.relative_to(HERE).as_posix() for path in HERE.glob("rendered/**/*") if path.is_file()}
    assert wanted < there
    teams = ("language", "vision")
    others = [f"rendered/gpu-east/runs/{team}/anchor" for team in teams]
    others += [f"rendered/gpu-east/workspaces/{team}" for team in teams]
    assert sorted({path.rpartition("/")[0] for path in there - wanted}) == others


def test_every_kustomization_lists_its_folder() -> None:
    found = sorted(HERE.glob("rendered/**/kustomization.yaml"))
    assert len(found) == len(SOURCES) + 2 * 2
    for path in found:
        beside = sorted(other.name for other in path.parent.iterdir() if other != path)
        assert yaml.safe_load(path.read_text())["resources"] == beside


def test_kubeconform_accepts_every_object() -> None:
    objects = [path for path in HERE.glob("rendered/**/*.yaml") if path.name != "kustomization.yaml"]
    results = kubeconform(objects)
    assert len(results) == len(objects) > 2 * len(SOURCES)
    assert [result for result in results if not result.valid] == []


@pytest.mark.parametrize("arguments", [[], ["--base", "main"], ["--base", "HEAD"]], ids=" ".join)
def test_check_finds_nothing(launched: Path, arguments: list[str]) -> None:
    assert run(["check", *arguments], launched) == UP_TO_DATE


def test_build_changes_nothing(launched: Path) -> None:
    before = state(launched)
    built = run(["build"], launched)
    assert (built.exit, built.stdout, built.stderr) == (0, NOTHING_TO_DO, "")
    assert state(launched) == before
    assert git(launched, "status", "--porcelain") == ""


def test_without_git_everything_counts_as_launched(tmp_path: Path) -> None:
    folder = copy(tmp_path / "repository")
    assert run(["check"], folder) == UP_TO_DATE
    assert run(["build"], folder).stdout == NOTHING_TO_DO


def test_list_shows_every_run(launched: Path) -> None:
    rows = json.loads(run(["list", "--format", "json"], launched).stdout)
    assert sorted(row["source"] for row in rows) == SOURCES
    assert {(row["state"], row["commits_ago"]) for row in rows} == {("active", 0)}


def test_in_a_folder_of_a_larger_repository(tmp_path: Path) -> None:
    """As in a clone of this project: Git's top is two folders further up."""
    top = tmp_path / "origin"
    inside = copy(top / "examples" / "gitops-repo")
    (top / "examples" / "other").mkdir()
    (top / "examples" / "other" / "tau.yaml").write_text("not: one of ours\n")
    git(top, "init", "--quiet", "--initial-branch=main")
    commit(top)
    assert run(["check"], inside) == UP_TO_DATE
    assert run(["check", "--repository", "examples/gitops-repo"], top) == UP_TO_DATE

    git(tmp_path, "clone", "--quiet", "origin", "clone")
    git(tmp_path / "clone", "checkout", "--quiet", "-b", "a-branch")
    (tmp_path / "clone" / "a-file").write_text("x")
    commit(tmp_path / "clone")
    clone = tmp_path / "clone" / "examples" / "gitops-repo"
    assert run(["check"], clone) == UP_TO_DATE
    assert run(["build"], clone).stdout == NOTHING_TO_DO

    program = clone / "workloads/vision/shapes-eval/evaluate.py"
    program.write_text(program.read_text() + "print('more')\n")
    waiting = run(["check"], clone)  # for a higher `run.attempt`
    assert (waiting.exit, waiting.stderr) == (0, "up to date\n")
    assert "shapes-eval/tau.yaml" in waiting.stdout
    program = clone / "workloads/language/letters/train.py"
    program.write_text(program.read_text() + "# more\n")
    said = run(["check"], clone)
    assert said.exit == 3
    assert "launches letters-" in said.stdout
    assert "byte-model" not in said.stdout


def test_changes_that_are_no_other_intent_launch_nothing(launched: Path) -> None:
    """Every source is read again, because its bytes have changed, and every run is found again."""
    for source in SOURCES:
        text = (launched / source).read_text()
        (launched / source).write_text(f"# A comment.\n{text.replace('image: ', 'image:   ')}\n")
    for overlay in (launched / "overlays").rglob("*.yaml"):
        overlay.write_text(
            overlay.read_text().replace("Account: training", "Account: trainer").replace("72h", "48h")
        )
    own = launched / "templates"
    own.mkdir()
    text = (ROOT / "templates" / "job.yaml.j2").read_text()
    (own / "job.yaml.j2").write_text(f"# Ours.\n{text}")
    before = state(launched)
    built = run(["build"], launched)
    assert built.exit == 0
    assert built.stdout.splitlines()[-1].startswith("keeps 8 runs, changes 2 workspaces; ")
    changed = {path for path, found in state(launched).items() if found != before[path]}
    assert changed == {
        f"rendered/gpu-east/workspaces/{team}/kustomization.yaml" for team in ("language", "vision")
    }
    accounts = sorted(path.name for path in launched.glob("rendered/gpu-east/workspaces/*/serviceaccount-*"))
    assert accounts == ["serviceaccount-trainer.yaml"] * 2 + ["serviceaccount-training.yaml"] * 2


def test_an_account_that_active_runs_use_stays(launched: Path) -> None:
    overlay = launched / "overlays/workspaces/vision.yaml"
    overlay.write_text(overlay.read_text().replace("training", "trainer"))
    refused = run(["build"], launched)
    assert refused.exit == 1
    assert "error TAU385: the ServiceAccount `training` of namespace `vision` would leave" in refused.stderr
    assert all(run["run"] in refused.stderr for run in records() if run["workspace"] == "vision")


def test_an_edit_launches_one_run_and_replaces_where_asked(launched: Path) -> None:
    program = launched / "workloads/vision/shapes/model.py"  # shipped by two workloads
    program.write_text(program.read_text().replace("generator)", "generator).double()", 1))
    commit(launched)
    made = json.loads(run(["build", "--format", "json"], launched).stdout)
    said = {a["verb"]: a["run"] for a in made["actions"] if a["verb"] != "keep"}
    assert said.keys() == {"cancel", "launch", "notice"}
    assert said["notice"].startswith("shapes-eval")  # it ships the file too, and waits for `run.attempt`
    assert all(re.fullmatch(r"shapes-[0-9a-f]{8}", said[verb]) for verb in ("cancel", "launch"))
    assert Counter(action["verb"] for action in made["actions"])["keep"] == 7


def test_a_changed_manifest_is_noticed(launched: Path) -> None:
    manifest = next(launched.glob("rendered/gpu-east/runs/vision/events-*/job-*.yaml"))
    manifest.write_text(manifest.read_text().replace("debian:12-slim", "debian:13-slim"))
    said = run(["check"], launched)
    assert said.exit == 3
    assert manifest.name in said.stdout


def remake() -> None:
    """Throw runs/ and rendered/ away, and launch all workloads anew."""
    with tempfile.TemporaryDirectory() as folder:
        made = copy(Path(folder, "repository"), *MADE)
        git(made, "init", "--quiet", "--initial-branch=main")
        commit(made)
        outcome = run_process(["build", "--as-of", DAY], made)
        print(outcome.stdout, outcome.stderr, sep="", end="")
        if outcome.exit != 0:
            raise SystemExit(outcome.exit)
        for name in MADE:
            shutil.rmtree(HERE / name, ignore_errors=True)
            shutil.copytree(made / name, HERE / name)


if __name__ == "__main__":
    remake()

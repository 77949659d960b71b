"""``tau-compile init``: what it writes, what it refuses, and that the rest of tau-compile accepts it at once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from tau_compile.cli.init import files, series
from tau_compile.emit import writer
from tests.cli.ci import commit, git, uncommented
from tests.support.cli import Outcome, run, run_process
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FILES = [
    ".gitattributes",
    ".github/CODEOWNERS",
    ".github/workflows/tau-compile.yml",
    ".gitignore",
    ".gitlab-ci.yml",
    ".pre-commit-config.yaml",
    "README.md",
    "ci/build-and-push.sh",
    "overlays/clusters/gpu-cluster.yaml",
    "overlays/platform.yaml",
    "overlays/workspaces/research.yaml",
    "tau-compile.yaml",
    "workloads/research/hello/main.py",
    "workloads/research/hello/tau.yaml",
]


def tree(folder: Path) -> dict[str, bytes]:
    """All files but Git's own and the writer's."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] not in (".git", ".tau-compile")
    }


def times(folder: Path) -> dict[str, int]:
    return {name: (folder / name).stat().st_mtime_ns for name in tree(folder)}


def init(folder: Path, *arguments: str) -> Outcome:
    return run(["init", folder.name, *arguments], folder.parent)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = init(tmp_path / "gitops")
    assert (made.exit, made.stderr) == (0, "")
    return tmp_path / "gitops"


def test_the_files(repository: Path) -> None:
    assert list(tree(repository)) == sorted(FILES)


def test_what_it_says_can_be_typed(tmp_path: Path) -> None:
    made = run(["init", "a folder"], tmp_path)
    assert made.stdout == (
        f"wrote {len(FILES)} files to a folder; a folder/README.md explains them\n\nNext:\n"
        "  cd 'a folder'\n"
        '  git init -b main && git add . && git commit -m "Start"\n'
        "  tau-compile build\n"
    )


def test_the_same_bytes_every_time(repository: Path, tmp_path: Path) -> None:
    made = run_process(["init", "other"], tmp_path, LC_ALL="C", TZ="Asia/Tokyo", PYTHONHASHSEED="7")
    assert made.exit == 0
    assert tree(tmp_path / "other") == tree(repository)
    assert b"\r" not in b"".join(tree(repository).values())


@pytest.mark.parametrize("name, cluster", [("vision", "east"), ("on", "1e3"), ("a" * 63, "007")])
def test_the_names_given_are_used_everywhere(tmp_path: Path, name: str, cluster: str) -> None:
    folder = tmp_path / "gitops"
    assert init(folder, "--name", name, "--cluster", cluster).exit == 0
    texts = tree(folder)
    assert f"overlays/workspaces/{name}.yaml" in texts
    assert f"workloads/{name}/hello/tau.yaml" in texts
    assert f"overlays/clusters/{cluster}.yaml" in texts
    said = [path for path, text in texts.items() if re.search(rb"@[a-z]+@|research/|gpu-cluster", text)]
    assert said == []
    assert run(["build"], folder).exit == 0
    assert list(folder.glob(f"rendered/{cluster}/runs/{name}/hello-*/job-*.yaml"))


@pytest.mark.parametrize("name", ["", "A", "a_b", "-a", "a-", "a.b", "a/b", "..", "ä", "a" * 64, "a\n"])
@pytest.mark.parametrize("option", ["--name", "--cluster"])
def test_names_that_cannot_be(tmp_path: Path, option: str, name: str) -> None:
    made = init(tmp_path / "gitops", option, name)
    assert made.exit == 2
    assert f"Invalid value for '{option}'" in made.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", ["README.md", ".gitignore", "overlays/x.yaml"])
def test_a_folder_that_is_not_empty(tmp_path: Path, there: str) -> None:
    folder = tmp_path / "gitops"
    (folder / there).parent.mkdir(parents=True)
    (folder / there).write_text("mine")
    (folder / ".git").mkdir()
    made = init(folder)
    assert made.exit == 2
    assert f"Error: gitops is not empty: {there.split('/')[0]}\n" in made.stderr
    assert tree(folder) == {there: b"mine"}
    assert not (folder / ".tau-compile").exists()


def test_a_second_time_changes_nothing(repository: Path) -> None:
    before, when = tree(repository), times(repository)
    made = init(repository, "--name", "vision")
    assert made.exit == 2
    assert "gitops is not empty: .gitattributes, .github, .gitignore and 7 more" in made.stderr
    assert (tree(repository), times(repository)) == (before, when)


def test_a_file_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "gitops").write_text("mine")
    assert init(tmp_path / "gitops").exit == 2
    assert (tmp_path / "gitops").read_text() == "mine"


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    made = run(["init", "file/gitops"], tmp_path)
    assert made.exit == 1
    assert made.stderr.startswith("tau-compile: nothing was written: ")


def test_killed_at_any_moment_it_is_all_or_nothing(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tree(repository)
    steps: list[str] = []
    apply = writer.apply
    monkeypatch.setattr(writer, "apply", lambda root, change: apply(root, change, steps.append))
    assert init(tmp_path / "counted").exit == 0
    assert len(steps) > len(whole)
    finished = 0
    for number in range(0, len(steps), 5):
        folder = tmp_path / f"killed-{number}"
        child = os.fork()
        if child == 0:
            left = iter(range(number))
            monkeypatch.setattr(
                writer,
                "apply",
                lambda root, change, left=left: apply(
                    root, change, lambda _: None if next(left, None) is not None else os._exit(9)
                ),
            )
            init(folder)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        again = init(folder)
        assert again.exit == 0
        finished += "completed an interrupted init" in again.stderr
        assert tree(folder) == whole, steps[number]
    assert 0 < finished < len(range(0, len(steps), 5))


def test_accepted_without_git(repository: Path) -> None:
    source = tree(repository)
    assert run(["validate"], repository) == (0, "", "4 files: OK\n")
    assert run(["check"], repository).exit == 3
    pending = run(["check", "--pending"], repository)
    assert (pending.exit, pending.stderr) == (0, "up to date\n")
    assert "launches hello-" in pending.stdout
    built = run(["build"], repository)
    assert (built.exit, built.stderr) == (0, "")
    assert re.match(r"launches hello-[0-9a-f]{8}\n", built.stdout)
    assert run(["check"], repository) == (0, "", "up to date\n")
    when = times(repository)
    assert run(["build"], repository).exit == 0
    assert times(repository) == when
    assert source.items() <= tree(repository).items()


def test_accepted_with_git(repository: Path) -> None:
    git(repository, "init", "--quiet", "--initial-branch=main")
    commit(repository)
    assert git(repository, "status", "--porcelain") == ""
    assert run(["build"], repository).stdout.startswith("launches hello-")
    assert run(["check"], repository) == (0, "", "up to date\n")
    drafts = tree(repository)
    assert run(["build"], repository).stdout.startswith("launches hello-")  # a draft, made anew
    assert tree(repository) == drafts
    commit(repository)
    assert run(["check", "--base", "main"], repository) == (0, "", "up to date\n")
    when = times(repository)
    assert run(["build"], repository) == (0, "keeps 1 run; no file changes\n", "")
    assert times(repository) == when
    assert git(repository, "status", "--porcelain", "--ignored") == "!! .tau-compile/"


def test_with_and_without_git_it_is_the_same_run(repository: Path, tmp_path: Path) -> None:
    shutil.copytree(repository, tmp_path / "plain")
    git(repository, "init", "--quiet", "--initial-branch=main")
    commit(repository)
    for folder in (repository, tmp_path / "plain"):
        assert run(["build"], folder).exit == 0
    assert tree(repository) == tree(tmp_path / "plain")


@pytest.mark.parametrize("branch", ["main", "master", "release/1.x"])
def test_an_empty_repository_is_a_place_to_start(tmp_path: Path, branch: str) -> None:
    folder = tmp_path / "gitops"
    folder.mkdir()
    git(folder, "init", "--quiet", f"--initial-branch={branch}")
    made = init(folder)
    assert made.exit == 0
    assert '  git add . && git commit -m "Start"\n' in made.stdout
    assert f"\nbase: {branch}\n" in (folder / "tau-compile.yaml").read_text()
    commit(folder)
    assert run(["build"], folder).exit == 0
    commit(folder)
    assert run(["check"], folder) == (0, "", "up to date\n")


def test_a_folder_of_a_larger_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=trunk")
    (tmp_path / "apps").mkdir()
    made = init(tmp_path / "apps" / "gitops")
    assert made.exit == 0
    assert "This is a folder of the Git repository ..: move the CI files there" in made.stdout
    assert '  git add . && git commit -m "Start"\n' in made.stdout
    assert "\nbase: trunk\n" in (tmp_path / "apps/gitops/tau-compile.yaml").read_text()
    commit(tmp_path)
    assert run(["build"], tmp_path / "apps/gitops").exit == 0
    commit(tmp_path)
    assert run(["check"], tmp_path / "apps/gitops") == (0, "", "up to date\n")


def test_generated_files_are_marked(repository: Path) -> None:
    git(repository, "init", "--quiet", "--initial-branch=main")
    commit(repository)
    run(["build"], repository)
    made = [path for path in tree(repository) if path.startswith(("runs/", "rendered/"))]
    assert len(made) == 6
    for path in made:
        said = git(repository, "check-attr", "linguist-generated", "text", "eol", "--", path)
        assert [line.rsplit(": ", 1)[1] for line in said.splitlines()] == ["true", "set", "lf"]


def test_owners_are_named_for_what_is_there(repository: Path) -> None:
    run(["build"], repository)
    owned = re.findall(r"^/(\S+) @\S+$", (repository / ".github/CODEOWNERS").read_text(), re.MULTILINE)
    assert {"overlays/", "runs/", "rendered/"} <= set(owned)
    assert [path for path in owned if not (repository / path).exists()] == ["templates/"]  # for later


def test_the_catalogue_in_comments_is_a_right_one(repository: Path) -> None:
    overlay = repository / "overlays/clusters/gpu-cluster.yaml"
    more = uncommented(
        overlay.read_text(),
        "# # Each class is a kind of GPU node; a tau.yaml chooses one with `policy.gpu_class`.",
    )
    assert more.count("\n# ") > 2  # comments of its own
    overlay.write_text(overlay.read_text() + more)
    space = repository / "overlays/workspaces/research.yaml"
    settings = uncommented(space.read_text(), "# serviceAccount: training")
    space.write_text(space.read_text() + settings)
    source = repository / "workloads/research/hello/tau.yaml"
    text = source.read_text().replace("  # gpus: 1\n", "  gpus: 1\n")
    source.write_text(
        text + "policy:\n  gpu_class: a100-80gb\n  topology: same-host\n  priority_tier: priority\n"
    )
    assert run(["validate"], repository) == (0, "", "4 files: OK\n")
    rendered = run(["render", "workloads/research/hello/tau.yaml"], repository)
    job = list(yaml.safe_load_all(rendered.stdout))[-1]
    pod = job["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}
    assert pod["serviceAccountName"] == "training"
    assert job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "urgent"
    source.write_text(source.read_text().replace("a100-80gb", "h100-80gb"))
    assert run(["validate"], repository).exit == 1  # a described catalogue is checked against


def test_a_gpu_needs_no_catalogue(repository: Path) -> None:
    source = repository / "workloads/research/hello/tau.yaml"
    source.write_text(source.read_text().replace("  # gpus: 1\n", "  gpus: 1\n"))
    assert run(["validate"], repository) == (0, "", "4 files: OK\n")


def test_versions_and_images_are_those_of_the_packaged_overlays(repository: Path) -> None:
    for packaged, own, key in [
        ("clusters/default.yaml", "clusters/gpu-cluster.yaml", "versions"),
        ("clusters/default.yaml", "clusters/gpu-cluster.yaml", "gpuTaints"),
        ("platform.yaml", "platform.yaml", "ray"),
    ]:
        theirs = yaml.safe_load((ROOT / "overlays" / packaged).read_text())
        ours = yaml.safe_load((repository / "overlays" / own).read_text())
        assert ours[key] == theirs[key]


def test_the_first_program_runs(repository: Path) -> None:
    program = repository / "workloads/research/hello/main.py"
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True, env={})
    assert re.match(r"Hello from a laptop: Python 3\.\d+", done.stdout)


def test_the_versions_of_a_series() -> None:
    assert series("0.1.0") == ">=0.1,<0.2"
    assert series("0.12.3.dev4") == ">=0.12,<0.13"
    assert series("2.3.1") == ">=2.3,<3"


def test_another_series_stops(repository: Path) -> None:
    project = repository / "tau-compile.yaml"
    project.write_text(re.sub(r'required_version: ".*"', 'required_version: ">=99"', project.read_text()))
    assert run(["build"], repository).exit == 2


def test_an_installed_package_has_caches_beside_the_templates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "templates" / "init"
    shutil.copytree(ROOT / "templates" / "init", installed)
    cache = installed / "workloads" / "@workspace@" / "hello" / "__pycache__"
    cache.mkdir(exist_ok=True)
    (cache / "main.cpython-311.pyc").write_bytes(b"\x00\xff")
    monkeypatch.setattr("tau_compile.cli.init.locate", lambda *parts: str(tmp_path.joinpath(*parts)))
    names = files({"workspace": "research", "cluster": "gpu-cluster", "base": "main", "series": ">=0.1"})
    assert list(names) == sorted(FILES)

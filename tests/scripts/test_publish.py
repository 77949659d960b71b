"""Staged publishing: all of the output or nothing, whatever happens on the way."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.scripts.box import Box, Done

if TYPE_CHECKING:
    from pathlib import Path

WRITE = (
    'mkdir "$TAU_OUTPUT_STAGING_DIR/sub" && echo "$1" >"$TAU_OUTPUT_STAGING_DIR/sub/a file"; exit "${2:-0}"'
)


class Staged:
    """A run with a staging directory and an output."""

    def __init__(self, box: Box, folder: Path) -> None:
        self.box = box
        self.staging = folder / "hot" / "staging"
        self.out = folder / "durable" / "out put"
        self.partial = folder / "durable" / "out put.tau-partial-r-1"

    def run(self, *args: str, script: str = WRITE, run: str = "r-1", **env: str) -> Done:
        variables = {
            "TAU_OUTPUT_DIR": str(self.out),
            "TAU_OUTPUT_STAGING_DIR": str(self.staging),
            "TAU_RUN_ID": run,
        }
        return self.box.run("sh", "-c", script, "sh", *args, **variables | env)

    def published(self) -> str:
        return (self.out / "sub" / "a file").read_text()


@pytest.fixture
def staged(box: Box, tmp_path: Path) -> Staged:
    return Staged(box, tmp_path)


def test_publishes(staged: Staged) -> None:
    assert staged.run("one") == Done(0, "", "")
    assert staged.published() == "one\n"
    assert sorted(os.listdir(staged.out)) == [".tau-run", "sub"]
    assert (staged.out / ".tau-run").read_text() == "r-1\n"
    assert os.listdir(staged.out.parent) == ["out put"]
    assert not staged.staging.exists()


def test_replaces_an_empty_output(staged: Staged) -> None:
    staged.out.mkdir(parents=True)
    assert staged.run("one") == Done(0, "", "")
    assert staged.published() == "one\n"


def test_failed_command_publishes_nothing(staged: Staged) -> None:
    assert staged.run("one", "3") == Done(3, "", "")
    assert not staged.out.exists()
    assert (staged.staging / "sub" / "a file").exists()


def test_what_a_failed_attempt_left_is_not_published(staged: Staged) -> None:
    staged.run("one", "3")
    assert staged.run(script='echo two >"$TAU_OUTPUT_STAGING_DIR/b"').exit == 0
    assert sorted(os.listdir(staged.out)) == [".tau-run", "b"]


def test_the_root_of_a_volume_is_refused_before_the_command(staged: Staged) -> None:
    for path in ("/proc", "/proc/self/../../proc/"):
        done = staged.run(script="echo never", TAU_OUTPUT_DIR=path)
        assert done == Done(
            74, "", f"tau: {path.rstrip('/')} is the root of a volume; choose a folder below it\n"
        )


@pytest.mark.parametrize("name", ["precious", ".hidden"])
def test_foreign_output_is_refused_before_the_command(staged: Staged, name: str) -> None:
    staged.out.mkdir(parents=True)
    (staged.out / name).write_text("x")
    done = staged.run(script="echo never")
    assert (done.exit, done.out) == (74, "")
    assert done.err.startswith(f"tau: {staged.out} is not empty and was not written by this run")
    assert os.listdir(staged.out) == [name]


def test_foreign_output_that_appears_meanwhile(staged: Staged) -> None:
    done = staged.run(script=WRITE.replace("; exit", '; mkdir -p "$TAU_OUTPUT_DIR/x"; exit'))
    assert done.exit == 74
    assert os.listdir(staged.out) == ["x"]
    assert (staged.staging / "sub" / "a file").exists()


def test_output_of_another_run_is_refused(staged: Staged) -> None:
    staged.run("one")
    assert staged.run("two", run="r-2").exit == 74
    assert staged.published() == "one\n"


@pytest.mark.parametrize("kind", ["file", "link"])
def test_output_that_is_no_directory(staged: Staged, tmp_path: Path, kind: str) -> None:
    staged.out.parent.mkdir()
    if kind == "file":
        staged.out.touch()
    else:
        staged.out.symlink_to(tmp_path)
    done = staged.run("one")
    assert (done.exit, done.err) == (74, f"tau: {staged.out} is not a directory\n")


def test_second_time_of_the_same_run(staged: Staged) -> None:
    staged.run("one")
    done = staged.run("two")
    assert done == Done(0, "", f"tau: {staged.out} is already published by this run; keeping it\n")
    assert staged.published() == "one\n"


@pytest.mark.parametrize("place", ["sync", "mv", "rmdir"])
def test_killed_between_copy_and_rename(staged: Staged, place: str) -> None:
    staged.out.mkdir(parents=True)
    target = os.readlink(staged.box.path / place)
    staged.box.tool(place, "kill -9 $PPID")
    assert staged.run("one").exit == 137
    assert not staged.out.exists() or os.listdir(staged.out) == []
    assert (staged.partial / "sub" / "a file").read_text() == "one\n"
    staged.box.link(place, target)
    (staged.partial / "stale").touch()
    assert staged.run("two") == Done(0, "", "")
    assert staged.published() == "two\n"
    assert sorted(os.listdir(staged.out)) == [".tau-run", "sub"]
    assert not staged.partial.exists()


def test_copy_that_fails(staged: Staged) -> None:
    staged.box.tool("cp", 'echo part >"$4/part"; exit 1')
    done = staged.run("one")
    assert (done.exit, done.err.splitlines()[-1]) == (
        74,
        f"tau: copying to {staged.partial} failed; nothing is published, the staging directory {staged.staging} is kept",
    )
    assert not staged.out.exists()
    assert not staged.partial.exists()
    assert (staged.staging / "sub" / "a file").exists()


def test_rename_that_lands_inside(staged: Staged) -> None:
    staged.box.tool("rmdir", ":")  # as if someone had made the directory again in between
    staged.out.mkdir(parents=True)
    done = staged.run("one")
    assert (done.exit, done.err) == (74, f"tau: {staged.partial} cannot be renamed to {staged.out}\n")
    assert (staged.staging / "sub" / "a file").exists()


def test_relative_links_stay_links(staged: Staged) -> None:
    script = 'cd "$TAU_OUTPUT_STAGING_DIR"; mkdir step-1; echo w >step-1/w; ln -s step-1 latest'
    staged.box.link("ln", "/bin/ln")
    assert staged.run(script=script).exit == 0
    assert os.readlink(staged.out / "latest") == "step-1"


def test_links_into_the_staging_directory_become_copies(staged: Staged) -> None:
    script = 'cd "$TAU_OUTPUT_STAGING_DIR"; mkdir step-1; echo w >step-1/w; ln -s "$PWD/step-1" latest'
    staged.box.link("ln", "/bin/ln")
    assert staged.run(script=script).exit == 0
    assert not (staged.out / "latest").is_symlink()
    assert (staged.out / "latest" / "w").read_text() == "w\n"


def test_any_file_names(staged: Staged) -> None:
    names = ["-rf", "a\nb", " ", "*", "$x", "é", "..hidden"]
    script = 'cd "$TAU_OUTPUT_STAGING_DIR"; for name; do : >"./$name"; done'
    assert staged.run(*names, script=script) == Done(0, "", "")
    assert sorted(os.listdir(staged.out)) == sorted([*names, ".tau-run"])


def test_wrong_configuration(staged: Staged) -> None:
    assert staged.run("one", TAU_OUTPUT_DIR="").exit == 78
    assert staged.run("one", run="../x").err == "tau: TAU_RUN_ID is not a run id: '../x'\n"
    done = staged.run("one", TAU_OUTPUT_DIR=str(staged.staging / "out"))
    assert (done.exit, done.err.split(" is ")[1]) == (78, f"inside the staging directory {staged.staging}\n")
    assert staged.run("one", TAU_OUTPUT_STAGING_DIR=str(staged.out / "staging")).exit == 78


def test_staging_moves_with_the_hot_directory(staged: Staged, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    env = {"TAU_HOT_DIR": "/proc", "TAU_DATA_DIR": str(data), "TAU_OUTPUT_STAGING_DIR": "/proc/tau-output/x"}
    done = staged.run(script='echo "$TAU_OUTPUT_STAGING_DIR"; : >"$TAU_OUTPUT_STAGING_DIR/f"', **env)
    assert (done.exit, done.out) == (0, f"{data}/tau-output/x\n")
    assert (staged.out / "f").exists()

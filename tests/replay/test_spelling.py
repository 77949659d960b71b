"""What is the same intent, however it is written, checked out or accompanied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.replay.repo import Repo, files

if TYPE_CHECKING:
    from pathlib import Path

TRAIN = "workloads/vision/train/tau.yaml"
DIRECT = """\
# fine-tune on one node
name: direct
engine: job
image: example.com/train:1
entrypoint: train.py
compute:
  gpus: 1
  memory_request: 64Gi
"""


@pytest.mark.parametrize(
    "text",
    [
        # other order, quotes, comments, flow style
        "# a comment\nname: 'train'   # named\nschema_version: 1\nruntime: {image: \"example.com/train:1\"}\n"
        "compute:\n  memory: 64Gi\n  gpus: 2\nrun: {max_duration: 4h, entrypoint: train.py}\n",
        # another spelling of the same amount
        files()[TRAIN].replace("64Gi", "65536Mi"),
        # what is the default anyway, and what says how and not what
        files()[TRAIN].replace("run:\n", "run:\n  attempt: 1\n  on_change: replace\n"),
        files()[TRAIN] + "resilience: {max_retries: 2}\n",
        "\ufeff" + files()[TRAIN].replace("\n", "\r\n"),
    ],
)
def test_another_spelling_is_the_same_run(launched: Repo, text: str) -> None:
    before = launched.snapshot()
    launched.write({TRAIN: text})
    assert launched.build().keys() == {"keep"}
    assert {p: v for p, v in launched.snapshot().items() if p != TRAIN} == {
        p: v for p, v in before.items() if p != TRAIN
    }


def test_another_amount_is_another_run(launched: Repo) -> None:
    launched.edit(TRAIN, "64Gi", "65537Mi")
    assert len(launched.build()["launch"]) == 1


def test_migrate_keeps_the_run(repo: Repo) -> None:
    path = "workloads/vision/direct/tau.yaml"
    repo.write({path: DIRECT, "workloads/vision/direct/train.py": "print(1)\n"})
    repo.launch()
    repo.tau("migrate", path, "--write")
    assert "schema_version: 1" in repo.read(path)
    assert "# fine-tune on one node" in repo.read(path)
    repo.commit("migrate")
    assert repo.build().keys() == {"keep"}
    assert repo.check()["differences"] == []


def test_what_is_outside_the_identity_waits_for_the_next_launch(launched: Repo) -> None:
    launched.edit(TRAIN, "schema_version: 1", "schema_version: 1\nresilience: {max_retries: 2}")
    assert launched.build().keys() == {"keep"}
    launched.edit(TRAIN, "4h", "5h")
    (run,) = launched.build()["launch"]
    assert launched.records()[run]["resolved"]["resilience"]["max_retries"] == 2


@pytest.mark.parametrize("attributes", [False, True])
def test_a_checkout_with_crlf(launched: Repo, tmp_path: Path, attributes: bool) -> None:
    if attributes:
        launched.write({".gitattributes": "runs/** text eol=lf\nrendered/** text eol=lf\n"})
        launched.commit("attributes")
    launched.git("clone", "-q", "-c", "core.autocrlf=true", str(launched.path), str(tmp_path / "windows"))
    windows = Repo(tmp_path / "windows")
    assert b"\r\n" in (windows.root / TRAIN).read_bytes()
    record = next((windows.root / "runs/vision").glob("*.json"))
    assert (b"\r\n" in record.read_bytes()) is not attributes
    before = windows.snapshot()
    assert windows.check()["differences"] == []
    assert windows.build().keys() == {"keep"}
    assert windows.snapshot() == before
    assert windows.git("status", "--short") == ""
    # An edit launches the run that it would launch anywhere.
    windows.edit(TRAIN, "4h", "5h")
    launched.edit(TRAIN, "4h", "5h")
    assert windows.build()["launch"] == launched.build()["launch"]
    for repo in (windows, launched):
        repo.git("add", "-A")
    assert windows.git("write-tree") == launched.git("write-tree")
    # So does another build, whatever the editor did to the lines of the draft.
    (run,) = windows.git("diff", "--cached", "--name-only", "--diff-filter=A", "runs").split()
    windows.write({run: windows.read(run).replace("\r\n", "\n").replace("\n", "\r\n")})
    before = windows.snapshot()
    windows.build()
    assert windows.snapshot() == before


def test_an_untracked_file_beside_the_code(repo: Repo) -> None:
    repo.edit(TRAIN, "entrypoint: train.py", "entrypoint: train.py\n  working_dir: .")
    repo.launch()
    repo.write(
        {"workloads/vision/train/notes.txt": "mine\n", "workloads/vision/train/__pycache__/x.pyc": "x"}
    )
    assert repo.build().keys() == {"keep"}
    repo.git("add", "-A")
    (run,) = repo.build()["launch"]
    assert sorted(repo.records()[run]["code"]) == ["notes.txt", "train.py"]


def test_without_git_every_file_of_a_working_directory_ships(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "repo", files(), git=False)
    repo.edit(TRAIN, "entrypoint: train.py", "entrypoint: train.py\n  working_dir: .")
    repo.build()
    repo.write({"workloads/vision/train/notes.txt": "mine\n"})
    assert len(repo.build()["launch"]) == 1


def test_the_mode_of_a_script_is_part_of_the_run(repo: Repo) -> None:
    repo.edit(TRAIN, "train.py", "train.sh")
    repo.write({"workloads/vision/train/train.sh": "#!/bin/sh\ntrue\n"})
    repo.launch()
    repo.git("update-index", "--chmod=+x", "workloads/vision/train/train.sh")
    assert len(repo.build()["launch"]) == 1  # as Git has it, whatever the file system says


def test_an_entrypoint_that_becomes_a_link_elsewhere(repo: Repo) -> None:
    place = repo.root / "workloads/vision/train/train.py"
    repo.write({"workloads/vision/train/a.py": "print('a')\n", "workloads/vision/train/b.py": "print('b')\n"})
    place.unlink()
    place.symlink_to("a.py")
    repo.launch()
    place.unlink()
    place.symlink_to("b.py")
    assert len(repo.build()["launch"]) == 1
    place.unlink()
    repo.write({"workloads/vision/train/train.py": "print('a')\n"})  # the file itself: the same code
    assert repo.build().keys() == {"keep", "discard"}


def test_a_resource_prefix_is_part_of_the_name(repo: Repo) -> None:
    repo.edit(TRAIN, "runtime:", "resource_naming: {prefix: lab}\nruntime:")
    repo.launch()
    assert repo.records()[repo.run_of("lab-train")]["source"] == TRAIN
    assert repo.build().keys() == {"keep"}

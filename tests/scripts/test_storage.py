"""The storage preflight: the hot directory, else the data directory in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scripts.box import Box

SHOW = 'echo "$TAU_HOT_DIR $TAU_DATA_DIR $TAU_DATASETS_DIR $TAU_CHECKPOINTS_DIR $TAU_DURABLE_DATASETS_DIR"'


def variables(hot: str, data: str) -> dict[str, str]:
    return {
        "TAU_HOT_DIR": hot,
        "TAU_DATA_DIR": data,
        "TAU_DATASETS_DIR": f"{hot}/datasets",
        "TAU_CHECKPOINTS_DIR": f"{hot}/checkpoints",
        "TAU_DURABLE_DATASETS_DIR": f"{data}/datasets",
    }


def test_hot_directory_is_used(box: Box, tmp_path: Path) -> None:
    hot, data = tmp_path / "hot", tmp_path / "data"
    hot.mkdir()
    done = box.sh(SHOW, **variables(str(hot), str(data)))
    assert done == (0, f"{hot} {data} {hot}/datasets {hot}/checkpoints {data}/datasets\n", "")
    assert (hot / "checkpoints").is_dir()
    assert sorted(entry.name for entry in hot.iterdir()) == ["checkpoints", "datasets"]


@pytest.mark.parametrize("hot", ["/nowhere", "/proc"])
def test_data_directory_takes_its_place(box: Box, tmp_path: Path, hot: str) -> None:
    done = box.sh(SHOW, **variables(hot, str(tmp_path)))
    assert (
        done.out == f"{tmp_path} {tmp_path} {tmp_path}/datasets {tmp_path}/checkpoints {tmp_path}/datasets\n"
    )
    assert (done.exit, done.err) == (0, f"tau: {hot} cannot be written; using {tmp_path} in its place\n")


def test_only_paths_below_the_hot_directory_move(box: Box, tmp_path: Path) -> None:
    given = {"TAU_HOT_DIR": "/proc", "TAU_DATA_DIR": str(tmp_path), "TAU_DATASETS_DIR": f"{tmp_path}/own"}
    done = box.sh('echo "$TAU_DATASETS_DIR ${TAU_CHECKPOINTS_DIR-unset}"', **given)
    assert done.out == f"{tmp_path}/own unset\n"
    done = box.sh(
        "echo $TAU_DATASETS_DIR", **given | {"TAU_DATASETS_DIR": "/proc", "TAU_DATA_DIR": str(tmp_path)}
    )
    assert done.out == f"{tmp_path}\n"
    (tmp_path / "file").touch()
    given |= {"TAU_HOT_DIR": f"{tmp_path}/file", "TAU_DATASETS_DIR": f"{tmp_path}/file-sets"}
    assert box.sh("echo $TAU_DATASETS_DIR", **given).out == f"{tmp_path}/file-sets\n"


def test_neither_can_be_written(box: Box) -> None:
    done = box.sh("echo never", TAU_HOT_DIR="/nowhere", TAU_DATA_DIR="/proc")
    assert done == (73, "", "tau: no writable storage: neither /nowhere nor /proc can be written\n")
    done = box.sh("echo never", TAU_HOT_DIR="/nowhere")
    assert done == (
        73,
        "",
        "tau: no writable storage: neither /nowhere nor a data directory can be written\n",
    )


def test_without_storage_nothing_is_checked(box: Box) -> None:
    assert box.sh("echo ${TAU_HOT_DIR-unset}", TAU_DATA_DIR="/proc") == (0, "unset\n", "")

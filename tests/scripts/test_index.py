"""The artifact index: a promised checkpoint is there and described, or the run has failed."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.scripts.box import Box, Done

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [
    "a",
    "sub/b c",
    "sub/-x",
    "q\"uo'te",
    "new\nline",
    "$x `y`",
    "back\\slash",
    "é",
    "sub/deep/e",
    ".hidden",
]


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def digest(folder: Path) -> str:
    """The definition in index.sh, once more and independently."""
    lines = []
    for root, _, files in os.walk(folder, followlinks=True):
        for file in files:
            path = os.path.join(root, file)
            with open(path, "rb") as stream:
                content = stream.read()
            name = os.fsencode("./" + os.path.relpath(path, folder))
            lines.append(f"{sha(content)} {sha(name)} {len(content)}\n".encode())
    return sha(b"".join(sorted(lines)))


class Indexed:
    """A run that promised a checkpoint."""

    def __init__(self, box: Box, folder: Path) -> None:
        self.box = box
        self.out = folder / "out"
        self.out.mkdir()

    def run(self, script: str = ":", checkpoint: str = "ckpt", **env: str) -> Done:
        given = {"TAU_OUTPUT_DIR": str(self.out), "TAU_RUN_ID": "r-1", "TAU_CHECKPOINT": checkpoint}
        return self.box.sh(script, **given | env)

    def index(self) -> Any:
        return json.loads((self.out / "artifacts.json").read_text())


@pytest.fixture
def indexed(box: Box, tmp_path: Path) -> Indexed:
    return Indexed(box, tmp_path)


def test_directory(indexed: Indexed) -> None:
    folder = indexed.out / "ckpt"
    for number, name in enumerate(NAMES):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(bytes([number]) * number)
    assert indexed.run() == Done(0, "", "")
    assert indexed.index() == {
        "version": 1,
        "run": "r-1",
        "artifacts": [
            {
                "name": "checkpoint",
                "path": "ckpt",
                "bytes": sum(range(len(NAMES))),
                "files": len(NAMES),
                "sha256": digest(folder),
            }
        ],
    }
    assert sorted(os.listdir(indexed.out)) == ["artifacts.json", "ckpt"]


def test_file(indexed: Indexed) -> None:
    (indexed.out / "model.pt").write_bytes(b"weights")
    assert indexed.run(checkpoint="model.pt").exit == 0
    (artifact,) = indexed.index()["artifacts"]
    assert artifact == {
        "name": "checkpoint",
        "path": "model.pt",
        "bytes": 7,
        "files": 1,
        "sha256": sha(b"weights"),
    }


def test_digest_tells_content_names_and_nothing_else(indexed: Indexed) -> None:
    def found(script: str) -> str:
        indexed.run(
            f'rm -rf "$TAU_OUTPUT_DIR"/*; mkdir -p "$TAU_OUTPUT_DIR/ckpt"; cd "$TAU_OUTPUT_DIR/ckpt"; {script}'
        )
        return str(indexed.index()["artifacts"][0]["sha256"])

    first = found("echo 1 >a; echo 2 >b")
    assert found("echo 2 >b; sleep 0.01; echo 1 >a; mkdir empty") == first
    others = [
        found("echo 1 >b; echo 2 >a"),
        found("echo 1 >a; echo 3 >b"),
        found("echo 1 >a"),
        found("mkdir c; echo 1 >a; echo 2 >c/b"),
    ]
    assert len({first, *others}) == 5


@pytest.mark.parametrize("name", ['a "quoted" name', "it's", "é/漢字", "a b", "-x", "$x", "%s"])
def test_path_is_valid_json(indexed: Indexed, name: str) -> None:
    (indexed.out / name).mkdir(parents=True)
    (indexed.out / name / "w").write_text("w")
    assert indexed.run(checkpoint=name) == Done(0, "", "")
    assert indexed.index()["artifacts"][0]["path"] == name


def test_links_are_followed(indexed: Indexed) -> None:
    real = indexed.out / "step-2"
    real.mkdir()
    (real / "w").write_text("weights")
    (real / "again").symlink_to("w")
    (indexed.out / "latest").symlink_to("step-2")
    assert indexed.run(checkpoint="latest").exit == 0
    (artifact,) = indexed.index()["artifacts"]
    assert (artifact["files"], artifact["bytes"], artifact["sha256"]) == (2, 14, digest(real))


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (":", "did not write its checkpoint {}"),
        ('mkdir -p "$TAU_OUTPUT_DIR/ckpt/sub"', "but its checkpoint {} is empty"),
        (
            'mkdir "$TAU_OUTPUT_DIR/ckpt"; ln -s gone "$TAU_OUTPUT_DIR/ckpt/w"',
            "the checkpoint {} has links to nothing: ./w",
        ),
    ],
)
def test_missing_checkpoint_is_a_failure(indexed: Indexed, script: str, reason: str) -> None:
    indexed.box.link("ln", "/bin/ln")
    done = indexed.run(script)
    assert (done.exit, done.out) == (76, "")
    assert reason.format(indexed.out / "ckpt") in done.err
    assert not (indexed.out / "artifacts.json").exists()


def test_failed_command_is_not_indexed(indexed: Indexed) -> None:
    assert indexed.run('mkdir "$TAU_OUTPUT_DIR/ckpt"; echo >"$TAU_OUTPUT_DIR/ckpt/w"; exit 5') == Done(
        5, "", ""
    )
    assert not (indexed.out / "artifacts.json").exists()


def test_unreadable_content(indexed: Indexed) -> None:
    (indexed.out / "ckpt").mkdir()
    (indexed.out / "ckpt" / "w").touch()
    indexed.box.tool("wc", "exit 1")
    done = indexed.run()
    assert (done.exit, done.err) == (74, f"tau: cannot read all of {indexed.out}/ckpt\n")
    assert os.listdir(indexed.out) == ["ckpt"]


@pytest.mark.parametrize("path", ["/abs", "..", "../x", "a/../../x", "a\tb", "a\nb"])
def test_wrong_path_is_refused_before_the_command(indexed: Indexed, path: str) -> None:
    done = indexed.run("echo never", checkpoint=path)
    assert (done.exit, done.out) == (78, "")
    assert done.err.startswith("tau: TAU_CHECKPOINT ")


def test_missing_tool_is_refused_before_the_command(indexed: Indexed) -> None:
    (indexed.box.path / "sha256sum").unlink()
    done = indexed.run("echo never")
    assert done == Done(78, "", "tau: indexing the checkpoint needs sha256sum, which is not in this image\n")


def test_only_the_first_node_writes_the_index(indexed: Indexed) -> None:
    assert indexed.run(JOB_COMPLETION_INDEX="1") == Done(0, "", "")
    assert indexed.run(JOB_COMPLETION_INDEX="0").exit == 76


def test_index_is_published_with_the_output(indexed: Indexed, tmp_path: Path) -> None:
    staging = {"TAU_OUTPUT_STAGING_DIR": str(tmp_path / "staging")}
    done = indexed.run('echo w >"$TAU_OUTPUT_STAGING_DIR/ckpt"', **staging)
    assert done == Done(0, "", "")
    assert indexed.index()["artifacts"][0]["sha256"] == sha(b"w\n")
    assert sorted(os.listdir(indexed.out)) == [".tau-run", "artifacts.json", "ckpt"]


def test_nothing_is_published_without_the_checkpoint(indexed: Indexed, tmp_path: Path) -> None:
    done = indexed.run(
        'echo w >"$TAU_OUTPUT_STAGING_DIR/other"', TAU_OUTPUT_STAGING_DIR=str(tmp_path / "staging")
    )
    assert done.exit == 76
    assert os.listdir(indexed.out) == []

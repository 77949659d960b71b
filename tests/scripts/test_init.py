"""The init containers' scripts, started as a pod starts them: the text inline, the values as arguments."""

from __future__ import annotations

import base64
import io
import os
import stat
import subprocess
import tarfile
from typing import TYPE_CHECKING

import pytest

from tests.scripts.box import SCRIPTS, Box, Done

if TYPE_CHECKING:
    from pathlib import Path


def inline(box: Box, script: str, *arguments: str, **env: str) -> Done:
    """Run ``sh -c TEXT NAME ARGUMENT…`` with only the tools on the box's PATH."""
    assert box.shell is not None
    text = (SCRIPTS / script).read_text()
    command = [box.shell, "-c", text, f"tau-{script}", *arguments]
    done = subprocess.run(
        command, env={"PATH": str(box.path), **env}, capture_output=True, timeout=60, check=False
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def only(box: Box, *tools: str) -> None:
    """Take all other tools off the PATH."""
    for entry in box.path.iterdir():
        if entry.name not in tools:
            entry.unlink()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "app $x"
    (folder / "pkg").mkdir(parents=True, mode=0o700)
    (folder / ".hidden").write_text("h")
    (folder / "..odd").write_text("o")
    (folder / "pkg" / "-m.py").write_text("m")
    (folder / "train.py").write_text("t")
    (folder / "link").symlink_to("train.py")
    (folder / "dangling").symlink_to("/nowhere")
    for path in (folder / ".hidden", folder / "..odd", folder / "train.py", folder / "pkg" / "-m.py"):
        path.chmod(0o600)
    return folder


def test_source_tree(box: Box, source: Path, tmp_path: Path) -> None:
    only(box, "cp", "chmod")
    destination = tmp_path / "volume"
    destination.mkdir()
    destination.chmod(0o2770)
    assert inline(box, "source.sh", str(source), str(destination), "train.py") == Done(0, "", "")
    assert sorted(os.listdir(destination)) == sorted(os.listdir(source))
    assert mode(destination) == 0o2770  # not ours to change
    assert mode(destination / ".hidden") == mode(destination / "..odd") == 0o644
    assert mode(destination / "pkg") & 0o777 == 0o755
    assert mode(destination / "pkg" / "-m.py") == 0o644
    assert mode(destination / "train.py") == 0o755
    assert os.readlink(destination / "link") == "train.py"
    assert os.readlink(destination / "dangling") == "/nowhere"


@pytest.mark.parametrize("entrypoint", [(), ("",), ("pkg/-m.py",)])
def test_source_entrypoint(box: Box, source: Path, tmp_path: Path, entrypoint: tuple[str, ...]) -> None:
    destination = tmp_path / "volume"
    destination.mkdir()
    assert inline(box, "source.sh", str(source), str(destination), *entrypoint) == Done(0, "", "")
    assert mode(destination / "pkg" / "-m.py") == (0o755 if any(entrypoint) else 0o644)


def test_source_is_a_link(box: Box, source: Path, tmp_path: Path) -> None:
    (tmp_path / "current").symlink_to(source)
    (tmp_path / "volume").mkdir()
    assert inline(box, "source.sh", str(tmp_path / "current"), str(tmp_path / "volume")).exit == 0
    assert (tmp_path / "volume" / "train.py").read_text() == "t"


def test_source_that_is_not_there(box: Box, source: Path, tmp_path: Path) -> None:
    done = inline(box, "source.sh", "/no where", str(tmp_path))
    assert done == Done(66, "", "tau: the source directory /no where is not in this image\n")
    done = inline(box, "source.sh", str(source), str(tmp_path), "other.py")
    assert done == Done(66, "", f"tau: the entrypoint other.py is not in the source directory {source}\n")


def test_source_that_cannot_be_copied(box: Box, source: Path, tmp_path: Path) -> None:
    box.tool("cp", "exit 1")
    assert inline(box, "source.sh", str(source), str(tmp_path), "train.py").exit == 1


def tar(files: dict[str, tuple[bytes, int]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, (content, bits) in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), bits
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


FILES = {
    "bin/argv": (b"a\\n\n", 0o644),
    "code/a b/$x `y`.py": (b"x" * 9000, 0o644),
    "code/run": (bytes(range(256)), 0o755),
    "code/" + "long/" * 40 + "é": (b"", 0o644),
}


def variables(content: bytes, size: int) -> dict[str, str]:
    text = base64.b64encode(content).decode()
    chunks = [text[start : start + size] for start in range(0, len(text), size)]
    return {f"TAU_CODE_{index}": chunk for index, chunk in enumerate(chunks)}


@pytest.mark.parametrize("size", [999, 8000, 100_000])
def test_unpack(box: Box, tmp_path: Path, size: int) -> None:
    only(box)
    for tool in ("base64", "tar"):
        box.link(tool, f"/bin/{tool}")
    for name in ("code", "bin"):
        (tmp_path / "volume" / name).mkdir(parents=True)
        (tmp_path / "volume" / name).chmod(0o2770)
    env = variables(tar(FILES), size)
    assert inline(box, "unpack.sh", str(tmp_path / "volume"), str(len(env)), **env) == Done(0, "", "")
    for name, (content, bits) in FILES.items():
        assert (tmp_path / "volume" / name).read_bytes() == content
        assert mode(tmp_path / "volume" / name) == bits
    assert mode(tmp_path / "volume" / "code") == 0o2770


def test_unpack_with_a_part_missing(box: Box, tmp_path: Path) -> None:
    for tool in ("base64", "tar"):
        box.link(tool, f"/bin/{tool}")
    env = variables(tar(FILES), 8000)
    last = f"TAU_CODE_{len(env) - 1}"
    del env[last]
    done = inline(box, "unpack.sh", str(tmp_path), str(len(env) + 1), **env)
    assert done == Done(78, "", f"tau: {last} is missing\n")
    assert not (tmp_path / "code").exists()


def test_unpack_with_a_damaged_part(box: Box, tmp_path: Path) -> None:
    for tool in ("base64", "tar"):
        box.link(tool, f"/bin/{tool}")
    done = inline(box, "unpack.sh", str(tmp_path), "1", TAU_CODE_0="$(touch /tmp/x) not base64!")
    assert (done.exit, done.err.splitlines()[-1]) == (78, "tau: the code archive is not valid base64")
    assert (
        inline(box, "unpack.sh", str(tmp_path), "1", TAU_CODE_0=base64.b64encode(b"x" * 600).decode()).exit
        != 0
    )


@pytest.mark.parametrize("kind", ["directory", "file", "link"])
def test_image_asset(tmp_path: Path, kind: str) -> None:
    """An image with nothing but cp: ``/bin/cp -R -L SOURCE VOLUME/``, then mounted with the last name as subPath.

    This holds for directories, single files and links, and makes copies of what links point to, also when that is
    outside of the source (as in a model cache, whose snapshots are links).
    """
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "1").write_text("weights")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "w").symlink_to("../blobs/1")
    (tmp_path / "model" / ".hidden").write_text("h")
    (tmp_path / "current").symlink_to("model")
    source, inside = {"directory": ("model", "w"), "file": ("model/w", ""), "link": ("current", "w")}[kind]
    (tmp_path / "volume").mkdir()
    subprocess.run(["/bin/cp", "-R", "-L", tmp_path / source, f"{tmp_path}/volume/"], check=True, timeout=60)
    mounted = tmp_path / "volume" / source.split("/")[-1]
    assert (mounted / inside if inside else mounted).read_text() == "weights"
    assert not any(path.is_symlink() for path in (tmp_path / "volume").rglob("*"))
    assert (mounted / ".hidden").exists() is bool(inside)

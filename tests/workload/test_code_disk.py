"""The tree on disk, with real Git repositories, links, pipes and permissions."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tau_compile.workload.code import CodeBundle, CodeRequest, DiskTree, GitError, collect
from tau_compile.workload.code import git as git_module

from .memory_tree import asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tau_compile.diagnostics import Diagnostic
    from tau_compile.workload.code import Tracked


def git(folder: Path, *arguments: str) -> None:
    config = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(
        ["git", *config, "-C", str(folder), *arguments], check=True, env=environment, capture_output=True
    )


def write(folder: Path, files: dict[str, bytes]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    files = {
        "w/tau.yaml": b"name: x\n",
        "w/train.py": b"print(1)\n",
        "w/lib/u.py": b"u = 1\n",
        "w/run.sh": b"#!/bin/sh\n",
    }
    write(folder, files)
    (folder / "w/run.sh").chmod(0o755)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    return folder


def shipped(
    root: Path, entrypoint: str | None = "train.py", working_dir: str | None = ".", config: str = "w/tau.yaml"
) -> tuple[CodeBundle | None, list[Diagnostic]]:
    where = asked(working_dir) if working_dir is not None else None
    return collect(DiskTree(str(root)), CodeRequest(config, asked(entrypoint) if entrypoint else None, where))


def bundle_of(root: Path, entrypoint: str | None = "train.py", working_dir: str | None = ".") -> CodeBundle:
    bundle, said = shipped(root, entrypoint, working_dir)
    assert said == []
    assert bundle is not None
    return bundle


def test_tracked_files_only(repository: Path) -> None:
    write(repository, {"w/untracked.py": b"", "w/data/big.bin": b"\0" * 500_000})
    bundle = bundle_of(repository)
    assert [(f.path, f.executable) for f in bundle.files] == [
        ("lib/u.py", False),
        ("run.sh", True),
        ("train.py", False),
    ]


def test_added_files_ship_before_they_are_committed(repository: Path) -> None:
    write(repository, {"w/new name\t.py": b"", "w/é.py": b""})
    git(repository, "add", "-A")
    _, said = shipped(repository)
    assert [d.id for d in said] == ["TAU713"]
    (repository / "w/new name\t.py").rename(repository / "w/new name.py")
    git(repository, "add", "-A")
    assert {"new name.py", "é.py"} <= {f.path for f in bundle_of(repository).files}


def test_untracked_entrypoint_ships(repository: Path) -> None:
    write(repository, {"w/draft.py": b"draft"})
    assert "draft.py" in [f.path for f in bundle_of(repository, "draft.py").files]
    assert [f.path for f in bundle_of(repository, "draft.py", None).files] == ["draft.py"]


def test_exec_bit_from_the_index(repository: Path) -> None:
    git(repository, "config", "core.fileMode", "false")
    (repository / "w/run.sh").chmod(0o644)
    (repository / "w/train.py").chmod(0o755)
    bits = {f.path: f.executable for f in bundle_of(repository).files}
    assert bits == {"lib/u.py": False, "run.sh": True, "train.py": False}
    assert bundle_of(repository, "run.sh", None).files[0].executable is True
    git(repository, "update-index", "--chmod=+x", "w/lib/u.py")
    assert {f.path: f.executable for f in bundle_of(repository).files}["lib/u.py"] is True


def test_a_checkout_with_crlf_ships_the_same_bytes(repository: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "-c", "core.autocrlf=true", "clone", "-q", str(repository), str(clone))
    assert (clone / "w/train.py").read_bytes() == b"print(1)\r\n"
    assert [f.content for f in bundle_of(clone).files] == [f.content for f in bundle_of(repository).files]
    assert bundle_of(clone) == bundle_of(repository)


def test_a_root_inside_a_work_tree(repository: Path) -> None:
    write(repository, {"w/untracked.py": b""})
    bundle, said = shipped(repository / "w", config="tau.yaml")
    assert said == []
    assert bundle is not None
    assert [f.path for f in bundle.files] == ["lib/u.py", "run.sh", "train.py"]


def test_worktrees_and_submodules(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "second"))
    assert bundle_of(tmp_path / "second") == bundle_of(repository)
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "w/sub")
    bundle, said = shipped(repository)
    assert bundle is not None
    assert [(d.id, d.severity) for d in said] == [("TAU715", "warning")]
    assert "`w/sub`" in said[0].message


def test_deleted_and_conflicting_files(repository: Path) -> None:
    (repository / "w/lib/u.py").unlink()
    bundle, said = shipped(repository)
    assert bundle is not None
    assert [d.id for d in said] == ["TAU715"]
    git(repository, "checkout", "-q", "--", ".")
    git(repository, "checkout", "-q", "-b", "other")
    write(repository, {"w/train.py": b"other\n"})
    git(repository, "commit", "-qam", "two")
    git(repository, "checkout", "-q", "main")
    write(repository, {"w/train.py": b"main\n"})
    git(repository, "commit", "-qam", "three")
    with pytest.raises(subprocess.CalledProcessError):
        git(repository, "merge", "other")
    assert [d.id for d in shipped(repository)[1]] == ["TAU717"]


def test_hooks_do_not_redirect_git(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q", "elsewhere")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere/.git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nowhere"))
    assert [f.path for f in bundle_of(repository).files] == ["lib/u.py", "run.sh", "train.py"]


def test_git_that_fails(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / ".git/index").write_bytes(b"garbage")
    bundle, said = shipped(repository)
    assert bundle is None
    assert [d.id for d in said] == ["TAU711"]
    assert bundle_of(repository, "run.sh", None).files[0].executable is True  # by the file system's bit
    monkeypatch.setenv("PATH", "")
    assert "git is not installed" in shipped(repository)[1][0].message


def test_git_that_hangs(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"bin/git": f"#!{sys.executable}\nimport time\ntime.sleep(60)\n".encode()})
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(git_module, "SECONDS", 0.5)
    with pytest.raises(GitError, match="no answer"):
        DiskTree(str(repository)).tracked(("w",))


def test_one_listing_answers_many_questions(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Sequence[str]] = []
    real = git_module.ls_files

    def counted(root: str, paths: Sequence[str]) -> dict[str, Tracked] | None:
        calls.append(paths)
        return real(root, paths)

    monkeypatch.setattr(git_module, "ls_files", counted)
    tree = DiskTree(str(repository))
    answers = [tree.tracked(("w/lib",)) for _ in range(5)]
    assert answers == [answers[0]] * 5
    assert answers[0] is not None
    assert list(answers[0]) == ["w/lib/u.py"]
    assert calls == [("w/lib",), ("w/lib",), ("",)]
    assert tree.tracked(("w/li",)) == {}
    assert list(tree.tracked(("",)) or ()) == ["w/lib/u.py", "w/run.sh", "w/tau.yaml", "w/train.py"]


def test_outside_git_every_file_ships(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"w/tau.yaml": b"", "w/train.py": b"", "w/.git2/x": b"", "w/.venv/lib/x.py": b"", "w/a/b.pyc": b""},
    )
    (tmp_path / "w/train.py").chmod(0o700)
    (tmp_path / "w/empty").mkdir()
    files = bundle_of(tmp_path).files
    assert [(f.path, f.executable) for f in files] == [(".git2/x", False), ("train.py", True)]


def test_an_empty_git_folder_is_no_repository(tmp_path: Path) -> None:
    write(tmp_path, {".git/x": b"", "w/train.py": b"", "w/u.py": b""})
    assert [f.path for f in bundle_of(tmp_path).files] == ["train.py", "u.py"]


def test_links_on_disk(repository: Path) -> None:
    (repository / "w/link.py").symlink_to("lib/u.py")
    (repository / "w/folder").symlink_to("lib")
    git(repository, "add", "-A")
    bundle = bundle_of(repository, "link.py")
    assert [f.path for f in bundle.files] == ["folder/u.py", "lib/u.py", "link.py", "run.sh", "train.py"]
    assert bundle.file("link.py") == bundle.files[2]
    (repository / "w/etc").symlink_to("/etc")
    git(repository, "add", "-A")
    bundle_or_none, said = shipped(repository)
    assert bundle_or_none is None
    assert [d.id for d in said] == ["TAU704"]


def test_a_tracked_folder_that_became_a_link_out(repository: Path, tmp_path: Path) -> None:
    write(tmp_path, {"outside/u.py": b"secret"})
    (repository / "w/lib/u.py").unlink()
    (repository / "w/lib").rmdir()
    (repository / "w/lib").symlink_to(tmp_path / "outside")
    bundle, said = shipped(repository)
    assert bundle is None
    assert {d.id for d in said} == {"TAU704"}


@pytest.mark.parametrize("in_git", [False, True])
def test_pipes_and_sockets_are_refused_at_once(
    tmp_path: Path, in_git: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if in_git:
        git(tmp_path, "init", "-q")
    write(tmp_path, {"w/train.py": b""})
    if in_git:
        git(tmp_path, "add", "-A")
    os.mkfifo(tmp_path / "w/pipe")
    assert [d.id for d in shipped(tmp_path, "pipe", None)[1]] == ["TAU703"]
    assert [d.id for d in shipped(tmp_path)[1]] == ([] if in_git else ["TAU703"])
    (tmp_path / "w/pipe").unlink()
    monkeypatch.chdir(tmp_path / "w")  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert [d.id for d in shipped(tmp_path, "socket", None)[1]] == ["TAU703"]
    with pytest.raises(OSError, match=r"directory|regular"):
        DiskTree(str(tmp_path)).read("w", 10)


def test_read_waits_for_no_pipe_and_follows_no_link(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("file")
    write(tmp_path, {"file": b"0123456789"})
    tree = DiskTree(str(tmp_path))
    for name in ("pipe", "link", "nowhere"):
        with pytest.raises(OSError):
            tree.read(name, 10)
    assert tree.read("file", 4) == b"0123"


def test_what_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"w/train.py": b"", "w/secret/x": b""})

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    # Permissions do not bind root, so they are refused by hand.
    with monkeypatch.context() as patch:
        patch.setattr(DiskTree, "read", lambda self, path, limit: refuse(path))
        bundle, said = shipped(tmp_path, "train.py", None)
    assert bundle is None
    assert [(d.id, d.message) for d in said] == [
        ("TAU706", "the file `w/train.py` cannot be read: permission denied")
    ]
    with monkeypatch.context() as patch:
        listing = DiskTree.names
        patch.setattr(DiskTree, "names", lambda s, p: refuse(p) if p == "w/secret" else listing(s, p))
        assert [d.id for d in shipped(tmp_path)[1]] == ["TAU706"]
    with monkeypatch.context() as patch:
        patch.setattr(DiskTree, "info", lambda self, path: refuse(path))
        assert [d.id for d in shipped(tmp_path)[1]] == ["TAU706"]


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    write(tmp_path, {"w/train.py": b""})
    with open(os.fsencode(tmp_path) + b"/w/\xff.py", "wb"):
        pass
    said = shipped(tmp_path)[1]
    assert [d.id for d in said] == ["TAU713"]
    assert "`\\xff.py`" in said[0].message


def test_names_too_long_for_the_system(tmp_path: Path) -> None:
    write(tmp_path, {"w/train.py": b""})
    assert [d.id for d in shipped(tmp_path, "x" * 5000, None)[1]] == ["TAU706"]


def test_a_sparse_giant_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"w/train.py": b""})
    with open(tmp_path / "w/giant", "wb") as file:
        file.truncate(50 * 1024**3)
    said = shipped(tmp_path)[1]
    assert [d.id for d in said] == ["TAU712"]
    assert "`giant` 51200 MiB" in said[0].message


def test_nothing_is_imported_before_git_is_asked() -> None:
    script = (
        "import sys, tau_compile.workload.code\n"
        "print(sorted({'subprocess', 'zipfile', 'difflib', 'hashlib', 'base64', 'json'} & set(sys.modules)))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout.strip() == "[]"

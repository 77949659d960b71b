"""What the writer does, leaves alone and refuses, on real folders."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tau_compile.emit.writer import Applied, Change, WriteError, Writer, apply, pending, recover

from .trees import STATE, child, files, folders, plant, state

ROOT = Path(__file__).parents[2]
OLD = {
    "runs/w/a.json": b"a",
    "rendered/c/a/job.yaml": b"job",
    "rendered/c/a/svc.yaml": b"svc",
    "tau.yaml": b"t",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    plant(folder, OLD)
    return folder


def refused(root: Path, change: Change) -> dict[str, str]:
    """The problems of a change that must be refused with nothing touched."""
    before, there = files(root), folders(root)
    with pytest.raises(WriteError) as caught:
        apply(str(root), change)
    assert (files(root), folders(root)) == (before, there)
    assert not pending(str(root))
    assert not {name for name in state(root) if name.startswith(("stage", "journal"))}
    return dict(caught.value.problems)


def test_writes_deletes_and_reports(root: Path) -> None:
    change = Change(
        {
            "runs/w/a.json": b"a",
            "rendered/c/a/job.yaml": b"job 2",
            "rendered/c/b/x/job.yaml": b"",
            "top": b"\0",
        },
        frozenset({"rendered/c/a/svc.yaml", "rendered/c/gone.yaml", "gone/gone.yaml"}),
    )
    assert apply(str(root), change) == Applied(
        ["rendered/c/a/job.yaml", "rendered/c/b/x/job.yaml", "top"],
        ["rendered/c/a/svc.yaml"],
        ["runs/w/a.json"],
    )
    assert files(root) == {
        "runs/w/a.json": b"a",
        "rendered/c/a/job.yaml": b"job 2",
        "rendered/c/b/x/job.yaml": b"",
        "top": b"\0",
        "tau.yaml": b"t",
    }
    assert state(root) == {".gitignore", "lock"}
    assert apply(str(root), change) == Applied([], [], sorted(change.writes))


def test_unchanged_files_are_untouched(root: Path) -> None:
    for path in root.rglob("*"):
        os.utime(path, ns=(10**18 + 1, 10**18 + 1))
    before = {path: path.lstat() for path in root.rglob("*")}
    steps: list[str] = []
    apply(str(root), Change({**OLD, "rendered/c/a/job.yaml": b"new"}, frozenset()))
    apply(str(root), Change({**OLD, "rendered/c/a/job.yaml": b"new"}, frozenset({"runs/none"})), steps.append)
    assert steps == [f"lock {STATE}/lock"]
    changed = {root / "rendered/c/a", root / "rendered/c/a/job.yaml"}
    for path in before.keys() - changed:
        now = path.lstat()
        assert (now.st_mtime_ns, now.st_ino) == (before[path].st_mtime_ns, before[path].st_ino), path
    assert (root / "rendered/c/a/job.yaml").lstat().st_mtime_ns != 10**18 + 1


def test_systems_that_read_and_write_in_small_pieces(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.read, os.write
    monkeypatch.setattr(os, "read", lambda file, size: read(file, min(size, 700)))
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:900]))
    content = bytes(range(256)) * 20
    assert apply(str(root), Change({"tau.yaml": content})).written == ["tau.yaml"]
    assert files(root)["tau.yaml"] == content
    assert apply(str(root), Change({"tau.yaml": content})).unchanged == ["tau.yaml"]
    assert apply(str(root), Change({"tau.yaml": content[:-1] + b"!"})).written == ["tau.yaml"]


def test_one_write_and_one_rename_a_file(root: Path) -> None:
    steps: list[str] = []
    apply(str(root), Change({f"rendered/c/run-{i // 4}/{i}": b"x" * 5000 for i in range(400)}), steps.append)
    kinds = [step.split()[0] for step in steps]
    assert {kind: kinds.count(kind) for kind in ("create", "write", "rename", "unlink", "rmdir")} == {
        "create": 402,  # and the journal, and .gitignore
        "write": 402,
        "rename": 401,
        "unlink": 1,
        "rmdir": 1,
    }
    assert kinds.count("mkdir") == 102  # one a folder, and the state folder, and the stage
    assert kinds.count("sync") == 3  # above 64 files: the stage's names, the journal, its name


def test_folders_go_only_when_a_delete_emptied_them(root: Path) -> None:
    plant(root, {"rendered/d/run/deep/x": b"", "rendered/e/mine": b"", "rendered/e/theirs": b""})
    (root / "rendered/empty").mkdir()
    (root / "rendered/f/empty").mkdir(parents=True)
    plant(root, {"rendered/f/run/x": b""})
    deletes = {"rendered/d/run/deep/x", "rendered/e/mine", "rendered/f/run/x", "rendered/empty/none", *OLD}
    apply(str(root), Change({"rendered/c/a/new": b""}, frozenset(deletes)))
    assert files(root) == {"rendered/e/theirs": b"", "rendered/c/a/new": b""}
    assert folders(root) == {
        *("rendered", "rendered/c", "rendered/c/a", "rendered/e"),
        *("rendered/empty", "rendered/f", "rendered/f/empty"),
    }


def test_only_what_is_asked_is_deleted(root: Path) -> None:
    apply(str(root), Change({}, frozenset({"rendered/c/a/job.yaml"})))
    assert files(root) == {path: content for path, content in OLD.items() if path != "rendered/c/a/job.yaml"}


def test_a_delete_below_a_file_is_gone_already(root: Path) -> None:
    change = Change({"tau.yaml": b"2"}, frozenset({"tau.yaml/x/y", "runs/w/a.json/x"}))
    for written in (["tau.yaml"], []):
        assert apply(str(root), change)[:2] == (written, [])


def test_a_file_gives_way_to_a_folder(root: Path) -> None:
    apply(str(root), Change({"runs/w/a.json/b": b"b"}, frozenset({"runs/w/a.json"})))
    assert files(root)["runs/w/a.json/b"] == b"b"
    assert refused(root, Change({"runs/w/a.json": b""}, frozenset({"runs/w/a.json/b"}))) == {
        "runs/w/a.json": "a folder stands in the place of this file"
    }


@pytest.mark.parametrize(
    "path",
    [
        *("", "/etc/x", "../x", "a/../x", "a/..", "a//b", "a/", "./a", "a/./b", "a\\..\\b", "a\0b", "\ud800"),
        *(".git/hooks/pre-commit", "a/.git/config", ".GIT/config", f"{STATE}/lock", ".Tau-Compile/x", STATE),
        *("x/" * 200 + "x", "x" * 300),
    ],
)
def test_paths_that_are_refused(root: Path, path: str) -> None:
    assert list(refused(root, Change({"new/file": b"", path: b""}))) == [path]
    if path != "x" * 300:
        assert list(refused(root, Change({"new/file": b""}, frozenset({path})))) == [path]


def test_a_change_that_contradicts_itself(root: Path) -> None:
    problems = refused(root, Change({"n/a": b"", "n/a/b/c": b"", "tau.yaml": b"x"}, frozenset({"tau.yaml"})))
    assert problems == {
        "n/a": "asked for as a file and as a folder",
        "tau.yaml": "asked to be written and to be deleted",
    }


def test_contents_that_are_made_when_asked_for(root: Path) -> None:
    class Lazy(dict[str, bytes]):
        asked = 0

        def __getitem__(self, path: str) -> bytes:
            self.asked += 1
            if path == "fails" and self.asked > 3:
                raise RuntimeError("while it was staged")
            return super().__getitem__(path)

    with pytest.raises(RuntimeError):
        apply(str(root), Change(Lazy({"a": b"", "fails": b"", "b": b""})))
    assert files(root) == OLD
    assert state(root) == {".gitignore", "lock"}
    writes = Lazy({"a": b"", "b": b"", "tau.yaml": b"t"})
    assert apply(str(root), Change(writes))[::2] == (["a", "b"], ["tau.yaml"])
    assert writes.asked == 5  # all to compare, two to stage


def test_links_are_refused(root: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"outside/x": b"theirs"})
    (root / "rendered/link").symlink_to(tmp_path / "outside")
    (root / "rendered/inner").symlink_to("c")
    (root / "rendered/c/file").symlink_to("a/job.yaml")
    (root / "rendered/c/dangling").symlink_to("nowhere")
    link = "a symbolic link, and nothing is written through links"
    place = "a symbolic link stands in the place of this file"
    assert refused(root, Change({"rendered/link/x": b"ours", "rendered/inner/n": b""})) == {
        "rendered/link": link,
        "rendered/inner": link,
    }
    assert refused(root, Change({}, frozenset({"rendered/link/x"}))) == {"rendered/link": link}
    assert refused(root, Change({"rendered/c/file": b"", "rendered/c/dangling": b""})) == {
        "rendered/c/file": place,
        "rendered/c/dangling": place,
    }
    assert refused(root, Change({}, frozenset({"rendered/c/file"}))) == {"rendered/c/file": place}
    assert (tmp_path / "outside/x").read_bytes() == b"theirs"


def test_all_obstacles_are_told_at_once(root: Path) -> None:
    os.mkfifo(root / "rendered/pipe")
    change = Change(
        {"rendered/c/a": b"", "tau.yaml/x/y": b"", "rendered/pipe": b"", "new": b""}, frozenset({"runs"})
    )
    assert refused(root, change) == {
        "rendered/c/a": "a folder stands in the place of this file",
        "rendered/pipe": "something other than a file stands in the place of this file",
        "runs": "a folder stands in the place of this file",
        "tau.yaml": "a folder is needed here, and something else stands in its place",
    }


def as_nobody(root: Path, change: Change) -> list[str]:
    """The problems that a user without any privilege meets; permissions do not bind root."""
    reading, writing = os.pipe()

    def action() -> None:
        os.chdir(root)
        if not os.geteuid():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        try:
            apply(".", change)
        except WriteError as problem:
            os.write(writing, str(problem).encode())

    if not os.geteuid():
        for path in (root, *root.rglob("*")):
            os.chown(path, 65534, 65534)
    status = child(action)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    assert status == 0
    return text.splitlines()


def test_read_only_folders(root: Path) -> None:
    (root / "rendered/c/a").chmod(0o555)
    (root / "runs").chmod(0o555)
    try:
        change = Change({"new": b"", "rendered/c/a/job.yaml": b"2", "runs/x/y/z": b"", "runs/w/a.json": b"2"})
        read_only = ["rendered/c/a: this folder is read-only", "runs: this folder is read-only"]
        assert as_nobody(root, change) == read_only
        assert as_nobody(root, Change({"new": b""}, frozenset({"rendered/c/a/svc.yaml"}))) == read_only[:1]
        assert files(root) == OLD
        assert as_nobody(root, Change({**OLD, "new": b""})) == []  # what is there already needs no permission
        assert files(root) == {**OLD, "new": b""}
        assert state(root) == {".gitignore", "lock"}
    finally:
        (root / "rendered/c/a").chmod(0o755)
        (root / "runs").chmod(0o755)


def test_unreadable_files_and_a_read_only_root(root: Path) -> None:
    (root / "tau.yaml").chmod(0)
    assert as_nobody(root, Change({"tau.yaml": b"2", "new": b""})) == [
        "tau.yaml: cannot be read: permission denied"
    ]
    subprocess.run(["rm", "-r", str(root / STATE)], check=True)
    root.chmod(0o555)
    try:
        assert as_nobody(root, Change({"rendered/c/a/job.yaml": b"2"})) == [f"{STATE}: permission denied"]
    finally:
        root.chmod(0o755)
    assert files(root) == {**OLD, "tau.yaml": (root / "tau.yaml").read_bytes()}


def test_new_files_have_the_usual_permissions(root: Path) -> None:
    (root / "tau.yaml").chmod(0o400)
    before = os.umask(0o027)
    try:
        apply(str(root), Change({"tau.yaml": b"2", "n/new": b""}))
    finally:
        os.umask(before)
    assert [stat.S_IMODE((root / path).stat().st_mode) for path in ("tau.yaml", "n/new", "n")] == [
        0o640,
        0o640,
        0o750,
    ]


def test_one_writer_at_a_time(root: Path) -> None:
    script = (
        "import sys\nfrom tau_compile.emit.writer import Writer\n"
        "with Writer(sys.argv[1]):\n print('held', flush=True)\n sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script, str(root)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        plant(root, {f"{STATE}/stage-1/0": b"being staged by the other"})
        for attempt in (lambda: apply(str(root), Change({"new": b""})), lambda: recover(str(root))):
            with pytest.raises(WriteError, match=r"^another tau-compile is writing here$"):
                attempt()
        assert files(root) == OLD
        assert (root / STATE / "stage-1/0").exists()
        other.kill()
    assert apply(str(root), Change({"new": b""})).written == ["new"]


def test_the_tree_is_held_from_plan_to_write(root: Path) -> None:
    with Writer(str(root)) as writer:
        assert writer.recover() == []
        with pytest.raises(WriteError, match="another tau-compile"):
            apply(str(root), Change({"new": b"theirs"}))
        assert writer.apply(Change({"new": b"ours"})).written == ["new"]
        assert writer.apply(Change({"new": b"ours 2"})).written == ["new"]
    assert apply(str(root), Change({"new": b"theirs"})).written == ["new"]


def test_file_systems_without_locks(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def refuse(number: int) -> None:
        def flock(file: int, operation: int) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(fcntl, "flock", flock)

    refuse(errno.ENOLCK)
    assert apply(str(root), Change({"new": b""})).written == ["new"]
    refuse(errno.EIO)
    with pytest.raises(WriteError, match="input/output error"):
        apply(str(root), Change({"new": b"2"}))


def test_git_does_not_see_the_state_folder(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / STATE).mkdir()
    (root / STATE / ".gitignore").touch()  # killed before its content came
    apply(str(root), Change({"new": b""}))
    done = subprocess.run(
        ["git", "-C", str(root), "status", "-s"], check=True, capture_output=True, text=True
    )
    assert STATE not in done.stdout
    assert "new" in done.stdout


def test_a_state_folder_that_is_none(root: Path, tmp_path: Path) -> None:
    (root / STATE).symlink_to(tmp_path)
    assert STATE in refused(root, Change({"new": b""}))
    (root / STATE).unlink()
    (root / STATE).write_bytes(b"")
    with pytest.raises(WriteError, match="not a directory"):
        apply(str(root), Change({"new": b""}))
    assert recover(str(root)) == []
    with pytest.raises(WriteError, match="no such file"):
        apply(str(tmp_path / "nowhere"), Change({"new": b""}))
    assert not (tmp_path / "nowhere").exists()


def test_nothing_to_recover_creates_nothing(root: Path) -> None:
    assert recover(str(root)) == []
    assert not pending(str(root))
    assert not (root / STATE).exists()


def test_little_is_imported(root: Path) -> None:
    script = (
        "import sys\nbefore = set(sys.modules)\nfrom tau_compile.emit.writer import *\n"
        "assert apply(sys.argv[1], Change({'tau.yaml': b't'})).unchanged\n"
        "watched = {'json', 'hashlib', 'pathlib', 'subprocess', 'shutil', 'tempfile', 'logging'}\n"
        "print(sorted((watched & set(sys.modules)) - before))\n"
    )
    command = [sys.executable, "-c", script, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"

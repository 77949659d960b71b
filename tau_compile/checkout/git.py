"""What a build asks Git: where this branch left the base, and what lies there. Argument lists only, bounded in time.

An answer that Git refuses to give is never taken for "nothing is there": that would make every run look new.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tau_compile.named import NamedTuple
from tau_compile.workload.code.git import surroundings
from tau_compile.workload.code.tree import work_tree as work_tree

if TYPE_CHECKING:
    from collections.abc import Iterable

TIMEOUT = 60  # seconds for one answer


class GitError(Exception):
    """Git cannot answer. The message is for people."""


class Blob(NamedTuple):
    """One file at a commit: its object id and path."""

    id: str
    path: str


class Branch(NamedTuple):
    """A branch of this clone: its full ref and commit."""

    ref: str
    commit: str


def commit(root: str, ref: str) -> str | None:
    """The commit a ref names, or None when there is no such ref."""
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return _git(root, *asked, nothing=1).decode().strip() or None


def branches(root: str, name: str) -> list[Branch]:
    """The branches called ``name``, of remotes (``origin`` first) and then this clone's own."""
    patterns = (f"refs/remotes/*/{name}", f"refs/heads/{name}")
    lines = _git(root, "for-each-ref", "--format=%(refname) %(objectname)", *patterns).decode().splitlines()
    found = [Branch(ref, sha) for ref, sha in (line.split() for line in lines)]
    order = ("refs/remotes/origin/", "refs/remotes/")
    return sorted(
        found, key=lambda b: next((i for i, start in enumerate(order) if b.ref.startswith(start)), 2)
    )


def branch_names(root: str) -> list[str]:
    """The short names of all branches, of remotes and of this clone."""
    lines = (
        _git(root, "for-each-ref", "--format=%(refname)", "refs/remotes", "refs/heads").decode().splitlines()
    )
    names = {line.split("/", 3 if line.startswith("refs/remotes/") else 2)[-1] for line in lines}
    return sorted(names - {"HEAD"})


def remotes(root: str) -> list[str]:
    """The names of the remotes."""
    return _git(root, "remote").decode().split()


def merge_bases(root: str, one: str, other: str) -> list[str]:
    """The commits where two histories part; several where branches were merged crosswise, none for strangers."""
    return (
        [one] if one == other else _git(root, "merge-base", "--all", one, other, nothing=1).decode().split()
    )


def independent(root: str, commits: list[str]) -> list[str]:
    """Of some commits, in their order, those that no other of them follows."""
    if len(commits) < 2:
        return commits
    apart = _git(root, "merge-base", "--independent", *commits).decode().split()
    return [sha for sha in commits if sha in apart]


def shallow(root: str) -> bool:
    """Whether the clone has only the end of its history."""
    return _git(root, "rev-parse", "--is-shallow-repository").strip() == b"true"


def blobs(root: str, at: str, places: Iterable[str]) -> list[Blob]:
    """The files at or below some places (from ``root``) at a commit, by path from ``root``."""
    top = prefix(root)
    wanted = [f"{top}{place}" for place in places]
    found = []
    for first in range(0, len(wanted), 500):  # what a command line holds
        asked = ("ls-tree", "-r", "-z", "--full-tree", at, "--", *wanted[first : first + 500])
        for line in _git(root, *asked).split(b"\0"):
            head, _, path = line.partition(b"\t")
            if path and head.split()[1] == b"blob":
                found.append(Blob(head.split()[2].decode(), os.fsdecode(path)[len(top) :]))
    return found


def contents(root: str, wanted: Iterable[Blob]) -> dict[str, bytes]:
    """The content of files at a commit, by path."""
    blobs = list(wanted)
    if not blobs:
        return {}
    answer = _git(root, "cat-file", "--batch", given="".join(f"{blob.id}\n" for blob in blobs).encode())
    found, place = {}, 0
    for blob in blobs:
        end = answer.index(b"\n", place)
        words = answer[place:end].split()
        if len(words) != 3:
            raise GitError(f"the object of {blob.path} is not in this clone; `git fetch` brings it")
        size = int(words[2])
        found[blob.path] = answer[end + 1 : end + 1 + size]
        place = end + 2 + size
    return found


def prefix(root: str) -> str:
    """The path of ``root`` inside its work tree, with a final slash, or empty."""
    return os.fsdecode(_git(root, "rev-parse", "--show-prefix")).removesuffix("\n")


def assert_in_place(root: str) -> None:
    """Refuse a work tree that is elsewhere: paths would count from there, and every run would look new."""
    top = os.fsdecode(_git(root, "rev-parse", "--show-toplevel")).removesuffix("\n")
    if not os.path.lexists(os.path.join(top, ".git")):
        raise GitError(
            f"the work tree of this repository is {top}, by `core.worktree`; there is no .git in it"
        )


def blob_id(content: bytes, like: str) -> str:
    """The object id that Git gives a file, in the object format of the id ``like``."""
    from hashlib import sha1, sha256

    whole = b"blob %d\0%s" % (len(content), content)
    return (sha256(whole) if len(like) == 64 else sha1(whole, usedforsecurity=False)).hexdigest()


def ages(root: str, folder: str) -> dict[str, int]:
    """For each file below a folder, how many commits (first parents) came after the one that added it, by path."""
    lines = _git(root, "rev-list", "--first-parent", "--parents", "HEAD").decode().splitlines()
    place = {line.split()[0]: age for age, line in enumerate(lines)}
    found: dict[str, int] = {}
    for sha, path in _added(root, [" ".join(line.split()[:2]) for line in lines], folder):
        found.setdefault(path, place[sha])
    return found


def added_by(root: str, path: str) -> str:
    """The latest commit that added a file, ``path`` counting from ``root``; empty if none did."""
    commits = _git(root, "rev-list", "--no-merges", "HEAD", "--", path).decode().split()
    return next((sha for sha, _ in _added(root, commits, path)), "")


def _added(root: str, commits: list[str], place: str) -> list[tuple[str, str]]:
    """(commit, path from ``root``) of the files at or below a place that commits added, in the order of the commits.

    A line of ``commits`` may name the parent to compare with. Asked of a command that heeds no setting of the user's, unlike
    `git log`: an order of files, a folder to count from, signatures to show.
    """
    start = len(prefix(root))
    asked = ("diff-tree", "--stdin", "--root", "-r", "-z", "--no-renames", "--diff-filter=A")
    given = "".join(f"{line}\n" for line in commits).encode()
    listing = _git(root, *asked, "--name-only", "--", place, given=given)
    known = {line.split()[0] for line in commits}
    found, sha = [], ""
    for part in filter(None, os.fsdecode(listing).split("\0")):
        if part in known:
            sha = part
        else:
            found.append((sha, part[start:]))
    return found


def _git(root: str, *arguments: str, given: bytes | None = None, nothing: int = 0) -> bytes:
    """Git's answer. The exit code ``nothing`` stands for an empty one; any other failure is an error."""
    import subprocess

    try:
        done = subprocess.run(  # noqa: S603  an argument list, no shell
            ["git", "-c", "core.fsmonitor=false", "--literal-pathspecs", "-C", root, *arguments],  # noqa: S607
            stdin=subprocess.DEVNULL if given is None else None,
            input=given,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
            env=surroundings(),
        )
    except FileNotFoundError:
        raise GitError("git is not installed, and the repository is a Git work tree") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git {arguments[0]} did not answer within {TIMEOUT} seconds") from None
    except OSError as problem:
        raise GitError(f"git cannot be started: {problem.strerror or problem}") from None
    if done.returncode == 0:
        return done.stdout
    if nothing and done.returncode == nothing and all(map(_is_warning, done.stderr.splitlines())):
        return b""
    reason = done.stderr.decode(errors="replace").strip() or f"exit code {done.returncode}"
    raise GitError(f"git {arguments[0]}: {reason}")


def _is_warning(line: bytes) -> bool:
    return not line.strip() or line.startswith((b"warning: ", b"hint: "))

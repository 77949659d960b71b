"""What a build asks Git: which commit is the base, and what lies under ``runs/`` there. Argument lists only, bounded in time."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

TIMEOUT = 60  # seconds for one answer


class GitError(Exception):
    """Git cannot answer. The message is for people."""


class Blob(NamedTuple):
    """One file at a commit: its object id and path."""

    id: str
    path: str


def work_tree(root: str) -> bool:
    """Whether ``root`` lies in a Git work tree."""
    folder = os.path.abspath(root)
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent
    return True


def commit(root: str, ref: str) -> str | None:
    """The commit a ref names, or None."""
    found = _git(
        root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}", check=False
    )
    return found.decode().strip() or None


def merge_base(root: str, one: str, other: str) -> str | None:
    """The commit where two histories part, or None when they have nothing in common."""
    found = _git(root, "merge-base", one, other, check=False).decode().split()
    return found[0] if found else None


def blobs(root: str, at: str, folder: str) -> list[Blob]:
    """The files below a folder (relative to ``root``) at a commit, by path from ``root``."""
    listing = _git(root, "ls-tree", "-r", "-z", "--full-tree", at, "--", f"{prefix(root)}{folder}/")
    start = len(prefix(root))
    found = []
    for line in listing.split(b"\0"):
        head, _, path = line.partition(b"\t")
        if path and head.split()[1:2] == [b"blob"]:
            found.append(Blob(head.split()[2].decode(), os.fsdecode(path)[start:]))
    return found


def contents(root: str, wanted: Iterable[Blob]) -> dict[str, bytes]:
    """The content of files at a commit, by path."""
    blobs = list(wanted)
    if not blobs:
        return {}
    asked = "".join(f"{blob.id}\n" for blob in blobs).encode()
    answer = _git(root, "cat-file", "--batch", given=asked)
    found, place = {}, 0
    for blob in blobs:
        end = answer.index(b"\n", place)
        size = int(answer[place:end].split()[2])
        found[blob.path] = answer[end + 1 : end + 1 + size]
        place = end + 2 + size
    return found


def prefix(root: str) -> str:
    """The path of ``root`` inside its work tree, with a final slash, or empty."""
    return os.fsdecode(_git(root, "rev-parse", "--show-prefix")).rstrip("\n")


def blob_id(content: bytes) -> str:
    """The object id that Git (with SHA-1) gives a file."""
    from hashlib import sha1

    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _git(root: str, *arguments: str, given: bytes | None = None, check: bool = True) -> bytes:
    environment = {**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", root, *arguments],  # noqa: S607
            input=given,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
            env=environment,
        )
    except FileNotFoundError:
        raise GitError("git is not installed, and the repository is a Git work tree") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git {arguments[0]} did not answer within {TIMEOUT} seconds") from None
    if check and done.returncode != 0:
        raise GitError(f"git {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout if done.returncode == 0 else b""


def ages(root: str, folder: str) -> dict[str, int]:
    """For each file ever added below ``folder``, the number of commits (first parents) since, by path from ``root``."""
    start = len(prefix(root))
    listing = _git(
        root,
        "log",
        "--first-parent",
        "-m",
        "--diff-filter=A",
        "--name-only",
        "--format=%x01%H",
        "-z",
        "HEAD",
        "--",
        folder,
    )
    order = _git(root, "rev-list", "--first-parent", "HEAD").decode().split()
    place = {sha: age for age, sha in enumerate(order)}
    found: dict[str, int] = {}
    for block in listing.decode(errors="surrogateescape").split("\x01")[1:]:
        sha, *names = block.replace("\0\n", "\0").replace("\n", "\0").split("\0")
        for name in names:
            if name:
                found.setdefault(name[start:], place.get(sha, 0))
    return found

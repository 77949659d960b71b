"""The one question put to Git: which files it tracks, and with which mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.workload.code.tree import GitError, Tracked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SECONDS = 30


def ls_files(root: str, paths: Sequence[str]) -> dict[str, Tracked] | None:
    """List the index at or below ``paths`` (from ``root``); None outside a work tree. Raises GitError."""
    import os
    import subprocess

    # Hooks run with GIT_DIR, GIT_INDEX_FILE and others set; only the folder shall decide which repository is
    # asked.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    command = ["git", "-c", "core.fsmonitor=false", "--literal-pathspecs", "-C", root]
    question = ["ls-files", "-z", "--stage", "--", *(path or "." for path in paths)]
    try:
        done = subprocess.run(  # noqa: S603  an argument list, no shell
            [*command, *question],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git gave no answer within {SECONDS} seconds") from None
    except OSError as problem:
        raise GitError(problem.strerror or "git cannot be started") from None
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
        if "not a git repository" in reason or "must be run in a work tree" in reason:
            return None
        raise GitError(reason.splitlines()[0])
    return dict(_entries(done.stdout))


def _entries(listing: bytes) -> Iterator[tuple[str, Tracked]]:
    # <mode> <object> <stage>\t<path>; in a conflict the path comes once a stage, and any but 0 will do to
    # say so. There are thousands of lines and few kinds of entry.
    known: dict[tuple[bytes, bytes], Tracked] = {}
    for line in listing.split(b"\0")[:-1]:
        tab = line.index(b"\t")
        kind = line[:6], line[tab - 1 : tab]
        entry = known.get(kind)
        if entry is None:
            entry = known[kind] = Tracked(int(kind[0], 8), int(kind[1]))
        yield line[tab + 1 :].decode("utf-8", "surrogateescape"), entry

"""The one question put to Git: which files it tracks, and with which mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.workload.code.tree import GitError, Tracked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SECONDS = 30

# Set in hooks; which repository is asked shall depend on the folder alone. GIT_CONFIG_* stays: safe.directory is set with it.
_LOCAL = frozenset(
    f"GIT_{name}"
    for name in (
        "DIR", "WORK_TREE", "INDEX_FILE", "PREFIX", "COMMON_DIR", "NAMESPACE", "OBJECT_DIRECTORY", "GRAFT_FILE",
        "ALTERNATE_OBJECT_DIRECTORIES", "SHALLOW_FILE", "LITERAL_PATHSPECS", "GLOB_PATHSPECS", "ICASE_PATHSPECS",
        "NOGLOB_PATHSPECS", "INTERNAL_SUPER_PREFIX", "REPLACE_REF_BASE",
    )
)  # fmt: skip


def surroundings() -> dict[str, str]:
    """The environment that Git is called in. Traces are off: they go where errors are looked for."""
    import os

    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _LOCAL and not name.startswith("GIT_TRACE")
    }
    return kept | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}


def ls_files(root: str, paths: Sequence[str]) -> dict[str, Tracked] | None:
    """List the index at or below ``paths`` (from ``root``); None outside a work tree. Raises GitError."""
    import subprocess

    command = ["git", "-c", "core.fsmonitor=false", "--literal-pathspecs", "-C", root]
    question = ["ls-files", "-z", "--stage", "--", *(path or "." for path in paths)]
    try:
        done = subprocess.run(  # noqa: S603  an argument list, no shell
            [*command, *question],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=surroundings(),
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

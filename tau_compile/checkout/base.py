"""The base: the commit whose records count as launched. A branch's is where it left the base branch."""

from __future__ import annotations

from tau_compile.checkout import git
from tau_compile.named import NamedTuple

RECORDS = "runs"


class Base(NamedTuple):
    """``commit`` is empty in a repository without commits; ``blobs`` are the object ids of what lies below ``runs/``.

    Where branches were merged crosswise there are several such commits: ``commit`` is one, ``blobs`` are those of all.
    """

    commit: str
    blobs: dict[str, str]


class BaseMissingError(Exception):
    """The base cannot be found. The message says what to do."""


def find(root: str, ref: str, branch: str) -> Base | None:
    """The base of a work tree; None outside Git, where every record counts as launched.

    ``ref`` is what the user asked for with ``--base``, any commit, or empty: then it is the ``branch`` of the project file,
    a remote's before this clone's own. Raises BaseMissingError and GitError.
    """
    if not git.work_tree(root):
        return None
    git.assert_in_place(root)
    head = git.commit(root, "HEAD")
    tips = _tips(root, ref, branch, head)
    if not tips:
        return Base("", {})  # nothing is committed, so nothing is launched
    places = _parted(root, head, tips) if head else tips[:1]
    blobs: dict[str, str] = {}
    for place in reversed(places):
        blobs |= {blob.path: blob.id for blob in git.blobs(root, place, [RECORDS])}
    return Base(places[0], blobs)


def _tips(root: str, ref: str, branch: str, head: str | None) -> list[str]:
    if ref:
        tip = git.commit(root, ref)
        if tip is None:
            raise BaseMissingError(f"there is no commit `{ref}` in this clone. {_cure(root, ref)}".rstrip())
        return [tip]
    found = git.branches(root, branch)
    remote = [b.commit for b in found if b.ref.startswith("refs/remotes/")]
    if not found and head is not None:
        names = [name for name in git.branch_names(root) if name != branch]
        known = f" (here are: {', '.join(names[:5])})" if names else ""
        other = f"Is the base another branch{known}? Write `base: BRANCH` into tau-compile.yaml."
        cure = _cure(root, branch)
        raise BaseMissingError(
            f"the base branch `{branch}` is not in this clone. {cure + ' ' * bool(cure)}{other}"
        )
    return remote or [b.commit for b in found]


def _parted(root: str, head: str, tips: list[str]) -> list[str]:
    """Where HEAD left the base. With several remotes, of a fork and of its origin, the one that is ahead."""
    places = [place for tip in dict.fromkeys(tips) for place in git.merge_bases(root, head, tip)]
    if places:
        return git.independent(root, list(dict.fromkeys(places)))
    if git.shallow(root):
        raise BaseMissingError(f"this clone does not show where the branch left its base. {_cure(root, '')}")
    return tips[:1]  # histories without a common commit: what the base has launched is launched


def _cure(root: str, ref: str) -> str:
    """How to get what is missing."""
    remotes = git.remotes(root)
    if not remotes:
        return ""
    remote, slash, name = ref.partition("/")
    if not slash or remote not in remotes:
        remote, name = next((r for r in ("origin", *remotes) if r in remotes), remotes[0]), ref
    if git.shallow(root):
        return (
            f"It is shallow: `git fetch --unshallow {remote} '+refs/heads/*:refs/remotes/{remote}/*'` completes it; in "
            "GitHub Actions give actions/checkout `fetch-depth: 0`, in GitLab set `GIT_DEPTH: 0`."
        )
    return f"`git fetch {remote} {name}:refs/remotes/{remote}/{name}` brings it."

"""Building a repository: read the work tree and Git, let the planner decide, and work out which files change.

This is an edge: it reads files and asks Git. It writes nothing; ``emit.writer`` applies the change.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tau_compile import git
from tau_compile.diagnostics import Diagnostic, Span, error, has_errors
from tau_compile.emit.writer import Change
from tau_compile.runs import evidence, tree
from tau_compile.runs.plan import Limits, Plan, State, plan
from tau_compile.runs.record import FOLDER, Record, from_json, to_json
from tau_compile.runs.sources import survey

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tau_compile.compiler import Repository
    from tau_compile.source.settings import Settings


@dataclass(frozen=True, slots=True)
class Checkout:
    """A repository on disk: its root, settings, overlays and code."""

    root: str
    settings: Settings
    repository: Repository


class Base(NamedTuple):
    """The records at the base by path, with their bytes; ``commit`` is empty in a repository without commits."""

    commit: str
    records: dict[str, Record]
    raw: dict[str, bytes]


class Built(NamedTuple):
    """What a build would do; the change is empty when there are errors."""

    plan: Plan
    change: Change
    diagnostics: tuple[Diagnostic, ...]
    base: Base | None
    records: dict[str, Record]


class BaseMissingError(Exception):
    """The base branch cannot be found. The message is for people."""


def build(
    checkout: Checkout,
    base_ref: str = "",
    *,
    adopt: Iterable[str] | None = None,
    ended: bool = True,
) -> Built:
    """Plan a build. ``adopt`` are paths of tau.yaml files whose intents are recorded and not launched."""
    said: list[Diagnostic] = []
    records, broken = work_tree_records(checkout.root)
    said += broken
    base = base_records(checkout.root, base_ref or checkout.settings.base, explicit=bool(base_ref))
    known = {**(base.records if base else {}), **records}
    said += checkout.repository.overlays.diagnostics
    chosen = None if adopt is None else set(adopt)
    sources, problems = survey(checkout.root, checkout.settings, checkout.repository, known.values(), chosen)
    said += problems
    state = State(
        records,
        base.records if base else None,
        evidence.ends(checkout.root, known.values()) if ended else {},
        _workspace_names(checkout.repository),
    )
    limits = Limits(checkout.settings.max_runs, checkout.settings.max_gpus)
    made = plan(sources, state, limits, adopt=adopt is not None)
    said += made.diagnostics
    said += tampered(checkout.root, made, records, base)
    change = Change({}, frozenset()) if has_errors(said) else _change(checkout.root, made, records, base)
    return Built(made, change, tuple(said), base, records)


def work_tree_records(root: str) -> tuple[dict[str, Record], list[Diagnostic]]:
    """All records below ``runs/``, by path."""
    found: dict[str, Record] = {}
    said: list[Diagnostic] = []
    for path, content in _record_files(root):
        parsed = from_json(content, path)
        said += parsed.diagnostics
        if parsed.record is not None:
            found[path] = parsed.record
    return found, said


def _record_files(root: str) -> Iterable[tuple[str, bytes]]:
    top = os.path.join(root, FOLDER)
    if not os.path.isdir(top):
        return
    for workspace in sorted(os.listdir(top)):
        folder = os.path.join(top, workspace)
        if not os.path.isdir(folder) or os.path.islink(folder):
            continue
        for name in sorted(os.listdir(folder)):
            if name.endswith(".json"):
                with open(os.path.join(folder, name), "rb") as file:
                    yield f"{FOLDER}/{workspace}/{name}", file.read()


def base_records(root: str, ref: str, *, explicit: bool) -> Base | None:
    """The records that count as launched: those where this branch left the base. None outside Git.

    ``ref`` is a branch name, of which the remote's form is preferred, or, when ``explicit``, any commit.
    """
    if not git.work_tree(root):
        return None
    head = git.commit(root, "HEAD")
    tip = _tip(root, ref, explicit)
    if tip is None:
        if head is None:
            return Base("", {}, {})  # nothing is committed, so nothing is launched
        raise BaseMissingError(
            f"the base branch `{ref}` is not here; fetch it, name it with --base, or set `base:` in tau-compile.yaml"
        )
    at = (git.merge_base(root, head, tip) if head else None) or tip
    listed = [blob for blob in git.blobs(root, at, FOLDER) if blob.path.endswith(".json")]
    raw = _from_disk(root, listed)
    raw |= git.contents(root, [blob for blob in listed if blob.path not in raw])
    records = {path: r for path, content in raw.items() if (r := from_json(content, path).record) is not None}
    return Base(at, records, raw)


def _tip(root: str, ref: str, explicit: bool) -> str | None:
    names = [ref] if explicit else [f"refs/remotes/origin/{ref}", f"refs/heads/{ref}"]
    return next((found for name in names if (found := git.commit(root, name))), None)


def _from_disk(root: str, listed: list[git.Blob]) -> dict[str, bytes]:
    """Those files at the commit that are the same on disk: most, and reading them is cheaper than asking Git."""
    found = {}
    for blob in listed:
        try:
            with open(os.path.join(root, blob.path), "rb") as file:
                content = file.read()
        except OSError:
            continue
        if git.blob_id(content) == blob.id:
            found[blob.path] = content
    return found


def _workspace_names(repository: Repository) -> dict[str, str]:
    overlays = repository.overlays.overlays
    names = {}
    for space in overlays.workspaces if overlays else ():
        names[space.name] = space.name
        names.update(dict.fromkeys(space.formerly, space.name))
    return names


def tampered(root: str, made: Plan, records: Mapping[str, Record], base: Base | None) -> list[Diagnostic]:
    """What is not as it was launched: records changed otherwise than by their state, manifests changed, foreign files."""
    said: list[Diagnostic] = []
    restore = f"`git checkout {base.commit[:12] if base and base.commit else 'BASE'} -- {{}}` brings it back"
    for path, launched in (base.records if base else {}).items():
        now = records.get(path)
        if now is not None and now != launched and not _allowed(launched, now):
            said.append(
                error(
                    "TAU740",
                    f"the record of {launched.run} was changed; after launch only its state may, and never back",
                    Span(path, 1, 1, 1, 1),
                    restore.format(path),
                )
            )
    for path, record in made.records.items():
        if record.state == "active" and path in records:
            said += _damaged(root, record, restore)
    return said


def _allowed(launched: Record, now: Record) -> bool:
    if launched.state != "active":
        return False
    if now.state == "retired" and now.evidence is not None:
        return now == launched.ended(now.evidence)
    return now == launched.cancelled()


def _damaged(root: str, record: Record, restore: str) -> list[Diagnostic]:
    said: list[Diagnostic] = []
    place = tree.folder(record)
    try:
        present = set(os.listdir(os.path.join(root, place)))
    except OSError:
        present = set()
    for name, digest in record.manifests.items():
        path = f"{place}/{name}"
        if name in present:
            with open(os.path.join(root, path), "rb") as file:
                if tree.digest(file.read()) == digest:
                    continue
        what = "was changed" if name in present else "is missing"
        said.append(
            error(
                "TAU738", f"a manifest of {record.run} {what}", Span(path, 1, 1, 1, 1), restore.format(path)
            )
        )
    said.extend(
        error(
            "TAU739",
            f"`{name}` is not a manifest of {record.run}",
            Span(f"{place}/{name}", 1, 1, 1, 1),
            "move it out of the rendered tree: everything there is applied",
        )
        for name in sorted(present - record.manifests.keys())
    )
    return said


def _change(root: str, made: Plan, records: Mapping[str, Record], base: Base | None) -> Change:
    writes: dict[str, bytes] = {}
    deletes: set[str] = set()
    for draft in made.drafts:
        deletes.add(draft.path)
        deletes.update(_manifest_paths(draft))
    missing: list[str] = []
    for path, record in made.records.items():
        before = records.get(path)
        if before is None:  # launched on the base branch, lost here
            missing += [path, *_manifest_paths(record)]
        elif record != before:
            writes[path] = to_json(record).encode()
            deletes.update(_manifest_paths(before) - _manifest_paths(record))
    if missing and base is not None and base.commit:
        writes |= _at_base(root, base.commit, missing)
    for launch in made.launches:
        place = tree.folder(launch.record)
        writes[launch.record.path] = to_json(launch.record).encode()
        writes.update({f"{place}/{name}": content for name, content in launch.files.items()})
    stay = [*made.records.values(), *(launch.record for launch in made.launches)]
    for cluster, workspace, namespace in sorted(
        {(r.cluster, r.workspace, r.namespace) for r in stay if r.state != "adopted"}
    ):
        writes |= tree.anchor(cluster, workspace, namespace)
    return Change(writes, frozenset(deletes - writes.keys()))


def _manifest_paths(record: Record) -> set[str]:
    place = tree.folder(record)
    return {f"{place}/{name}" for name in record.manifests}


def _at_base(root: str, commit: str, paths: list[str]) -> dict[str, bytes]:
    wanted = set(paths)
    folders = sorted({path.split("/", 1)[0] for path in wanted})
    listed = [blob for folder in folders for blob in git.blobs(root, commit, folder) if blob.path in wanted]
    return git.contents(root, listed)

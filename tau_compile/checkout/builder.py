"""Building a repository: read the work tree and Git, let the planner decide, and work out which files change.

This is an edge: it reads files and asks Git. It writes nothing; ``emit.writer`` applies the change.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tau_compile.checkout import base, git, records, verify
from tau_compile.checkout.effects import Effect, change, effects, needed
from tau_compile.checkout.workloads import survey
from tau_compile.diagnostics import Diagnostic, Span, error, has_errors, warning
from tau_compile.emit.writer import Change
from tau_compile.named import NamedTuple
from tau_compile.policy.former import workspace_names
from tau_compile.runs import tree
from tau_compile.runs.catalogue import gone
from tau_compile.runs.evidence import Evidence
from tau_compile.runs.lineage import follows
from tau_compile.runs.model import Action, Limits, Plan, State
from tau_compile.runs.plan import adopt, launched, plan
from tau_compile.source.project import workload_files

if TYPE_CHECKING:
    from collections.abc import Collection

    from tau_compile.checkout.effects import Read
    from tau_compile.checkout.records import Known
    from tau_compile.compiler import Repository
    from tau_compile.runs.record import Record
    from tau_compile.settings import Settings

_MANY = 1000  # files of which Git is not asked one by one


class Checkout(NamedTuple):
    """A repository on disk: its root, settings, overlays and code."""

    root: str
    settings: Settings
    repository: Repository


class Built(NamedTuple):
    """What a build would do. With errors it does nothing, and the effects are of use to ``check`` only."""

    plan: Plan
    effects: tuple[Effect, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def change(self) -> Change:
        """The files that change."""
        return Change({}) if has_errors(self.diagnostics) else change(self.effects)


def build(checkout: Checkout, base_ref: str = "", *, chosen: Collection[str] | None = None) -> Built:
    """Plan a build. With ``chosen``, paths of tau.yaml files, these are adopted and nothing else is done.

    Raises ``base.BaseMissingError`` and ``git.GitError``.
    """
    root, settings, repository = checkout
    linked = verify.links(root)
    if linked:  # whatever lies behind them is not in the tree
        return Built(Plan({}, (), (), (), ()), (), tuple(linked))
    at = base.find(root, base_ref, settings.base)
    known = records.read(root, at)
    overlays = repository.overlays.overlays
    spaces = workspace_names(overlays) if overlays else {}
    names = {name: space.name for name, space in spaces.items()}
    state = State(known.tree, known.base, Evidence(root).end, names)
    counted = launched(state)
    paths = [
        path
        for path in workload_files(root, root, list(settings.include))
        if chosen is None or path in chosen
    ]
    said = [*known.diagnostics, *repository.overlays.diagnostics]
    if overlays is None:
        return Built(Plan({}, (), (), (), ()), (), tuple(said))
    sources, problems = survey(root, paths, repository, counted, names, adopt=chosen is not None)
    said += problems
    limits = Limits(settings.max_runs, settings.max_gpus)
    made = plan(sources, state, limits) if chosen is None else adopt(sources, state)
    said += made.diagnostics
    read = reader(root)
    found = effects(read, made, known, overlays)
    if chosen is None:
        said += gone(made.records.values(), overlays)
        restored, problems = _verified(root, made, known, at)
        said += problems
        made = _with_restored(made, restored)
        anew = _adopted_anew(checkout, paths, known, counted, names)
        made = _with(made, [Action("adopt", effect.path, effect.text) for effect in anew])
        found = [*_together(found, restored), *anew]
        if repository.manages or _managed_before(root):
            made = _with_spaces(checkout, read, made, spaces, at, found, said)
    return Built(made, tuple(_needed(read, found, known)), tuple(said))


def _managed_before(root: str) -> bool:
    """Whether a build has left folders of workspaces in the tree."""
    top = f"{root}/{tree.TOP}"
    clusters = os.listdir(top) if os.path.isdir(top) else ()
    return any(os.path.lexists(f"{top}/{cluster}/workspaces") for cluster in clusters)


def _with_spaces(
    checkout: Checkout,
    read: Read,
    made: Plan,
    names: Collection[str],
    at: base.Base | None,
    found: list[Effect],
    said: list[Diagnostic],
) -> Plan:
    """The plan with what happens to workspaces that are managed, or were: effects join ``found``, problems ``said``."""
    root, _, repository = checkout
    from tau_compile import spaces
    from tau_compile.checkout import spacetree

    rendered = repository.spaces if repository.manages else spaces.NONE
    outcome = spacetree.outcome(root, read, rendered, made.records.values(), names, at)
    said += [problem for problem in outcome.diagnostics if problem not in said]
    found += outcome.effects
    return made._replace(actions=(*made.actions, *outcome.actions))


def reader(root: str) -> Read:
    """Reads files of a tree by their paths from its root; what is no file, or cannot be read, is content to nobody."""

    def read(path: str) -> bytes | None:
        return verify.content(f"{root}/{path}")

    return read


def _adopted_anew(
    checkout: Checkout, paths: list[str], known: Known, counted: dict[str, Record], names: dict[str, str]
) -> list[Effect]:
    """Adoptions that are not at the base yet, and not what `adopt` would make of the same file today."""
    at_base = known.tree if known.base is None else known.base
    drafts = {
        path: record
        for path, record in known.tree.items()
        if record.state == "adopted" and path not in at_base
    }
    if not drafts:
        return []
    others = {path: record for path, record in counted.items() if path not in drafts}
    before: dict[tuple[str, str], list[Record]] = {}
    for record in others.values():
        before.setdefault((names.get(record.workspace, record.workspace), record.name), []).append(record)
    wanted = {record.source for record in drafts.values()}.intersection(paths)
    found = []
    for source in survey(checkout.root, sorted(wanted), checkout.repository, others, names, adopt=True)[0]:
        launch = source.launch(follows(before.get((source.workspace, source.name), ()))).launch
        draft = drafts.get(launch.record.path) if launch else None
        if launch and draft and draft.digest == source.digest:
            text = f"makes the adoption {draft.run} anew"
            found.append(needed(reader(checkout.root), Effect("adopt", draft.path, text, "", launch.files)))
    return [effect for effect in found if effect.writes]


def _with_restored(made: Plan, restored: dict[str, Effect]) -> Plan:
    """The plan that also says which manifests are brought back, where it does not say so of the record."""
    known = {action.path for action in made.actions if action.verb == "restore"}
    more = [Action("restore", path, effect.text) for path, effect in restored.items() if path not in known]
    return _with(made, more)


def _with(made: Plan, more: list[Action]) -> Plan:
    actions = sorted([*made.actions, *more], key=lambda action: (action.path, action.verb, action.text))
    return made._replace(actions=tuple(actions)) if more else made


def _together(found: list[Effect], restored: dict[str, Effect]) -> list[Effect]:
    """A run whose record and whose manifests are brought back is one effect."""
    joined = []
    for effect in found:
        other = restored.pop(effect.path, None)
        joined.append(effect._replace(writes={**effect.writes, **other.writes}) if other else effect)
    return [*joined, *restored.values()]


def _needed(read: Read, found: list[Effect], known: Known) -> list[Effect]:
    """Files that are there already are compared here, all but those of new runs; the writer compares all."""
    return [
        needed(read, effect) if effect.verb == "anchor" or effect.path in known.tree else effect
        for effect in found
    ]


def _verified(
    root: str, made: Plan, known: Known, at: base.Base | None
) -> tuple[dict[str, Effect], list[Diagnostic]]:
    """Manifests of active runs that are not as launched: brought back where the base has them, else errors.

    Effects come by the path of the record.
    """
    active = [record for record in made.records.values() if record.state == "active"]
    owned: dict[str, set[str]] = {}
    for record in (*known.tree.values(), *(known.base or {}).values(), *made.records.values()):
        if record.manifests:
            owned.setdefault(tree.folder(record), set()).update(record.manifests)
    over = {tree.folder(record): record for record in made.records.values() if record.state != "active"}
    said = verify.strangers(root, owned, over)
    damaged = verify.damages(root, active)
    good = _at_base(root, at, damaged)
    found: dict[str, Effect] = {}
    for record, missing, changed in damaged:
        paths = {name: f"{tree.folder(record)}/{name}" for name in (*missing, *changed)}
        writes = {path: good[path] for path in paths.values() if path in good}
        found[record.path] = Effect(
            "restore", record.path, f"restores the manifests of {record.run}", "", writes
        )
        for name, path in paths.items():
            if path not in good or record.path in known.tree:  # else it is said of the record already
                what = "is missing" if name in missing else "was changed"
                said.append(_damage(record, path, what, path in good))
    return found, said


def _at_base(root: str, at: base.Base | None, damaged: list[verify.Damage]) -> dict[str, bytes]:
    """Those damaged files that are at the base as they were launched, by path."""
    if at is None or not at.commit or not damaged:
        return {}
    wanted = {
        f"{tree.folder(record)}/{name}": record.manifests[name]
        for record, missing, changed in damaged
        for name in (*missing, *changed)
    }
    blobs = git.blobs(root, at.commit, wanted if len(wanted) < _MANY else [tree.TOP])
    contents = git.contents(root, [blob for blob in blobs if blob.path in wanted])
    return {path: content for path, content in contents.items() if tree.digest(content) == wanted[path]}


def _damage(record: Record, path: str, what: str, mended: bool) -> Diagnostic:
    message = f"a manifest of {record.run} {what}"
    span = Span(path, 1, 1, 1, 1)
    if mended:
        return warning("TAU738", message, span, "`tau-compile build` brings it back as it was launched")
    hint = f"the base has no good one either: `git log -- {path}` shows where it changed; or `tau-compile cancel {record.run}`"
    return error("TAU738", message, span, hint)

"""From a plan to the files that change, one effect a run, so that whoever reads it sees which file changes why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tau_compile.emit.writer import Change
from tau_compile.named import NamedTuple
from tau_compile.runs import tree
from tau_compile.runs.record import restated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tau_compile.checkout.records import Known
    from tau_compile.policy.model import Overlays
    from tau_compile.runs.model import Action, Plan

    Read = Callable[[str], bytes | None]


class Effect(NamedTuple):
    """What happens to the files of one run, or to an anchor (``verb`` is ``anchor``). Paths count from the root.

    ``path`` is that of the record, or the anchor's folder; ``cause`` the record of the launch that brings it about, or empty.
    """

    verb: str
    path: str
    text: str
    cause: str
    writes: Mapping[str, bytes]
    deletes: frozenset[str] = frozenset()


def effects(read: Read, plan: Plan, known: Known, overlays: Overlays | None) -> list[Effect]:
    """Every effect of a plan. Manifests that have to be brought back are not among them.

    ``read`` gives a file of the tree by its path, None where there is none.
    """
    found = [*_launches(plan), *_drafts(plan), *_records(read, plan, known), *_anchors(plan, overlays)]
    written = {path for effect in found for path in effect.writes}
    return [
        effect._replace(deletes=effect.deletes - written) if effect.deletes else effect for effect in found
    ]


def _launches(plan: Plan) -> Iterator[Effect]:
    said = {(action.path, action.verb): action for action in plan.actions}
    for launch in plan.launches:
        verb = {"active": "launch", "adopted": "adopt"}.get(launch.record.state, "retire")
        action = said[launch.record.path, verb]  # type: ignore[index]
        yield _effect(action, launch.files, frozenset())


def _drafts(plan: Plan) -> Iterator[Effect]:
    said = {action.path: action for action in plan.actions if action.verb == "discard"}
    for draft in plan.drafts:
        files = frozenset([draft.path, *tree.manifest_paths(draft)])
        text = said[draft.path].text if draft.path in said else f"makes the draft {draft.run} anew"
        yield Effect("discard", draft.path, text, "", {}, files)


def _records(read: Read, plan: Plan, known: Known) -> Iterator[Effect]:
    said: dict[str, Action] = {}
    for action in plan.actions:
        if action.verb in ("retire", "cancel", "restore"):
            said.setdefault(action.path, action)
    for path, record in plan.records.items():
        now, launched = known.tree.get(path), (known.base or {}).get(path)
        owned = {file for one in (now, launched) if one for file in tree.manifest_paths(one)}
        gone = owned.difference(tree.manifest_paths(record))
        if now is not record and now != record:
            text = known.base_texts.get(path)
            if record is not launched or text is None:
                text = restated(text if text is not None else read(path) or b"", record).encode()
            yield _effect(said[path], {path: text}, frozenset(gone))
        elif gone and any(read(file) is not None for file in gone):
            why = f"removes the manifests of {record.run}, which is {record.state}"
            yield Effect("restore", path, why, "", {}, frozenset(gone))


def _anchors(plan: Plan, overlays: Overlays | None) -> Iterator[Effect]:
    today = {space.name: space.namespace for space in (overlays.workspaces if overlays else ())}
    needed: dict[tuple[str, str], str] = {}
    for record in (*plan.records.values(), *(launch.record for launch in plan.launches)):
        if record.state != "adopted":
            key = (record.cluster, record.workspace)
            space = today.get(record.workspace, record.namespace)
            needed[key] = min(space, needed.get(key, space))
    for (cluster, workspace), namespace in sorted(needed.items()):
        place = tree.runs_folder(cluster, workspace)
        files = tree.anchor(cluster, workspace, namespace)
        yield Effect("anchor", f"{place}/{tree.ANCHOR}", f"keeps an anchor in {place}", "", files)


def _effect(action: Action, writes: Mapping[str, bytes], deletes: frozenset[str]) -> Effect:
    return Effect(action.verb, action.path, action.text, action.cause, writes, deletes)


class Writes(Mapping[str, bytes]):
    """The new contents of several effects together; each is read where it lies, when it is asked for."""

    def __init__(self, effects: Iterable[Effect]) -> None:
        self._homes: dict[str, Mapping[str, bytes]] = {}
        for effect in effects:
            self._homes.update(dict.fromkeys(effect.writes, effect.writes))

    def __getitem__(self, path: str) -> bytes:
        return self._homes[path][path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


def change(found: Iterable[Effect]) -> Change:
    """All effects as one change."""
    every = list(found)
    return Change(Writes(every), frozenset().union(*(effect.deletes for effect in every)))


class Difference(NamedTuple):
    """A file that is not as an effect would have it: ``missing``, ``differs`` or ``superfluous``."""

    path: str
    what: str


def differences(read: Read, effect: Effect) -> list[Difference]:
    """The files of an effect that a build would touch. Line ends of a checkout are no difference."""
    found = []
    for path, content in effect.writes.items():
        now = read(path)
        if now is None:
            found.append(Difference(path, "missing"))
        elif tree.committed(now) != content:
            found.append(Difference(path, "differs"))
    found += [Difference(path, "superfluous") for path in effect.deletes if read(path) is not None]
    return sorted(found)


def needed(read: Read, effect: Effect) -> Effect:
    """The effect without files that are right already, but for the line ends of a checkout."""
    paths = {difference.path for difference in differences(read, effect)}
    return effect._replace(
        writes={path: content for path, content in effect.writes.items() if path in paths},
        deletes=effect.deletes & paths,
    )

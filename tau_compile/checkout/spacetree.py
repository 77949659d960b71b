"""Workspaces as code in the tree: which of their files are written and removed, and what must not happen to them.

A folder's ``kustomization.yaml`` lists its files, here or at the base; of those, and of no others, the ones that are no longer
made are removed. Reads files and asks Git; changes nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tau_compile.checkout import git, verify
from tau_compile.checkout.effects import Effect, needed
from tau_compile.checkout.spaceguard import guarded
from tau_compile.diagnostics import has_errors
from tau_compile.named import NamedTuple
from tau_compile.runs.model import Action
from tau_compile.runs.tree import KUSTOMIZATION, TOP, committed
from tau_compile.source.nodes import Mapping, Scalar, find, text_of
from tau_compile.source.nodes import Sequence as Items
from tau_compile.source.reader import read as read_yaml
from tau_compile.spaces import FOLDER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tau_compile.checkout.base import Base
    from tau_compile.checkout.effects import Read
    from tau_compile.diagnostics import Diagnostic
    from tau_compile.runs.record import Record
    from tau_compile.spaces import Spaces


class Outcome(NamedTuple):
    """What a build does about workspaces."""

    effects: tuple[Effect, ...]
    actions: tuple[Action, ...]
    diagnostics: tuple[Diagnostic, ...]


class Place(NamedTuple):
    """One folder: its files as they are to be, as they are, and as they are at the base (None outside Git)."""

    path: str
    wanted: dict[str, bytes]
    present: frozenset[str]
    base: dict[str, bytes] | None


def outcome(
    root: str, read: Read, spaces: Spaces, records: Iterable[Record], known: Collection[str], at: Base | None
) -> Outcome:
    """Plan. ``records`` are those that a build leaves, ``known`` the names of workspaces, former ones too."""
    said = list(spaces.diagnostics)
    if has_errors(said):
        return Outcome((), (), tuple(said))
    effects: list[Effect] = []
    actions: list[Action] = []
    kept = list(records)
    places = _places(root, spaces, at, {record.cluster for record in kept})
    for above in _tops(root):
        said += [
            verify.foreign(f"{above}/{name}", f"`{name}` belongs to no workspace")
            for name in sorted(verify.listing(f"{root}/{above}") or ())
            if not os.path.isdir(f"{root}/{above}/{name}") and verify.counts(name)
        ]
    for place in places:
        effect, strangers = _effect(read, place)
        said += strangers
        if effect.writes or effect.deletes:
            effects.append(effect)
            actions.append(Action("workspace", place.path, effect.text))
    said += guarded(read, spaces, places, kept, known)
    return Outcome(tuple(effects), tuple(actions), tuple(said))


def _tops(root: str) -> list[str]:
    """``rendered/<cluster>/workspaces``, for the clusters there are."""
    return [f"{TOP}/{cluster}/{FOLDER}" for cluster in sorted(verify.listing(f"{root}/{TOP}") or ())]


def _places(root: str, spaces: Spaces, at: Base | None, clusters: Iterable[str]) -> list[Place]:
    """The folders of all clusters that have some here; of those with runs also where somebody deleted them by hand."""
    wanted = {folder.path: dict(folder.files) for folder in spaces.folders}
    tops = {*_tops(root), *(path.rpartition("/")[0] for path in wanted)}
    tops |= {f"{TOP}/{cluster}/{FOLDER}" for cluster in clusters}
    base = _at_base(root, at, tops)
    found = {*wanted, *(base or ())}
    for above in sorted(tops):
        for name in verify.listing(f"{root}/{above}") or ():
            if os.path.isdir(f"{root}/{above}/{name}"):
                found.add(f"{above}/{name}")
    return [
        Place(
            path,
            wanted.get(path, {}),
            frozenset(verify.listing(f"{root}/{path}") or ()),
            base.get(path, {}) if base is not None else None,
        )
        for path in sorted(found)
    ]


def _at_base(root: str, at: Base | None, tops: Iterable[str]) -> dict[str, dict[str, bytes]] | None:
    """Files of workspaces at the base, by folder and name; None where there is no base."""
    if at is None:
        return None
    found: dict[str, dict[str, bytes]] = {}
    if at.commit:
        for path, content in git.contents(root, git.blobs(root, at.commit, sorted(tops))).items():
            above, _, name = path.rpartition("/")
            if above.count("/") == 3:
                found.setdefault(above, {})[name] = content
    return found


def _effect(read: Read, place: Place) -> tuple[Effect, list[Diagnostic]]:
    path, base = place.path, place.base or {}
    now = read(f"{path}/{KUSTOMIZATION}")
    listed = {*_listed(now), *_listed(base.get(KUSTOMIZATION))}
    if listed or (now is not None and not place.wanted):
        listed.add(KUSTOMIZATION)
    stale = {
        name
        for name in listed & place.present - place.wanted.keys()
        if name == KUSTOMIZATION or _is_ours(read(f"{path}/{name}")) or _is_ours(base.get(name))
    }
    strangers = [
        verify.foreign(
            f"{path}/{name}", f"`{name}` is not among the files of workspace `{path.rpartition('/')[2]}`"
        )
        for name in sorted(place.present - place.wanted.keys() - stale)
        if verify.counts(name)
    ]
    writes = {f"{path}/{name}": content for name, content in place.wanted.items()}
    effect = needed(
        read, Effect("workspace", path, "", "", writes, frozenset(f"{path}/{name}" for name in stale))
    )
    touched = [name.rpartition("/")[2] for name in (*effect.writes, *effect.deletes)]
    # Nobody touched these files since the base, so it is the sources that changed; else somebody edited what is generated.
    untouched = place.base is not None and all(
        _same(read(f"{path}/{name}"), base.get(name)) for name in touched
    )
    return effect._replace(text=_text(place, touched, untouched), cause=path if untouched else ""), strangers


def _text(place: Place, touched: Collection[str], untouched: bool) -> str:
    _, cluster, _, name = place.path.split("/")
    where = f"the workspace {name} on {cluster}"
    if not place.wanted:
        return f"removes {where}"
    if (
        not untouched
        and place.base
        and all(place.base.get(file) == place.wanted.get(file) for file in touched)
    ):
        return f"restores {where}"
    return f"updates {where}" if place.present.intersection(place.wanted) else f"makes {where}"


def _same(now: bytes | None, base: bytes | None) -> bool:
    return now == base or (now is not None and base is not None and committed(now) == committed(base))


def _listed(text: bytes | None) -> list[str]:
    """The files that a kustomization lists: plain names in its own folder."""
    node = read_yaml(text, KUSTOMIZATION).node if text else None
    resources = find(node, "resources") if isinstance(node, Mapping) else None
    items = resources.items if isinstance(resources, Items) else ()
    return [
        item.text
        for item in items
        if isinstance(item, Scalar) and "/" not in item.text and item.text not in (".", "..")
    ]


def _is_ours(text: bytes | None) -> bool:
    """Whether a file says that it was rendered, or is one that SOPS encrypted: a list can be edited by hand."""
    node = read_yaml(text, "").node if text else None
    if not isinstance(node, Mapping):
        return False
    labels = find(node, "metadata.labels")
    ours = (
        isinstance(labels, Mapping) and text_of(labels.get("app.kubernetes.io/managed-by")) == "tau-compile"
    )
    return ours or find(node, "sops.mac") is not None

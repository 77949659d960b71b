"""The patches that are for one workload, applied to its objects one after the other, those of the lowest layer first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.named import NamedTuple
from tau_compile.policy.strategic import apply
from tau_compile.source.globs import matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tau_compile.diagnostics import Diagnostic, Span
    from tau_compile.policy.patches import Patch, Target
    from tau_compile.policy.strategic import Steps

_NAME = "tau-compile/name"


class Touch(NamedTuple):
    """What became of a patch in one workload; ``done`` are the places of those deletions that deleted something."""

    patch: Patch
    matched: bool
    done: frozenset[Span] = frozenset()


class Changed(NamedTuple):
    """The objects after all patches, which patches each was changed by, and where those set which of its values."""

    objects: dict[str, dict[str, Any]]
    by: dict[str, list[Patch]]
    touches: tuple[Touch, ...]
    diagnostics: tuple[Diagnostic, ...]
    wrote: dict[str, dict[Steps, Span]]


def apply_all(objects: Mapping[str, dict[str, Any]], patches: Iterable[Patch]) -> Changed:
    """Apply ``patches`` to the objects of one workload. What a patch is for is asked of the objects as they were rendered."""
    after = dict(objects)
    by: dict[str, list[Patch]] = {}
    touches: list[Touch] = []
    said: list[Diagnostic] = []
    wrote: dict[str, dict[Steps, Span]] = {}
    for patch in patches:
        done: frozenset[Span] = frozenset()
        hit = [name for name, made in objects.items() if is_for(patch.target, made)]
        for name in hit:
            result = apply(after[name], patch)
            after[name] = result.made
            done |= result.done
            said += result.diagnostics
            by.setdefault(name, []).append(patch)
            wrote.setdefault(name, {}).update(result.wrote)
        touches.append(Touch(patch, bool(hit), done))
    return Changed(after, by, tuple(touches), tuple(said), wrote)


def is_for(target: Target, made: Mapping[str, Any]) -> bool:
    """Whether a rendered object is meant. A name is that of the workload or of the object, which begins with it."""
    if made.get("kind") != target.kind:
        return False
    metadata = made.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    labels = metadata.get("labels")
    labels = labels if isinstance(labels, dict) else {}
    if any(labels.get(key) != value for key, value in target.labels):
        return False
    names = (str(metadata.get("name", "")), str(labels.get(_NAME, "")))
    return not target.name or any(matches(name, target.name) for name in names)

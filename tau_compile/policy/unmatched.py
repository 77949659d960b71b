"""Patches without effect, known only when all workloads and workspaces of a repository were compiled.

kustomize passes over a deletion of what is not there without a word; here it is an error, as is a patch that no object matches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, error
from tau_compile.policy.strategic import deletions
from tau_compile.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.diagnostics import Span
    from tau_compile.policy.patches import Patch, Target
    from tau_compile.policy.patching import Touch


def without_effect(touches: Iterable[Touch], names: Iterable[str]) -> list[Diagnostic]:
    """What patches and deletions hit nothing in any workload or workspace.

    ``touches`` are those of all workloads and workspaces of the repository, ``names`` those that a target may name. A patch in
    whose scope there is neither appears in none, and nothing is said about it.
    """
    patches: dict[Span, Patch] = {}
    matched: set[Span] = set()
    done: set[Span] = set()
    for touch in touches:
        patches[touch.patch.span] = touch.patch
        if touch.matched:
            matched.add(touch.patch.span)
        done |= touch.done
    said = []
    for span, patch in patches.items():
        if patch.optional:
            continue
        if span not in matched:
            said.append(_unmatched(patch, sorted(set(names))))
            continue
        where = "workspace" if patch.for_spaces else "workload"
        for place in deletions(patch.body):
            if place not in done:
                said.append(
                    error(
                        "TAU356",
                        f"patch of {patch.layer}: this deletes what is not there, in any {where}",
                        place,
                        "remove it, or correct the name; `optional: true` lets a patch without effect be",
                    )
                )
    return said


def _unmatched(patch: Patch, names: list[str]) -> Diagnostic:
    target = patch.target
    close = nearest(target.name, names) if target.name else ""
    return error(
        "TAU355",
        f"patch of {patch.layer}: no {'managed workspace' if patch.for_spaces else 'workload'} has {_words(target)}",
        target.span,
        (f"did you mean `{close}`? " if close and close != target.name else "")
        + "correct the target or remove the patch; `optional: true` lets a patch without effect be",
    )


def _words(target: Target) -> str:
    parts = [f"a {target.kind}"]
    if target.name:
        parts.append(f"called `{target.name}`")
    if target.labels:
        labels = ", ".join(f"`{key}: {value}`" for key, value in target.labels)
        parts.append(f"with the label{'s' * (len(target.labels) > 1)} {labels}")
    return " ".join(parts)

"""Objects after their patches: every rule again, and what only a patch can get wrong.

A patch has no say in how large a run is: queue, launch limits and the program itself count on what tau.yaml says.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import has_errors
from tau_compile.named import NamedTuple
from tau_compile.policy.patching import apply_all
from tau_compile.rules.kept import GROUPS, facts, groups
from tau_compile.rules.output import judged, placed
from tau_compile.rules.pods import refused, refused_labels
from tau_compile.rules.rendered import Wrong, pods
from tau_compile.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tau_compile.diagnostics import Diagnostic, Span
    from tau_compile.policy.patches import Patch
    from tau_compile.policy.patching import Touch
    from tau_compile.policy.strategic import Steps
    from tau_compile.render.plan import Run
    from tau_compile.rules.kept import Fact


class Judged(NamedTuple):
    """The objects of one run or workspace after its patches, what became of the patches, and what is wrong.

    ``wrote`` are the places of the values that patches set, by object and path.
    """

    objects: dict[str, dict[str, Any]]
    touches: tuple[Touch, ...]
    diagnostics: list[Diagnostic]
    wrote: dict[str, dict[Steps, Span]]


def patched(
    objects: Mapping[str, dict[str, Any]],
    patches: Sequence[Patch],
    run: Run,
    templates: Mapping[str, str],
    document: Span,
) -> Judged:
    """Apply ``patches`` to rendered objects and judge the result; a fault stands where a patch wrote it, or at its template."""
    return rejudged(
        objects,
        patches,
        lambda made, name: judged(made, name, run),
        partial(_judged, run=run),
        lambda one, name: placed(one, name, templates, document),
    )


def rejudged(
    objects: Mapping[str, dict[str, Any]],
    patches: Sequence[Patch],
    judged: Callable[[dict[str, Any], str], Iterable[Wrong]],
    changed: Callable[..., list[Wrong]],
    placed: Callable[[Wrong, str], Diagnostic],
) -> Judged:
    """Apply ``patches`` to objects by name, and judge them with ``judged(object, name)``.

    What patches changed is judged with ``changed(object, before=as it was, name=name)``; ``placed`` places what the templates
    did wrong.
    """
    result = apply_all(objects, patches)
    said = list(result.diagnostics)
    if has_errors(said):
        return Judged(result.objects, result.touches, said, result.wrote)
    for name, made in result.objects.items():
        by, before = result.by.get(name), objects[name]
        if by is None:
            said += [placed(one, name) for one in judged(made, name)]
            continue
        all_of = partial(changed, before=before, name=name)
        found = all_of(made)
        if found:
            from tau_compile.rules.blame import blamed

            known = all_of(before)  # what the template did wrong
            said += [placed(one, name) for one in judged(made, name) if one in known]
            said += blamed([one for one in found if one not in known], before, by, all_of)
    return Judged(result.objects, result.touches, said, result.wrote)


def _judged(made: dict[str, Any], before: dict[str, Any], name: str, run: Run) -> list[Wrong]:
    after = list(_after_patches(made, before, run))
    extra = [one for one in after if one.key == GROUPS]
    if extra and len(groups(made)) > len(groups(before)):
        # What else is wrong with a group that should not be there is no matter. New ones are the last.
        made = _with_groups(made, len(groups(before)))
        after = list(_after_patches(made, before, run))
    return [*judged(made, name, run), *after, *(one for one in extra if one not in after)]


def _with_groups(made: dict[str, Any], count: int) -> dict[str, Any]:
    """A RayJob with only the first of its worker groups."""
    cluster = made["spec"]["rayClusterSpec"]
    kept = cluster["workerGroupSpecs"][:count]
    return {**made, "spec": {**made["spec"], "rayClusterSpec": {**cluster, "workerGroupSpecs": kept}}}


def _after_patches(made: dict[str, Any], before: dict[str, Any], run: Run) -> Iterator[Wrong]:
    kind, metadata = made.get("kind"), made.get("metadata")
    yield from refused_labels(f"of the {kind}", metadata if isinstance(metadata, dict) else {})
    if kind not in ("Job", "RayJob"):
        return
    # What a patch did not touch is the very same as before: most of a RayJob.
    same = frozenset(map(id, (pod for _, pod in pods(before)))) & frozenset(
        map(id, (pod for _, pod in pods(made)))
    )
    for where, pod in pods(made):
        if pod and id(pod) not in same:
            yield from refused(where, pod)
    was, now = dict(facts(before, same)), dict(facts(made, same))
    changed = [fact for fact in dict.fromkeys((*was, *now)) if was.get(fact) != now.get(fact)]
    if any(fact.what == GROUPS for fact in changed):  # what is in a group comes and goes with it
        changed = [fact for fact in changed if fact.what == GROUPS or (fact in was and fact in now)]
    for fact in changed:
        yield _changed(fact, was.get(fact), now.get(fact), made, before)
    known = {one.name for one in run.resolved.cluster.priority_classes}
    for (where, pod), (_, old) in zip(pods(made), pods(before), strict=False):
        name = _spec(pod).get("priorityClassName")
        if name is not None and name != _spec(old).get("priorityClassName") and name not in known:
            # K62
            yield Wrong(
                "TAU503",
                "priorityClassName",
                f"cluster `{run.resolved.cluster.name}` has no priority class `{name}`, which the pod {where} would have: the "
                "workload would never be queued",
                f"known: {', '.join(sorted(known))}"
                if known
                else "list the class under `priorityClasses` of the cluster",
            )


def _changed(
    fact: Fact, was: str | None, now: str | None, made: dict[str, Any], before: dict[str, Any]
) -> Wrong:
    change = f"from `{was}` to `{now}`" if was and now else f"to `{now}`" if now else f"away from `{was}`"
    if fact.what == GROUPS:
        there, after = groups(before), groups(made)
        more = next((name for name in after if name not in there), "")
        close = nearest(more, there) or (there[0] if len(there) == 1 else "")
        if more and close:
            return Wrong(
                "TAU357",
                fact.what,
                f"there is no worker group `{more}`, and it would make one: no patch changes how large a run is",
                f"write `groupName: {close}`",
            )
    if fact.size:
        return Wrong(
            "TAU357",
            fact.what,
            f"it would change {fact.what} {change}: no patch changes how large a run is",
            "remove it from the patch; `compute` in tau.yaml, a profile or `defaults` of an overlay say how large a run is",
        )
    return Wrong(
        "TAU350",
        fact.what,
        f"it would change {fact.what}: the scripts that start the program, and who collects its results, count on it",
        "remove it from the patch",
    )


def _spec(pod: dict[str, Any]) -> dict[str, Any]:
    spec = pod.get("spec")
    return spec if isinstance(spec, dict) else {}

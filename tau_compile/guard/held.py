"""Patches that would undo what a layer of more authority enforces or limits.

Locks and limits judge fields, and patches come after them. What a patch writes where a field shows is judged here by the locks
and limits of the layers above its own; a layer may patch what itself, or one below it, says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Related
from tau_compile.guard.bounds import breaches
from tau_compile.guard.fields import TOTALS, kind_of, matcher
from tau_compile.guard.fit import SHARED
from tau_compile.guard.values import Value, amount_of, is_hidden, wholes
from tau_compile.guard.waivers import covers, label
from tau_compile.named import NamedTuple
from tau_compile.policy.patching import is_for
from tau_compile.policy.strategic import apply
from tau_compile.source.nodes import Scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tau_compile.diagnostics import Severity, Span
    from tau_compile.guard.waivers import Document
    from tau_compile.policy.guards import Limit
    from tau_compile.policy.patches import Patch
    from tau_compile.policy.resolve import Resolved
    from tau_compile.policy.strategic import Patched, Steps

_SIZES = {
    ("requests", "cpu"): "cpus",
    ("limits", "cpu"): "cpu_limit",
    ("requests", "memory"): "memory",
    ("limits", "memory"): "memory_limit",
}
# What `restricted` sets, besides what it drops.
_SECURITY = ("runAsNonRoot", "seccompProfile", "allowPrivilegeEscalation", "capabilities", "privileged")
_COUNTED = {"cpus": "total.cpus", "memory": "total.memory"}


class _Shown(NamedTuple):
    """A place in an object where a field shows. ``fields``: all that decide it; ``called``: the place in words."""

    fields: tuple[str, ...]
    called: str


def held(objects: Mapping[str, dict[str, Any]], resolved: Resolved) -> Iterator[Diagnostic]:
    """What patches would undo in ``objects``, which are as they were rendered."""
    every = (resolved.platform, resolved.cluster, resolved.workspace, resolved.profile)
    chain = [document for document in every if document is not None]
    first = next((place for place, document in enumerate(chain) if document.guards is not None), len(chain))
    if not any(document.patches for document in chain[first + 1 :]):
        return  # as it is almost always
    lifted = tuple(name for one in resolved.waived for name in one.lifted)
    after = dict(objects)
    above: list[Document] = []
    for document in chain:
        for patch in document.patches:
            for name in [name for name, made in objects.items() if is_for(patch.target, made)]:
                result = apply(after[name], patch)
                if above:
                    yield from _undone(after[name], result, patch, above, lifted)
                after[name] = result.made
        if document.guards is not None:
            above.append(document)


def _undone(
    before: dict[str, Any],
    result: Patched,
    patch: Patch,
    above: list[Document],
    lifted: tuple[str, ...],
) -> Iterator[Diagnostic]:
    was, now = dict(_shown(before)), dict(_shown(result.made))
    # What a container that the patch brings itself has, no field decides.
    containers = {_whose(place) for place in was}
    for place in dict.fromkeys((*was, *now)):
        text, at = now.get(place, ("", ()))
        if was.get(place, ("",))[0] == text or _whose(place) not in containers:
            continue
        span = result.wrote.get(at) or next(iter(sorted(result.done)), patch.span)
        for document in above:
            yield from _by_locks(document, place, text, span, patch, lifted)
            yield from _by_limits(document, place, text, span, patch, lifted)


def _whose(place: _Shown) -> str:
    return place.called.partition(" of ")[2]


def _by_locks(
    document: Document, place: _Shown, text: str, span: Span, patch: Patch, lifted: tuple[str, ...]
) -> Iterator[Diagnostic]:
    enforce = document.guards.enforce if document.guards else None
    for value in wholes(enforce) if enforce is not None else ():
        if value.path in place.fields and not covers(lifted, value.path):
            says = f"and {label(document)} enforces `{value.path}`"
            held = Related(value.span, f"enforced by {label(document)}")
            yield _complaint(patch, place, text, span, says, "error", held)
            return


def _by_limits(
    document: Document, place: _Shown, text: str, span: Span, patch: Patch, lifted: tuple[str, ...]
) -> Iterator[Diagnostic]:
    for limit in document.guards.limits if document.guards else ():
        found = None if limit.name in lifted else next(_broken(limit, place, text, span), None)
        if found is not None:
            severity: Severity = "warning" if limit.warns else "error"
            says = (
                f"and limit `{limit.name}` of {label(document)} does not allow that for `{limit.field.text}`"
            )
            held = Related(found, f"limit `{limit.name}` of {label(document)}")
            yield _complaint(patch, place, text, span, says, severity, held)


def _broken(limit: Limit, place: _Shown, text: str, span: Span) -> Iterator[Span]:
    """The places in a limit that a value breaks. A total is not summed up again: no patch adds to it."""
    fits = matcher(limit.field.text)
    for field in filter(fits, place.fields):
        if field in TOTALS:
            if limit.maximum is not None or limit.minimum is not None:
                yield (limit.maximum or limit.minimum or limit.field).span
            continue
        if not text:
            if limit.required is not None:
                yield limit.required.span
            continue
        amount = amount_of(kind_of(field), text)
        value = Value(field, field, Scalar(span, text, True), True, text if amount is None else amount)
        yield from (breach.check.span for breach in breaches(limit, value))


def _complaint(
    patch: Patch, place: _Shown, text: str, span: Span, says: str, severity: Severity, held: Related
) -> Diagnostic:
    hidden = is_hidden(Value(place.fields[0], "", Scalar(span, text, True), True, text))
    verb, end = ("change", f" to `{text[:60]}`" * (not hidden)) if text else ("take away", "")
    return Diagnostic(
        "TAU359",
        severity,
        f"patch of {patch.layer}: it would {verb} {place.called}{end}, {says}",
        span,
        "remove it from the patch; a layer may patch only what itself, or one below it, enforces and limits",
        (held,),
    )


def _shown(made: dict[str, Any]) -> Iterator[tuple[_Shown, tuple[str, Steps]]]:
    """The places of a Job or RayJob where fields show, each with its text and where that is."""
    spec = _map(made, "spec")
    if "activeDeadlineSeconds" in spec:
        found = f"{spec['activeDeadlineSeconds']}s", ("spec", "activeDeadlineSeconds")
        yield _Shown(("run.max_duration",), "`activeDeadlineSeconds` of the run"), found
    if made.get("kind") == "Job":
        yield from _pod(_map(spec, "template"), ("spec", "template"), "the Job", "")
    elif made.get("kind") == "RayJob":
        cluster, at = _map(spec, "rayClusterSpec"), ("spec", "rayClusterSpec")
        head = _map(_map(cluster, "headGroupSpec"), "template")
        yield from _pod(head, (*at, "headGroupSpec", "template"), "the head", "head_")
        for place, group in _items(cluster, "workerGroupSpecs"):
            where = (*at, "workerGroupSpecs", place, "template")
            yield from _pod(
                _map(group, "template"), where, f"the group `{group.get('groupName')}`", "worker_"
            )


def _pod(
    pod: dict[str, Any], at: Steps, where: str, prefix: str
) -> Iterator[tuple[_Shown, tuple[str, Steps]]]:
    spec = _map(pod, "spec")
    at = (*at, "spec")
    if "priorityClassName" in spec:
        fields = ("policy.pod_priority_class", "policy.priority_tier")
        yield (
            _Shown(fields, f"`priorityClassName` of {where}"),
            (str(spec["priorityClassName"]), (*at, "priorityClassName")),
        )
    if "automountServiceAccountToken" in spec:
        text = str(spec["automountServiceAccountToken"]).lower()
        called = f"`automountServiceAccountToken` of {where}"
        yield (
            _Shown(("runtime.service_account_token",), called),
            (text, (*at, "automountServiceAccountToken")),
        )
    yield from _security(spec, at, where)
    for key, text in _map(spec, "nodeSelector").items():
        called = f"the node selector `{key}` of {where}"
        yield _Shown((f"policy.node_selector.{key}",), called), (str(text), (*at, "nodeSelector", key))
    for place, container in _items(spec, "containers"):
        who, here = f"the container `{container.get('name')}` of {where}", (*at, "containers", place)
        if "image" in container:
            yield _Shown(("runtime.image",), f"`image` of {who}"), (str(container["image"]), (*here, "image"))
        yield from _security(container, here, who)
        for number, variable in _items(container, "env"):
            name, below = variable.get("name"), (*here, "env", number)
            text = str(variable["value"]) if "value" in variable else str(variable.get("valueFrom", ""))
            place_of = (*below, "value" if "value" in variable else "name")
            yield _Shown((f"runtime.env.{name}",), f"the variable `{name}` of {who}"), (text, place_of)
        for (kind, resource), name in _SIZES.items():
            amount = _map(_map(container, "resources"), kind).get(resource)
            if amount is not None:
                own = f"compute.{prefix}{name}"
                shared = [field for field, worker in SHARED.items() if worker == own]
                decide = (own, *shared, *([_COUNTED[name]] if name in _COUNTED else []))
                called = f"the {resource} {kind.removesuffix('s')} of {who}"
                yield _Shown(decide, called), (str(amount), (*here, "resources", kind, resource))


def _security(holder: dict[str, Any], at: Steps, where: str) -> Iterator[tuple[_Shown, tuple[str, Steps]]]:
    for key, value in _map(holder, "securityContext").items():
        if key in _SECURITY:
            called = f"`securityContext.{key}` of {where}"
            yield _Shown(("runtime.security.mode",), called), (str(value), (*at, "securityContext", key))


def _map(holder: dict[str, Any], name: str) -> dict[str, Any]:
    found = holder.get(name)
    return found if isinstance(found, dict) else {}


def _items(holder: dict[str, Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    found = holder.get(name)
    for place, item in enumerate(found if isinstance(found, list) else ()):
        if isinstance(item, dict):
            yield place, item

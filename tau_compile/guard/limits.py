"""Limits on one resolved workload: its merged tree, what follows from defaults, and totals over all pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related
from tau_compile.guard import use
from tau_compile.guard.bounds import Breach, breaches
from tau_compile.guard.fields import TOTALS, kinds, matcher
from tau_compile.guard.fit import SHARED
from tau_compile.guard.tree import Tree
from tau_compile.guard.values import Value, amount_of, shown
from tau_compile.guard.waivers import label
from tau_compile.quantity import parse
from tau_compile.runs.refusals import count
from tau_compile.source.nodes import Scalar, find
from tau_compile.workload.model import SUBMITTER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tau_compile.diagnostics import Span
    from tau_compile.guard.waivers import Document, Waivers
    from tau_compile.policy.guards import Limit
    from tau_compile.policy.resolve import Resolved, Waived
    from tau_compile.workload.model import Size, Workload

_CLASSES = ("policy.workload_priority_class", "policy.pod_priority_class")
_SIZES = ("cpus", "cpu_limit", "memory", "memory_limit")
# What a computed value follows from.
_COUNTS = ("compute.gpus", "policy.shape", "execution.nodes", "compute.workers")
_DECIDING = {
    "compute.gpus": ("policy.shape",),
    "policy.gpu_class": ("policy.shape",),
    **dict.fromkeys(_CLASSES, ("policy.priority_tier",)),
    **{f"compute.{part}{name}": (f"compute.{name}",) for part in ("worker_", "head_") for name in _SIZES},
    "total.gpus": _COUNTS,
    "total.cpus": ("compute.cpus", "compute.worker_cpus", *_COUNTS),
    "total.memory": ("compute.memory", "compute.worker_memory", *_COUNTS),
}


def judge(
    resolved: Resolved,
    workload: Workload,
    documents: Iterable[Document],
    waivers: Waivers,
    said: list[Diagnostic],
) -> list[Waived]:
    """Say which limits are broken; the waivers that were used."""
    found = Effective(resolved, workload)
    waived: list[Waived] = []
    for document in documents:
        for limit in document.guards.limits if document.guards else ():
            for value, breach in _broken(limit, found):
                offer = waivers.limit(document, limit.name)
                if offer is not None and offer.applies:
                    waived.append(use(offer, value, limit.name, said))
                    continue
                said.append(_complaint(limit, document, value, breach, waivers, resolved, workload))
    return waived


def _broken(limit: Limit, found: Effective) -> Iterator[tuple[Value, Breach]]:
    field, tree = limit.field.text, found.node
    if limit.required is not None and found.get(field) is None:
        yield Value(field, field, tree, True, None), Breach("is missing", f"set `{field}`", limit.required)
        return
    for value in found.meant(field):
        computed = value.span == tree.span and value.path not in TOTALS
        for breach in breaches(limit, value):
            if not (computed and limit.forbidden is breach.check):
                yield value, breach


def _complaint(
    limit: Limit,
    document: Document,
    value: Value,
    breach: Breach,
    waivers: Waivers,
    resolved: Resolved,
    workload: Workload,
) -> Diagnostic:
    offer = waivers.limit(document, limit.name)
    advice, places = waivers.advice(offer)
    here = resolved.document.span
    missing = value.node is resolved.merged.node
    pods = f" {_of(value.path, workload, resolved)}" * (value.path in TOTALS)
    what = f"{shown(value)}{pods} {breach.why}"
    message = f"{limit.message.rstrip('.')} ({what})" if limit.message else f"{what}, by limit `{limit.name}`"
    theirs = value.span.file != here.file
    if theirs:
        places = (*places, Related(here, "this workload has it from there"))
    cure = f"for the platform team: {breach.cure}; or give it another value in the workload" * theirs
    return Diagnostic(
        "TAU331",
        "warning" if limit.warns else waivers.severity(offer),
        message,
        here if missing else value.span,
        f"{cure or breach.cure}{advice}",
        (Related(breach.check.span, f"limit `{limit.name}` of {label(document)}"), *places),
    )


class Effective(Tree):
    """A merged tree with what nobody wrote and the run has all the same, and totals over its pods."""

    __slots__ = ("_effects", "_resolved", "_workload")

    def __init__(self, resolved: Resolved, workload: Workload) -> None:
        super().__init__(resolved.merged.node)
        self._resolved, self._workload = resolved, workload
        self._effects: dict[str, str] | None = None

    def meant(self, field: str) -> list[Value]:
        """The values that a limit on a field or pattern judges."""
        fields = [field]
        if self._workload.kind == "rayjob" and field in SHARED:
            fields.append(SHARED[field])
        kept = [value for one in fields for value in self.matching(one)]
        written = {value.path for value in kept}
        effects = self._all_effects()
        fits = matcher(field) if "*" in field else fields.__contains__
        for path in (*effects, *TOTALS):
            if not fits(path) or path in written:
                continue
            kept.append(_computed(path, self._amount(path), self._place(path)))
        for path in _CLASSES:  # a tier may replace the class that is written
            value = self.get(path) if path in written else None
            if value is not None and effects.get(path, value.same) != value.same:
                kept = [one for one in kept if one.path != path]
                kept.append(_computed(path, effects[path], self._place(path)))
        # One place may stand for two fields, a size that head and workers share: it is judged once.
        return list({(value.span, str(value.same)): value for value in reversed(kept)}.values())[::-1]

    def _all_effects(self) -> dict[str, str]:
        if self._effects is None:
            self._effects = {path: text for path, text in _effects(self._resolved, self._workload) if text}
        return self._effects

    def _amount(self, path: str) -> str:
        workload = self._workload
        if path not in TOTALS:
            return self._all_effects()[path]
        if path == "total.gpus":
            return str(workload.pods * workload.gpu.number)
        cpus = path == "total.cpus"
        amount = parse(workload.size.cpu if cpus else workload.size.memory) * workload.pods
        for one in _beside(workload, self._resolved):
            amount += parse(one.cpu if cpus else one.memory)
        return amount.canonical()

    def _place(self, path: str) -> Span:
        """What decides a computed value: what the workload says itself of that, else what a layer says."""
        nodes = [node for one in _DECIDING.get(path, ()) if (node := find(self.node, one)) is not None]
        own = [node for node in nodes if node.span.file == self.node.span.file]
        return (own or nodes or [self.node])[0].span


def _beside(workload: Workload, resolved: Resolved) -> list[Size]:
    """What runs beside the workers of Ray."""
    if workload.kind != "rayjob":
        return []
    return (
        [workload.head, SUBMITTER] if resolved.platform.submission_mode == "K8sJobMode" else [workload.head]
    )


def _of(path: str, workload: Workload, resolved: Resolved) -> str:
    """The pods of a total, in words."""
    if workload.kind != "rayjob":
        return f"in {count(workload.pods, 'pod')}"
    beside = ("", ", with the head", ", with head and submitter")[len(_beside(workload, resolved))]
    return f"in {count(workload.pods, 'worker')}{'' if path == 'total.gpus' else beside}"


def _effects(resolved: Resolved, workload: Workload) -> Iterator[tuple[str, str]]:
    """(path, value as text) of what a run has when nobody says so."""
    yield "compute.gpus", str(workload.gpu.number)
    yield "policy.gpu_class", workload.gpu.gpu_class
    yield "runtime.image", workload.image
    ray = workload.kind == "rayjob"
    sizes = [("worker_", workload.size), ("head_", workload.head)] if ray else [("", workload.size)]
    for prefix, one in sizes:
        amounts = (one.cpu, one.cpu_limit, one.memory, one.memory_limit)
        yield from zip((f"compute.{prefix}{name}" for name in _SIZES), amounts, strict=True)
    yield "compute.workers" if ray else "execution.nodes", str(workload.pods)
    yield from zip(_CLASSES, (resolved.workload_priority, resolved.pod_priority), strict=True)


def _computed(path: str, text: str, span: Span) -> Value:
    amount = amount_of(kinds().get(path) or TOTALS.get(path, ""), text)
    return Value(path, path, Scalar(span, text, True), True, text if amount is None else amount)

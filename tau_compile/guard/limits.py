"""Limits on one resolved workload: its merged tree, what follows from defaults, and totals over all pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related
from tau_compile.guard import use
from tau_compile.guard.bounds import Breach, breaches
from tau_compile.guard.fields import TOTALS, kinds, matcher
from tau_compile.guard.fit import SHARED
from tau_compile.guard.values import Value, amount_of, shown, values
from tau_compile.guard.waivers import label
from tau_compile.runs.refusals import count
from tau_compile.source.nodes import Mapping, Scalar, find
from tau_compile.workload.quantity import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tau_compile.diagnostics import Span
    from tau_compile.guard.waivers import Document, Waivers
    from tau_compile.policy.guards import Limit
    from tau_compile.policy.resolve import Resolved, Waived
    from tau_compile.workload.model import Workload

_DECIDING = ("compute.gpus", "policy.shape", "execution.nodes", "compute.workers")
_CLASSES = ("policy.workload_priority_class", "policy.pod_priority_class")


def judge(
    resolved: Resolved,
    workload: Workload,
    documents: Iterable[Document],
    waivers: Waivers,
    said: list[Diagnostic],
) -> list[Waived]:
    """Say which limits are broken; the waivers that were used."""
    tree = resolved.merged.node
    found = _with_effects(tree, resolved, workload)
    totals = dict(_totals(tree, workload))
    waived: list[Waived] = []
    for document in documents:
        for limit in document.guards.limits if document.guards else ():
            for value, breach in _broken(limit, found, totals, workload.kind == "rayjob", tree):
                offer = waivers.limit(document, limit.name)
                if offer is not None and offer.applies:
                    waived.append(use(offer, value, limit.name, said))
                    continue
                said.append(_complaint(limit, document, value, breach, waivers, resolved, workload))
    return waived


def _broken(
    limit: Limit, found: dict[str, Value], totals: dict[str, Value], ray: bool, tree: Mapping
) -> Iterator[tuple[Value, Breach]]:
    field = limit.field.text
    if limit.required is not None and find(tree, field) is None:
        yield Value(field, field, tree, True, None), Breach("is missing", f"set `{field}`", limit.required)
        return
    for value in matched(field, found if field not in TOTALS else totals, ray):
        computed = value.span == tree.span and value.path not in TOTALS
        for breach in breaches(limit, value):
            if not (computed and limit.forbidden is breach.check):
                yield value, breach


def matched(field: str, found: dict[str, Value], ray: bool) -> list[Value]:
    """The values that a field or pattern means."""
    if "*" in field:
        fits = matcher(field)
        kept = [value for path, value in found.items() if fits(path)]
    else:
        paths = (field, SHARED.get(field, "")) if ray else (field,)
        kept = [found[path] for path in paths if path in found]
    # One place may stand for two fields, a size that head and workers share: it is judged once.
    return list({(value.span, str(value.same)): value for value in reversed(kept)}.values())[::-1]


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
    pods = f" in {count(workload.pods, 'pod')}" * (value.path in TOTALS)
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


def _with_effects(tree: Mapping, resolved: Resolved, workload: Workload) -> dict[str, Value]:
    """The values of a tree, and those that nobody wrote and the run has all the same."""
    found = values(tree)
    shape = find(tree, "policy.shape")
    where = shape.span if shape is not None else tree.span
    size, head = workload.size, workload.head
    effects: dict[str, tuple[str, Span]] = {
        "compute.gpus": (str(workload.gpu.number), where),
        "policy.gpu_class": (workload.gpu.gpu_class, where),
        "runtime.image": (workload.image, tree.span),
    }
    worker = "worker_" if workload.kind == "rayjob" else ""
    sizes = [(worker, size), *([("head_", head)] if worker else [])]
    for prefix, one in sizes:
        for name, text in zip(
            ("cpus", "cpu_limit", "memory", "memory_limit"),
            (one.cpu, one.cpu_limit, one.memory, one.memory_limit),
            strict=True,
        ):
            shared = find(tree, f"compute.{name}")
            effects[f"compute.{prefix}{name}"] = (text, shared.span if shared else tree.span)
    effects["compute.workers" if worker else "execution.nodes"] = (str(workload.pods), tree.span)
    for path, (text, span) in effects.items():
        if text and path not in found:
            found[path] = _computed(path, text, span)
    tier = find(tree, "policy.priority_tier")
    for path, text in zip(_CLASSES, (resolved.workload_priority, resolved.pod_priority), strict=True):
        if text and (path not in found or found[path].same != text):
            found[path] = _computed(path, text, tier.span if tier is not None else tree.span)
    return found


def _computed(path: str, text: str, span: Span) -> Value:
    amount = amount_of(kinds().get(path, ""), text)
    return Value(path, path, Scalar(span, text, True), True, text if amount is None else amount)


def _totals(tree: Mapping, workload: Workload) -> Iterator[tuple[str, Value]]:
    """GPUs, CPUs and memory of all pods that run the program, and of the Ray head."""

    def place(*paths: str) -> Span:
        """The first of these that the workload says itself, else the first that a layer says."""
        nodes = [node for path in (*paths, *_DECIDING) if (node := find(tree, path)) is not None]
        own = [node for node in nodes if node.span.file == tree.span.file]
        return (own or nodes or [tree])[0].span

    for path, text in (("total.cpus", workload.size.cpu), ("total.memory", workload.size.memory)):
        amount = parse(text) * workload.pods
        if workload.kind == "rayjob":
            amount += parse(workload.head.cpu if path == "total.cpus" else workload.head.memory)
        span = place(f"compute.{'cpus' if path == 'total.cpus' else 'memory'}")
        yield path, Value(path, path, Scalar(span, amount.canonical(), True), True, amount.nanos)
    span = place()
    gpus = str(workload.pods * workload.gpu.number)
    yield (
        "total.gpus",
        Value("total.gpus", "total.gpus", Scalar(span, gpus, True), True, amount_of("integer", gpus)),
    )

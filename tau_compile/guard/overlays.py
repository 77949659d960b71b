"""What is wrong with `enforce`, `limits` and `waivers` before any workload is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, error, warning
from tau_compile.guard.conflicts import conflicts, documents
from tau_compile.guard.sense import senseless
from tau_compile.guard.values import wholes
from tau_compile.guard.waivers import covers, kind_of, label, reaches
from tau_compile.policy.former import workspace_names
from tau_compile.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tau_compile.guard.waivers import Document
    from tau_compile.policy.guards import Guards, Limit, Waiver
    from tau_compile.policy.model import Overlays
    from tau_compile.source.nodes import Scalar


def check(overlays: Overlays, as_of: str) -> list[Diagnostic]:
    """Everything that can be said of the overlays alone; ``as_of`` is today's date, or empty."""
    said: list[Diagnostic] = []
    for document in documents(overlays):
        if document.guards is not None:
            said += senseless(document, document.guards)
            said += _twice(document.guards)
    said += conflicts(overlays)
    if any(document.guards and document.guards.waivers for document in documents(overlays)):
        said += waivers(overlays, as_of)
    return list(dict.fromkeys(said))


def _twice(guards: Guards) -> Iterator[Diagnostic]:
    first: dict[str, Limit] = {}
    for limit in guards.limits:
        if limit.name in first:
            yield error(
                "TAU338",
                f"there are two limits called `{limit.name}`",
                limit.span,
                "rename one: a waiver could not tell them apart",
                (Related(first[limit.name].span, "the other one"),),
            )
        first.setdefault(limit.name, limit)


def waivers(overlays: Overlays, as_of: str) -> Iterator[Diagnostic]:
    """Everything that is wrong with the waivers of all documents."""
    limits: dict[str, list[Document]] = {}
    enforced: dict[str, list[Document]] = {}
    for document in documents(overlays):
        for limit in document.guards.limits if document.guards else ():
            limits.setdefault(limit.name, []).append(document)
        for value in wholes(document.guards.enforce) if document.guards and document.guards.enforce else ():
            enforced.setdefault(value.path, []).append(document)
    for document in documents(overlays):
        for waiver in document.guards.waivers if document.guards else ():
            if not (waiver.limits or waiver.enforce):
                yield error(
                    "TAU339",
                    "the waiver lifts nothing",
                    waiver.span,
                    "name what it lifts: `limits: [NAME]`, or `enforce: [PATH]`",
                )
            yield from _workspace(overlays, document, waiver)
            for one in waiver.limits:
                yield from _lost(document, one, "a limit", limits.get(one.text, []), limits)
            for one in waiver.enforce:
                owners = [d for path, found in enforced.items() if covers((one.text,), path) for d in found]
                yield from _lost(document, one, "an enforced value", owners, enforced)
            yield from _date(waiver, as_of)


def _workspace(overlays: Overlays, document: Document, waiver: Waiver) -> Iterator[Diagnostic]:
    names = workspace_names(overlays)
    asked = waiver.workspace
    if asked is None:
        return
    space = names.get(asked.text)
    if space is None:
        close = nearest(asked.text, names)
        cure = f"did you mean `{close}`?" if close else f"known: {', '.join(sorted(names)) or 'none'}"
        yield error(
            "TAU339", f"the waiver is for a workspace `{asked.text}`, which does not exist", asked.span, cure
        )
    elif kind_of(document) == "Workspace" and space is not document:
        yield error(
            "TAU344",
            f"a waiver of workspace `{document.name}` cannot be for workspace `{space.name}`",
            asked.span,
            f"remove `workspace`, or move the waiver to workspace `{space.name}`",
            (Related(space.span, f"workspace `{space.name}`"),),
        )


def _lost(
    document: Document, one: Scalar, what: str, owners: list[Document], known: Iterable[str]
) -> Iterator[Diagnostic]:
    if not owners:
        close = nearest(one.text, known)
        cure = f"did you mean `{close}`?" if close else "remove it, or write the name that the overlays use"
        yield error("TAU339", f"the waiver names {what} `{one.text}`, and no overlay has it", one.span, cure)
    elif not any(reaches(document, owner) for owner in owners):
        owner = owners[0]
        yield error(
            "TAU344",
            f"a waiver in {label(document)} cannot lift what {label(owner)} says",
            one.span,
            f"move the waiver to {label(owner) if kind_of(owner) != 'Profile' else 'the Platform'}, or above it",
            (Related(owner.span, label(owner)),),
        )


def _date(waiver: Waiver, as_of: str) -> Iterator[Diagnostic]:
    text = waiver.expires.text
    if not is_date(text):
        yield error(
            "TAU345",
            f"`{text}` is no day of the calendar",
            waiver.expires.span,
            "write a date such as 2027-03-31",
        )
    elif as_of and text < as_of:
        yield warning(
            "TAU342",
            f"the waiver for `{waiver.workload}` expired on {text}, and applies to no new launch",
            waiver.expires.span,
            "remove it, or agree on a later date; runs that it let launch stay",
        )


def is_date(text: str) -> bool:
    """Whether it is a day, ``YYYY-MM-DD``."""
    from datetime import date

    try:
        return len(text) == 10 and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False

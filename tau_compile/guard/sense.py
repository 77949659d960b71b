"""Limits that make no sense by themselves, and values of a document that its own limits refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, error
from tau_compile.guard.bounds import breaches
from tau_compile.guard.expression import fault
from tau_compile.guard.fields import ORDERED, TOTALS, matching, suggestion, words
from tau_compile.guard.tree import Tree
from tau_compile.guard.values import amount_of, read_scalar, shown
from tau_compile.guard.waivers import label
from tau_compile.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.diagnostics import Span
    from tau_compile.guard.waivers import Document
    from tau_compile.policy.guards import Guards, Limit

_EXAMPLES = {"quantity": "an amount such as 8, 500m or 64Gi", "duration": "a duration such as 30m or 72h"}


def senseless(document: Document, guards: Guards) -> Iterator[Diagnostic]:
    """Everything that is wrong with the limits of one document."""
    for limit in guards.limits:
        found = list(_limit(limit))
        yield from found
        if not found:
            yield from _own(document, guards, limit)


def _limit(limit: Limit) -> Iterator[Diagnostic]:
    field = limit.field.text
    kinds = matching(field)
    if not kinds:
        message = f"limit `{limit.name}` is on `{field}`, which is no field of a canonical tau.yaml"
        yield error("TAU334", message, limit.field.span, suggestion(field))
        return
    checks = (limit.minimum, limit.maximum, limit.one_of, limit.pattern, limit.required, limit.forbidden)
    if all(one is None for one in checks):
        yield _odd(
            limit.span, f"limit `{limit.name}` checks nothing", "add `min`, `max`, `oneOf` or another check"
        )
    yield from _presence(limit, field)
    yield from _range(limit, kinds)
    scalars = [kind for kind in kinds if kind not in ("map",)]
    for one, name in ((limit.one_of and limit.one_of[0], "oneOf"), (limit.pattern, "pattern")):
        if one and not scalars:
            yield _odd(one.span, f"`{field}` is a section, and `{name}` judges a value", f"write `{field}.*`")
    yield from _options(limit, field, kinds)
    if limit.pattern is not None:
        wrong = fault(limit.pattern.text)
        if wrong:
            yield error(
                "TAU336",
                f"the pattern of limit `{limit.name}` {wrong}",
                limit.pattern.span,
                "write a shorter expression, such as `registry\\.example\\.com/.+`, or use `oneOf`",
            )


def _presence(limit: Limit, field: str) -> Iterator[Diagnostic]:
    required, forbidden = limit.required, limit.forbidden
    if required is not None and ("*" in field or field in TOTALS):
        message = f"`{field}` is no single field that could be set"
        yield _odd(required.span, message, "name the field that is required")
    if forbidden is not None and field in TOTALS:
        yield _odd(forbidden.span, f"`{field}` is computed, and always there", "write `max: 0`")
    if forbidden is not None:
        other = (
            required
            or limit.minimum
            or limit.maximum
            or limit.pattern
            or next(iter(limit.one_of or ()), None)
        )
        if other is not None:
            yield _odd(
                forbidden.span,
                f"limit `{limit.name}` forbids the field and says what it must be",
                "keep one of the two",
                (Related(other.span, "the other one"),),
            )


def _range(limit: Limit, kinds: list[str]) -> Iterator[Diagnostic]:
    bounds = [bound for bound in (limit.minimum, limit.maximum) if bound is not None]
    if not bounds:
        return
    ordered = [kind for kind in kinds if kind in ORDERED]
    if len(ordered) != len(kinds):
        what = (
            "what it matches is not all numbers"
            if ordered
            else f"`{limit.field.text}` is no number or amount"
        )
        yield _odd(bounds[0].span, f"{what}, so that nothing is below or above", "use `oneOf` or `pattern`")
        return
    unreadable = [b for b in bounds if any(amount_of(kind, b.text.strip()) is None for kind in ordered)]
    for bound in unreadable:
        example = _EXAMPLES.get(ordered[0], "a number")
        yield _odd(bound.span, f"`{bound.text}` is not what `{limit.field.text}` holds", f"write {example}")
    if not unreadable and limit.minimum and limit.maximum:
        low, high = (amount_of(ordered[0], b.text.strip()) for b in (limit.minimum, limit.maximum))
        if low is not None and high is not None and low > high:
            yield _odd(
                limit.maximum.span,
                f"the maximum {limit.maximum.text} is below the minimum {limit.minimum.text}: nothing can pass",
                "exchange the two, or remove one",
                (Related(limit.minimum.span, "the minimum"),),
            )


def _options(limit: Limit, field: str, kinds: list[str]) -> Iterator[Diagnostic]:
    known = words(field)
    for option in limit.one_of or ():
        if known and option.text not in known:
            close = nearest(option.text, known)
            cure = f"did you mean `{close}`?" if close else f"known: {', '.join(known)}"
            yield _odd(option.span, f"`{field}` is never `{option.text}`", cure)
        if len(kinds) == 1 and read_scalar(field, kinds[0], option) is None:
            example = _EXAMPLES.get(kinds[0], "true or false" if kinds[0] == "boolean" else "a number")
            yield _odd(option.span, f"`{option.text}` is not what `{field}` holds", f"write {example}")


def _own(document: Document, guards: Guards, limit: Limit) -> Iterator[Diagnostic]:
    """What the document gives or enforces itself, against its own limit."""
    for section, node in (("enforce", guards.enforce), ("defaults", document.defaults)):
        if node is None:
            continue
        for value in Tree(node).matching(limit.field.text):
            for breach in breaches(limit, value):
                yield Diagnostic(
                    "TAU337",
                    "warning" if limit.warns else "error",
                    f"`{section}` of {label(document)} breaks its own limit `{limit.name}`: "
                    f"{shown(value)} {breach.why}",
                    value.span,
                    f"{breach.cure}, or change the limit",
                    (Related(breach.check.span, f"limit `{limit.name}`"),),
                )


def _odd(span: Span, message: str, hint: str, related: tuple[Related, ...] = ()) -> Diagnostic:
    return error("TAU335", message, span, hint, related)

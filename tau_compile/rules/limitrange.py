"""Pods of a run against the LimitRange of their namespace: Kueue never admits what breaks it (B-06)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Related, Span, error
from tau_compile.quantity import try_parse
from tau_compile.rules.rendered import containers, pods

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def beyond(
    objects: Iterable[dict[str, Any]], limits: Iterable[Mapping[str, Any]], where: Span, document: Span
) -> list[Diagnostic]:
    """One error for each bound that some container breaks; bounds of whole pods and of claims are not looked at."""
    found: dict[str, None] = {}
    listed = [limit for limit in limits if limit["type"] == "Container"]
    for made in objects:
        for place, pod in pods(made):
            for container in containers(pod):
                for limit in listed:
                    found |= dict.fromkeys(
                        _broken(f"container `{container.get('name')}` {place}", container, limit)
                    )
    return [
        error(
            "TAU382",
            f"{text}, and Kueue would never admit the run",
            document,
            "change the amount here, or ask the platform team for another bound",
            (Related(where, "the bound is set here"),),
        )
        for text in found
    ]


def _broken(what: str, container: Mapping[str, Any], limit: Mapping[str, Any]) -> Iterator[str]:
    resources = container.get("resources") or {}
    requests, most = resources.get("requests") or {}, resources.get("limits") or {}
    for name, bound in limit.get("max", {}).items():
        if _over(most.get(name), bound):
            yield f"{what} may have {most[name]} of {name}, more than the LimitRange's {bound}"
    for name, bound in limit.get("min", {}).items():
        asked = requests.get(name)
        if asked is not None and _over(bound, asked):
            yield f"{what} asks for {asked} of {name}, less than the LimitRange's {bound}"
    for name, ratio in limit.get("maxLimitRequestRatio", {}).items():
        asked, allowed = try_parse(str(requests.get(name, ""))), try_parse(str(most.get(name, "")))
        factor = try_parse(str(ratio))
        if (
            asked
            and allowed
            and factor
            and asked.nanos
            and allowed.nanos * 10**9 > asked.nanos * factor.nanos
        ):
            yield f"{what} may have {most[name]} of {name} for a request of {requests[name]}, more than {ratio} times"


def _over(amount: object, bound: object) -> bool:
    left, right = try_parse(str(amount)), try_parse(str(bound))
    return left is not None and right is not None and left > right

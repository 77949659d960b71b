"""WorkloadPriorityClasses and PriorityClasses: one entry of the catalogue stands for both of a name (taugrid-config 4.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Related, warning

if TYPE_CHECKING:
    from tau_compile.importing.ledger import Ledger

# The classes that TauGrid installs, and the tiers that it calls them.
_TIERS = {"taugrid-default": "default", "taugrid-priority": "priority"}


def classes(workload: list[Ledger], pod: list[Ledger], said: list[Diagnostic]) -> list[dict[str, Any]]:
    """The entries of ``priorityClasses``."""
    found = []
    pods = {ledger.item.name: ledger for ledger in pod}
    for ledger in workload:
        name = ledger.item.name
        value = ledger.root.get("value")
        other = pods.pop(name, None)
        if other is None:
            said.append(_alone(ledger))
        elif not other.root.get("value").same(value.peek()):
            other.root.get("value").drop(
                f"is not carried over: the WorkloadPriorityClass `{name}` has another value, {value.peek() or 'none'}",
                "give both the same value; the catalogue has one for the two",
            )
        if other is not None:
            other.root.get("globalDefault").same("false")
            other.root.get("preemptionPolicy").same("PreemptLowerPriority")
        found.append(
            {
                "name": ledger.root.get("metadata.name").node,
                "value": value.scalar(),
                "tier": _TIERS.get(name),
            }
        )
    for name, ledger in pods.items():
        ledger.root.get("value").drop(
            f"is not carried over: there is no WorkloadPriorityClass `{name}` beside it",
            "nothing need be done, unless workloads shall use it: then make one of the same name",
        )
    if found and not any(entry["tier"] for entry in found):
        first = workload[0]
        said.append(
            warning(
                "TAU397",
                "which class each `policy.priority_tier` selects cannot be told from the names",
                first.root.get("metadata.name").span,
                "add `tier: default` to the class of ordinary work and `tier: priority` to the one above it",
            )
        )
    return found


def _alone(ledger: Ledger) -> Diagnostic:
    return warning(
        "TAU397",
        f"the catalogue takes {ledger.item.title} for a PriorityClass of the same name too, and no file has one",
        ledger.root.get("metadata.name").span,
        f"make the PriorityClass `{ledger.item.name}`, or export it too: `kubectl get priorityclasses -o yaml`",
        (Related(ledger.item.node.span, "the object"),),
    )

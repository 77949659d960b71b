"""A run against the rules of the namespace that its workspace makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.policy.manage import section
from tau_compile.rules.limitrange import beyond
from tau_compile.rules.podsecurity import refused
from tau_compile.source.nodes import find

if TYPE_CHECKING:
    from collections.abc import Collection

    from tau_compile.diagnostics import Diagnostic
    from tau_compile.policy.resolve import Resolved


def fits(objects: Collection[dict[str, Any]], resolved: Resolved) -> list[Diagnostic]:
    """What the namespace would refuse of a run, at the setting that brings it about where there is one."""
    space, merged = resolved.workspace, resolved.merged.node
    node, data = section(resolved.platform, resolved.cluster, space)
    level = data.get("podSecurity", {}).get("enforce", "baseline")
    at = find(node, "podSecurity.enforce") or node
    own = find(merged, "runtime.rdma") or find(merged, "runtime.security.mode")
    place = own.span if own is not None else resolved.document.span
    said = refused(objects, level, at.span, place, space.namespace)
    limits = data.get("limitRange", ())
    listed = node.get("limitRange")
    if limits and listed is not None:
        asked = find(merged, "compute")
        said += beyond(objects, limits, listed.span, asked.span if asked else resolved.document.span)
    return said

"""Which workspace, cluster and profile a workload belongs to. Ambiguity is an error that lists the choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, error
from tau_compile.policy.former import workspace_names
from tau_compile.source.nodes import Mapping, Scalar, find, text_of
from tau_compile.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.diagnostics import Span
    from tau_compile.policy.model import Cluster, Overlays, Profile, Workspace


def workspace(
    overlays: Overlays, document: Mapping, folder: str, chosen: str, said: list[Diagnostic]
) -> Workspace | None:
    """The workload's workspace: ``policy.workspace``, else ``chosen`` (``--workspace``), else its folder, else the only one.

    ``folder`` is the name of the folder below ``workloads/``, or empty.
    """
    known = workspace_names(overlays)
    asked = find(document, "policy.workspace")
    if isinstance(asked, Scalar) and asked.text:
        if chosen and chosen != asked.text:
            said.append(
                error(
                    "TAU308",
                    f"`policy.workspace: {asked.text}` contradicts the workspace `{chosen}` that was asked for",
                    asked.span,
                    "remove `policy.workspace`, or call without --workspace",
                )
            )
        return _named(known, asked.text, asked.span, said)
    if chosen:
        return _named(known, chosen, document.span, said)
    if folder in known:
        return known[folder]
    if len(overlays.workspaces) == 1:
        return overlays.workspaces[0]
    said.append(
        error(
            "TAU307",
            f"the workload could belong to any of {len(overlays.workspaces)} workspaces",
            document.span,
            f"add `policy: {{workspace: NAME}}` with one of {_list(w.name for w in overlays.workspaces)}, or move the file "
            "below workloads/NAME/",
            tuple(Related(w.span, f"workspace `{w.name}`") for w in overlays.workspaces[:5]),
        )
    )
    return None


def _named(known: dict[str, Workspace], name: str, span: Span, said: list[Diagnostic]) -> Workspace | None:
    if name in known:
        return known[name]
    names = {space.name for space in known.values()}
    close = nearest(name, names)
    said.append(
        error(
            "TAU309",
            f"there is no workspace `{name}`",
            span,
            f"did you mean `{close}`? " * bool(close) + f"known: {_list(names)}",
        )
    )
    return None


def cluster(overlays: Overlays, space: Workspace, said: list[Diagnostic]) -> Cluster | None:
    """The workspace's cluster."""
    known = {c.name: c for c in overlays.clusters}
    if space.cluster in known:
        return known[space.cluster]
    if not space.cluster and len(known) == 1:
        return next(iter(known.values()))
    if space.cluster:
        close = nearest(space.cluster, known)
        said.append(
            error(
                "TAU310",
                f"workspace `{space.name}` names the cluster `{space.cluster}`, which does not exist",
                space.span,
                f"did you mean `{close}`? " * bool(close) + f"known: {_list(known)}",
            )
        )
    else:
        said.append(
            error(
                "TAU310",
                f"workspace `{space.name}` names no cluster, and there are {len(known)}",
                space.span,
                f"add `cluster:` with one of {_list(known)}",
            )
        )
    return None


def profile(overlays: Overlays, merged: Mapping, namespace: str, said: list[Diagnostic]) -> Profile | None:
    """The workload's profile (taugrid-config 2.3): the named one, else the only one that applies, else none if none exist."""
    asked, lane = find(merged, "policy.profile"), text_of(find(merged, "policy.lane"))
    team = text_of(find(merged, "policy.team"))
    reasons = {p.name: _why_not(p, namespace, team, lane) for p in overlays.profiles}
    if isinstance(asked, Scalar) and asked.text:
        for candidate in overlays.profiles:
            if candidate.name == asked.text:
                if reasons[candidate.name]:
                    said.append(
                        error(
                            "TAU312",
                            f"profile `{asked.text}` is not meant for this workload: it {reasons[asked.text]}",
                            asked.span,
                            _applying(reasons),
                            (Related(candidate.span, "the profile"),),
                        )
                    )
                    return None
                return candidate
        close = nearest(asked.text, reasons)
        said.append(
            error(
                "TAU311",
                f"there is no profile `{asked.text}`",
                asked.span,
                (f"did you mean `{close}`? " if close else "")
                + (
                    f"known: {_list(reasons)}"
                    if reasons
                    else "this repository has no profiles: remove `policy.profile`, or add overlays/profiles/"
                ),
            )
        )
        return None
    applying = [p for p in overlays.profiles if not reasons[p.name]]
    if len(applying) == 1 or not overlays.profiles:
        return applying[0] if applying else None
    if applying:
        said.append(
            error(
                "TAU313",
                f"{len(applying)} profiles apply to this workload",
                merged.span,
                f"add `policy: {{profile: NAME}}` with one of {_list(p.name for p in applying)}",
                tuple(Related(p.span, f"profile `{p.name}`") for p in applying[:5]),
            )
        )
    else:
        why = "; ".join(f"`{name}` {reason}" for name, reason in sorted(reasons.items()))
        said.append(
            error(
                "TAU314",
                "no profile applies to this workload",
                merged.span,
                f"set policy.team or policy.lane, or ask the platform team: {why}",
            )
        )
    return None


def _why_not(candidate: Profile, namespace: str, team: str, lane: str) -> str:
    checks = (
        ("namespace", namespace, candidate.namespaces),
        ("team", team, candidate.teams),
        ("lane", lane, candidate.lanes),
    )
    reasons = [
        f"for {what} {' or '.join(f'`{name}`' for name in allowed)}" + (f", not `{value}`" if value else "")
        for what, value, allowed in checks
        if allowed and value not in allowed
    ]
    return f"is {', and '.join(reasons)}" if reasons else ""


def _applying(reasons: dict[str, str]) -> str:
    names = [name for name, reason in reasons.items() if not reason]
    return (
        f"profiles that apply: {_list(names)}"
        if names
        else "no profile applies: set policy.team or policy.lane, or ask the platform team"
    )


def _list(names: Iterable[str]) -> str:
    found = sorted(names)
    shown = ", ".join(f"`{name}`" for name in found[:8])
    return f"{shown} and {len(found) - 8} more" if len(found) > 8 else shown

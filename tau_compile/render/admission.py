"""ValidatingAdmissionPolicies and their bindings: what bypasses the compiler meets the rules that the compiler keeps.

For each kind that may be created in a workspace's namespace there is one policy with the checks that deny, and one with those
that only audit. An API server type checks a policy for one kind against that kind's schema, and evaluates it for objects of
that kind alone. Kueue, KubeRay and the Job controller make objects of the same kinds (R42, R50, K156): they are exempt by
their user names.

Built in Python and not from templates, for each expression is put together of few parts and depends on what is checked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tau_compile.digest import sha256
from tau_compile.policy.admission import queues_of, settled
from tau_compile.render.cel import listed
from tau_compile.render.expressions import Known, kinds, validations, variables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tau_compile.policy.admission import Admission
    from tau_compile.policy.model import Cluster, Overlays, Platform, Workspace
    from tau_compile.render.expressions import Check, Kind

API = "admissionregistration.k8s.io/v1"
_USED = re.compile(r"variables\.([a-zA-Z]+)").findall
# Characters of a workspace's name in the name of a policy: its file, named after kind and name, may have 255.
_LONGEST = 180


def policies(
    platform: Platform, cluster: Cluster, workspace: Workspace, queues: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The policies and bindings of one workspace, each policy before its binding; none where nothing is checked.

    Its workloads may name the LocalQueue of the workspace, those that the catalogue has for the namespace, and ``queues`` (see
    `queues_of`). The objects are cluster scoped.
    """
    checks = settled(platform, workspace)
    if checks is None:
        return []
    listed_there = [
        name for q in cluster.queues for place, name in q.local_queues if place == workspace.namespace
    ]
    known = Known(
        tuple(sorted({workspace.queue, *listed_there, *queues})),
        tuple(sorted(each.name for each in cluster.priority_classes)),
        tuple(sorted({each.resource for each in cluster.gpu_classes})),
    )
    made: list[dict[str, Any]] = []
    for kind in kinds():
        asked = list(validations(kind, checks, known))
        for action in ("Deny", "Audit"):
            found = [check for check in asked if check.action == action]
            if found:
                policy = _policy(f"{kind.resource}-{action.lower()}", kind, found, checks, known, workspace)
                made += [policy, _binding(policy["metadata"], action)]
    return made


def policies_of(overlays: Overlays, cluster: Cluster, workspace: Workspace) -> list[dict[str, Any]]:
    """The policies of one workspace, with the queues of everyone who shares its namespace."""
    return policies(overlays.platform, cluster, workspace, queues_of(overlays, cluster, workspace))


def _policy(
    name: str, kind: Kind, found: list[Check], checks: Admission, known: Known, workspace: Workspace
) -> dict[str, Any]:
    needed = set(_USED(" ".join(check.expression + check.detail for check in found)))
    used: list[dict[str, str]] = []
    for variable, expression in reversed(list(variables(kind, checks, known))):
        if variable in needed:
            needed.update(_USED(expression))
            used.insert(0, {"name": variable, "expression": expression})
    return {
        "apiVersion": API,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": f"tau-compile-{_short(workspace.name)}-{name}", "labels": _labels(workspace)},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "matchPolicy": "Equivalent",
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": workspace.namespace}},
                "resourceRules": [
                    {
                        "apiGroups": [kind.group],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": [kind.resource],
                        "scope": "Namespaced",
                    }
                ],
            },
            "matchConditions": [
                {
                    "name": "not-an-operator",
                    "expression": f"!(request.userInfo.username in {listed(checks.accounts())})",
                }
            ],
            **({"variables": used} if used else {}),
            "validations": [
                {
                    "expression": check.expression,
                    "message": check.message,
                    **({"messageExpression": check.detail} if check.detail else {}),
                }
                for check in found
            ],
        },
    }


def _binding(metadata: dict[str, Any], action: str) -> dict[str, Any]:
    return {
        "apiVersion": API,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {**metadata},
        "spec": {
            "policyName": metadata["name"],
            # A warning shows what is only audited to the one who did it; beside `Deny` none is allowed.
            "validationActions": ["Deny"] if action == "Deny" else ["Audit", "Warn"],
        },
    }


def _labels(workspace: Workspace) -> dict[str, str]:
    labels = {"app.kubernetes.io/managed-by": "tau-compile"}
    if len(workspace.name) <= 63:  # a label's value; the longest names are none
        labels["tau-compile/workspace"] = workspace.name
    return labels


def _short(name: str) -> str:
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 9].rstrip('.-')}-{sha256(name.encode()).hexdigest()[:8]}"

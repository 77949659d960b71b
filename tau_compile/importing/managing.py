"""What a TauWorkspace makes in its namespace → the `manage` of a Workspace (taugrid-config 4.2), where that can be kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tau_compile.policy.manage import managed
from tau_compile.policy.overlays import load
from tau_compile.rules.credentials import find_in_text
from tau_compile.source.files import SourceFile
from tau_compile.source.project import packaged_overlays

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tau_compile.diagnostics import Diagnostic
    from tau_compile.importing.ledger import At

_CLIENT = "azure.workload.identity/client-id"
_ONLY_GROUPS = (
    "is not carried over: only groups may look into a workspace",
    "name a group of theirs under `manage: {researchers: […]}`",
)


def section(spec: At) -> dict[str, Any]:
    """The section, out of values that stay open. TauGrid closes no network."""
    subject, account = spec.get("kubernetesSubject"), spec.get("workloadIdentity")
    client, named = account.key("clientId").node, account.key("serviceAccountName").node
    grouped = subject.key("kind").peek() == "Group" and subject.key("name").peek()
    return {
        "researchers": [subject.key("name").node] if grouped else None,
        "serviceAccounts": [{"name": named, "annotations": {_CLIENT: client}}] if client and named else None,
        "network": {"isolate": False},
    }


def carried(spec: At) -> None:
    """Account for what the section holds."""
    subject = spec.get("kubernetesSubject")
    if subject.key("kind").same("Group"):
        subject.key("name").take()
        spec.get("role").same("researcher", "tau-researcher-v1")
    else:
        subject.drop(*_ONLY_GROUPS)
    spec.get("authorization.mode").same("workspace-rbac")
    spec.get("target.createNamespace").same("true")
    if spec.get("workloadIdentity.serviceAccountName"):
        spec.get("workloadIdentity.clientId").take()


def refusal(written: Mapping[str, str | bytes], document: dict[str, Any]) -> str:
    """Why a workspace cannot be rendered beside the overlays that are written already; "" when it can."""
    hit = next(iter(find_in_text(json.dumps(document["manage"]), None, "it")), None)
    if hit:
        return hit.message
    texts = {path: text if isinstance(text, bytes) else text.encode() for path, text in written.items()}
    files = [SourceFile(path, text) for path, text in sorted(texts.items())]
    files.append(SourceFile(f"{document['metadata']['name']}.yaml", json.dumps(document).encode()))
    loaded = load(files, packaged_overlays())
    said: list[Diagnostic] = [*loaded.diagnostics]
    if loaded.overlays is not None:
        managed(loaded.overlays, said)
    return next((d.message for d in said if d.severity == "error"), "")

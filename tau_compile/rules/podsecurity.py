"""Pods against the pod security level that their namespace enforces. Only what is certain to be refused is said.

A Job or RayJob is accepted all the same: its pods are refused later, one by one, and the run waits for ever (J48).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Related, Span, error
from tau_compile.rules.parts import mapping
from tau_compile.rules.rendered import containers, pods

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Capabilities that the level `baseline` lets a container add.
_BASELINE = frozenset(
    (
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
    )
) | {"SETPCAP", "SETUID", "SYS_CHROOT"}
# Settings of the kernel that no other pod feels; Kubernetes 1.30's, which later releases add to.
_SYSCTLS = frozenset(
    (
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_wmem",
    )
)
_VOLUMES = frozenset(
    [
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "name",
        "persistentVolumeClaim",
        "projected",
        "secret",
    ]
)


def refused(
    objects: Iterable[dict[str, Any]], level: str, where: Span, document: Span, namespace: str
) -> list[Diagnostic]:
    """The reasons why pods of these objects would be refused, in one error; ``where`` is the line of the policy."""
    reasons: dict[str, None] = {}
    for made in objects:
        for _, pod in pods(made):
            reasons |= dict.fromkeys(violations(pod, level))
    if not reasons:
        return []
    return [
        error(
            "TAU820",
            f"the namespace `{namespace}` enforces the pod security level `{level}`, and would refuse the pods: "
            + "; ".join(reasons),
            document,
            _cure(level, reasons),
            (Related(where, "the level is set here"),),
        )
    ]


def _cure(level: str, reasons: Iterable[str]) -> str:
    if level == "restricted":
        return "write `runtime: {security: {mode: restricted}}`; the image must then work without root (user 65532)"
    if any("capabilities" in reason for reason in reasons):
        return "for the platform team: RDMA needs a namespace with `podSecurity: {enforce: privileged}`"
    return "take it out of the template, or ask the platform team for another level"


def violations(template: dict[str, Any], level: str) -> Iterator[str]:
    """What a pod template does that the level forbids."""
    spec = template.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    if level == "privileged" or not spec:
        return
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(field) is True:
            yield f"`{field}`"
    for volume in spec.get("volumes") or ():
        if "hostPath" in volume or (level == "restricted" and not _VOLUMES.issuperset(volume)):
            yield f"volume `{volume.get('name')}` of a kind that is not allowed"
    shared = mapping(spec, "securityContext")
    unsafe = sorted({str(item.get("name")) for item in shared.get("sysctls") or ()} - _SYSCTLS)
    if unsafe:
        yield f"sysctls {', '.join(unsafe)}"
    if mapping(shared, "seccompProfile").get("type") == "Unconfined" and level == "baseline":
        yield "no seccomp profile"
    for container in containers(template):
        own = mapping(container, "securityContext")
        added = [str(name) for name in mapping(own, "capabilities").get("add") or ()]
        allowed = _BASELINE if level == "baseline" else frozenset(("NET_BIND_SERVICE",))
        beyond = sorted(set(added) - allowed)
        if beyond:
            yield f"capabilities {', '.join(beyond)}"
        if own.get("privileged") is True:
            yield "a privileged container"
        if any(port.get("hostPort") for port in container.get("ports") or ()):
            yield "a port of the host"
        if own.get("procMount", "Default") != "Default":
            yield "`procMount`"
        if level == "restricted":
            yield from _restricted(own, shared)
        elif mapping(own, "seccompProfile").get("type") == "Unconfined":
            yield "no seccomp profile"


def _restricted(own: dict[str, Any], shared: dict[str, Any]) -> Iterator[str]:
    if own.get("allowPrivilegeEscalation") is not False:
        yield "`allowPrivilegeEscalation` is not false"
    if own.get("runAsNonRoot", shared.get("runAsNonRoot")) is not True:
        yield "`runAsNonRoot` is not true"
    if own.get("runAsUser", shared.get("runAsUser")) == 0:
        yield "it runs as root"
    if "ALL" not in (mapping(own, "capabilities").get("drop") or ()):
        yield "not all capabilities are dropped"
    profile = mapping(own, "seccompProfile") or mapping(shared, "seccompProfile")
    if profile.get("type") not in ("RuntimeDefault", "Localhost"):
        yield "no seccomp profile"

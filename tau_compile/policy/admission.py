"""The checks that a cluster makes when something is created in a workspace's namespace: ``admission:`` of Platform and Workspace.

A Workspace's section wins field by field over the Platform's. Actions are ``Deny``, ``Audit`` and ``Ignore``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Related, Span, error, warning
from tau_compile.named import NamedTuple
from tau_compile.source.nodes import find

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tau_compile.policy.model import Cluster, Overlays, Platform, Workspace
    from tau_compile.source.nodes import Mapping

# Where the operators run when nothing else is said: the names of their own charts, in the namespaces of their documentation.
KUEUE = "kueue-system/kueue-controller-manager"
KUBERAY = ("kuberay-system/kuberay-operator", "default/kuberay-operator")
# Makes the pods of Jobs. A cluster that gives its controllers no accounts of their own uses the second name.
JOB_CONTROLLER = ("system:serviceaccount:kube-system:job-controller", "system:kube-controller-manager")
FIRST = (1, 30)  # the Kubernetes that serves admissionregistration.k8s.io/v1 policies
_NOWHERE = Span("", 0, 0, 0, 0)
# Registries that images without a registry come from, and where those without a folder lie there.
_DEFAULT, _LIBRARY = "docker.io/", "docker.io/library/"


class Admission(NamedTuple):
    """One ``admission:`` section, or two of them settled. Empty texts and None mean: not said here.

    ``registries`` are prefixes of image names as written by the platform team; ``exempt`` are user names as the API server
    spells them; ``kueue`` and ``kuberay`` are service accounts, ``namespace/name``.
    """

    span: Span
    queue: str = ""
    priority: str = ""
    ttl: str = ""
    images: str = ""
    registries: tuple[str, ...] | None = None
    gpus: str = ""
    max_gpus: int | None = None
    exempt: tuple[str, ...] = ()
    kueue: str = ""
    kuberay: str = ""
    registries_span: Span | None = None
    max_span: Span | None = None

    @property
    def on(self) -> bool:
        """Whether anything is checked."""
        return any(
            self.active(getattr(self, check)) for check in ("queue", "priority", "ttl", "images", "gpus")
        )

    @staticmethod
    def active(action: str) -> bool:
        """Whether this action makes a check."""
        return action in ("Deny", "Audit")

    def accounts(self) -> tuple[str, ...]:
        """The user names that are exempt, in order and each once."""
        operators = (
            f"system:serviceaccount:{account.replace('/', ':')}"
            for account in (self.kueue or KUEUE, *((self.kuberay,) if self.kuberay else KUBERAY))
        )
        return tuple(dict.fromkeys((*operators, *JOB_CONTROLLER, *self.exempt)))


def read_admission(data: dict[str, Any], node: Mapping) -> Admission | None:
    """The section of a checked overlay document, if it has one."""
    section = data.get("admission")
    place = node.entry("admission")
    if not isinstance(section, dict) or place is None:
        return None
    images, gpus, operators = (section.get(key) or {} for key in ("images", "gpusPerRun", "operators"))
    registries = images.get("registries")
    return Admission(
        place.key.span,
        section.get("queue", ""),
        section.get("priority", ""),
        section.get("ttl", ""),
        images.get("action", ""),
        None if registries is None else tuple(registries),
        gpus.get("action", ""),
        gpus.get("max"),
        tuple(section.get("exempt", ())),
        operators.get("kueue", ""),
        operators.get("kuberay", ""),
        _place(node, "admission.images.registries"),
        _place(node, "admission.gpusPerRun.max"),
    )


def _place(node: Mapping, path: str) -> Span | None:
    found = find(node, path)
    return found.span if found else None


def settled(platform: Platform, workspace: Workspace) -> Admission | None:
    """What holds in a workspace; None when nothing is checked there."""
    below, above = platform.admission, workspace.admission
    found = above or below
    if below is not None and above is not None:
        said = {field: value for field, value in above._asdict().items() if value not in ("", None, ())}
        found = below._replace(**said)._replace(exempt=(*below.exempt, *above.exempt))
    if found is None:
        return None
    # A list of registries or a number that is given without an action is meant.
    found = found._replace(
        images=found.images or ("" if found.registries is None else "Deny"),
        gpus=found.gpus or ("" if found.max_gpus is None else "Deny"),
    )
    return found if found.on else None


def queues_of(overlays: Overlays, cluster: Cluster, workspace: Workspace) -> tuple[str, ...]:
    """LocalQueues that workloads of the workspace's namespace may name, as far as overlays tell."""
    names = {
        name for q in cluster.queues for namespace, name in q.local_queues if namespace == workspace.namespace
    }
    if not cluster.queues:
        names |= {space.queue for space in overlays.workspaces if space.namespace == workspace.namespace}
        names |= {
            profile.queue
            for profile in overlays.profiles
            if profile.queue and (not profile.namespaces or workspace.namespace in profile.namespaces)
        }
    return tuple(sorted(names))


def problems(overlays: Overlays) -> Iterator[Diagnostic]:
    """What stands in the way of the checks that overlays ask for: their cluster's version, or a value that is missing."""
    clusters = {cluster.name: cluster for cluster in overlays.clusters}
    only = overlays.clusters[0].name if len(overlays.clusters) == 1 else ""
    told: set[str] = set()
    said: set[tuple[Span | None, str]] = set()
    first: dict[tuple[str, str], tuple[Admission | None, Workspace]] = {}
    for workspace in overlays.workspaces:
        checks = settled(overlays.platform, workspace)
        name = workspace.cluster or only
        other, owner = first.setdefault((name, workspace.namespace), (checks, workspace))
        if _bare(other) != _bare(checks):
            yield _unlike(workspace, owner)
        if checks is None:
            continue
        for found in _incomplete(checks, workspace):
            if (found.span, found.message) not in said:
                said.add((found.span, found.message))
                yield found
        cluster = clusters.get(name)
        if cluster is not None and name not in told:
            told.add(name)
            yield from _version(checks, cluster)


def _bare(checks: Admission | None) -> Admission | None:
    return checks and checks._replace(span=_NOWHERE, registries_span=None, max_span=None)


def _unlike(workspace: Workspace, owner: Workspace) -> Diagnostic:
    return error(
        "TAU391",
        f"the workspaces `{owner.name}` and `{workspace.name}` share the namespace `{workspace.namespace}`, and their checks "
        "differ: a cluster would make both for everyone there",
        (workspace.admission or workspace).span,
        "write the same `admission` for both, or give one a namespace of its own",
        (Related((owner.admission or owner).span, f"workspace `{owner.name}`"),),
    )


def _incomplete(checks: Admission, workspace: Workspace) -> Iterator[Diagnostic]:
    missing = (
        (checks.active(checks.images) and not checks.registries, "images.registries", "a list of registries"),
        (checks.active(checks.gpus) and checks.max_gpus is None, "gpusPerRun.max", "a number of GPUs"),
    )
    for wanted, path, what in missing:
        if wanted:
            yield error(
                "TAU388",
                f"the check `{path.partition('.')[0]}` has nothing to compare with",
                checks.span,
                f"write `{path}`, {what}, here or in the Platform, or `action: Ignore`",
                (Related(workspace.span, f"asked for in workspace `{workspace.name}`"),)
                if workspace.span.file != checks.span.file
                else (),
            )


def _version(checks: Admission, cluster: Cluster) -> Iterator[Diagnostic]:
    wanted = "ValidatingAdmissionPolicy needs Kubernetes 1.30 or newer"
    if not cluster.kubernetes:
        yield warning(
            "TAU387",
            f"cluster `{cluster.name}` does not say which Kubernetes it runs: {wanted}",
            cluster.span,
            'write `versions: {kubernetes: "1.30"}`, or the version that it has',
            (Related(checks.span, "the checks"),),
        )
    elif tuple(int(part) for part in cluster.kubernetes.split(".")[:2]) < FIRST:
        yield error(
            "TAU386",
            f"cluster `{cluster.name}` runs Kubernetes {cluster.kubernetes}: {wanted}",
            cluster.span,
            "remove `admission`, or switch its checks off with `Ignore` in the workspaces of this cluster",
            (Related(checks.span, "the checks"),),
        )


def full_name(image: str) -> str:
    """An image's name with its registry, as container runtimes fill it in: ``ubuntu`` is ``docker.io/library/ubuntu``."""
    first, slash, _ = image.partition("/")
    if not slash:
        return _LIBRARY + image
    spelled = first == "localhost" or any(c in ".:" or "A" <= c <= "Z" for c in first)
    return image if spelled else _DEFAULT + image


def prefixes(registries: Iterable[str]) -> tuple[str, ...]:
    """What the full name of an image, with a ``:`` behind it, begins with if it comes from one of the registries.

    An entry ends where a part of a name ends: ``nvcr.io`` lets nothing through from ``nvcr.io.example.com`` or ``nvcr.io:5000``.
    """
    found: dict[str, None] = {}
    for entry in registries:
        name = entry.rstrip("/")
        for end in "/:@" if "/" in name else "/":
            found[name + end] = None
    return tuple(found)


def allowed(image: str, registries: Iterable[str]) -> bool:
    """Whether an image comes from one of the registries. The policies say the same in CEL."""
    return f"{full_name(image)}:".startswith(prefixes(registries))

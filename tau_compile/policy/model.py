"""The platform's side of a compilation: overlay documents as frozen values.

Every value keeps the span of the document that set it, so that a refusal can show the policy's line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from tau_compile.diagnostics import Span
    from tau_compile.policy.admission import Admission
    from tau_compile.policy.guards import Guards
    from tau_compile.policy.patches import Patch
    from tau_compile.source.nodes import Mapping


class Taint(NamedTuple):
    """A node taint; workloads meant for the node tolerate it."""

    key: str
    value: str
    effect: str


class GpuClass(NamedTuple):
    """One model of GPU node. ``gpus_per_node`` is None when the cluster does not say."""

    name: str
    resource: str
    node_labels: tuple[tuple[str, str], ...]
    taints: tuple[Taint, ...]
    gpus_per_node: int | None
    mig_profiles: tuple[str, ...]


class Flavor(NamedTuple):
    """A Kueue ResourceFlavor."""

    name: str
    gpu_class: str
    node_labels: tuple[tuple[str, str], ...]
    taints: tuple[Taint, ...]
    topology: str
    span: Span


class Queue(NamedTuple):
    """A Kueue ClusterQueue and the (namespace, name) pairs of the LocalQueues that lead to it."""

    name: str
    flavors: tuple[str, ...]
    local_queues: tuple[tuple[str, str], ...]
    span: Span
    namespace_labels: Mapping | None = None


class PriorityClass(NamedTuple):
    """A WorkloadPriorityClass and the PriorityClass of the same name."""

    name: str
    tier: str


class Topology(NamedTuple):
    """A Kueue Topology: (placement word, node label) from the widest level to the narrowest."""

    name: str
    levels: tuple[tuple[str, str], ...]


class Platform(NamedTuple):
    """Organisation-wide settings."""

    name: str
    span: Span
    ray_image: str
    ray_cpu_image: str
    submission_mode: str
    defaults: Mapping | None
    workspaces: Mapping | None = None
    admission: Admission | None = None
    patches: tuple[Patch, ...] = ()
    guards: Guards | None = None


class Cluster(NamedTuple):
    """One cluster's catalogue. Versions are strings such as ``1.30``, empty when unknown."""

    name: str
    span: Span
    kubernetes: str
    kueue: str
    kuberay: str
    gpu_taints: tuple[Taint, ...]
    gpu_classes: tuple[GpuClass, ...]
    flavors: tuple[Flavor, ...]
    queues: tuple[Queue, ...]
    priority_classes: tuple[PriorityClass, ...]
    topologies: tuple[Topology, ...]
    defaults: Mapping | None
    workspaces: Mapping | None = None
    namespace_labels: Mapping | None = None
    patches: tuple[Patch, ...] = ()
    guards: Guards | None = None

    def gpu_class(self, name: str) -> GpuClass | None:
        """The class called ``name``."""
        return next((c for c in self.gpu_classes if c.name == name), None)


class Workspace(NamedTuple):
    """One team's place. ``cluster`` is empty when the document leaves it to the only one."""

    name: str
    span: Span
    cluster: str
    namespace: str
    queue: str
    service_account: str
    output_root: str
    image_pull_secrets: tuple[str, ...]
    env_from_secrets: tuple[str, ...]
    pod_labels: tuple[tuple[str, str], ...]
    formerly: tuple[str, ...]
    defaults: Mapping | None
    queue_span: Span | None = None
    manage: Mapping | None = None
    namespace_span: Span | None = None
    admission: Admission | None = None
    patches: tuple[Patch, ...] = ()
    guards: Guards | None = None


class Profile(NamedTuple):
    """A named workload shape (TauGrid's workloadProfile). Empty strings and tuples mean "not fixed" and "everyone"."""

    name: str
    span: Span
    teams: tuple[str, ...]
    lanes: tuple[str, ...]
    namespaces: tuple[str, ...]
    gpus_per_worker: int
    worker_count: int
    mode: str
    placement: str
    queue: str
    execution_target: str
    workload_priority: str
    pod_priority: str
    no_priorities: bool
    defaults: Mapping | None
    queue_span: Span | None = None
    priority_span: Span | None = None
    patches: tuple[Patch, ...] = ()
    guards: Guards | None = None


class Overlays(NamedTuple):
    """All overlay documents of a repository, or the packaged ones."""

    platform: Platform
    clusters: tuple[Cluster, ...]
    workspaces: tuple[Workspace, ...]
    profiles: tuple[Profile, ...]

    @property
    def patches(self) -> tuple[Patch, ...]:
        """The patches of all of them, from the lowest layer to the highest."""
        above = [c.patches for c in self.clusters] + [w.patches for w in self.workspaces]
        above += [p.patches for p in self.profiles]
        return self.platform.patches + tuple(patch for patches in above for patch in patches)

    @property
    def guarded(self) -> bool:
        """Whether any document enforces or limits something, or makes an exception."""
        parts = ([self.platform], self.clusters, self.workspaces, self.profiles)
        return any(one.guards is not None for part in parts for one in part)

"""The resolved intent: one workload, typed and frozen, with every decision that needs the user's words taken.

Amounts are canonical Kubernetes quantities as strings, durations are whole seconds, paths are POSIX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from tau_compile.diagnostics import Span

Kind = Literal["job", "rayjob"]
Launcher = Literal["python", "torchrun", "ray-train", "ray-tune"]


class Size(NamedTuple):
    """Requests and limits of one container, GPUs apart."""

    cpu: str
    cpu_limit: str
    memory: str
    memory_limit: str


SUBMITTER = Size("500m", "500m", "512Mi", "512Mi")
"""The small pod that submits a Ray program, where it is not the operator who does."""


class Gpu(NamedTuple):
    """GPUs of each pod that runs the program: the extended resource, their number, and where such nodes are."""

    resource: str
    number: int
    gpu_class: str
    node_labels: tuple[tuple[str, str], ...]


class Toleration(NamedTuple):
    """One toleration; an empty value means ``operator: Exists``."""

    key: str
    value: str
    effect: str


class Plain(NamedTuple):
    """Where pods without GPUs may land: tolerations, and a Kueue annotation (key, value) or None."""

    tolerations: tuple[Toleration, ...]
    topology: tuple[str, str] | None


class EnvVar(NamedTuple):
    """An environment variable: a literal value, or (Secret, key) when ``secret`` is given."""

    name: str
    value: str
    secret: tuple[str, str] | None = None


class Mount(NamedTuple):
    """One PersistentVolumeClaim in the container."""

    name: str
    path: str
    claim: str
    read_only: bool


class Asset(NamedTuple):
    """Files copied out of an image."""

    name: str
    image: str
    source: str
    path: str


class Storage(NamedTuple):
    """What outlives the run. ``output`` is empty when nothing is written; ``staging`` when results are not staged."""

    data_claim: str
    mounts: tuple[Mount, ...]
    output: str
    staged: bool
    checkpoint: str
    assets: tuple[Asset, ...]


class SourceImage(NamedTuple):
    """Code taken from an image."""

    image: str
    path: str


class Tune(NamedTuple):
    """A Ray Tune search; ``space`` is JSON text."""

    metric: str
    mode: str
    samples: int
    concurrent: int
    space: str


class Program(NamedTuple):
    """What is started, and how.

    ``entrypoint`` is as the user wrote it, empty for an image's own entry point. ``launcher_args`` belong to torchrun,
    ``args`` to the program. ``train_config`` is JSON text for Ray Train.
    """

    launcher: Launcher
    launcher_given: bool
    entrypoint: str
    entrypoint_span: Span | None
    launcher_args: tuple[str, ...]
    args: tuple[str, ...]
    processes: int
    train_config: str
    tune: Tune | None


class Profiler(NamedTuple):
    """A profiler around the program; times in seconds, 0 for none."""

    mode: str
    rank: str
    warmup: int
    active: int


class Retry(NamedTuple):
    """What is tried again after a failure; times in seconds."""

    attempts: int
    reasons: tuple[str, ...]
    checkpoint: str
    first_wait: int
    longest_wait: int


class Rdma(NamedTuple):
    """The RDMA device of each pod."""

    resource: str
    number: int


class Workload(NamedTuple):
    """One workload, ready to be rendered.

    ``pods`` is the number of pods that run the program: nodes of a Job, workers of a RayJob. ``head`` is the Ray head's
    size. ``topology`` is a Kueue annotation (key, value) for the pods that run the program; ``plain`` is for the Ray head
    and the submitter.
    """

    name: str
    kind: Kind
    image: str
    ray_version: str
    program: Program
    pods: int
    size: Size
    head: Size
    gpu: Gpu
    tolerations: tuple[Toleration, ...]
    node_selector: tuple[tuple[str, str], ...]
    topology: tuple[str, str] | None
    plain: Plain
    env: tuple[EnvVar, ...]
    pip: tuple[str, ...]
    working_dir: str
    source: SourceImage | None
    storage: Storage
    shm: str
    rdma: Rdma | None
    profiler: Profiler | None
    retry: Retry | None
    history: tuple[str, ...]
    restricted: bool
    token: bool
    deadline: int | None
    labels: tuple[tuple[str, str], ...]
    annotations: tuple[tuple[str, str], ...]
    experiment: tuple[str, str]
    upstream_checkpoint: str

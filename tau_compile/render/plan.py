"""What every renderer needs to know about one run beside the workload itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from tau_compile.policy.resolve import Resolved
    from tau_compile.render.payload import Payload
    from tau_compile.workload.model import Workload

PEERS_PORT = 29500  # torchrun's rendezvous (demand C1)


class Run(NamedTuple):
    """One run to render: its id, the workload, where it goes, and the files it carries (None for an image's own program)."""

    id: str
    workload: Workload
    resolved: Resolved
    payload: Payload | None

    @property
    def namespace(self) -> str:
        """The namespace of every object."""
        return self.resolved.workspace.namespace

    @property
    def peers(self) -> str:
        """The headless Service of a multi-node Job."""
        return f"{self.id}-peers"

    @property
    def code_name(self) -> str:
        """The run's ConfigMap; never shared between runs."""
        return f"{self.id}-code"

    @property
    def embedded(self) -> bool:
        """Whether the files travel inside the pod templates: other clusters get no ConfigMap."""
        profile = self.resolved.profile
        return profile is not None and profile.execution_target == "multiKueue"

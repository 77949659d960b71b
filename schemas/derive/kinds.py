"""What is derived, and from which release of which Go module."""

from __future__ import annotations

from typing import NamedTuple


class Module(NamedTuple):
    """A Go module at one version; ``sum`` is its ``go.sum`` hash: what is used is what was reviewed."""

    path: str
    version: str
    sum: str
    documents: str  # the OpenAPI document, or the folder of CustomResourceDefinitions, inside the module


class Kind(NamedTuple):
    """A kind to derive a schema for."""

    module: Module
    api_version: str
    name: str

    @property
    def file(self) -> str:
        """Its schema's path below ``schemas/kubernetes``, as kubeconform's template spells it.

        For the core group kubeconform takes the version for the group: ``v1/configmap_v1.json``.
        """
        group, version = self.api_version.split("/")[0], self.api_version.split("/")[-1]
        return f"{group}/{self.name.lower()}_{version}.json"


CORE = Module(
    "k8s.io/kubernetes",
    "v1.30.14",
    "h1:MrlKXh9uhLIJpyxOeXhcndzRVSvwiV9iJ8NgH8nqPsg=",
    "api/openapi-spec/swagger.json",
)
KUEUE = Module(
    "sigs.k8s.io/kueue",
    "v0.19.2",
    "h1:mPNzr37u0nwI7ikST5QQl5gg6EgtYOAvC9ZbTgywdN8=",
    "config/components/crd/bases",
)
KUBERAY = Module(
    "github.com/ray-project/kuberay/ray-operator",
    "v1.6.2",
    "h1:XUckRswLMyk71D00L62d2Vanh0fVkNqu56+IF/rr+O0=",
    "config/crd/bases",
)
EXTERNAL_SECRETS = Module(
    "github.com/external-secrets/external-secrets",
    "v0.20.1",
    "h1:6dnPftnv0h9fHMXpFB534Kj+eAQOEmPwVqGyL3ICv2g=",
    "config/crds/bases",
)
MODULES = (CORE, KUEUE, KUBERAY, EXTERNAL_SECRETS)

KINDS = (
    Kind(CORE, "v1", "ConfigMap"),
    Kind(CORE, "v1", "LimitRange"),
    Kind(CORE, "v1", "Namespace"),
    Kind(CORE, "v1", "PersistentVolumeClaim"),
    Kind(CORE, "v1", "ResourceQuota"),
    Kind(CORE, "v1", "Service"),
    Kind(CORE, "v1", "ServiceAccount"),
    Kind(CORE, "batch/v1", "Job"),
    Kind(CORE, "networking.k8s.io/v1", "NetworkPolicy"),
    Kind(CORE, "rbac.authorization.k8s.io/v1", "Role"),
    Kind(CORE, "rbac.authorization.k8s.io/v1", "RoleBinding"),
    Kind(CORE, "scheduling.k8s.io/v1", "PriorityClass"),
    Kind(EXTERNAL_SECRETS, "external-secrets.io/v1", "ExternalSecret"),
    Kind(CORE, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"),
    Kind(CORE, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"),
    Kind(KUBERAY, "ray.io/v1", "RayCluster"),
    Kind(KUBERAY, "ray.io/v1", "RayJob"),
    Kind(KUBERAY, "ray.io/v1", "RayService"),
    *(
        Kind(KUEUE, f"kueue.x-k8s.io/{version}", name)
        for version in ("v1beta1", "v1beta2")
        for name in (
            "AdmissionCheck",
            "ClusterQueue",
            "Cohort",
            "LocalQueue",
            "MultiKueueCluster",
            "MultiKueueConfig",
            "ProvisioningRequestConfig",
            "ResourceFlavor",
            "Topology",
            "WorkloadPriorityClass",
        )
    ),
)

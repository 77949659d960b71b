"""The fixed order of keys in the manifests, the same whatever order a template or an overlay had.

A reader meets what an object is first (``apiVersion``, ``kind``, ``metadata``), then the short settings in
alphabetical order, then the long blocks. Maps whose keys belong to users (labels, requests, a ConfigMap's
files) are alphabetical.
"""

from __future__ import annotations

# No two of these stand in a different relative order in different kinds, so one table serves all objects.
_FIRST = (
    "apiVersion",
    "kind",
    "metadata",
    "name",
    "namespace",
    "generateName",
    "labels",
    "annotations",
    # worker groups and pod sets
    "groupName",
    "replicas",
    "minReplicas",
    "maxReplicas",
    # batch Jobs
    "completionMode",
    "completions",
    "parallelism",
    # containers
    "image",
    "imagePullPolicy",
    "workingDir",
    "command",
    "args",
    "env",
    "envFrom",
    "ports",
    # tolerations, selector requirements, references to a key, resource amounts
    "key",
    "operator",
    "value",
    "values",
    "effect",
    "requests",
    "limits",
    # RayJobs
    "entrypoint",
)
_LAST = (
    "securityContext",
    "initContainers",
    "containers",
    "volumeMounts",
    "volumes",
    "spec",
    "headGroupSpec",
    "workerGroupSpecs",
    "template",
    "rayClusterSpec",
    "submitterPodTemplate",
    "binaryData",
    "data",
    "stringData",
    "status",
)
_MIDDLE = 1_000
_RANK = {key: rank for rank, key in enumerate(_FIRST)} | {
    key: _MIDDLE + 1 + rank for rank, key in enumerate(_LAST)
}

USER_MAPS = frozenset(
    (
        "annotations",
        "binaryData",
        "data",
        "hard",
        "labels",
        "limits",
        "matchLabels",
        "nodeLabels",
        "nodeSelector",
        "parameters",
        "rayStartParams",
        "requests",
        "selector",
        "stringData",
    )
)
"""Keys whose value, where it is a map, has keys that Kubernetes does not know: those are sorted."""


def ordered_keys(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Sort the keys of one map of a Kubernetes object into the order of writing."""
    return tuple(sorted(keys, key=lambda key: (_RANK.get(key, _MIDDLE), key)))

"""The code that a run ships: which files, how the entrypoint starts, and how they travel in a ConfigMap.

``collect`` reads through a ``Tree``, so a compilation stays a function of bytes; ``DiskTree`` is the one on
disk. Everything lands below ``CODE_ROOT`` in the container, under the paths of the bundle.
"""

from __future__ import annotations

from tau_compile.workload.code.collect import collect
from tau_compile.workload.code.model import (
    CODE_ROOT,
    MAX_BYTES,
    MAX_FILES,
    Asked,
    CodeBundle,
    CodeFile,
    CodeRequest,
)
from tau_compile.workload.code.pack import ConfigMapData, Item, archive, configmap
from tau_compile.workload.code.start import entry_kind, python_only
from tau_compile.workload.code.tree import DiskTree, GitError, Info, Tracked, Tree

__all__ = [
    "CODE_ROOT",
    "MAX_BYTES",
    "MAX_FILES",
    "Asked",
    "CodeBundle",
    "CodeFile",
    "CodeRequest",
    "ConfigMapData",
    "DiskTree",
    "GitError",
    "Info",
    "Item",
    "Tracked",
    "Tree",
    "archive",
    "collect",
    "configmap",
    "entry_kind",
    "python_only",
]

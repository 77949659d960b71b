"""tau-compile: one tau.yaml and policy overlays in, plain Kueue and KubeRay manifests out."""

from __future__ import annotations

__version__ = "0.1.0"

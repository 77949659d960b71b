"""Overlay documents as text, as short as they can be."""

from __future__ import annotations


def overlay(kind: str, name: str, **fields: str) -> str:
    """A document whose other keys are given as YAML text."""
    lines = [f"{key}: {value}" for key, value in fields.items()]
    return "\n".join(
        ["apiVersion: tau-compile/v1", f"kind: {kind}", f"metadata: {{name: {name}}}", *lines, ""]
    )


def workspace(name: str, **fields: str) -> str:
    return overlay("Workspace", name, **{"queue": "jobqueue", **fields})


def cluster(name: str, **fields: str) -> str:
    return overlay("Cluster", name, **fields)


def profile(name: str, **fields: str) -> str:
    return overlay("Profile", name, **{"gpusPerWorker": "1", "workerCount": "1", **fields})


def platform(**fields: str) -> str:
    return overlay("Platform", "ours", **fields)

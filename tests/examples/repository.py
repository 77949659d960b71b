"""The examples as tests use them: copied out of the checkout, so that what Git tracks today plays no part."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import yaml

from tests.support.cli import run
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EXAMPLES = ROOT / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/tau.yaml"))


def copy(folder: Path) -> Path:
    """Copy the whole example repository to ``folder``, without the one that stands in it with runs of its own."""
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("__pycache__", "gitops-repo"))
    return folder


def render(repository: Path, name: str) -> str:
    """The manifests of one example; nothing may be said about it."""
    outcome = run(["render", f"{name}/tau.yaml"], repository)
    assert (outcome.exit, outcome.stderr) == (0, ""), outcome.stderr
    return outcome.stdout


def objects(text: str) -> list[dict[str, Any]]:
    """The documents of rendered text."""
    return list(yaml.safe_load_all(text))


def pod_templates(made: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every pod template inside an object, wherever it stands."""
    for key, value in made.items():
        if key in ("template", "submitterPodTemplate"):
            yield value
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from pod_templates(inner)

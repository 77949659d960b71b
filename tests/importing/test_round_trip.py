"""What tau-compile rendered, imported and rendered again, is the same pod."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.cli import run
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = ROOT / "examples"
FILES = sorted(path.relative_to(EXAMPLES) for path in EXAMPLES.rglob("tau.yaml"))


def pods(objects: list[dict[str, Any]]) -> Any:
    """The Job or RayJob of a rendering without what names the run, and the files that it ships."""
    text = json.dumps([made for made in objects if made["kind"] != "ConfigMap"])
    identity = next(m["metadata"]["name"] for m in objects if m["kind"] in ("Job", "RayJob"))
    files = [
        {key: text for key, text in (made.get("data") or {}).items() if not key.startswith("tau.index")}
        for made in objects
        if made["kind"] == "ConfigMap"
    ]
    return json.loads(text.replace(identity, "RUN")), files


@pytest.mark.parametrize("file", FILES, ids=str)
def test_examples(file: Path, tmp_path: Path) -> None:
    top = "gitops-repo" if file.parts[0] == "gitops-repo" else "."
    shutil.copytree(EXAMPLES, tmp_path / "r", ignore=shutil.ignore_patterns("rendered", "runs"))
    folder = tmp_path / "r" / top
    (folder / "tau-compile.yaml").touch()
    path = str(file.relative_to(top)) if top != "." else str(file)
    first = run(["render", path], folder)
    assert first.exit == 0, first.stderr
    (tmp_path / "objects.yaml").write_text(first.stdout)
    output = f"{file.parent.relative_to(top)}/again"
    imported = run(["import", "job", str(tmp_path / "objects.yaml"), "--output", output], folder)
    assert imported.exit == 0, imported.stderr
    assert imported.stderr.count("TAU") == 0, imported.stderr
    second = run(["render", f"{output}/tau.yaml"], folder)
    assert second.exit == 0, second.stderr
    one, two = (list(yaml.safe_load_all(outcome.stdout)) for outcome in (first, second))
    assert pods(two) == pods(one)

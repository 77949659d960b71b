"""docs/guide/workspaces.md: its overlays are whole, render, and what it says of them holds."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from jsonschema import Draft202012Validator

from tests.spaces.making import SEALED
from tests.support.cli import run
from tests.support.tools import ROOT, kubeconform

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = ROOT / "docs" / "guide" / "workspaces.md"
TEXT = GUIDE.read_text(encoding="utf-8")


def test_the_overlays_of_the_guide_render(tmp_path: Path) -> None:
    blocks = re.findall(r"^```yaml\n# (\S+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert len(blocks) == TEXT.count("```yaml") == 4
    sealed = SEALED.decode().replace("vision", "speech")
    for path, text in [*blocks, ("secrets/speech/tracker.yaml", sealed)]:
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    outcome = run(["build"], tmp_path)
    assert (outcome.exit, outcome.stderr) == (0, "")
    made = [
        path
        for path in tmp_path.glob("rendered/gpu-east/workspaces/*/*.yaml")
        if path.name != "kustomization.yaml" and "sops" not in path.read_text()
    ]
    assert {path.parent.name for path in made} == {"speech", "vision"}
    assert [result for result in kubeconform(made) if not result.valid] == []
    kinds = {path.name.partition("-")[0] for path in made}
    for kind in kinds:
        assert re.search(kind, TEXT, re.IGNORECASE), kind


def test_links_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#:]+)", TEXT):
        assert (GUIDE.parent / link).exists(), link


def test_the_printed_schemas_hold_the_section(tmp_path: Path) -> None:
    for name, field in (("platform", "workspaces"), ("cluster", "workspaces"), ("workspace", "manage")):
        schema = json.loads(run(["schema", name], tmp_path).stdout)
        for value, good in (({"researchers": ["a"]}, True), ({"researcher": ["a"]}, False)):
            document = {
                "apiVersion": "tau-compile/v1",
                "kind": name.title(),
                "metadata": {"name": "x"},
                field: value,
            }
            if name == "workspace":
                document["queue"] = "jobqueue"
            assert Draft202012Validator(schema).is_valid(document) is good

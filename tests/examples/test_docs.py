"""Every block of YAML in the guides is tried: a page that shows what does not compile is worse than none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml

from tests.examples.repository import EXAMPLES
from tests.support.cli import run
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = ROOT / "docs" / "guide"
WHOLE, PART = "tau.yaml", "part of a tau.yaml"
# What a part stands in when the page shows only a few lines.
AROUND = {
    "schema_version": 1,
    "name": "example",
    "run": {"entrypoint": "train.py"},
    "runtime": {"image": "python:3.12-slim"},
}


class Block(NamedTuple):
    """A block of YAML on a page: the words of its first line, its text, and where it stands."""

    title: str
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    text = (GUIDE / page).read_text(encoding="utf-8")
    return [
        Block(found[1].partition("\n")[0].removeprefix("# "), found[1], text[: found.start()].count("\n") + 1)
        for found in re.finditer(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


def name(block: Block) -> str:
    return f"line-{block.line}"


def merged(low: dict[str, Any], high: dict[str, Any]) -> dict[str, Any]:
    """``high`` over ``low``, map by map."""
    both = {k: merged(low[k], v) if isinstance(v, dict) and k in low else v for k, v in high.items()}
    return low | both


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def workload(folder: Path, text: str) -> None:
    """A tau.yaml with the programs it names."""
    write(folder / "tau.yaml", text)
    for program in re.findall(r"entrypoint: (\S+)", text):
        write(folder / program, "def train_func(config):\n    pass\n")


RESEARCHERS = blocks("writing-tau-yaml.md")
PLATFORM = blocks("overlays.md")


def test_every_block_says_what_it_is() -> None:
    assert {block.title for block in RESEARCHERS} == {WHOLE, PART}
    assert all(re.fullmatch(r"overlays/[a-z0-9/-]+\.yaml", block.title) for block in PLATFORM)
    assert len(RESEARCHERS) > 10
    assert len({block.title for block in PLATFORM}) == len(PLATFORM) > 5


@pytest.mark.parametrize("block", RESEARCHERS, ids=name)
def test_a_workload_of_the_guide_compiles(block: Block, tmp_path: Path) -> None:
    text = block.text
    if block.title == PART:
        text = yaml.safe_dump(merged(AROUND, yaml.safe_load(text)), sort_keys=False)
    for overlay in (EXAMPLES / "overlays").rglob("*.yaml"):
        write(tmp_path / "overlays" / overlay.relative_to(EXAMPLES / "overlays"), overlay.read_text())
    workload(tmp_path / "workload", text)
    outcome = run(["validate", "workload/tau.yaml"], tmp_path)
    assert (outcome.exit, outcome.stderr) == (0, "1 file: OK\n")


@pytest.mark.parametrize("block", PLATFORM, ids=lambda block: block.title.partition("/")[2])
def test_an_overlay_of_the_guide_is_accepted(block: Block, tmp_path: Path) -> None:
    write(tmp_path / block.title, block.text)
    outcome = run(["validate", block.title], tmp_path)
    assert (outcome.exit, outcome.stderr) == (0, "1 file: OK\n")


def test_the_overlays_of_the_guide_work_together(tmp_path: Path) -> None:
    for block in PLATFORM:
        if "kind: Tau" not in block.text and "fast-network" not in block.title:
            write(tmp_path / block.title, block.text)
    workload(tmp_path, yaml.safe_dump(AROUND))
    outcome = run(["render", "tau.yaml"], tmp_path)
    assert (outcome.exit, outcome.stderr) == (0, "")
    spec = list(yaml.safe_load_all(outcome.stdout))[-1]["spec"]["template"]["spec"]
    assert spec["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "8"  # from the profile
    claims = [
        v["persistentVolumeClaim"]["claimName"] for v in spec["volumes"] if "persistentVolumeClaim" in v
    ]
    assert claims == ["vision-data"]  # from the workspace
    assert spec["priorityClassName"] == "research"


def test_only_the_platform_sets_reserved_variables(tmp_path: Path) -> None:
    (fast,) = (block for block in PLATFORM if "fast-network" in block.title)
    write(tmp_path / fast.title, fast.text)
    workload(tmp_path, yaml.safe_dump(AROUND))
    assert "value: bond0" in run(["render", "tau.yaml"], tmp_path).stdout
    own = {"runtime": {"env": {"NCCL_SOCKET_IFNAME": "eth7"}}}
    workload(tmp_path, yaml.safe_dump(merged(AROUND, own)))
    outcome = run(["validate", "tau.yaml"], tmp_path)
    assert outcome.exit == 1
    assert "error TAU251: environment variable `NCCL_SOCKET_IFNAME` is set by the platform" in outcome.stderr


@pytest.mark.parametrize("page", ["writing-tau-yaml.md", "overlays.md"])
def test_every_field_and_link_of_the_guide_exists(page: str) -> None:
    text = (GUIDE / page).read_text(encoding="utf-8")
    known = set(re.findall(r'<a id="([^"]+)"', (ROOT / "docs" / "reference" / "tau-yaml.md").read_text()))
    sections = {anchor.partition(".")[0] for anchor in known if "." in anchor}
    prose = re.sub(r"^    .*$", "", text, flags=re.MULTILINE)  # without the message that is shown
    fields = set(re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)(?::[^`]*)?`", prose)) - {"artifacts.json"}  # a file
    assert {field for field in fields if field.partition(".")[0] in sections} - known == set()
    assert page == "overlays.md" or len(fields) > 20
    for link in re.findall(r"]\(([^)#]+)[^)]*\)", text):
        assert (GUIDE / link).exists(), link


def test_the_message_of_the_guide_is_a_real_one(tmp_path: Path) -> None:
    text = next(block.text for block in RESEARCHERS if block.title == WHOLE)
    lines = ["schema_version: 1", "name: hello", "run:", "  entrypoint: train.py", "compute:", "  gpus: 0"]
    wrong = "\n".join([*lines, "  cpus: 4", "  memroy: 16Gi", "runtime:", "  image: python:3.12-slim"])
    assert "name: hello" in text
    workload(tmp_path, wrong + "\n")
    said = run(["validate", "tau.yaml"], tmp_path).stderr.splitlines()[:4]
    page = (GUIDE / "writing-tau-yaml.md").read_text(encoding="utf-8")
    assert "".join(f"    {line}\n" for line in said) in page

"""Every rendered leaf of every example has an origin, and the origins are what they claim to be."""

from __future__ import annotations

import json
import random
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tau_compile.cli.inputs import Inputs
from tau_compile.compiler import compile_file
from tau_compile.explain.bench import Bench, bench
from tau_compile.explain.leaves import Key, leaves
from tau_compile.explain.probe import Effect, effects
from tau_compile.explain.templates import printed
from tau_compile.render import packaged
from tests.explain.edits import apply
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = ROOT / "examples"
FILES = sorted(
    path.relative_to(EXAMPLES).as_posix()
    for pattern in ("*/tau.yaml", "gitops-repo/workloads/*/*/tau.yaml")
    for path in EXAMPLES.glob(pattern)
)
SAMPLE = 6  # origins of each example that are put to the test


def opened(file: Path) -> Bench:
    """An example on the bench."""
    inputs = Inputs(str(file))
    name, data = inputs.read(str(file))
    made = bench(inputs.repository, name, data, "")
    assert made is not None
    return made


def test_there_are_examples() -> None:
    assert len(FILES) > 15


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_every_leaf_has_an_origin_and_every_origin_an_effect(file: str, tmp_path: Path) -> None:
    made = opened(EXAMPLES / file)
    lines = printed(made.rendered, made.repository.templates)
    found = effects(made)
    assert found.keys() == made.leaves.keys()
    for key, leaf in made.leaves.items():
        if key not in lines:
            assert any(effect.input.path.startswith("patches") for effect in found[key]), leaf.name
            continue
        line = lines[key].line
        text = (packaged.packaged(line.template) or "").split("\n")[line.number - 1]
        written = [step for step in leaf.raw if isinstance(step, str) and f"{step}:" in text]
        assert written or "{{" in text, (leaf.name, line)
    claims = [(key, effect) for key, of in found.items() for effect in of if effect.kind == "value"]
    assert len(claims) > 30
    tested = _tested(claims, made, file, tmp_path)
    assert len(tested) == SAMPLE
    as_it_is = _compiled(EXAMPLES / file, "", "")
    assert sum(tested) > SAMPLE // 3 or as_it_is is None, "most edits give a workload without errors"


def _tested(claims: list[tuple[Key, Effect]], made: Bench, file: str, tmp_path: Path) -> list[bool]:
    """Make edits to the files until enough could be made; for each, whether the result compiles without errors."""
    tested: list[bool] = []
    chance = random.Random(file)
    chance.shuffle(claims)
    for number, (key, effect) in enumerate(claims):
        root = tmp_path / str(number)
        source = EXAMPLES / "gitops-repo" if file.startswith("gitops-repo/") else EXAMPLES
        shutil.copytree(
            source, root, ignore=shutil.ignore_patterns("rendered", "runs", "gitops-repo", "*.md")
        )
        place = root / file.removeprefix("gitops-repo/")
        if not all((root / edit.file).is_file() for edit in effect.edits) or not apply(root, effect.edits):
            continue
        fixed = made.digest if effect.input.what != "intent" else ""
        # A workspace with another name has its workloads in another folder, or they are called with it.
        renamed = effect.input.path == "metadata.name" and "/workspaces/" in effect.input.file
        workspace = effect.edits[0].text if renamed else ""
        now = _compiled(place, workspace, fixed) if effect.clean else None
        clean = now is not None
        if now is None:
            inputs = Inputs(str(place))
            name, data = inputs.read(str(place))
            again = bench(inputs.repository, name, data, workspace, fixed)
            assert again is not None, effect
            now = again.leaves
        before = made.leaves[key]
        after = now.get(key)
        assert after is None or after.value != before.value, (before.name, effect)
        tested.append(clean)
        if len(tested) == SAMPLE:
            break
    return tested


def _compiled(file: Path, workspace: str, digest: str) -> dict[Key, Any] | None:
    """The leaves of a compilation, under the run id of ``digest`` if one is given; None if there are errors."""
    inputs = Inputs(str(file))
    name, data = inputs.read(str(file))
    compiled = compile_file(inputs.repository, name, data, workspace)
    if not compiled.objects:
        return None
    text = json.dumps(compiled.objects)
    return leaves(json.loads(text.replace(compiled.digest[:8], digest[:8]) if digest else text))

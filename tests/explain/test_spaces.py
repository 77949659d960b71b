"""Objects of workspaces explained: every leaf has an origin or is a template's own, and origins are what they claim to be."""

from __future__ import annotations

import json
import random
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tau_compile.cli.inputs import Inputs
from tau_compile.explain.leaves import matching
from tau_compile.explain.origins import explained
from tau_compile.explain.probe import Effect, effects
from tau_compile.explain.spacebench import SpaceBench, space_bench
from tau_compile.explain.spacefields import space_fields
from tau_compile.explain.templates import printed
from tau_compile.render import packaged
from tests.explain.edits import apply
from tests.spaces.making import EVERYTHING
from tests.support.compiling import repository
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tau_compile.explain.leaves import Key

EXAMPLE = ROOT / "examples" / "gitops-repo"
VISION = "overlays/workspaces/vision.yaml"
SAMPLE = 8  # origins of each workspace that are put to the test


def opened(root: Path, name: str) -> SpaceBench:
    made = space_bench(Inputs(str(root)).repository, f"overlays/workspaces/{name}.yaml")
    assert made is not None
    return made


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vision", "language"])
def test_every_leaf_has_an_origin_and_every_origin_an_effect(name: str, tmp_path: Path) -> None:
    made = opened(EXAMPLE, name)
    lines = printed(made.rendered, {}, made.naming)
    found = effects(made)
    assert found.keys() == made.leaves.keys()
    kinds = {leaf.object.partition("/")[0] for leaf in made.leaves.values()}
    assert {"Namespace", "NetworkPolicy", "ValidatingAdmissionPolicy"} < kinds
    for key, leaf in made.leaves.items():
        if leaf.object.startswith("ValidatingAdmissionPolicy"):
            assert key not in lines
            continue
        line = lines[key].line  # nothing here is patched
        assert lines[key].value == leaf.value
        text = (packaged.packaged(line.template) or "").split("\n")[line.number - 1]
        written = [step for step in leaf.raw if isinstance(step, str) and f"{step}:" in text]
        assert written or "{{" in text, (leaf.name, line)
    claims = [(key, effect) for key, of in found.items() for effect in of if effect.kind == "value"]
    assert len(claims) > 30
    assert _tested(claims, made, name, tmp_path) == SAMPLE


def _tested(claims: list[tuple[Key, Effect]], made: SpaceBench, name: str, tmp_path: Path) -> int:
    """Make edits to the files until enough could be made; how many were."""
    tested = 0
    random.Random(name).shuffle(claims)
    for number, (key, effect) in enumerate(claims):
        root = tmp_path / str(number)
        shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns("rendered", "runs", "workloads", "*.md"))
        if not all((root / edit.file).is_file() for edit in effect.edits) or not apply(root, effect.edits):
            continue
        repo = Inputs(str(root)).repository
        again = space_bench(repo, f"overlays/workspaces/{name}.yaml")
        assert again is not None, effect
        after = again.leaves.get(key)
        assert after is None or after.value != made.leaves[key].value, (made.leaves[key].name, effect)
        tested += 1
        if tested == SAMPLE:
            break
    return tested


def texts(**fields: Any) -> dict[str, str]:
    """A workspace in which every free text of an input is a word of its own."""
    words = json.dumps(EVERYTHING)
    for old in (
        "vision-team",
        "oidc:guests",
        "monitoring",
        "minio",
        "notebooks",
        "hub-token",
        "vault",
        "registry-login",
    ):
        words = words.replace(f'"{old}"', f'"zq{old.replace(":", "")}"')
    manage = json.loads(words)
    del manage["secrets"]["sops"]
    head = {"apiVersion": "tau-compile/v1"}
    return {
        "overlays/platform.yaml": json.dumps({
            **head, "kind": "Platform", "metadata": {"name": "lab"},
            "patches": [{"target": {"kind": "LocalQueue"}, "patch": {"metadata": {"labels": {"zqlabel": "zqpatched"}}}}],
        }),
        "overlays/clusters/east.yaml": json.dumps({
            **head, "kind": "Cluster", "metadata": {"name": "east"},
            "queues": [{"name": "zqqueue", "localQueues": [{"namespace": "zqspace", "name": "zqlocal"}]}],
            "workspaces": {"network": {"rayOperator": "zqoperator"}, "podSecurity": {"warn": "baseline"}},
            "namespaceLabels": {"zqlabel": "zqlooked"},
        }),
        VISION: json.dumps({
            **head, "kind": "Workspace", "metadata": {"name": "zqname"}, "namespace": "zqspace", "queue": "zqlocal",
            "serviceAccount": "training", "manage": {**manage, **fields},
        }),
    }  # fmt: skip


@pytest.fixture(scope="module")
def seeded() -> SpaceBench:
    made = space_bench(repository(texts()), VISION)
    assert made is not None
    return made


def test_no_constant_holds_what_came_from_input(seeded: SpaceBench) -> None:
    assert str([leaf.value for leaf in seeded.leaves.values()]).count("zq") > 30
    leaked = [
        (seeded.leaves[key].name, seeded.leaves[key].value)
        for key, of in effects(seeded).items()
        if "zq" in str(seeded.leaves[key].value) and not any(effect.kind == "value" for effect in of)
    ]
    assert leaked == []


def test_a_patch_is_told_apart_from_the_template(seeded: SpaceBench) -> None:
    (key,) = matching(seeded.leaves, "LocalQueue/zqlocal:metadata.labels.zqlabel")
    found = explained(seeded, [key])[key]
    assert (found.patched, found.line) == (True, None)
    assert [(one.what, one.path) for one in found.inputs] == [
        ("patch", "patches[0].patch.metadata.labels.zqlabel")
    ]


def test_objects_are_called_by_kind_and_name_or_by_kind(seeded: SpaceBench) -> None:
    policies = {leaf.object for leaf in seeded.leaves.values() if leaf.object.startswith("NetworkPolicy/")}
    assert len(policies) > 3
    found = matching(seeded.leaves, "networkpolicy:metadata.name")
    assert {seeded.leaves[key].object for key in found} == policies
    (one,) = matching(seeded.leaves, "NetworkPolicy/tau-compile-dns:metadata.name")
    assert seeded.leaves[one].value == "tau-compile-dns"
    assert matching(seeded.leaves, "NetworkPolicy/other:metadata.name") == []


def test_fields_of_manage_have_their_layers_and_what_lost() -> None:
    made = space_bench(
        repository(texts(network={"rayOperator": "own"}, quota={"count/secrets": "3"})), VISION
    )
    assert made is not None
    fields = {field.path: field for field in space_fields(made)}
    operator = fields["manage.network.rayOperator"]
    assert (operator.by.layer, operator.by.value) == ("workspace `zqname`", "own")
    assert operator.by.place.startswith(f"{VISION}:1:")
    assert [(lost.layer, lost.value) for lost in operator.lost] == [("cluster `east`", "zqoperator")]
    assert fields["manage.network.isolate"].by.layer == "built-in default"
    assert fields["manage.podSecurity.enforce"].by.layer == "workspace `zqname`"
    assert fields["manage.quota.count/secrets"].by.value == "3"
    assert "manage.quota" not in fields
    assert fields["namespace"].by.value == "zqspace"


def test_questions_do_not_change_what_is_asked(seeded: SpaceBench) -> None:
    before = dict(seeded.leaves)
    effects(seeded, list(before)[:3])
    assert seeded.leaves == before

"""Patches change what is launched from now on, and nothing that exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.replay.repo import workload

if TYPE_CHECKING:
    from tests.replay.repo import Repo

OVERLAYS = ("overlays/platform.yaml", "overlays/clusters/east.yaml", "overlays/workspaces/vision.yaml")
PATCH = """\
patches:
- target: {kind: Job}
  patch: {metadata: {annotations: {example.com/patched: WORD}}}
"""


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_patch_touches_no_run_and_launches_none(launched: Repo, overlay: str) -> None:
    before = launched.snapshot()
    plain = launched.read(overlay)
    for text in (plain + PATCH, plain + PATCH.replace("WORD", "other"), plain):
        launched.write({overlay: text})
        assert launched.build().keys() == {"keep"}
        launched.commit("patch")
        assert launched.check()["differences"] == []
        assert {p: v for p, v in launched.snapshot().items() if p != overlay} == {
            p: v for p, v in before.items() if p != overlay
        }


def test_what_is_launched_later_is_patched_and_says_by_which_overlay(launched: Repo) -> None:
    overlay = "overlays/workspaces/vision.yaml"
    launched.write({overlay: launched.read(overlay) + PATCH})
    launched.write({"workloads/vision/new/tau.yaml": workload("new"), "workloads/vision/new/train.py": ""})
    (run,) = launched.launch()["launch"]
    assert any(b"example.com/patched: WORD" in content for content in launched.files_of(run).values())
    assert overlay in launched.records()[run]["sources"]
    for other in launched.records().keys() - {run}:
        assert not any(b"patched" in content for content in launched.files_of(other).values())


def test_a_broken_patch_launches_nothing(launched: Repo) -> None:
    overlay = "overlays/platform.yaml"
    launched.write(
        {
            overlay: launched.read(overlay)
            + PATCH.replace("metadata: {annotations: {example.com/patched: WORD}}", "spec: {suspend: true}")
        }
    )
    assert launched.build().keys() == {"keep"}, "nothing is new"
    launched.write({"workloads/vision/new/tau.yaml": workload("new"), "workloads/vision/new/train.py": ""})
    before = launched.snapshot()
    outcome = launched.tau("build", exit=1)
    assert "overlays/platform.yaml:6:18: error TAU721" in outcome.stderr
    assert launched.snapshot() == before

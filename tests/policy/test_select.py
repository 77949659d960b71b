"""Which workspace, cluster and profile: the first rule that decides wins, and what none decides is asked back."""

from __future__ import annotations

import pytest

from tests.policy.documents import cluster, profile, workspace
from tests.support.compiling import JOB, RAYJOB, accepted, compiled, ids, said, workload

TWO = [workspace("vision", namespace="v"), workspace("speech", namespace="s")]


def namespace(text: str, overlays: list[str], **given: str) -> str:
    found: str = workload(accepted(text, overlays, **given))["metadata"]["namespace"]
    return found


def test_the_file_names_its_workspace() -> None:
    assert namespace(JOB + "policy: {workspace: speech}\n", TWO) == "s"


def test_else_the_command_line_does() -> None:
    assert namespace(JOB, TWO, workspace="speech") == "s"
    assert namespace(JOB + "policy: {workspace: speech}\n", TWO, workspace="speech") == "s"


def test_else_the_folder_does() -> None:
    files = {"workloads/speech/a/train.py": b"x = 1\n"}
    result = compiled(JOB, TWO, path="workloads/speech/a/tau.yaml", files=files)
    assert workload(result)["metadata"]["namespace"] == "s"


@pytest.mark.parametrize(
    "path", ["workloads/robots/a/tau.yaml", "speech/tau.yaml", "x/workloads/speech/tau.yaml"]
)
def test_a_folder_that_is_no_workspace_decides_nothing(path: str) -> None:
    files = {f"{path.rpartition('/')[0]}/train.py": b"x = 1\n"}
    assert ids(JOB, TWO, path=path, files=files) == ["TAU307"]


def test_else_there_is_only_one() -> None:
    assert namespace(JOB, [workspace("vision")]) == "vision"
    assert namespace(JOB, []) == "taugrid-default"


def test_the_namespace_of_a_workspace_is_its_name_unless_given() -> None:
    assert namespace(JOB, [workspace("vision", namespace="team-v")]) == "team-v"


def test_an_ambiguous_workspace_lists_all_of_them() -> None:
    result = compiled(JOB, TWO)
    (found,) = result.diagnostics
    assert found.id == "TAU307"
    assert [related.span.file for related in found.related] == ["overlays/0.yaml", "overlays/1.yaml"]
    assert "`speech`, `vision`" in found.hint


def test_many_workspaces_are_not_all_listed() -> None:
    (found,) = compiled(JOB, [workspace(f"w{n}") for n in range(40)]).diagnostics
    assert len(found.related) == 5
    assert found.hint.count("`w") == 8
    assert "32 more" in found.hint


def test_two_answers_contradict_each_other() -> None:
    assert ids(JOB + "policy: {workspace: vision}\n", TWO, workspace="speech") == ["TAU308"]


@pytest.mark.parametrize(
    "name, hint", [("vison", "did you mean `vision`?"), ("zzz", "known: `speech`, `vision`")]
)
def test_an_unknown_workspace(name: str, hint: str) -> None:
    (found,) = said(compiled(JOB + f"policy: {{workspace: {name}}}\n", TWO))
    assert (found.id, found.line) == ("TAU309", 6)
    assert hint in found.hint


def test_the_cluster_of_a_workspace() -> None:
    east, west = cluster("east", gpuTaints="[{key: e}]"), cluster("west", gpuTaints="[{key: w}]")

    def taint(overlays: list[str]) -> str:
        made = workload(accepted(JOB + "compute: {gpus: 1}\n", overlays))
        found: str = made["spec"]["template"]["spec"]["tolerations"][0]["key"]
        return found

    assert taint([workspace("v", cluster="west"), east, west]) == "w"
    assert taint([workspace("v"), east]) == "e"
    assert taint([workspace("v")]) == "nvidia.com/gpu"
    assert ids(JOB, [workspace("v"), east, west]) == ["TAU310"]
    assert ids(JOB, [workspace("v", cluster="north"), east, west]) == ["TAU310"]


VISION = profile("vision", applicability="{teams: [vision]}")
EVAL = profile("eval", applicability="{lanes: [eval]}")
HERE = profile("here", applicability="{namespaces: [taugrid-default]}")
THERE = profile("there", applicability="{namespaces: [other]}")
ANY = profile("any")


@pytest.mark.parametrize(
    "policy, profiles, chosen",
    [
        ("{}", [], None),
        ("{}", [ANY], "any"),
        ("{}", [HERE], "here"),
        ("{}", [HERE, THERE], "here"),
        ("{}", [VISION, HERE], "here"),
        ("{team: vision}", [VISION, EVAL], "vision"),
        ("{lane: eval}", [VISION, EVAL], "eval"),
        ("{team: vision, lane: eval, profile: eval}", [VISION, EVAL], "eval"),
        ("{profile: any}", [ANY, HERE], "any"),
    ],
)
def test_the_profile_that_is_named_or_the_only_one_that_applies(
    policy: str, profiles: list[str], chosen: str | None
) -> None:
    labels = workload(accepted(JOB + f"policy: {policy}\n", profiles))["metadata"]["labels"]
    assert labels.get("tau-compile/profile") == chosen


@pytest.mark.parametrize(
    "policy, profiles, refused",
    [
        ("{}", [ANY, HERE], "TAU313"),
        ("{team: vision, lane: eval}", [VISION, EVAL], "TAU313"),
        ("{}", [VISION], "TAU314"),
        ("{team: speech}", [VISION, THERE], "TAU314"),
        ("{profile: nothing}", [ANY], "TAU311"),
        ("{profile: nothing}", [], "TAU311"),
        ("{profile: vision}", [VISION, ANY], "TAU312"),
        ("{profile: vision, team: speech}", [VISION], "TAU312"),
        ("{profile: there}", [THERE], "TAU312"),
    ],
)
def test_a_profile_that_cannot_be_chosen(policy: str, profiles: list[str], refused: str) -> None:
    for text in (JOB, RAYJOB):
        assert ids(text + f"policy: {policy}\n", profiles) == [refused]


def test_why_no_profile_applies_is_said_for_each() -> None:
    both = profile("both", applicability="{teams: [vision, speech], lanes: [eval]}")
    (found,) = said(compiled(JOB + "policy: {team: robots}\n", [both, THERE]))
    assert "`both` is for team `vision` or `speech`, not `robots`, and for lane `eval`" in found.hint
    assert "`there` is for namespace `other`, not `taugrid-default`" in found.hint


def test_an_overlay_may_choose_the_team() -> None:
    mine = workspace("mine", defaults="{policy: {team: vision}}")
    result = accepted(JOB, [mine, VISION, profile("other", applicability="{teams: [speech]}")])
    assert workload(result)["metadata"]["labels"]["tau-compile/profile"] == "vision"


def test_kinds_that_a_repository_leaves_out_are_the_packaged_ones() -> None:
    result = accepted(JOB, [cluster("only", gpuTaints="[]")])
    assert result.resolved is not None
    assert (result.resolved.workspace.name, result.resolved.platform.name) == ("taugrid-default", "default")

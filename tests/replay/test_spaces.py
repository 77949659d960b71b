"""Workspaces as code on real Git: each change of an overlay is exactly the expected change of the rendered tree."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.replay.repo import WORKSPACE, Repo, files
from tests.support.tools import kubeconform

if TYPE_CHECKING:
    from pathlib import Path

VISION, SPEECH = "overlays/workspaces/vision.yaml", "overlays/workspaces/speech.yaml"
FOLDER = "rendered/east/workspaces/vision"
EAST = "overlays/clusters/east.yaml"
MANAGE = "manage:\n  researchers: [vision-team]\n"


@pytest.fixture
def managed(repo: Repo) -> Repo:
    """The three workloads are launched, and the workspace vision is managed; speech is not."""
    (repo.root / EAST).write_text(repo.read(EAST) + "workspaces:\n  network: {rayOperator: kuberay}\n")
    (repo.root / VISION).write_text(repo.read(VISION) + MANAGE)
    repo.commit("manage vision")
    repo.launch()
    return repo


def changed(repo: Repo) -> dict[str, str]:
    """What Git says about the work tree: the letters of each path."""
    repo.git("add", "-A")
    lines = repo.git("status", "--short", "--no-renames", "-uall", "rendered", "runs").splitlines()
    return {line.split()[-1]: line.split()[0] for line in lines}


def names(repo: Repo, folder: str = FOLDER) -> set[str]:
    return {path.name for path in (repo.root / folder).iterdir()} if (repo.root / folder).exists() else set()


def test_a_workspace_that_is_added_writes_its_folder_and_nothing_else(managed: Repo) -> None:
    (managed.root / SPEECH).write_text(managed.read(SPEECH) + "manage: {}\n")
    managed.commit()
    before = managed.snapshot()
    outcome = managed.tau("build")
    assert "makes the workspace speech on east" in outcome.stdout
    after = managed.snapshot()
    folder = "rendered/east/workspaces/speech/"
    assert {path for path in after if before.get(path) != after[path]} == {
        folder + name
        for name in (
            "kustomization.yaml",
            "localqueue-jobqueue.yaml",
            "namespace-speech.yaml",
            "networkpolicy-tau-compile-default-deny.yaml",
            "networkpolicy-tau-compile-dns.yaml",
            "networkpolicy-tau-compile-egress.yaml",
            "networkpolicy-tau-compile-ray-operator.yaml",
            "networkpolicy-tau-compile-runs.yaml",
            "resourcequota-tau-compile-counts.yaml",
        )
    }
    assert managed.check()["differences"] == []
    assert managed.build().keys() == {"keep"}
    assert managed.snapshot() == after


def test_an_edit_touches_the_files_that_it_is_about(managed: Repo) -> None:
    managed.edit(VISION, "[vision-team]", "[vision-team, guests]")
    before = managed.snapshot()
    assert "updates the workspace vision on east" in managed.tau("build").stdout
    after = managed.snapshot()
    assert {path for path in after if before[path] != after[path]} == {
        f"{FOLDER}/rolebinding-tau-compile-researchers.yaml"
    }
    managed.commit()
    managed.edit(VISION, "  researchers: [vision-team, guests]\n", "  claims: [{name: data, size: 1Ti}]\n")
    managed.tau("build")
    assert changed(managed) == {
        f"{FOLDER}/kustomization.yaml": "M",
        f"{FOLDER}/persistentvolumeclaim-data.yaml": "A",
        f"{FOLDER}/role-tau-compile-researchers.yaml": "D",
        f"{FOLDER}/rolebinding-tau-compile-researchers.yaml": "D",
    }
    results = kubeconform([managed.root / FOLDER / name for name in names(managed) - {"kustomization.yaml"}])
    assert all(result.valid for result in results)


PATCHES = """\
patches:
- target: {kind: LocalQueue}
  patch: {spec: {stopPolicy: Hold}}
- target: {kind: Job}
  optional: true
  patch: {metadata: {labels: {a: b}}}
"""


def test_a_patch_of_a_workspace_changes_its_files_and_no_run(managed: Repo) -> None:
    before = managed.snapshot()
    managed.write({VISION: managed.read(VISION) + PATCHES})
    managed.commit()
    assert "updates the workspace vision on east" in managed.tau("build").stdout
    after = managed.snapshot()
    assert {path for path in after if before.get(path) != after[path] and path != VISION} == {
        f"{FOLDER}/localqueue-jobqueue.yaml"
    }
    assert "stopPolicy: Hold" in managed.read(f"{FOLDER}/localqueue-jobqueue.yaml")
    assert managed.tau("validate").exit == 0
    managed.commit()
    assert managed.check()["differences"] == []
    assert managed.build().keys() == {"keep"}
    managed.write({VISION: managed.read(VISION).replace(PATCHES, "")})
    managed.tau("build")
    assert "stopPolicy" not in managed.read(f"{FOLDER}/localqueue-jobqueue.yaml")


def test_scopes_of_a_quota_stay(managed: Repo) -> None:
    scopes = "patches: [{target: {kind: ResourceQuota}, patch: {spec: {scopes: [BestEffort]}}}]\n"
    managed.write({VISION: managed.read(VISION) + scopes})
    before = managed.snapshot()
    said = managed.tau("build", exit=1).stderr
    assert f"{VISION}:10:67: error TAU384: the scopes of the ResourceQuota" in said
    assert managed.snapshot() == before


def test_a_workspace_with_active_runs_cannot_go(managed: Repo) -> None:
    runs = {managed.run_of("train"), managed.run_of("eval")}
    managed.delete(VISION)
    managed.delete("workloads/vision")
    before = managed.snapshot()
    said = managed.tau("build", exit=1).stderr
    assert said.count("error ") == 1
    assert "TAU732: there are runs of a workspace `vision`, and no overlay describes it" in said
    assert all(run in said for run in runs)
    assert managed.snapshot() == before
    for run in runs:  # what the message names
        managed.tau("cancel", run)
    assert "removes the workspace vision on east" in managed.tau("build").stdout
    assert names(managed) == set()


def test_a_workspace_goes_once_its_runs_are_over(managed: Repo) -> None:
    managed.tau("cancel", managed.run_of("train"))
    managed.end(managed.run_of("eval"))
    managed.commit("over")
    managed.delete(VISION)
    managed.delete("workloads/vision")
    outcome = managed.tau("build")
    assert "removes the workspace vision on east" in outcome.stdout
    assert names(managed) == set()
    assert sorted(managed.states().values()) == ["active", "cancelled", "retired"]
    managed.commit("gone")
    assert managed.build().keys() == {"keep"}
    assert managed.check()["differences"] == []


def test_a_run_of_a_workspace_that_is_gone_is_not_launched_again_by_a_rename(managed: Repo) -> None:
    for name in ("train", "eval"):
        managed.end(managed.run_of(name))
    managed.launch("over")
    managed.move(VISION, "overlays/workspaces/images.yaml")
    managed.edit("overlays/workspaces/images.yaml", "metadata: {name: vision}", "metadata: {name: images}")
    managed.move("workloads/vision", "workloads/images")
    said = managed.tau("build", exit=1).stderr
    assert "TAU732: there are runs of a workspace `vision`" in said
    assert "would be launched again" in said
    managed.edit("overlays/workspaces/images.yaml", "queue:", "formerly: [vision]\nqueue:")
    assert managed.build().keys() == {"keep", "workspace"}


def _renamed(repo: Repo) -> None:
    repo.move(VISION, "overlays/workspaces/images.yaml")
    repo.edit("overlays/workspaces/images.yaml", "metadata: {name: vision}", "metadata: {name: images}")
    repo.edit("overlays/workspaces/images.yaml", "queue:", "formerly: [vision]\nqueue:")
    repo.move("workloads/vision", "workloads/images")


def test_a_renamed_workspace_keeps_its_namespace_and_moves_its_files(managed: Repo) -> None:
    old = names(managed)
    _renamed(managed)
    managed.tau("build")
    new = "rendered/east/workspaces/images"
    assert names(managed, new) == old
    assert names(managed) == set()
    found = changed(managed)
    assert {path for path, letter in found.items() if letter == "D"} == {f"{FOLDER}/{name}" for name in old}
    assert {path for path, letter in found.items() if letter == "A"} == {f"{new}/{name}" for name in old}
    assert set(found.values()) == {"A", "D"}
    assert "name: vision" in managed.read(f"{new}/namespace-vision.yaml")
    assert "tau-compile/workspace: images" in managed.read(f"{new}/namespace-vision.yaml")


def test_a_renamed_namespace_would_strand_active_runs(managed: Repo) -> None:
    _renamed(managed)
    managed.edit("overlays/workspaces/images.yaml", "namespace: vision", "namespace: images")
    managed.edit(EAST, "namespace: vision", "namespace: images")
    before = managed.snapshot()
    said = managed.tau("build", exit=1).stderr
    assert "error TAU385" in said
    assert all(managed.run_of(name) in said for name in ("train", "eval"))
    assert managed.snapshot() == before
    for name in ("train", "eval"):
        managed.end(managed.run_of(name))
    assert "makes the workspace images on east" in managed.tau("build").stdout


@pytest.mark.parametrize("how", ["section", "queue"])
def test_a_queue_stays_while_runs_are_active(managed: Repo, how: str) -> None:
    if how == "section":
        managed.edit(VISION, MANAGE, "")
    else:
        managed.edit(
            EAST, "  - {namespace: vision, name: jobqueue}\n", "  - {namespace: vision, name: other}\n"
        )
        managed.edit(VISION, "queue: jobqueue", "queue: other")
    said = managed.tau("build", exit=1).stderr
    assert "error TAU385: the LocalQueue `jobqueue` of namespace `vision` would leave cluster `east`" in said
    assert managed.run_of("train") in said


def test_files_move_to_another_cluster(managed: Repo) -> None:
    for name in ("train", "eval"):
        managed.end(managed.run_of(name))
    managed.launch("over")
    old = names(managed)
    managed.write(
        {
            "overlays/clusters/west.yaml": managed.read(EAST)
            .replace("name: east", "name: west")
            .replace("{name: east}", "{name: west}")
        }
    )
    managed.edit(VISION, "cluster: east", "cluster: west")
    managed.tau("build")
    assert names(managed) == set()
    assert names(managed, "rendered/west/workspaces/vision") == old
    assert not (managed.root / "rendered/east/workspaces").exists()


def test_runs_are_stranded_by_a_deleted_folder_too(managed: Repo) -> None:
    """Whoever deletes what is rendered, and moves the workspace, is told as if it were still there."""
    west = managed.read(EAST).replace("name: east", "name: west").replace("{name: east}", "{name: west}")
    managed.write({"overlays/clusters/west.yaml": west})
    managed.edit(VISION, "cluster: east", "cluster: west")
    managed.edit(SPEECH, "cluster: east", "cluster: west")
    shutil.rmtree(managed.root / "rendered")
    said = managed.tau("build", exit=1).stderr
    assert "error TAU385: the LocalQueue `jobqueue` of namespace `vision` would leave cluster `east`" in said


def test_a_queue_cannot_be_led_elsewhere_in_one_change(managed: Repo) -> None:
    managed.edit(
        EAST, "queues:\n", "queues:\n- name: spare\n  localQueues:\n  - {namespace: vision, name: jobqueue}\n"
    )
    managed.edit(
        EAST,
        "  localQueues:\n  - {namespace: vision, name: jobqueue}\n  - {namespace: speech",
        "  localQueues:\n  - {namespace: speech",
    )
    said = managed.tau("build", exit=1).stderr
    assert "error TAU384: the LocalQueue `jobqueue` leads to `research` and cannot be led to `spare`" in said


def test_what_was_tampered_with_is_put_back(managed: Repo) -> None:
    good = {name: managed.read(f"{FOLDER}/{name}") for name in names(managed)}
    managed.edit(f"{FOLDER}/namespace-vision.yaml", "enforce: baseline", "enforce: privileged")
    managed.delete(f"{FOLDER}/kustomization.yaml")
    answer = managed.check(exit=3)
    assert [found["text"] for found in answer["differences"]] == ["restores the workspace vision on east"]
    assert answer["mend"] == "tau-compile build"
    assert managed.check("--pending", exit=3)["pending"] == []
    managed.build()
    assert {name: managed.read(f"{FOLDER}/{name}") for name in names(managed)} == good


def test_a_foreign_file_is_reported_and_never_removed(managed: Repo) -> None:
    managed.write({f"{FOLDER}/pod.yaml": "kind: Pod\n", "rendered/east/workspaces/stray.yaml": "kind: Pod\n"})
    managed.edit(f"{FOLDER}/kustomization.yaml", "resources:\n", "resources:\n- pod.yaml\n")
    said = managed.tau("build", exit=1).stderr
    assert said.count("error TAU739") == 2
    assert "`pod.yaml` is not among the files of workspace `vision`" in said
    assert "`stray.yaml` belongs to no workspace" in said
    managed.tau("check", exit=3)
    assert managed.read(f"{FOLDER}/pod.yaml") == "kind: Pod\n"
    managed.edit(VISION, MANAGE, "")
    managed.tau("cancel", managed.run_of("train"))
    managed.tau("cancel", managed.run_of("eval"))
    managed.delete("rendered/east/workspaces/stray.yaml")
    assert "pod.yaml" in managed.tau("build", exit=1).stderr
    assert managed.read(f"{FOLDER}/pod.yaml") == "kind: Pod\n"


def test_a_foreign_file_that_was_committed_and_listed_is_not_ours_either(managed: Repo) -> None:
    managed.write({f"{FOLDER}/pod.yaml": "kind: Pod\n"})
    managed.edit(f"{FOLDER}/kustomization.yaml", "resources:\n", "resources:\n- pod.yaml\n")
    managed.commit("past every check")
    assert "`pod.yaml` is not among the files of workspace `vision`" in managed.tau("build", exit=1).stderr
    assert managed.read(f"{FOLDER}/pod.yaml") == "kind: Pod\n"


def test_a_file_that_is_no_longer_made_goes_even_when_it_was_edited(managed: Repo) -> None:
    managed.edit(VISION, MANAGE, "manage: {}\n")
    binding = f"{FOLDER}/rolebinding-tau-compile-researchers.yaml"
    managed.edit(binding, "    app.kubernetes.io/managed-by: tau-compile\n", "")
    managed.tau("build")
    assert not (managed.root / binding).exists()
    assert managed.check()["differences"] == []


def test_two_pull_requests_that_add_workspaces_do_not_conflict(managed: Repo) -> None:
    for name in ("robots", "speech"):
        managed.branch(f"add-{name}")
        path = f"overlays/workspaces/{name}.yaml"
        text = WORKSPACE.replace("NAME", name) if name != "speech" else managed.read(SPEECH)
        if name == "robots":
            managed.edit(
                EAST,
                "  - {namespace: vision, ",
                "  - {namespace: robots, name: jobqueue}\n  - {namespace: vision, ",
            )
        managed.write({path: text + "manage: {}\n"})
        managed.tau("build", "--base", "main")
        managed.commit(f"add {name}")
        managed.tau("check", "--base", "main")
    managed.switch("main")
    managed.git("merge", "-q", "--no-edit", "add-robots")
    managed.git("merge", "-q", "--no-edit", "add-speech")
    assert managed.check()["differences"] == []
    assert {path.name for path in (managed.root / "rendered/east/workspaces").iterdir()} == {
        "robots",
        "speech",
        "vision",
    }


def test_a_pull_request_of_sources_waits_for_the_job_on_main(managed: Repo) -> None:
    managed.branch("more")
    managed.edit(VISION, "[vision-team]", "[vision-team, guests]")
    managed.commit()
    assert managed.check(exit=3)["pending"] == []
    answer = managed.check("--pending")
    assert [found["text"] for found in answer["pending"]] == ["updates the workspace vision on east"]


def test_without_git(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "repo", files(), git=False)
    (repo.root / EAST).write_text(repo.read(EAST) + "workspaces:\n  network: {rayOperator: kuberay}\n")
    (repo.root / VISION).write_text(repo.read(VISION) + MANAGE)
    repo.build()
    assert "namespace-vision.yaml" in names(repo)
    assert repo.check()["differences"] == []
    repo.edit(VISION, MANAGE, "")
    assert "error TAU385" in repo.tau("build", exit=1).stderr
    for name in ("train", "eval"):
        repo.tau("cancel", repo.run_of(name))
    repo.build()
    assert names(repo) == set()


def test_validate_says_what_is_wrong_and_writes_nothing(managed: Repo) -> None:
    managed.edit(VISION, "queue: jobqueue", "queue: jobqeue")
    before = managed.snapshot()
    assert "error TAU371" in managed.tau("validate", exit=1).stderr
    assert "error TAU371" in managed.tau("validate", "overlays", exit=1).stderr
    assert managed.snapshot() == before


def test_a_file_sealed_with_sops_goes_through_byte_for_byte(managed: Repo) -> None:
    sealed = (
        b"# kept as it is\napiVersion:   v1\nkind: Secret\nmetadata: {name: hub, namespace: vision}\n"
        b"stringData: {t: 'ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]'}\n"
        b"sops: {mac: 'ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]'}\n"
    )
    managed.write({"secrets/hub.yaml": sealed})
    managed.edit(VISION, MANAGE, MANAGE + "  secrets: {sops: [secrets/hub.yaml]}\n")
    managed.tau("build")
    assert (managed.root / FOLDER / "secret-hub.yaml").read_bytes() == sealed
    managed.commit()
    managed.edit(VISION, "  secrets: {sops: [secrets/hub.yaml]}\n", "")
    managed.tau("build")
    assert not (managed.root / FOLDER / "secret-hub.yaml").exists()


def test_a_secret_in_clear_is_shown_to_nobody(managed: Repo) -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: hub, namespace: vision}\nstringData:\n  t: open-sesame\n"
    managed.edit(VISION, MANAGE, MANAGE + "  secrets: {sops: [secrets/hub.yaml]}\n")
    for content in (
        text,
        text + "sops: {mac: x}\n",
        text.replace("  t", "\tt"),
        text.replace("open", "'open"),
    ):
        managed.write({"secrets/hub.yaml": content})
        for verb in ("validate", "build"):
            outcome = managed.tau(verb, exit=1)
            assert "sesame" not in outcome.stdout + outcome.stderr
            assert "secrets/hub.yaml" in outcome.stderr


def test_a_link_in_the_place_of_a_folder_is_refused(managed: Repo) -> None:
    managed.move(FOLDER, "elsewhere")
    (managed.root / FOLDER).symlink_to(managed.root / "elsewhere")
    assert (
        f"a symbolic link stands in the place of the folder `{FOLDER}`" in managed.tau("build", exit=1).stderr
    )


def test_checks_that_the_cluster_makes_stand_in_the_same_folder(managed: Repo) -> None:
    managed.edit(VISION, MANAGE, MANAGE + "admission: {ttl: Deny}\n")
    managed.tau("build")
    made = {name for name in names(managed) if name.startswith("validatingadmissionpolicy")}
    assert {name.partition("-")[0] for name in made} == {
        "validatingadmissionpolicy",
        "validatingadmissionpolicybinding",
    }
    assert all(result.valid for result in kubeconform([managed.root / FOLDER / name for name in made]))
    assert all(name in managed.read(f"{FOLDER}/kustomization.yaml") for name in made)
    managed.commit()
    assert managed.check()["differences"] == []
    managed.edit(VISION, "admission: {ttl: Deny}\n", "")
    managed.tau("build")
    assert not made & names(managed)


@pytest.mark.parametrize("overlay", [SPEECH, "overlays/platform.yaml"], ids=["workspace", "platform"])
def test_checks_need_no_managed_workspace(repo: Repo, overlay: str) -> None:
    """Somebody else makes the namespaces; what bypasses the compiler meets the rules all the same."""
    repo.launch()
    (repo.root / overlay).write_text(repo.read(overlay) + "admission: {ttl: Deny}\n")
    repo.tau("build")
    folder = "rendered/east/workspaces/speech"
    made = names(repo, folder)
    assert {name.partition("-")[0] for name in made - {"kustomization.yaml"}} == {
        "validatingadmissionpolicy",
        "validatingadmissionpolicybinding",
    }
    assert bool(names(repo)) == (overlay != SPEECH)
    repo.commit()
    assert repo.check()["differences"] == []
    repo.edit(overlay, "admission: {ttl: Deny}\n", "")
    repo.tau("build")
    assert names(repo, folder) == set()

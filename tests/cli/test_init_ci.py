"""The CI stubs that ``tau-compile init`` writes, run: commit, build, push, and what happens when two do it at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.cli.ci import SOURCE, WORKFLOW, Forge, commit, git, uncommented, workflow
from tests.support.cli import run
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CONTEXT = {
    "${{ github.ref_name }}": "main",
    "${{ github.base_ref }}": "main",
    "${{ github.head_ref }}": "feature",
}


@pytest.fixture
def forge(tmp_path: Path) -> Forge:
    return Forge(tmp_path)


def jobs(clone: Path) -> dict[str, Any]:
    found = workflow((clone / WORKFLOW).read_text())["jobs"]
    assert isinstance(found, dict)
    return found


def the_other_way(clone: Path) -> dict[str, Any]:
    found = workflow(uncommented((clone / WORKFLOW).read_text(), "# review:"))["review"]
    assert isinstance(found, dict)
    return found


def test_the_stubs_are_yaml_and_ask_for_little(forge: Forge) -> None:
    clone = forge.clone("clone")
    text = (clone / WORKFLOW).read_text()
    whole = workflow(text)
    assert whole["on"] == {"pull_request": {"branches": ["main"]}, "push": {"branches": ["main"]}}
    assert whole["permissions"] == {}
    review, build = whole["jobs"]["review"], whole["jobs"]["build"]
    assert review["permissions"] == {"contents": "read"}
    assert build["permissions"] == {"contents": "write"}
    assert build["concurrency"] == {"group": "tau-compile-build", "cancel-in-progress": False}
    assert review["steps"][0]["with"] == {"fetch-depth": 0, "persist-credentials": False}
    assert "pull_request_target" not in text
    for job in (review, build, the_other_way(clone)):
        assert job["timeout-minutes"] <= 30
        for step in job["steps"]:  # inputs reach the shell as variables, never as text (P11)
            assert "${{" not in step.get("run", "")
    gitlab = yaml.safe_load((clone / ".gitlab-ci.yml").read_text())
    assert gitlab["build"]["resource_group"] == "tau-compile-build"
    hooks = yaml.safe_load((clone / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert [hook["id"] for hook in hooks] == ["tau-validate", "tau-compile-check"]


@pytest.mark.parametrize(
    "path, wanted",
    [
        ("workloads/a/tau.yaml", True),
        ("tau.yml", True),
        ("a/.tau.yaml", True),
        ("overlays/platform.yaml", True),
        ("overlays/clusters/c.yml", True),
        ("a/mytau.yaml", False),
        ("rendered/c/overlays/x.yaml", False),
        ("overlays/README.md", False),
    ],
)
def test_which_files_the_hook_looks_at(forge: Forge, path: str, wanted: bool) -> None:
    text = (forge.folder / "first/.pre-commit-config.yaml").read_text()
    hook = yaml.safe_load(text)["repos"][0]["hooks"][0]
    assert (re.search(hook["files"], path) is not None) is wanted


def test_the_hook_is_the_published_one(forge: Forge) -> None:
    text = (forge.folder / "first/.pre-commit-config.yaml").read_text()
    ours = yaml.safe_load(text)["repos"][0]["hooks"][0]
    published = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    same = ("id", "name", "entry", "files", "types", "require_serial")
    assert [ours[key] for key in same] == [published["tau-validate"][key] for key in same]


def test_the_hooks_run(forge: Forge) -> None:
    clone = forge.clone("clone")
    hooks = yaml.safe_load((clone / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    names = {"tau-validate": " workloads/research/hello/tau.yaml overlays/platform.yaml"}
    for hook in hooks:
        done = forge.runner.run(clone, hook["entry"] + names.get(hook["id"], ""))
        assert done.returncode == 0, done.stderr
    (clone / SOURCE.format("hello")).write_text("name: [")
    for hook in hooks:
        assert forge.runner.run(clone, hook["entry"] + names.get(hook["id"], "")).returncode == 1


def test_install_asks_for_this_series(forge: Forge) -> None:
    clone = forge.clone("clone")
    forge.runner.steps(clone, jobs(clone)["build"], CONTEXT)
    assert forge.runner.installed.read_text() == "-m pip install --quiet tau-compile>=0.1,<0.2\n"


def test_build_pushes_and_then_has_nothing_to_do(forge: Forge) -> None:
    clone = forge.clone("one")
    done = forge.runner.steps(clone, jobs(clone)["build"], CONTEXT)
    assert [step.returncode for step in done] == [0, 0], done[-1].stderr
    assert done[-1].stdout.startswith("launches hello-")
    assert forge.subjects() == ["tau-compile: launches 1 run; 6 files written, 0 removed", "Start"]
    author = git(forge.remote, "log", "-1", "--format=%b%an", "main")
    assert author.startswith("launches hello-")
    assert forge.runs() == ["hello"]
    assert not [path for path in forge.files() if path.startswith(".tau-compile")]

    again = forge.clone("two")
    assert run(["check"], again) == (0, "", "up to date\n")
    done = forge.runner.steps(again, jobs(again)["build"], CONTEXT)
    assert [step.returncode for step in done] == [0, 0]
    assert len(forge.subjects()) == 2


def test_an_old_checkout_builds_the_newest_commit(forge: Forge) -> None:
    old = forge.clone("old")
    forge.add(forge.clone("person", detach=False), "second")
    done = forge.runner.steps(old, jobs(old)["build"], CONTEXT)
    assert done[-1].returncode == 0
    assert forge.runs() == ["hello", "second"]


def test_a_shallow_checkout_is_enough(forge: Forge) -> None:
    git(forge.folder, "clone", "--quiet", "--depth=1", f"file://{forge.remote}", "shallow")
    forge.add(forge.clone("person", detach=False), "second")
    shallow = forge.folder / "shallow"
    done = forge.runner.steps(shallow, jobs(shallow)["build"], CONTEXT)
    assert done[-1].returncode == 0, done[-1].stderr
    assert forge.runs() == ["hello", "second"]
    assert len(forge.subjects()) == 3


def test_what_lies_about_is_not_pushed(forge: Forge) -> None:
    clone = forge.clone("clone")
    (clone / "secret.txt").write_text("x")
    (clone / "runs/research").mkdir(parents=True)
    (clone / "runs/research/rubbish.json").write_text("{")
    done = forge.runner.steps(clone, jobs(clone)["build"], CONTEXT)
    assert done[-1].returncode == 0, done[-1].stderr
    assert forge.runs() == ["hello"]
    assert not {"secret.txt", "runs/research/rubbish.json"} & set(forge.files())


def test_an_error_pushes_nothing(forge: Forge) -> None:
    person = forge.clone("person", detach=False)
    (person / SOURCE.format("hello")).write_text(
        "schema_version: 1\nname: hello\nrun: {entrypoint: gone.py}\n"
    )
    commit(person)
    git(person, "push", "--quiet", "origin", "main")
    clone = forge.clone("clone")
    done = forge.runner.steps(clone, jobs(clone)["build"], CONTEXT)
    assert done[-1].returncode == 1
    assert "workloads/research/hello/tau.yaml:3:" in done[-1].stderr
    assert forge.subjects() == ["a change", "Start"]


def test_who_was_slower_makes_everything_again(forge: Forge) -> None:
    slow, person = forge.clone("slow"), forge.clone("person", detach=False)
    forge.add(person, "second")
    # Between the slow job's build and its push: another workload is merged, and the job for it builds and pushes.
    fast = forge.clone("fast")
    forge.runner.meanwhile.write_text(
        f"mv '{forge.runner.meanwhile}' '{forge.runner.meanwhile}.done'\n"
        f"cd '{fast}' && GIT_COMMITTER_DATE='2001-01-01 00:00 +0000' sh ci/build-and-push.sh main >&2 || exit\n"
    )
    done = forge.runner.steps(slow, jobs(slow)["build"], CONTEXT)
    assert done[-1].returncode == 0, done[-1].stderr
    assert "Somebody else pushed to main (attempt 1)" in done[-1].stderr
    assert forge.runs() == ["hello", "second"]
    assert forge.subjects()[0].startswith("tau-compile: launches 2 runs;")
    assert len(forge.subjects()) == 3  # the slow job found nothing left to do
    assert "keeps 2 runs; no file changes" in done[-1].stdout


def test_a_merge_while_it_builds_is_taken_along(forge: Forge) -> None:
    clone, person = forge.clone("clone"), forge.clone("person", detach=False)
    forge.add(person, "second", branch="later")
    forge.runner.meanwhile.write_text(
        f"rm '{forge.runner.meanwhile}'\ngit -C '{person}' push --quiet origin HEAD:main\n"
    )
    done = forge.runner.steps(clone, jobs(clone)["build"], CONTEXT)
    assert done[-1].returncode == 0, done[-1].stderr
    assert forge.runs() == ["hello", "second"]
    assert [s.split(":")[0] for s in forge.subjects()] == ["tau-compile", "Add second", "Start"]


def test_two_at_the_same_moment(forge: Forge) -> None:
    clones = [forge.clone(name) for name in ("a", "b", "c")]
    script = "sh ci/build-and-push.sh main"
    started = [forge.runner.start(clone, script) for clone in clones]
    ended = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], ended
    assert forge.runs() == ["hello"]
    assert len(forge.subjects()) == 2
    assert run(["check"], forge.clone("after")) == (0, "", "up to date\n")


def test_a_branch_that_never_stands_still(forge: Forge) -> None:
    clone, person = forge.clone("clone"), forge.clone("person", detach=False)
    forge.runner.meanwhile.write_text(
        f"git -C '{person}' -c user.name=a -c user.email=a commit --quiet --allow-empty -m moved\n"
        f"git -C '{person}' push --quiet origin main\n"
    )
    done = forge.runner.steps(clone, jobs(clone)["build"], CONTEXT)
    assert done[-1].returncode == 1
    assert "Gave up: main moved on during each of 5 builds" in done[-1].stderr
    assert forge.subjects() == ["moved"] * 5 + ["Start"]


def test_a_push_that_is_forbidden_is_not_tried_again(forge: Forge) -> None:
    hook = forge.remote / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho protected >&2\nexit 1\n")
    hook.chmod(0o755)
    clone = forge.clone("clone")
    done = forge.runner.steps(clone, jobs(clone)["build"], CONTEXT)
    assert done[-1].returncode == 1
    assert "may this job push to main?" in done[-1].stderr
    assert done[-1].stdout.count("launches hello-") == 1


def test_a_branch_that_was_set_back_is_not_brought_forward(forge: Forge) -> None:
    person = forge.clone("person", detach=False)
    forge.add(person, "second")
    clone = forge.clone("clone")
    start = git(forge.remote, "rev-parse", "main~1")
    forge.runner.meanwhile.write_text(
        f"rm '{forge.runner.meanwhile}'\ngit -C '{forge.remote}' update-ref refs/heads/main {start}\n"
    )
    done = forge.runner.steps(clone, jobs(clone)["build"], CONTEXT)
    assert done[-1].returncode == 0, done[-1].stderr
    assert forge.runs() == ["hello"]
    assert [s.split(":")[0] for s in forge.subjects()] == ["tau-compile", "Start"]


def test_review_shows_what_the_merge_will_do(forge: Forge) -> None:
    person = forge.clone("person", detach=False)
    clone = forge.clone("built")
    forge.runner.steps(clone, jobs(clone)["build"], CONTEXT)
    git(person, "pull", "--quiet", "origin", "main")
    git(person, "checkout", "--quiet", "-b", "feature")
    forge.add(person, "second", branch="feature")
    reviewed, summary = forge.clone("reviewed", "feature"), forge.folder / "summary"
    done = forge.runner.steps(reviewed, jobs(reviewed)["review"], CONTEXT, GITHUB_STEP_SUMMARY=str(summary))
    assert [step.returncode for step in done] == [0, 0, 0, 0], done[-1].stderr
    assert re.fullmatch(
        r"```\nlaunches second-[0-9a-f]{8}\nlaunches 1 run, keeps 1; 4 files written, 0 removed\n```\n",
        summary.read_text(),
    )
    assert forge.runs("feature") == ["hello"]


def test_review_refuses_what_nobody_may_change(forge: Forge) -> None:
    clone = forge.clone("built")
    forge.runner.steps(clone, jobs(clone)["build"], CONTEXT)
    person = forge.clone("person", detach=False)
    manifest = next(person.glob("rendered/*/runs/research/hello-*/job-*.yaml"))
    manifest.write_text(manifest.read_text().replace("python:3.12-slim", "python:3.13-slim"))
    commit(person)
    git(person, "push", "--quiet", "origin", "HEAD:feature")
    reviewed = forge.clone("reviewed", "feature")
    done = forge.runner.steps(reviewed, jobs(reviewed)["review"], CONTEXT)
    assert [step.returncode for step in done] == [0, 0, 3]
    assert manifest.name in done[-1].stdout


def test_the_other_way_the_output_is_reviewed(forge: Forge) -> None:
    person = forge.clone("person", detach=False)
    git(person, "checkout", "--quiet", "-b", "feature")
    forge.add(person, "second", branch="feature")

    def review(name: str) -> None:
        clone = forge.clone(name, "feature")
        done = forge.runner.steps(clone, the_other_way(clone), CONTEXT)
        assert [step.returncode for step in done] == [0, 0, 0, 0], done[-1].stderr

    review("one")
    assert forge.runs("feature") == ["hello", "second"]
    first = [path for path in forge.files("feature") if path.startswith("runs/research/second-")]

    git(person, "pull", "--quiet", "origin", "feature")
    (person / "workloads/research/second/main.py").write_text("print('again')\n")
    commit(person)
    git(person, "push", "--quiet", "origin", "feature")
    review("two")  # ten edits in one branch are one run
    assert forge.runs("feature") == ["hello", "second"]
    assert first[0] not in forge.files("feature")

    git(person, "pull", "--quiet", "origin", "feature")
    git(person, "rm", "--quiet", "-r", "workloads/research/second")
    commit(person)
    git(person, "push", "--quiet", "origin", "feature")
    review("three")
    assert forge.runs("feature") == ["hello"]

    git(person, "fetch", "--quiet", "origin")
    git(person, "push", "--quiet", "origin", "origin/feature:refs/heads/main")
    before = forge.subjects()
    merged = forge.clone("merged")
    assert run(["check"], merged) == (0, "", "up to date\n")
    done = forge.runner.steps(merged, jobs(merged)["build"], CONTEXT)
    assert done[-1].stdout.startswith("keeps 1 run; no file changes")
    assert forge.subjects() == before


def test_the_last_draft_of_a_branch_can_be_taken_back(forge: Forge) -> None:
    person = forge.clone("person", detach=False)
    git(person, "checkout", "--quiet", "-b", "feature")
    git(person, "push", "--quiet", "origin", "feature")
    clone = forge.clone("one", "feature")
    assert forge.runner.steps(clone, the_other_way(clone), CONTEXT)[-1].returncode == 0
    assert forge.runs("feature") == ["hello"]
    git(person, "pull", "--quiet", "origin", "feature")
    git(person, "rm", "--quiet", "-r", "workloads")
    commit(person)
    git(person, "push", "--quiet", "origin", "feature")
    clone = forge.clone("two", "feature")
    done = forge.runner.run(clone, 'sh ci/build-and-push.sh feature "origin/main"')
    assert done.returncode == 0, done.stderr
    assert forge.runs("feature") == []


def test_gitlab(forge: Forge) -> None:
    variables = {
        "CI_PROJECT_URL": str(forge.remote).removesuffix(".git"),
        "CI_COMMIT_BRANCH": "main",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "feature",
        "TAU_PUSH_TOKEN": "not-printed",
    }

    def job(name: str, clone: Path) -> str:
        stub = yaml.safe_load((clone / ".gitlab-ci.yml").read_text())
        script = "\n".join([*stub["default"]["before_script"], *stub[name]["script"]])
        done = forge.runner.run(clone, script, **variables)
        assert done.returncode == 0, done.stderr
        assert "not-printed" not in done.stdout + done.stderr + (clone / ".git/config").read_text()
        return done.stdout

    assert "launches hello-" in job("build", forge.clone("one"))
    assert forge.runs() == ["hello"]
    assert "keeps 1 run; no file changes" in job("build", forge.clone("two"))
    person = forge.clone("person", detach=False)
    forge.add(person, "second", branch="feature")
    assert "launches second-" in job("review", forge.clone("three", "feature"))
    assert forge.runs("feature") == ["hello"]

    clone = forge.clone("four", "feature")
    stub = (clone / ".gitlab-ci.yml").read_text()
    lines = re.findall(r"^#   - (.*)$", stub, re.MULTILINE)
    assert len(lines) == 2
    done = forge.runner.run(clone, "\n".join(lines), **variables)
    assert done.returncode == 0, done.stderr
    assert forge.runs("feature") == ["hello", "second"]


def test_gitlab_token_reaches_git_and_nothing_else(forge: Forge) -> None:
    clone = forge.clone("clone")
    stub = yaml.safe_load((clone / ".gitlab-ci.yml").read_text())
    helper = next(line for line in stub["build"]["script"] if "credential.helper" in line)
    script = f"{helper}\nprintf 'protocol=https\\nhost=git.example.com\\n\\n' | git credential fill"
    done = forge.runner.run(clone, script, TAU_PUSH_TOKEN="t0k", GIT_TERMINAL_PROMPT="0")
    assert done.stdout.splitlines()[-2:] == ["username=tau-compile", "password=t0k"]

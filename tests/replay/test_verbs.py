"""cancel, rerun and list."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.replay.repo import Repo

TRAIN = "workloads/vision/train/tau.yaml"


def test_cancel(launched: Repo) -> None:
    run = launched.run_of("train")
    before = launched.records()[run]
    launched.branch("cancel")
    assert launched.tau("cancel", run, run).stdout == f"cancels {run}\n"
    assert launched.records()[run] == before | {"state": "cancelled", "manifests": {}}
    assert run not in launched.rendered()
    assert launched.check()["differences"] == []
    assert launched.build().keys() == {"keep"}
    launched.commit("cancel")
    launched.switch("main")
    launched.git("merge", "-q", "cancel")
    assert launched.build().keys() == {"keep"}
    launched.tau("rerun", run)
    (again,) = launched.launch("rerun")["launch"]
    assert launched.records()[again]["supersedes"] == run


def test_what_cannot_be_cancelled(launched: Repo) -> None:
    run = launched.run_of("train")
    assert (
        f"there is no run `{run[:-1]}`; did you mean `{run}`?"
        in launched.tau("cancel", run[:-1], exit=2).stderr
    )
    launched.branch("edit")
    launched.edit(TRAIN, "4h", "5h")
    (draft,) = launched.build()["launch"]
    outcome = launched.tau("cancel", draft, exit=2)
    assert f"{draft} is a draft: it is not launched before it is on the base branch" in outcome.stderr
    assert f"`tau-compile adopt {TRAIN}`" in outcome.stderr
    launched.tau("adopt", TRAIN)
    assert launched.build().keys() == {"keep"}
    launched.delete(f"runs/vision/{run}.json")
    assert "`tau-compile build` restores its record" in launched.tau("cancel", run, exit=2).stderr


def test_cancelling_two_of_which_one_is_wrong_cancels_none(launched: Repo) -> None:
    before = launched.snapshot()
    launched.tau("cancel", launched.run_of("train"), "other-00000000", exit=2)
    assert launched.snapshot() == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "schema_version: 1\nname: a # named\nrun:\n  entrypoint: b\n",
            "schema_version: 1\nname: a # named\nrun:\n  attempt: 2\n  entrypoint: b\n",
        ),
        ("name: a\nrun:\n    attempt: 4 # so far\n", "name: a\nrun:\n    attempt: 5 # so far\n"),
        ("name: a\nrun: {entrypoint: b}\n", "name: a\nrun: {attempt: 2, entrypoint: b}\n"),
        ("name: a # named\ncompute:\n- b\n", "name: a # named\nrun:\n  attempt: 2\ncompute:\n- b\n"),
        ("name: a", "name: a\nrun:\n  attempt: 2\n"),
        (
            "\ufeff# top\r\nname: a\r\nrun:\r\n  x: 1\r\n",
            "\ufeff# top\r\nname: a\r\nrun:\r\n  attempt: 2\r\n  x: 1\r\n",
        ),
        ("name: >-\n  a\n  b\ncompute: {}\n", "name: >-\n  a\n  b\nrun:\n  attempt: 2\ncompute: {}\n"),
        ("{name: a, run: {x: 1}}\n", "{name: a, run: {attempt: 2, x: 1}}\n"),
        (
            "# Zeilenumbrüche ☃\nname: ä\nrun:\n  ü: [ß,\n    z]\n",
            "# Zeilenumbrüche ☃\nname: ä\nrun:\n  attempt: 2\n  ü: [ß,\n    z]\n",
        ),
        # where lines alone do not tell, a reader that keeps comments does it
        ("a: &x\n  b: 1\nname: a\nrun:\n  <<: *x\n  c: 2\n", None),
        ("a: &n 1\nname: a\nrun:\n  attempt: *n\n", None),
        ("{name: a}\n", None),
        ("? name\n: a\n? run\n: b: 1\n", None),
    ],
)
def test_raising_the_attempt(old: str, new: str | None) -> None:
    from tau_compile.edit import with_attempt
    from tau_compile.source.reader import read
    from tau_compile.source.scalars import plain_data

    before = plain_data(read(old.encode(), "").node)  # type: ignore[arg-type]
    attempt, text = with_attempt(old.encode(), 1)
    if new is not None:
        assert text == new
    after = plain_data(read(text.encode(), "").node)  # type: ignore[arg-type]
    assert after == before | {"run": (before.get("run") or {}) | {"attempt": attempt}}
    assert with_attempt(old.encode(), 7)[0] == 8


def test_an_attempt_that_cannot_be_raised() -> None:
    from tau_compile.edit import EditError, with_attempt

    with pytest.raises(EditError, match=r"set `run.attempt: 2` by hand"):
        with_attempt(b"other: &x {b: 1}\nname: a\nrun: *x\n", 1)  # `other` would change with it


def test_rerun_counts_on_from_the_last_attempt(launched: Repo) -> None:
    for attempt in (2, 3):
        assert (
            launched.tau("rerun", TRAIN).stdout
            == f"{TRAIN}: run.attempt is now {attempt}; `tau-compile build` launches it\n"
        )
        launched.launch()
    launched.edit(TRAIN, "  attempt: 3\n", "")
    launched.tau("rerun", TRAIN)
    assert "attempt: 4" in launched.read(TRAIN)
    assert len(launched.launch()["launch"]) == 1
    assert launched.states()["train/4"] == "active"


def test_rerun_of_a_run(launched: Repo) -> None:
    run = launched.run_of("train")
    launched.tau("rerun", run)
    assert launched.git("diff", "--name-only") == TRAIN
    assert launched.git("diff", "--shortstat") == "1 file changed, 1 insertion(+)"
    outcome = launched.tau("rerun", run[:-1], exit=2)
    assert f"`{run[:-1]}` is neither a file nor a run; did you mean `{run}`?" in outcome.stderr
    launched.edit(TRAIN, "entrypoint", "entrypiont")
    assert "error TAU201" in launched.tau("rerun", TRAIN, exit=1).stderr


def test_list(launched: Repo) -> None:
    launched.edit(TRAIN, "4h", "5h")
    launched.commit("edit")
    (second,) = launched.launch()["launch"]
    asr = launched.run_of("asr")
    launched.end(asr)
    launched.build()
    launched.tau("cancel", launched.run_of("eval"))
    launched.write(
        {"workloads/vision/more/tau.yaml": launched.read(TRAIN).replace("name: train", "name: more")}
    )
    launched.write({"workloads/vision/more/train.py": ""})
    launched.tau("adopt", "workloads/vision/more")
    lines = launched.tau("list").stdout.splitlines()
    assert lines[0].split() == ["RUN", "STATE", "WORKSPACE", "GPUS", "AGE", "SOURCE"]
    cells = [[cell.strip() for cell in line.split("  ") if cell] for line in lines[1:]]
    assert cells[0][1:5] == ["adopted", "vision", "2", "not committed"]
    assert cells[1][:5] == [second, "active", "vision", "2", "0 commits"]
    assert [(row[0].rpartition("-")[0], row[1], row[4]) for row in cells[2:]] == [
        ("asr", "retired (succeeded)", "2 commits"),
        ("eval", "cancelled", "2 commits"),
        ("train", "active", "2 commits"),
    ]
    assert len(launched.tau("list", "--state", "active", "--workspace", "vision").stdout.splitlines()) == 3
    rows = json.loads(launched.tau("list", "--format", "json", "--state", "retired").stdout)
    assert rows == [
        {
            "run": asr, "state": "retired", "outcome": "succeeded", "workspace": "speech", "cluster": "east", "gpus": 4,
            "commits_ago": 2, "source": "workloads/speech/asr/tau.yaml",
        }
    ]  # fmt: skip


def test_json_of_a_build(launched: Repo) -> None:
    launched.edit(TRAIN, "4h", "5h")
    answer = json.loads(launched.tau("build", "--format", "json").stdout)
    launch = next(action for action in answer["actions"] if action["verb"] == "launch")
    assert launch["gpus"] == 2
    assert launch["record"] == f"runs/vision/{launch['run']}.json"
    assert (answer["written"], answer["deleted"], answer["diagnostics"]) == (4, 0, [])
    launched.edit(TRAIN, "5h", "five hours")
    answer = json.loads(launched.tau("build", "--format", "json", exit=1).stdout)
    assert answer["summary"] == {"errors": 1, "warnings": 0}


def test_rerun_in_the_direct_form(repo: Repo) -> None:
    from tests.replay.test_spelling import DIRECT

    path = "workloads/vision/direct/tau.yaml"
    repo.write({path: DIRECT, "workloads/vision/direct/train.py": "print(1)\n"})
    repo.launch()
    repo.tau("rerun", path)
    assert repo.read(path) == DIRECT.replace("name: direct\n", "name: direct\nrun:\n  attempt: 2\n")
    assert len(repo.launch()["launch"]) == 1
    repo.tau("migrate", path, "--write")
    assert repo.build().keys() == {"keep"}

"""Repositories that somebody made to do harm, or that hold what nobody expects."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from tests.replay.repo import workload

if TYPE_CHECKING:
    from tests.replay.repo import Repo


def test_a_record_that_names_files_elsewhere_deletes_none(launched: Repo) -> None:
    """A forged draft, whose manifests would be thrown away."""
    launched.branch("hostile")
    record = launched.records()[launched.run_of("train")]
    for changes in (
        {"manifests": {"../../../../../tau-compile.yaml": f"sha256:{'0' * 64}"}},
        {"cluster": "../.."},
        {"workspace": "../vision"},
        {"source": "/etc/passwd"},
    ):
        forged = record | {"digest": "0" * 64, "run": "train-00000000"} | changes
        launched.write({"runs/vision/train-00000000.json": json.dumps(forged)})
        assert "error TAU731" in launched.tau("build", exit=1).stderr


def test_other_things_where_files_are_expected(launched: Repo) -> None:
    run = launched.run_of("train")
    record = launched.root / f"runs/vision/{run}.json"
    manifest = launched.root / f"rendered/east/runs/vision/{run}/job-{run}.yaml"
    for path, said in ((record, "TAU731"), (manifest, "TAU738")):
        good = path.read_bytes()
        for put in (os.mkdir, os.mkfifo, lambda place: os.symlink("/etc/passwd", place)):
            path.unlink()
            put(path)
            assert said in launched.tau("check", exit=1 if said == "TAU731" else 3).stderr
            path.rmdir() if path.is_dir() else path.unlink()
            path.write_bytes(good)
    assert launched.build().keys() == {"keep"}


def test_names_that_could_drive_a_terminal(launched: Repo) -> None:
    folder = b"workloads/vision/\x1b[31m\xff\xe2\x80\xae"
    place = os.path.join(os.fsencode(launched.root), folder)
    os.makedirs(place)
    for name, text in (("tau.yaml", workload("odd")), ("train.py", "print(1)\n")):
        with open(os.path.join(place, name.encode()), "w") as file:
            file.write(text)
    launched.tau("build")
    launched.commit("odd")
    assert launched.build().keys() == {"keep"}
    with open(os.path.join(place, b"train.py"), "w") as file:
        file.write("print(2)\n")
    launched.tau("build")
    launched.commit("odd once more")
    with open(os.path.join(place, b"train.py"), "w") as file:
        file.write("print(1)\n")
    for verb in ("build", "check", "list"):
        outcome = launched.tau(verb)
        assert "odd-" in outcome.stdout
        assert not set(outcome.stdout + outcome.stderr) & {"\x1b", "\u202e"}

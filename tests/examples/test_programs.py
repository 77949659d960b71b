"""The examples that need nothing but sh and Python, started by the very commands that were rendered for them."""

from __future__ import annotations

import csv
import hashlib
import hmac
import json
from typing import TYPE_CHECKING

from tests.examples.machine import Machine
from tests.examples.repository import EXAMPLES, objects

if TYPE_CHECKING:
    from pathlib import Path


def rows(file: Path) -> list[list[str]]:
    with file.open(newline="") as lines:
        return list(csv.reader(lines))


def test_cpu_job(rendered: dict[str, str], tmp_path: Path) -> None:
    machine = Machine(objects(rendered["cpu-job"]), tmp_path)
    done = machine.start()
    assert done.returncode == 0, done.stderr
    train, validation = (
        rows(machine.path(f"/data/vision/events/{name}.csv")) for name in ("train", "validation")
    )
    assert train[0] == validation[0] == ["time", "camera", "object", "confidence"]
    source = rows(EXAMPLES / "cpu-job" / "sample.csv")[1:]
    whole = {tuple(row) for row in source if len(row) == 4}
    assert len(whole) < len(source)  # there is something to clean
    assert {tuple(row) for row in train[1:] + validation[1:]} == whole
    assert len(train) + len(validation) - 2 == len(whole)
    assert len(validation) > 1
    assert done.stdout == f"train: {len(train) - 1} rows\nvalidation: {len(validation) - 1} rows\n"


def test_cpu_job_prefers_the_claim(rendered: dict[str, str], tmp_path: Path) -> None:
    machine = Machine(objects(rendered["cpu-job"]), tmp_path)
    machine.path("/data/raw").mkdir()
    machine.path("/data/raw/events.csv").write_text("a,b\n1,2\n3,4\n1,2\n5\n")
    assert machine.start().returncode == 0
    found = [
        row
        for name in ("train", "validation")
        for row in rows(machine.path(f"/data/vision/events/{name}.csv"))[1:]
    ]
    assert sorted(found) == [["1", "2"], ["3", "4"]]


def test_image_source_job(rendered: dict[str, str], tmp_path: Path) -> None:
    example = EXAMPLES / "image-source-job"
    images = {"/workspace": example / "code", "/vocabulary": example / "vocabulary"}
    machine = Machine(objects(rendered["image-source-job"]), tmp_path, image_files=images)
    machine.path("/data/texts").mkdir()
    machine.path("/data/texts/a.txt").write_text("The car, the bus and the other car.\n")
    machine.path("/data/texts/b.txt").write_text("A truck!\n")
    done = machine.start()
    assert done.returncode == 0, done.stderr
    expected = {"files": 2, "words": 10, "known": 4, "most_frequent": {"car": 2, "bus": 1, "truck": 1}}
    assert json.loads(done.stdout) == expected
    assert json.loads(machine.path("/data/vision/count-tokens/tokens.json").read_text()) == expected


def test_image_source_job_without_the_program(rendered: dict[str, str], tmp_path: Path) -> None:
    images = {"/workspace": EXAMPLES / "image-source-job" / "vocabulary"}
    done = Machine(objects(rendered["image-source-job"]), tmp_path, image_files=images).start()
    assert done.returncode == 66
    assert "count_tokens.py is not in the source directory" in done.stderr


def test_direct_form(rendered: dict[str, str], tmp_path: Path) -> None:
    machine = Machine(objects(rendered["direct-form"]), tmp_path)
    machine.path("/texts/deep").mkdir()
    machine.path("/texts/one.txt").write_text("never say never again")
    machine.path("/texts/deep/two.txt").write_text("never")
    done = machine.start()
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"texts": 2, "longest": 4, "words": [["never", 3], ["again", 1]]}


def test_restricted_publish(rendered: dict[str, str], tmp_path: Path) -> None:
    made = objects(rendered["restricted-publish"])
    machine = Machine(made, tmp_path, secrets={("export-signing", "key"): "of the test"})
    model = machine.path("/data/vision/shapes-classifier/model.pt")
    model.parent.mkdir(parents=True)
    model.write_bytes(b"weights")
    done = machine.start()
    assert done.returncode == 0, done.stderr
    output = machine.path("/data/vision/releases/shapes-1")
    assert sorted(path.name for path in output.iterdir()) == [".tau-run", "artifacts.json", "bundle"]
    assert (output / "bundle" / "model.pt").read_bytes() == b"weights"
    manifest = (output / "bundle" / "manifest.json").read_bytes()
    assert json.loads(manifest)["files"][0]["sha256"] == hashlib.sha256(b"weights").hexdigest()
    signature = hmac.new(b"of the test", manifest, hashlib.sha256).hexdigest()
    assert (output / "bundle" / "manifest.sig").read_text() == signature + "\n"
    artifacts = json.loads((output / "artifacts.json").read_text())
    run_id = next(o for o in made if o["kind"] == "Job")["metadata"]["name"]
    assert (artifacts["run"], artifacts["artifacts"][0]["path"]) == (run_id, "bundle")
    assert artifacts["artifacts"][0]["files"] == 3
    assert "of the test" not in done.stdout + done.stderr + rendered["restricted-publish"]


def test_a_failed_export_publishes_nothing(rendered: dict[str, str], tmp_path: Path) -> None:
    machine = Machine(
        objects(rendered["restricted-publish"]), tmp_path, secrets={("export-signing", "key"): "k"}
    )
    done = machine.start()
    assert done.returncode == 1
    assert "there is no model at" in done.stderr
    assert not machine.path("/data/vision/releases/shapes-1").exists()

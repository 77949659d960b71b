"""The layout of runs in the rendered tree."""

from __future__ import annotations

import hashlib

import pytest
import yaml

from tau_compile.runs import tree
from tests.replay.repo import files
from tests.runs.memory import Memory
from tests.runs.records import record


def test_one_folder_a_run_with_one_object_a_file() -> None:
    repo = Memory(files())
    repo.build()
    for one in repo.records().values():
        place = f"rendered/{one.cluster}/runs/{one.workspace}/{one.run}"
        assert tree.folder(one) == place
        found = {path: data for path, data in repo.files.items() if path.startswith(f"{place}/")}
        assert sorted(found) == sorted(tree.manifest_paths(one))
        names = {path.rpartition("/")[2] for path in found}
        listing = yaml.safe_load(found[f"{place}/kustomization.yaml"])
        assert listing == {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": sorted(names - {"kustomization.yaml"}),
        }
        for path, data in found.items():
            if path.endswith("kustomization.yaml"):
                continue
            (made,) = yaml.safe_load_all(data)
            assert path.rpartition("/")[2] == f"{made['kind']}-{made['metadata']['name']}.yaml".lower()
            assert made["metadata"]["labels"]["tau-compile/run-id"] == one.run
            assert made["metadata"]["namespace"] == one.namespace
            assert made["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/ssa"] == "IfNotPresent"


def test_no_file_lists_two_runs() -> None:
    repo = Memory(files())
    repo.build()
    runs = {one.run for one in repo.records().values()}
    for path, data in repo.output().items():
        named = {run for run in runs if run.encode() in data}
        assert len(named) <= 1, path


def test_an_anchor_stays_in_each_folder_of_runs() -> None:
    repo = Memory(files())
    repo.build()
    repo.commit()
    before = repo.output()
    for one in repo.records().values():
        repo.tell_end(one)
    repo.build()
    left = [path for path in repo.output() if path.startswith("rendered/")]
    assert len(left) == 4
    assert all("/anchor/" in path for path in left)
    assert {path: before[path] for path in left} == {path: repo.files[path] for path in left}
    made = yaml.safe_load(
        repo.files["rendered/east/runs/vision/anchor/configmap-tau-compile-runs-vision.yaml"]
    )
    assert (made["kind"], made["metadata"]["namespace"]) == ("ConfigMap", "vision")


def test_adopted_files_need_no_anchor() -> None:
    repo = Memory(files())
    repo.build()
    repo.files = {path: data for path, data in repo.files.items() if not path.startswith("rendered/")}
    for path, one in repo.records().items():
        from tau_compile.runs.record import to_json

        repo.files[path] = to_json(one._replace(state="adopted", manifests={})).encode()
    assert repo.build() == ()
    assert not any(path.startswith("rendered/") for path in repo.files)


@pytest.mark.parametrize("content", [b"", b"a\nb\n", b"\xff\x00\r", "é\n".encode()])
def test_digests_are_of_what_git_stores(content: bytes) -> None:
    assert tree.digest(content) == f"sha256:{hashlib.sha256(content).hexdigest()}"
    assert tree.digest(content.replace(b"\n", b"\r\n")) == tree.digest(content)


def test_a_run_that_is_over_owns_no_files() -> None:
    assert tree.manifest_paths(record().cancelled()) == []

"""Files on disk, credentials, positions, and input that means harm."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.importing.documents import objects
from tau_compile.importing.gpus import class_name
from tau_compile.importing.job import import_job
from tau_compile.importing.kueue import import_kueue
from tau_compile.importing.taugrid import import_taugrid
from tests.support.cli import run
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tau_compile.diagnostics import Diagnostic

SAMPLES = ROOT / "tests" / "importing" / "samples"
JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: hello}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "busybox:1", command: [echo, hello]}]}}}
"""
TOKEN = "hf_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAbC"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


def test_nothing_is_replaced_unasked(folder: Path) -> None:
    (folder / "start.sh").write_text("mine")
    done = run(["import", "job", "job.yaml", "-o", "."], folder)
    assert done.exit == 1
    assert "start.sh" in done.stderr
    assert not (folder / "tau.yaml").exists()
    assert (folder / "start.sh").read_text() == "mine"
    done = run(["import", "job", "job.yaml", "-o", ".", "--force"], folder)
    assert done.exit == 0
    assert (folder / "start.sh").read_text() == "#!/bin/sh\nexec echo hello\n"
    assert sorted(os.listdir(folder)) == ["job.yaml", "start.sh", "tau.yaml"]


def test_force_replaces_a_link_and_not_what_it_leads_to(folder: Path) -> None:
    (folder / "other").write_text("mine")
    (folder / "tau.yaml").symlink_to(folder / "other")
    assert run(["import", "job", "job.yaml", "-o", "."], folder).exit == 1
    assert run(["import", "job", "job.yaml", "-o", ".", "--force"], folder).exit == 0
    assert (folder / "other").read_text() == "mine"
    assert not (folder / "tau.yaml").is_symlink()


def test_a_link_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "overlays").mkdir(parents=True)
    (tmp_path / "in" / "overlays" / "clusters").symlink_to(tmp_path / "out")
    done = run(["import", "kueue", str(SAMPLES / "kueue.yaml"), "-o", "in"], tmp_path)
    assert done.exit == 1
    assert "leads out" in done.stderr
    assert os.listdir(tmp_path / "out") == []


def test_standard_input_and_json_say_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    class Input:
        buffer = io.BytesIO(JOB.encode())

    monkeypatch.setattr(sys, "stdin", Input())
    done = run(["import", "job", "-", "--format", "json"], folder)
    assert done.exit == 0
    made = json.loads(done.stdout)
    assert made["files"]["start.sh"] == "#!/bin/sh\nexec echo hello\n"
    assert made["files"]["tau.yaml"].startswith("schema_version: 1\nname: hello\n")


def test_several_jobs_get_folders(folder: Path) -> None:
    (folder / "more.yaml").write_text(JOB.replace("hello}", "bye}"))
    done = run(["import", "job", "job.yaml", "more.yaml", "job.yaml", "-o", "w"], folder)
    assert done.exit == 0
    assert sorted(os.listdir(folder / "w")) == ["bye", "hello"]
    assert "TAU395" in done.stderr


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_no_message_and_no_file_shows_a_credential(form: str, tmp_path: Path) -> None:
    container = {
        "name": "main",
        "image": "busybox:1",
        "command": ["fetch", f"--token={TOKEN}"],
        "env": [{"name": "HF_TOKEN", "value": TOKEN}, {"name": "DB_PASSWORD", "value": "correct horse"}],
    }
    aside = {
        "name": "aside",
        "image": "x",
        "env": [{"name": "API_KEY", "value": "q8Zr2Lw9Tt"}],
        "args": [TOKEN],
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "fetch", "annotations": {"note": TOKEN}},
        "spec": {"template": {"spec": {"containers": [container, aside]}}},
    }
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s"},
        "data": {"plain": "bm90aGluZw=="},
    }
    import yaml

    both = {"apiVersion": "v1", "kind": "List", "items": [job, secret]}
    text = json.dumps(both) if form == "json" else yaml.safe_dump(both, default_flow_style=None, width=1000)
    (tmp_path / "in").write_text(text)
    done = run(["import", "job", "in", "-o", "made"], tmp_path)
    assert done.exit == 0
    files = "".join(path.read_text() for path in (tmp_path / "made").rglob("*") if path.is_file())
    for shown in (done.stderr, files, run(["import", "job", "in", "--format", "json"], tmp_path).stdout):
        for word in (TOKEN, "correct horse", "q8Zr2Lw9Tt", "bm90aGluZw=="):
            assert word not in shown
    assert done.stderr.count("TAU398") == 3
    assert "env_secret: {HF_TOKEN: SECRET:KEY}" in done.stderr


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("python train.py --api-key 8f3kd92ks8s7d6", True),
        ("python train.py --api-key=8f3kd92ks8s7d6", True),
        ("export WANDB_API_KEY='8f3kd92ks8s7d6'; python train.py", True),
        (f"curl -H 'Authorization: Bearer {TOKEN}' https://example.com", True),
        ("python train.py --tokenizer bert --max-token 512 --key-file /etc/key", False),
        ("python train.py --api-key $API_KEY", False),
    ],
)
def test_credentials_in_commands(line: str, secret: bool) -> None:
    from tau_compile.importing.words import holds_secret

    for words in ([line], ["sh", "-c", line], line.split()):
        assert holds_secret(words) is secret, words


def test_places_count_from_the_top_of_the_file() -> None:
    said: list[Diagnostic] = []
    text = b"\xef\xbb\xbf# first\n---\nkind: A\nmetadata: {name: a}\n---   # second\r\n\r\nkind: B\r\n"
    text += b"--- {kind: C, metadata: {name: c}}\n...\n"
    found = objects(text, "f", said)
    assert not said
    assert [(item.kind, item.node.span.line, item.node.span.column) for item in found] == [
        ("A", 3, 1),
        ("B", 7, 1),
        ("C", 8, 5),
    ]


def test_a_mistake_in_a_later_document_has_its_place() -> None:
    said: list[Diagnostic] = []
    objects(b"kind: A\n---\nkind: B\nkind: C\n", "f", said)
    assert [(d.id, d.span.line if d.span else 0) for d in said] == [("TAU113", 4)]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"---\n---\n",
        b"\x00",
        b"\xff\xfe",
        b"- 1\n",
        b"kind: [a]\n",
        b"kind: Job\napiVersion: batch/v1\n",
        b"kind: Job\napiVersion: batch/v1\nspec: []\nmetadata: x\n",
        b"kind: Job\napiVersion: batch/v1\nmetadata: {name: {a: b}}\nspec: {template: {spec: {containers: {a: b}}}}\n",
        b"kind: RayJob\napiVersion: ray.io/v1\nspec: {rayClusterSpec: [], runtimeEnvYAML: '[', entrypoint: {a: b}}\n",
        b"kind: RayJob\napiVersion: ray.io/v1\nmetadata: {name: a}\nspec: {runtimeEnvYAML: 'pip: {a: b}', entrypoint: x}\n",
        b"kind: List\napiVersion: v1\nitems: {}\n",
        b"kind: List\napiVersion: v1\nitems: [1, {kind: Job}]\n",
        b"kind: ClusterQueue\napiVersion: kueue.x-k8s.io/v1beta2\nspec: {resourceGroups: [[], {flavors: [x, {name: []}]}]}\n",
        b"kind: ResourceFlavor\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {name: a}\nspec: {nodeLabels: [a]}\n",
        b"kind: Topology\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {name: a}\nspec: {levels: [{nodeLabel: {}}]}\n",
        b"kind: TauCluster\napiVersion: tau.azure.com/v1alpha1\nspec: {workloadProfiles: [1, {name: ../../x}]}\n",
        b"kind: TauWorkspace\napiVersion: tau.azure.com/v1alpha1\nmetadata: {name: ../../../etc}\nspec: 7\n",
        b"kind: Job\napiVersion: batch/v1\nmetadata: {name: '" + b"a" * 100_000 + b"'}\n",
        b"&a [*a]",
        b"[" * 100_000,
    ],
)
def test_nonsense_gives_messages(data: bytes) -> None:
    for made in (import_job([("f", data)]), import_kueue([("f", data)], "c"), import_taugrid([("f", data)])):
        assert made.diagnostics
        assert all(d.span and d.hint for d in made.diagnostics)
        assert all(".." not in path for path, _ in made.files)


def test_the_number_of_documents_and_the_size_are_bounded() -> None:
    made = import_kueue([("f", b"kind: A\n---\n" * 3000)], "c")
    assert any("2,000 documents" in d.message for d in made.diagnostics)
    made = import_kueue([("f", b"a" * (9 << 20))], "c")
    assert [d.id for d in made.diagnostics] == ["TAU101"]


def test_hostile_pods_cost_little() -> None:
    head = b"apiVersion: batch/v1\nkind: Job\nmetadata: {name: q}\nspec: {template: {spec: {containers: [{image: a,"
    env = "".join(f"{{name: F{n}, value: $(F0)}}, " for n in range(1, 2000))
    [(_, text)] = import_job(
        [("f", head + f"env: [{{name: F0, value: {'y' * 9000}}}, {env}]}}]}}}}}}\n".encode())]
    ).files
    assert 100 < str(text).count("F") < 120
    mounts = "".join(f"{{name: v{n}, mountPath: /m{n}}}, " for n in range(500))
    volumes = "".join(f"{{name: v{n}, persistentVolumeClaim: {{claimName: c}}}}, " for n in range(500))
    made = import_job([("f", head + f"volumeMounts: [{mounts}]}}], volumes: [{volumes}]}}}}}}\n".encode())])
    assert str(made.files[0][1]).count("mountPath") == 32
    assert sum("32 claims at most" in d.message for d in made.diagnostics) == 468


WORDS = st.sampled_from(
    ["", "0", "1", "true", "x", "/data", "a/b", "$(A)", "12Gi", "nvidia.com/gpu", "-1", "é"]
)
VALUES = st.recursive(
    WORDS | st.integers(-2, 99) | st.none() | st.booleans(),
    lambda v: st.lists(v, max_size=2) | st.dictionaries(WORDS, v, max_size=2),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_value_in_any_place(data: st.DataObject) -> None:
    """A sample with some leaf or branch replaced by anything: never an exception, and never a broken document."""
    import yaml

    from tests.importing.test_leaves import READERS, at, documents, leaves

    name = data.draw(st.sampled_from(sorted(READERS)))
    found = documents(name)
    item = data.draw(st.sampled_from(found))
    path = data.draw(st.sampled_from(list(leaves(item))))
    path = path[: data.draw(st.integers(1, len(path)))]
    at(item, path[:-1])[path[-1]] = data.draw(VALUES)
    made = READERS[name](yaml.safe_dump_all(found).encode())
    assert made.diagnostics
    for file, text in made.files:
        if file.endswith(".yaml"):
            assert isinstance(yaml.safe_load(text), dict)


@pytest.mark.parametrize(
    ("product", "name"),
    [
        ("NVIDIA-H100-80GB-HBM3", "h100-80gb"),
        ("NVIDIA-A100-SXM4-80GB", "a100-80gb"),
        ("NVIDIA-A100-PCIE-40GB", "a100-40gb"),
        ("Tesla-T4", "t4"),
        ("nvidia-l4", "l4"),
        ("NVIDIA-GB200", "gb200"),
        ("NVIDIA-H100-80GB-HBM3-SHARED", "h100-80gb"),
        ("h200-141gb", "h200-141gb"),
        ("AMD_Instinct_MI300X_OAM", "mi300x"),
        ("NVIDIA", ""),
    ],
)
def test_names_of_gpu_classes(product: str, name: str) -> None:
    assert class_name(product) == name

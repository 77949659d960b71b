"""Objects of every shape of workload: what must always be there, and the same bytes for the same input."""

from __future__ import annotations

import base64
import io
import itertools
import tarfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_compile.emit.yaml import dump_all
from tau_compile.render.argv import encode
from tau_compile.render.payload import script
from tau_compile.schema.objects import problems
from tests.policy.documents import cluster, platform, profile, workspace
from tests.support.compiling import JOB, RAY, RAYJOB, accepted, compiled, pods, workload

DIGEST = "@sha256:" + "0123456789abcdef" * 4
MORE = {
    "plain": "",
    "gpu": "compute: {gpus: 2}\n",
    "claim": "storage: {data_pvc: c, publish: staged}\nartifacts: {checkpoint: a}\n",
    "restricted": "  security: {mode: restricted}\n",
    "asset": f"storage: {{image_assets: [{{name: a, image: x/y{DIGEST}, source_path: /a, mount_path: /b}}]}}\n",
    "pip": "  pip: [torch]\n",
}
OVERLAYS = {
    "packaged": [],
    "workspace": [
        workspace("w", serviceAccount="s", imagePullSecrets="[p]", envFromSecrets="[e]", podLabels="{a: b}")
    ],
    "http": [
        platform(ray=f"{{submissionMode: HTTPMode, image: {RAY}}}", defaults="{run: {max_duration: 1h}}")
    ],
    "multikueue": [
        cluster("c", versions="{kubernetes: '1.32', kueue: 0.19.2, kuberay: 1.6.2}"),
        profile("p", gpusPerWorker="1", executionTarget="multiKueue"),
    ],
}
SHAPES = [
    (kind, more, overlays)
    for kind, more, overlays in itertools.product(("job", "rayjob"), MORE, OVERLAYS)
    if not (more == "gpu" and overlays == "multikueue")
]


def result(kind: str, more: str, overlays: str) -> Any:
    return accepted((JOB if kind == "job" else RAYJOB) + MORE[more], OVERLAYS[overlays])


@pytest.mark.parametrize("kind, more, overlays", SHAPES)
def test_what_every_pod_says(kind: str, more: str, overlays: str) -> None:
    made = workload(result(kind, more, overlays))
    for name, pod in pods(made).items():
        spec = pod["spec"]
        assert spec["enableServiceLinks"] is False
        assert spec["automountServiceAccountToken"] is False
        assert spec["restartPolicy"] == "Never"
        assert spec["terminationGracePeriodSeconds"] == 600
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        if overlays == "workspace":
            assert spec["serviceAccountName"] == "s"
            assert spec["imagePullSecrets"] == [{"name": "p"}]
            assert pod["metadata"]["labels"]["a"] == "b"
        volumes = [volume["name"] for volume in spec.get("volumes", [])]
        assert len(set(volumes)) == len(volumes)
        for container in spec["containers"] + spec.get("initContainers", []):
            resources = container["resources"]
            for what in ("cpu", "memory"):
                assert resources["requests"][what]
                assert resources["limits"][what]
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert "privileged" not in container["securityContext"]
            assert {mount["name"] for mount in container.get("volumeMounts", [])} <= set(volumes)
            names = [variable["name"] for variable in container.get("env", [])]
            assert names == sorted(set(names))
        if name in ("main", "head", "worker") and overlays == "workspace":
            assert spec["containers"][0]["envFrom"] == [{"secretRef": {"name": "e"}}]


@pytest.mark.parametrize("kind, more, overlays", SHAPES)
def test_objects_fit_their_schemas_and_come_out_the_same_again(kind: str, more: str, overlays: str) -> None:
    first, second = result(kind, more, overlays), result(kind, more, overlays)
    assert [problems(made) for made in first.objects] == [[]] * len(first.objects)
    assert dump_all(first.objects) == dump_all(second.objects)
    kinds = [made["kind"] for made in first.objects]
    assert kinds == ["ConfigMap"] * (overlays != "multikueue") + ["Job" if kind == "job" else "RayJob"]


def test_a_code_config_map_is_immutable_and_belongs_to_one_run() -> None:
    first, second = accepted(JOB), accepted(JOB + "compute: {cpus: 3}\n")
    assert first.objects[0]["immutable"] is True
    assert first.objects[0]["metadata"]["name"] == f"{first.run_id}-code"
    assert first.run_id != second.run_id


def test_nothing_of_policy_changes_the_run_id() -> None:
    assert len({accepted(JOB, overlays).run_id for overlays in OVERLAYS.values()}) == 1


# --- MultiKueue: files inside of the pods


def test_files_inside_of_a_pod() -> None:
    big = bytes(range(256)) * 450
    text = JOB.replace("run: {entrypoint: train.py}", "run: {entrypoint: src/train.py, working_dir: src}")
    files = {"src/train.py": b"x = 1\n", "src/data.bin": big[: 130 * 1024]}
    found = accepted(text, OVERLAYS["multikueue"], files=files)
    spec = pods(workload(found))["main"]["spec"]
    (init,) = spec["initContainers"]
    values = {v["name"]: v["value"] for v in init["env"]}
    assert init["command"][:3] == ["/bin/sh", "-c", script("unpack.sh").replace("$", "$$")]
    assert init["command"][3:] == ["tau-unpack", "/tau", str(len(values))]
    assert len(values) > 1
    assert all(len(value) < 128 * 1024 for value in values.values())
    packed = base64.b64decode("".join(values[f"TAU_CODE_{n}"] for n in range(len(values))))
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        members = {m.name: m for m in tar.getmembers()}
        assert all(m.isfile() and m.mtime == 0 and m.uid == 0 for m in members.values())
        assert {name for name in members if name.startswith("code/")} == {"code/train.py", "code/data.bin"}
        content = tar.extractfile("code/data.bin")
        assert content is not None
        assert content.read() == big[: 130 * 1024]
    assert spec["containers"][0]["volumeMounts"] == [{"name": "tau-files", "mountPath": "/tau"}]


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20), max_size=5
    )
)
def test_a_command_travels_a_line_an_argument(arguments: list[str]) -> None:
    lines = encode(arguments).split("\n")
    assert lines.pop() == ""
    assert [
        line.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\") for line in lines
    ] == arguments


def test_overlays_that_are_broken_stop_everything_and_are_told_once() -> None:
    found = compiled(JOB, ["kind: Workspace\n", "a: [\n"])
    assert not found.objects
    assert {d.span.file for d in found.diagnostics if d.span} == {"overlays/0.yaml", "overlays/1.yaml"}
    assert len(found.diagnostics) == len(set(found.diagnostics))
    gone = compiled(JOB.replace("train.py", "gone.py"), ["kind: Workspace\n"])
    assert "TAU701" in [d.id for d in gone.diagnostics], "what does not depend on policy is told all the same"

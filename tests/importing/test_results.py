"""What an import writes is accepted: overlays validate, and an imported Job renders on the imported cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.cli import run
from tests.support.tools import ROOT, kubeconform

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = ROOT / "tests" / "importing" / "samples"


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the overlays of the cluster that the samples come from."""
    folder = tmp_path / "r"
    folder.mkdir()
    (folder / "tau-compile.yaml").write_text("{}\n")
    done = run(["import", "kueue", str(SAMPLES / "kueue.yaml"), "--name", "east", "--output", "."], folder)
    assert done.exit == 0, done.stderr
    workspace = {
        "apiVersion": "tau-compile/v1",
        "kind": "Workspace",
        "metadata": {"name": "vision"},
        "queue": "jobqueue",
    }
    (folder / "overlays" / "workspaces").mkdir()
    (folder / "overlays" / "workspaces" / "vision.yaml").write_text(yaml.safe_dump(workspace))
    return folder


@pytest.mark.parametrize(
    ("verb", "name"),
    [("kueue", "kueue"), ("kueue", "kueue-v1beta2"), ("taugrid", "taugrid"), ("taugrid", "taugrid-managed")],
)
def test_overlays_validate(verb: str, name: str, tmp_path: Path) -> None:
    done = run(["import", verb, str(SAMPLES / f"{name}.yaml"), "--output", str(tmp_path)], tmp_path)
    assert done.exit == 0, done.stderr
    checked = run(["validate", "."], tmp_path)
    assert checked.exit == 0, checked.stderr
    assert "error" not in checked.stderr


def test_taugrid_gives_what_its_objects_say(tmp_path: Path) -> None:
    run(["import", "taugrid", str(SAMPLES / "taugrid.yaml"), "-o", "."], tmp_path)
    top = tmp_path / "overlays"
    assert sorted(str(path.relative_to(top)) for path in top.rglob("*.yaml")) == [
        "clusters/cluster.yaml",
        "profiles/research.eval.yaml",
        "profiles/research.training.l.yaml",
        "workspaces/language.yaml",
        "workspaces/vision.yaml",
    ]
    assert load(top / "workspaces" / "language.yaml")["queue"] == "nightly"
    vision = load(top / "workspaces" / "vision.yaml")
    assert (vision["queue"], vision["serviceAccount"], vision["cluster"]) == (
        "jobqueue",
        "training",
        "cluster",
    )
    profile = load(top / "profiles" / "research.training.l.yaml")
    assert profile["applicability"] == {
        "teams": ["research"],
        "lanes": ["training"],
        "namespaces": ["vision"],
    }


def test_taugrid_workspaces_are_rendered_where_their_queue_is_known(tmp_path: Path) -> None:
    done = run(["import", "taugrid", str(SAMPLES / "taugrid-managed.yaml"), "-o", "."], tmp_path)
    spaces = {path.stem: load(path) for path in (tmp_path / "overlays" / "workspaces").iterdir()}
    assert spaces["vision"]["manage"] == {
        "researchers": ["vision-group"],
        "serviceAccounts": [
            {
                "name": "training",
                "annotations": {"azure.workload.identity/client-id": "00000000-0000-0000-0000-000000000000"},
            }
        ],
        "network": {"isolate": False},
    }
    assert spaces["visitors"]["manage"] == {"network": {"isolate": False}}
    assert "only groups may look into a workspace" in done.stderr
    assert "manage" not in spaces["everybody"]
    assert "gets no `manage`: `system:authenticated` is not a team" in done.stderr
    (tmp_path / "tau-compile.yaml").write_text("{}\n")
    assert run(["build"], tmp_path).exit == 0
    made = tmp_path / "rendered" / "cluster" / "workspaces"
    assert sorted(path.name for path in made.iterdir()) == ["vision", "visitors"]
    namespace = load(made / "vision" / "namespace-vision.yaml")
    assert namespace["metadata"]["labels"]["example.com/kueue"] == "managed"


def test_a_credential_does_not_come_along_in_a_managed_workspace(tmp_path: Path) -> None:
    token = "hf_" + ("aBcdEfgHij" * 4)[:34]
    text = (SAMPLES / "taugrid-managed.yaml").read_text()
    (tmp_path / "in.yaml").write_text(text.replace("00000000-0000-0000-0000-000000000000", token))
    done = run(["import", "taugrid", "in.yaml", "-o", "out"], tmp_path)
    assert (
        "TauWorkspace `vision` gets no `manage`: it holds what looks like a Hugging Face token" in done.stderr
    )
    assert token not in done.stderr
    assert all(token not in path.read_text() for path in (tmp_path / "out").rglob("*.yaml"))


def test_labels_that_a_queue_looks_for(tmp_path: Path) -> None:
    done = run(
        ["import", "kueue", str(SAMPLES / "kueue-v1beta2.yaml"), "--name", "east", "-o", "."], tmp_path
    )
    (queue,) = load(tmp_path / "overlays" / "clusters" / "east.yaml")["queues"]
    assert queue["namespaceLabels"] == {"example.com/department": "research"}
    assert (
        "`spec.namespaceSelector.matchExpressions` of ClusterQueue `gpus` is not carried over" in done.stderr
    )
    assert "has no other conditions" in done.stderr
    closed = (SAMPLES / "kueue-v1beta2.yaml").read_text().replace("namespaceSelector", "elsewhere")
    (tmp_path / "closed.yaml").write_text(closed)
    done = run(["import", "kueue", "closed.yaml"], tmp_path)
    assert "has no `namespaceSelector`: it admits from no namespace" in done.stderr


def test_taugrid_overlays_mean_what_the_objects_mean(tmp_path: Path) -> None:
    """The objects in the place of overlays, and the overlays made of them, render the same."""
    workload = {
        "schema_version": 1,
        "name": "train",
        "run": {"entrypoint": "train.py"},
        "runtime": {"image": "python:3.12-slim"},
        "compute": {"gpus": 1},
        "policy": {
            "workspace": "vision",
            "profile": "research.training.l",
            "team": "research",
            "lane": "training",
        },
    }
    rendered = []
    for kind in ("objects", "overlays"):
        folder = tmp_path / kind
        (folder / "overlays").mkdir(parents=True)
        (folder / "tau-compile.yaml").write_text("{}\n")
        (folder / "tau.yaml").write_text(yaml.safe_dump(workload))
        (folder / "train.py").write_text("print()\n")
        if kind == "objects":
            sample = (SAMPLES / "taugrid.yaml").read_text().replace("    colour: green\n", "")
            for n, text in enumerate(sample.split("---\n")):
                (folder / "overlays" / f"{n}.yaml").write_text(text)
        else:
            run(["import", "taugrid", str(SAMPLES / "taugrid.yaml"), "-o", "."], folder)
        done = run(["render", "tau.yaml"], folder)
        assert done.exit == 0, done.stderr
        rendered.append(done.stdout)
    assert rendered[0] == rendered[1]


def test_the_catalogue_of_a_cluster(repository: Path) -> None:
    cluster = load(repository / "overlays" / "clusters" / "east.yaml")
    assert [known["name"] for known in cluster["gpuClasses"]] == ["h100-80gb", "slices"]
    assert cluster["gpuClasses"][0]["gpusPerNode"] == 8
    assert cluster["gpuClasses"][1]["migProfiles"] == ["1g.10gb"]
    assert cluster["gpuTaints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    assert cluster["queues"] == [
        {
            "name": "research",
            "flavors": ["cpu", "h100", "slices"],
            "localQueues": [{"namespace": "vision", "name": "jobqueue"}],
        }
    ]


@pytest.mark.parametrize("name", ["job", "rayjob", "torchrun", "image-program"])
def test_an_imported_job_renders_on_the_imported_cluster(name: str, repository: Path) -> None:
    done = run(["import", "job", str(SAMPLES / f"{name}.yaml"), "-o", f"workloads/vision/{name}"], repository)
    assert done.exit == 0, done.stderr
    path = repository / "workloads" / "vision" / name / "tau.yaml"
    made = load(path)
    if name == "rayjob":  # the sample's node label is one that no flavor of the sample's cluster has
        assert made["policy"].pop("node_selector") == {"pool": "gpu"}
        path.write_text(yaml.safe_dump(made))
    rendered = run(["render", str(path.relative_to(repository))], repository)
    assert rendered.exit == 0, rendered.stderr
    assert all(result.valid for result in kubeconform(rendered.stdout))
    objects = {item["kind"]: item for item in yaml.safe_load_all(rendered.stdout)}
    if name == "job":
        pod = objects["Job"]["spec"]["template"]["spec"]
        main = pod["containers"][0]
        env = {item["name"]: item.get("value") or item.get("valueFrom") for item in main["env"]}
        assert made["policy"]["gpu_class"] == "h100-80gb"
        assert objects["Job"]["spec"]["activeDeadlineSeconds"] == 86400
        assert env["LOGS"] == "/data/out/logs"
        assert env["WANDB"] == {"secretKeyRef": {"name": "wandb", "key": "key"}}
        assert main["resources"]["limits"]["nvidia.com/gpu"] == "2"
        assert main["resources"]["limits"]["cpu"] == "16"
        assert {"key": "dedicated", "operator": "Equal", "value": "training", "effect": "NoSchedule"} in pod[
            "tolerations"
        ]
        assert 'exec python /opt/train.py --out "${OUT}"/model' in objects["ConfigMap"]["data"]["start.sh"]
    if name == "torchrun":
        assert objects["Job"]["spec"]["completions"] == 4
        assert "sys.argv" in objects["ConfigMap"]["data"]["start.py"]


def test_a_script_does_what_the_command_did(tmp_path: Path) -> None:
    """The words of a command, with what Kubernetes expands in them, reach the program as they did."""
    import subprocess

    from tau_compile.importing.words import script

    words = [
        "printf",
        "[%s]",
        "a b",
        "$(NAME)x",
        "$$(NAME)",
        "$(OTHER)",
        "it's",
        '"',
        "",
        "\\n",
        "$HOME",
        "*",
        "é\n2",
    ]
    made = tmp_path / "start.sh"
    made.write_text(script(words, {"NAME"}))
    done = subprocess.run(
        ["sh", str(made)], env={"NAME": "v $1 `x`"}, capture_output=True, check=True, cwd=tmp_path
    )
    expected = ["a b", "v $1 `x`x", "$(NAME)", "$(OTHER)", "it's", '"', "", "\\n", "$HOME", "*", "é\n2"]
    assert done.stdout.decode() == "".join(f"[{word}]" for word in expected)


def test_a_torchrun_program_gets_its_arguments(tmp_path: Path) -> None:
    import subprocess
    import sys

    from tau_compile.importing.words import torchrun

    (tmp_path / "job.py").write_text("import sys, helper\nprint(__name__, sys.argv[1:], helper.x)\n")
    (tmp_path / "helper.py").write_text("x = 7\n")
    (tmp_path / "code").mkdir()
    for words in (
        ["torchrun", "--nnodes=2", f"{tmp_path}/job.py", "--lr", "é $x"],
        ["python3", "-m", "torch.distributed.run", "-m", "job", "--lr", "é $x"],
    ):
        group = torchrun(words, 2)
        assert group
        start = tmp_path / "code" / "start.py"
        start.write_text(group.script())
        done = subprocess.run(
            [sys.executable, str(start)], capture_output=True, text=True, cwd=tmp_path, check=True
        )
        assert done.stdout == "__main__ ['--lr', 'é $x'] 7\n"

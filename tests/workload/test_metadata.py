"""Labels to select by, annotations with the exact words."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.policy.documents import cluster, profile, workspace
from tests.support.compiling import JOB, RAYJOB, accepted, env, pods, workload

VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=80).filter(
    lambda text: not set(text) & set("\x85\u2028\u2029\ufeff\ufffe\uffff")
)


def test_labels_of_a_run() -> None:
    text = JOB + (
        "experiment: {project: My Project, name: ViT/B, group: LR sweep}\nmodel: {name: Meta Llama}\n"
        "compute: {gpus: 1}\npolicy: {gpu_class: any}\n"
    )
    made = workload(accepted(text))
    assert made["metadata"]["labels"] == {
        "app.kubernetes.io/managed-by": "tau-compile",
        "kueue.x-k8s.io/queue-name": "jobqueue",
        "tau-compile/experiment": "vit-b",
        "tau-compile/gpu-class": "any",
        "tau-compile/group": "lr-sweep",
        "tau-compile/model": "meta-llama",
        "tau-compile/name": "train",
        "tau-compile/project": "my-project",
        "tau-compile/run-id": made["metadata"]["name"],
        "tau-compile/workload-kind": "job",
        "tau-compile/workspace": "taugrid-default",
    }
    assert env(made)["TAU_EXPERIMENT"] == "ViT/B"
    assert env(made)["TAU_GROUP"] == "LR sweep"


def test_every_object_and_pod_of_a_run_can_be_found() -> None:
    for text in (JOB + "compute: {gpus: 1}\nexecution: {launcher: torchrun, nodes: 2}\n", RAYJOB):
        result = accepted(text)
        for made in result.objects:
            assert made["metadata"]["labels"]["tau-compile/run-id"] == result.run_id
            assert made["metadata"]["namespace"] == "taugrid-default"
        for pod in pods(workload(result)).values():
            assert pod["metadata"]["labels"]["tau-compile/run-id"] == result.run_id


def test_the_words_of_model_and_research_are_annotations() -> None:
    text = JOB + (
        "research: {experiment: older word}\n"
        "model: {name: M, base: B/c, task: t, tags: [a, 'b \"c\"'], primary_metric: loss, metric_direction: lower}\n"
    )
    found = workload(accepted(text))["metadata"]["annotations"]
    assert found["tau-compile/experiment"] == "older word"
    assert found["tau-compile/model-base"] == "B/c"
    assert found["tau-compile/model-primary-metric"] == "loss"
    assert found["tau-compile/model-metric-direction"] == "lower"
    assert json.loads(found["tau-compile/model-tags"]) == ["a", 'b "c"']


def test_the_name_of_an_experiment_wins_over_its_older_places() -> None:
    for text, expected in (
        ("experiment: {name: a, title: b}\nresearch: {experiment: c}\n", "a"),
        ("experiment: {title: b}\nresearch: {experiment: c}\n", "b"),
        ("research: {experiment: c}\n", "c"),
    ):
        found = workload(accepted(JOB + text))["metadata"]["annotations"]
        assert found["tau-compile/experiment"] == expected


def test_a_profile_and_a_prefix_show() -> None:
    text = JOB + "resource_naming: {prefix: vit}\n"
    made = workload(accepted(text, [profile("pro")]))
    assert made["metadata"]["labels"]["tau-compile/profile"] == "pro"
    assert env(made)["TAU_PROFILE"] == "pro"
    assert made["metadata"]["name"].startswith("vit-train-")
    assert made["metadata"]["labels"]["tau-compile/name"] == "vit-train"


@pytest.mark.parametrize("name", ["a" * 63, "a.b", "a" * 100 + ".b"])
def test_long_names_of_workspaces_stay_label_values(name: str) -> None:
    overlays = [workspace(name, namespace="n", cluster="c"), cluster("c")]
    found = workload(accepted(JOB, overlays))["metadata"]["labels"]["tau-compile/workspace"]
    assert len(found) <= 63
    assert VALUE.fullmatch(found)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@settings(max_examples=60)
@given(TEXT, TEXT)
def test_any_words_make_labels_that_kubernetes_takes_and_annotations_that_keep_them(
    project: str, model: str
) -> None:
    text = JOB + f"experiment: {{project: {quoted(project)}}}\nmodel: {{name: {quoted(model)}}}\n"
    metadata = workload(accepted(text))["metadata"]
    for value in metadata["labels"].values():
        assert len(value) <= 63
        assert VALUE.fullmatch(value)
    assert metadata["annotations"]["tau-compile/project"] == project
    assert metadata["annotations"]["tau-compile/model-name"] == model

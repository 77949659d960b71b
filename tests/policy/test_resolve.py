"""What the platform decides for a workload: profile, queue, priorities; what may be repeated and what may not."""

from __future__ import annotations

import pytest

from tests.policy.documents import cluster, profile, workspace
from tests.support.compiling import (
    DIRECT,
    IMAGE,
    JOB,
    RAY,
    RAYJOB,
    accepted,
    compiled,
    container,
    ids,
    pods,
    said,
    workload,
)

TORCHRUN = JOB + "execution: {launcher: torchrun}\n"
CLASSES = "[{name: normal, tier: default}, {name: urgent, tier: priority}, {name: batch}]"
QUEUES = "[{name: q, localQueues: [{namespace: v, name: jobqueue}, {namespace: v, name: fast}, {namespace: w, name: other}]}]"


def pair(**fields: str) -> str:
    return profile("pair", **{"gpusPerWorker": "2", "workerCount": "2", **fields})


def test_a_profile_fills_in_what_a_job_leaves_out() -> None:
    made = workload(accepted(TORCHRUN, [pair()]))
    assert made["spec"]["parallelism"] == 2
    assert container(made)["resources"]["limits"]["nvidia.com/gpu"] == "2"


def test_a_profile_fills_in_what_a_rayjob_leaves_out() -> None:
    made = workload(accepted(RAYJOB, [pair()]))
    assert made["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"] == 2
    assert container(made, "worker")["resources"]["limits"]["nvidia.com/gpu"] == "2"


def test_a_profile_fills_in_what_the_direct_form_leaves_out() -> None:
    for kind, image in (("job", IMAGE), ("rayjob", RAY)):
        text = (
            DIRECT
            + f"engine: {kind}\nimage: {image}\n"
            + "execution: {launcher: torchrun}\n" * (kind == "job")
        )
        made = workload(accepted(text, [pair()]))
        assert (
            container(made, "worker" if kind == "rayjob" else "main")["resources"]["limits"]["nvidia.com/gpu"]
            == "2"
        )


def test_without_a_profile_the_direct_form_implies_one_gpu_for_each_ray_worker() -> None:
    made = workload(accepted(DIRECT + f"engine: rayjob\nimage: {RAY}\n"))
    assert container(made, "worker")["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert ids(DIRECT + f"engine: job\nimage: {IMAGE}\n") == ["TAU244"]


REPEATED = "compute: {gpus: 2}\nexecution: {launcher: torchrun, nodes: 2}\npolicy: {mode: fixed, topology: unconstrained}\n"


def test_what_a_profile_fixes_may_be_repeated() -> None:
    assert not compiled(JOB + REPEATED, [pair()]).diagnostics
    older = JOB + REPEATED.replace("unconstrained", "independent")
    assert ids(older, [pair()]) == ["TAU212"]
    assert not compiled(RAYJOB + "compute: {gpus: 2, workers: 2}\n", [pair()]).diagnostics


@pytest.mark.parametrize(
    "lines, path",
    [
        ("compute: {gpus: 1}\n", "compute.gpus"),
        ("execution: {launcher: torchrun, nodes: 3}\n", "execution.nodes"),
        ("policy: {mode: elastic}\n", "policy.mode"),
        ("policy: {topology: same-site}\n", "policy.topology"),
        ("policy: {workload_priority_class: other}\n", "policy.workload_priority_class"),
        ("policy: {pod_priority_class: other}\n", "policy.pod_priority_class"),
    ],
)
def test_what_a_profile_fixes_may_not_be_contradicted(lines: str, path: str) -> None:
    fixed = pair(priorities="{workloadPriorityClassName: normal, podPriorityClassName: normal}")
    text = JOB + lines + "execution: {launcher: torchrun}\n" * ("execution" not in lines)
    found = list(compiled(text, [fixed, cluster("c", priorityClasses=CLASSES), workspace("w")]).diagnostics)
    conflicts = [d for d in found if d.id == "TAU318"]
    assert len(conflicts) == 1
    assert conflicts[0].message.startswith(f"`{path}: ")
    assert conflicts[0].span is not None
    assert conflicts[0].span.line == 6
    assert conflicts[0].related[0].span.file == "overlays/0.yaml"


@pytest.mark.parametrize(
    "spelling, path", [("gpus_per_worker: 1", "compute.gpus_per_worker"), ("workers: 3", "compute.workers")]
)
def test_a_contradiction_is_told_in_the_words_of_the_direct_form(spelling: str, path: str) -> None:
    text = DIRECT + f"engine: rayjob\nimage: {RAY}\ncompute: {{{spelling}}}\n"
    (found,) = said(compiled(text, [pair()]))
    assert found.id == "TAU318"
    assert f"`{path}: " in found.text


@pytest.mark.parametrize(
    "field", ["shape: 2xany", "gpu_class: any", "node_selector: {a: b}", "clear_node_selector: true"]
)
def test_what_cannot_stand_beside_a_profile(field: str) -> None:
    assert ids(TORCHRUN + f"policy: {{{field}}}\n", [pair()]) == ["TAU319"]


def test_a_profile_has_defaults_that_may_be_overridden() -> None:
    overlays = [pair(defaults="{compute: {memory: 20Gi, cpus: 3}, runtime: {env: {A: profile, B: profile}}}")]
    made = workload(
        accepted(TORCHRUN.replace(IMAGE, f"{IMAGE}\n  env: {{A: mine}}") + "compute: {cpus: 5}\n", overlays)
    )
    requests = container(made)["resources"]["requests"]
    assert (requests["memory"], requests["cpu"]) == ("20Gi", "5")
    assert {"name": "A", "value": "mine"} in container(made)["env"]
    assert {"name": "B", "value": "profile"} in container(made)["env"]


def test_the_layers_in_their_order() -> None:
    layer = "{{runtime: {{env: {{ {} }}}}}}"
    names = ["PLATFORM", "CLUSTER", "WORKSPACE", "PROFILE"]
    values = [
        layer.format(", ".join(f"{n}: {who}" for n in names[place:])) for place, who in enumerate(names)
    ]
    from tests.policy.documents import platform

    overlays = [
        platform(defaults=values[0]),
        cluster("c", defaults=values[1]),
        workspace("w", defaults=values[2]),
        profile("p", defaults=values[3], gpusPerWorker="0"),
    ]
    text = JOB.replace(IMAGE, f"{IMAGE}\n  env: {{MINE: mine}}")
    made = workload(accepted(text, overlays))
    found = {v["name"]: v.get("value") for v in container(made)["env"]}
    # Each layer sets its own name and those of the layers above it: the highest wins.
    assert found["PROFILE"] == "PROFILE"
    assert {found[name] for name in names[:1]} == {"PLATFORM"}
    assert (found["CLUSTER"], found["WORKSPACE"], found["MINE"]) == ("CLUSTER", "WORKSPACE", "mine")


# --- queues


@pytest.mark.parametrize("asked", ["", "policy: {queue: auto}\n", "policy: {queue: jobqueue}\n"])
def test_the_queue_is_the_workspaces(asked: str) -> None:
    assert workload(accepted(JOB + asked))["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "jobqueue"


def test_a_profile_may_have_a_queue_of_its_own() -> None:
    fast = profile("fast", defaultLocalQueue="fast")
    for asked in ("", "policy: {queue: fast}\n"):
        made = workload(accepted(JOB + asked, [fast]))
        assert made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "fast"
    (found,) = said(compiled(JOB + "policy: {queue: jobqueue}\n", [fast]))
    assert found.id == "TAU316"
    assert "profile `fast`" in found.text


def test_the_queue_label_stands_on_the_workload_only() -> None:
    for text in (JOB, RAYJOB):
        made = workload(accepted(text))
        for pod in pods(made).values():
            assert not any("kueue" in key for key in pod["metadata"]["labels"])


def test_a_queue_that_the_cluster_does_not_have() -> None:
    known = cluster("c", queues=QUEUES)
    assert not compiled(JOB, [known, workspace("v")]).diagnostics
    (found,) = said(compiled(JOB, [known, workspace("v", queue="fats")]))
    assert found.id == "TAU501"
    assert "did you mean `fast`?" in found.hint
    assert ids(JOB, [known, workspace("w")]) == ["TAU501"], "of another namespace"
    assert ids(JOB, [known, workspace("v"), profile("p", defaultLocalQueue="none")]) == ["TAU501"]
    assert not compiled(JOB, [cluster("c"), workspace("v", queue="anything")]).diagnostics, "nothing is known"


# --- priorities

KNOWN = [cluster("c", priorityClasses=CLASSES), workspace("w")]


def classes(text: str, overlays: list[str]) -> tuple[str | None, str | None]:
    made = workload(accepted(text, overlays))
    label = made["metadata"]["labels"].get("kueue.x-k8s.io/priority-class")
    return label, pods(made)["main"]["spec"].get("priorityClassName")


@pytest.mark.parametrize(
    "policy, expected",
    [
        ("{}", ("normal", "normal")),
        ("{priority_tier: default}", ("normal", "normal")),
        ("{priority_tier: priority}", ("urgent", "urgent")),
        ("{disable_default_priorities: true}", (None, None)),
        ("{disable_default_priorities: true, priority_tier: default}", (None, None)),
        ("{disable_default_priorities: false}", ("normal", "normal")),
        ("{workload_priority_class: batch}", ("batch", None)),
        ("{pod_priority_class: batch}", (None, "batch")),
        ("{workload_priority_class: batch, pod_priority_class: normal}", ("batch", "normal")),
    ],
)
def test_priority_classes(policy: str, expected: tuple[str | None, str | None]) -> None:
    assert classes(JOB + f"policy: {policy}\n", KNOWN) == expected


def test_without_classes_there_are_none() -> None:
    assert classes(JOB, []) == (None, None)
    assert classes(JOB + "policy: {priority_tier: default}\n", []) == (None, None)


@pytest.mark.parametrize(
    "policy, refused",
    [
        ("{priority_tier: priority}", "TAU502"),
        ("{workload_priority_class: batch}", "TAU503"),
        ("{pod_priority_class: batch}", "TAU503"),
        ("{disable_default_priorities: true, priority_tier: priority}", "TAU317"),
        ("{disable_default_priorities: true, pod_priority_class: batch}", "TAU317"),
    ],
)
def test_priority_classes_that_cannot_be(policy: str, refused: str) -> None:
    assert refused in ids(JOB + f"policy: {policy}\n")


FIXED = profile("p", priorities="{workloadPriorityClassName: batch, podPriorityClassName: batch}")


@pytest.mark.parametrize(
    "policy, expected",
    [
        ("{}", ("batch", "batch")),
        ("{priority_tier: priority}", ("urgent", "urgent")),
        ("{priority_tier: default}", ("batch", "batch")),
    ],
)
def test_a_tier_replaces_only_the_classes_of_a_profile(policy: str, expected: tuple[str, str]) -> None:
    assert classes(JOB + f"policy: {policy}\n", [*KNOWN, FIXED]) == expected


def test_a_profile_may_switch_priorities_off() -> None:
    off = profile("p", disableDefaultPriorities="true")
    assert classes(JOB, [*KNOWN, off]) == (None, None)
    assert classes(JOB + "policy: {disable_default_priorities: true}\n", [*KNOWN, off]) == (None, None)
    assert "TAU318" in ids(JOB + "policy: {disable_default_priorities: false}\n", [*KNOWN, off])


def test_a_profile_with_classes_allows_no_switching_off() -> None:
    assert ids(JOB + "policy: {disable_default_priorities: true}\n", [*KNOWN, FIXED]) != []


# --- TauGrid's own objects


def test_a_tau_workspace() -> None:
    text = (
        "apiVersion: tau.azure.com/v1alpha1\nkind: TauWorkspace\nmetadata: {name: nlp}\nspec:\n"
        "  target: {namespace: nlp-ns}\n  queue: fast\n  workloadIdentity: {serviceAccountName: me}\n"
        "  defaults: {outputRoot: /data/nlp, priority: normal}\n"
    )
    made = workload(accepted(JOB + "storage: {data_pvc: team}\n", [text]))
    assert made["metadata"]["namespace"] == "nlp-ns"
    assert made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "fast"
    pod = pods(made)["main"]
    assert pod["spec"]["serviceAccountName"] == "me"
    assert pod["metadata"]["labels"]["azure.workload.identity/use"] == "true"
    assert {"name": "TAU_OUTPUT_DIR", "value": "/data/nlp/train"} in container(made)["env"]


def test_a_tau_cluster_gives_profiles_and_their_classes() -> None:
    text = (
        "apiVersion: tau.azure.com/v1alpha1\nkind: TauCluster\nmetadata: {name: cluster}\nspec:\n  workloadProfiles:\n"
        "  - {name: one, gpusPerWorker: 1, workerCount: 1, placement: independent, mode: fixed, defaultLocalQueue: jobqueue,"
        " priorities: {workloadPriorityClassName: a, podPriorityClassName: b}}\n"
    )
    made = workload(accepted(JOB, [text]))
    assert made["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "a"
    assert pods(made)["main"]["spec"]["priorityClassName"] == "b"
    assert [t["key"] for t in pods(made)["main"]["spec"]["tolerations"]] == ["nvidia.com/gpu", "sku"]
    assert ids(JOB + "compute: {gpus: 2}\n", [text]) == ["TAU318"]


def test_a_class_of_the_workload_and_a_tier() -> None:
    known = cluster(
        "c", priorityClasses="[{name: urgent, tier: priority}, {name: low, tier: default}, {name: batch}]"
    )
    text = JOB + "policy:\n  workload_priority_class: batch\n"
    for tier in ("priority", "default"):
        assert ids(text + f"  priority_tier: {tier}\n", [known, workspace("w")]) == ["TAU325"]
        space = workspace("w", defaults=f"{{policy: {{priority_tier: {tier}}}}}")
        resolved = accepted(text, [known, space]).resolved
        assert resolved
        assert resolved.workload_priority == "batch"

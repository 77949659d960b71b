"""What is enforced holds, whatever other layers and the workload say; what does not apply to a workload is left alone."""

from __future__ import annotations

import pytest

from tau_compile.diagnostics import has_errors
from tests.policy.documents import cluster, overlay, platform, profile, workspace
from tests.support.compiling import (
    DIRECT,
    IMAGE,
    JOB,
    RAY,
    RAYJOB,
    accepted,
    compiled,
    container,
    env,
    ids,
    pods,
    repository,
    said,
    workload,
)  # fmt: skip

GPU = JOB + "compute: {gpus: 1}\n"


def requests(text: str, overlays: list[str], pod: str = "main") -> dict[str, str]:
    found: dict[str, str] = container(workload(accepted(text, overlays)), pod)["resources"]["requests"]
    return found


def test_every_layer_enforces() -> None:
    layers = [
        platform(enforce="{compute: {memory: 96Gi}}"),
        cluster("gpu", enforce="{compute: {cpus: 12}}"),
        workspace("vision", enforce="{runtime: {env: {A: a}}}"),
        profile("one", enforce="{runtime: {env: {B: b}}}"),
    ]
    made = workload(accepted(JOB + "execution: {launcher: torchrun}\n", layers))
    wanted = container(made)["resources"]["requests"]
    assert (wanted["memory"], wanted["cpu"]) == ("96Gi", "12")
    assert (env(made)["A"], env(made)["B"]) == ("a", "b")


def test_it_wins_over_defaults_of_every_layer() -> None:
    layers = [
        platform(enforce="{compute: {memory: 96Gi}}", defaults="{compute: {memory: 1Gi}}"),
        cluster("gpu", defaults="{compute: {memory: 2Gi}}"),
        workspace("vision", defaults="{compute: {memory: 3Gi}}"),
    ]
    assert requests(GPU, layers)["memory"] == "96Gi"


def test_the_origin_of_an_enforced_value_is_its_overlay() -> None:
    result = accepted(GPU, {"overlays/p.yaml": platform(enforce="{compute: {memory: 96Gi}}")})
    assert result.resolved is not None
    compute = result.resolved.merged.node.get("compute")
    assert compute is not None
    places = {entry.key.name: entry.value.span.file for entry in compute.entries}  # type: ignore[union-attr]
    assert places == {"gpus": "tau.yaml", "memory": "overlays/p.yaml"}
    assert result.resolved.merged.node.span.file == "tau.yaml"


def test_a_run_keeps_its_id() -> None:
    layer = platform(enforce="{compute: {memory: 96Gi}}", limits="[{name: a, field: total.gpus, max: 9}]")
    assert accepted(GPU, [layer]).run_id == accepted(GPU).run_id


def test_variables_and_mounts_of_others_stay() -> None:
    layer = platform(
        enforce="{runtime: {env: {A: a}}, storage: {mounts: [{name: x, mountPath: /x, pvc: x}]}}"
    )
    text = JOB + "  env: {B: b}\ncompute: {gpus: 1}\nstorage: {mounts: [{name: y, mountPath: /y, pvc: y}]}\n"
    made = workload(accepted(text, [layer]))
    assert {name: env(made)[name] for name in "AB"} == {"A": "a", "B": "b"}
    assert {m["mountPath"] for m in container(made)["volumeMounts"]} >= {"/x", "/y"}


def test_a_variable_may_be_repeated_in_any_form() -> None:
    layer = platform(enforce='{runtime: {env: {N: "1"}}}')
    for line in ("  env: {N: 1}\n", '  env: {N: "1"}\n', "  env: [{name: N, value: 1}]\n"):
        assert ids(JOB + line + "compute: {gpus: 1}\n", [layer]) == []
    assert ids(JOB + "  env: {N: 01}\ncompute: {gpus: 1}\n", [layer]) == ["TAU330"]
    assert ids(JOB + "  env_secret: {N: s:k}\ncompute: {gpus: 1}\n", [layer]) == ["TAU330"]


@pytest.mark.parametrize(
    "enforced, line, wrong",
    [
        ("{policy: {topology: unconstrained}}", "policy: {topology: independent}", False),
        ("{runtime: {service_account_token: true}}", "runtime: {image: i, service_account_token: True}", False),
        ("{compute: {gpu_resource_mode: device-plugin}}", "compute: {gpu_resource_mode: nvidia}", False),
        ("{storage: {mounts: [{name: x, mountPath: /x, pvc: x}]}}",
         "storage: {mounts: [{pvc: x, name: x, mountPath: /x, readOnly: false}]}", False),
        ("{storage: {mounts: [{name: x, mountPath: /x, pvc: x}]}}",
         "storage: {mounts: [{pvc: x, name: x, mountPath: /x, readOnly: true}]}", True),
        ("{policy: {disable_default_priorities: true}}", "policy: {disable_default_priorities: false}", True),
        ("{policy: {workload_priority_class: a}}", "policy: {priority_tier: priority}", True),
        ("{policy: {node_selector: {a/b.c: d}}}", "policy: {node_selector: {a/b.c: e}}", True),
        ("{policy: {node_selector: {a/b.c: d}}}", "policy: {node_selector: {a/b: d}}", False),
        ("{policy: {node_selector: {a/b.c: d}}}", "policy: {clear_node_selector: false}", False),
    ],
)  # fmt: skip
def test_what_repeats_and_what_contradicts(enforced: str, line: str, wrong: bool) -> None:
    base = "schema_version: 1\nname: train\nrun: {entrypoint: train.py}\n"
    found = ids(base + line + "\n", [platform(enforce=enforced)])
    assert ("TAU330" in found) == wrong


def test_what_is_for_the_other_kind_is_left_out() -> None:
    layer = platform(
        enforce="{compute: {head_memory: 16Gi, workers: 2}, execution: {launcher: torchrun, nodes: 2}}"
    )
    made = workload(accepted(GPU, [layer]))
    assert made["spec"]["parallelism"] == 2
    ray = workload(accepted(RAYJOB + "compute: {gpus: 1}\n", [layer]))
    assert container(ray, "head")["resources"]["requests"]["memory"] == "16Gi"
    assert ray["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"] == 2


def test_launchers_of_the_two_kinds_do_not_contradict_each_other() -> None:
    layers = [
        platform(enforce="{execution: {launcher: torchrun}}"),
        workspace(
            "v", enforce="{execution: {launcher: ray-tune}}", defaults="{execution: {launcher: ray-train}}"
        ),
    ]
    found = [d.id for d in repository(layers).overlays.diagnostics]
    assert found == ["TAU333"]  # within the workspace: ray-train never has an effect
    layers[1] = workspace("v", enforce="{execution: {launcher: python}}")
    assert [d.id for d in repository(layers).overlays.diagnostics] == ["TAU332"]


def test_a_ray_worker_cannot_have_a_size_of_its_own_instead() -> None:
    layer = platform(enforce="{compute: {memory: 64Gi}}")
    assert ids(RAYJOB + "compute: {gpus: 1, worker_memory: 64Gi}\n", [layer]) == []
    assert ids(RAYJOB + "compute: {gpus: 1, worker_memory: 65Gi}\n", [layer]) == ["TAU330"]
    direct = DIRECT + f"engine: rayjob\nimage: {RAY}\ncompute: {{memory_request: 65Gi}}\n"
    assert "TAU330" in ids(direct, [layer])
    lower = workspace("v", defaults="{compute: {worker_memory: 1Gi}}")
    assert requests(RAYJOB + "compute: {gpus: 1}\n", [layer, lower], "worker")["memory"] == "64Gi"


def test_labels_of_nodes_cannot_be_cleared_from_below() -> None:
    layers = [
        platform(enforce="{policy: {node_selector: {zone: a}}}"),
        workspace("v", defaults="{policy: {clear_node_selector: true}}"),
    ]
    made = workload(accepted(GPU, layers))
    assert pods(made)["main"]["spec"]["nodeSelector"] == {"zone": "a"}


def test_the_number_that_the_direct_form_implies_is_nobodys_word() -> None:
    text = DIRECT + f"engine: rayjob\nimage: {RAY}\n"
    assert requests(text, [platform(enforce="{compute: {gpus: 4}}")], "worker")["nvidia.com/gpu"] == "4"


def test_an_enforced_profile_is_chosen() -> None:
    layers = [
        profile("one"),
        profile("two", gpusPerWorker="2"),
        workspace("v", enforce="{policy: {profile: two}}"),
    ]
    assert requests(JOB, layers)["nvidia.com/gpu"] == "2"
    assert "TAU330" in ids(JOB + "policy: {profile: one}\n", layers)


def test_the_cluster_of_a_workspace_is_the_one_that_counts() -> None:
    layers = [
        cluster("a", enforce="{compute: {memory: 1Gi}}"),
        cluster("b", enforce="{compute: {memory: 2Gi}}"),
        workspace("v", cluster="b"),
        workspace("w", cluster="a"),
    ]
    assert compiled(GPU, layers, workspace="v").objects
    assert requests(GPU, layers[:1])["memory"] == "1Gi"
    found = compiled(GPU, layers, workspace="v")
    assert container(workload(found))["resources"]["requests"]["memory"] == "2Gi"


def test_all_contradictions_are_said_at_once() -> None:
    layer = platform(enforce="{compute: {memory: 1Gi, cpus: 1}, resilience: {max_retries: 0}}")
    text = JOB + "compute: {gpus: 1, memory: 2Gi, cpus: 2}\nresilience: {max_retries: 9}\n"
    result = compiled(text, [layer])
    assert [one.id for one in said(result)] == ["TAU330"] * 3
    assert all(d.related and d.related[0].span.file == "overlays/0.yaml" for d in result.diagnostics)


@pytest.mark.parametrize(
    "text", ["compute: 3\n", "compute: [1]\nruntime: x\n", "runtime: {env: [3, {a: b}]}\n"]
)
def test_nonsense_is_no_traceback(text: str) -> None:
    layer = platform(
        enforce="{compute: {memory: 1Gi}, runtime: {env: {A: b}}, execution: {configs: {a: {b: 1}}}}",
        limits="[{name: a, field: compute.*, max: 1, mode: warn}, {name: b, field: total.gpus, max: 1}]",
    )
    base = "schema_version: 1\nname: train\nrun: {entrypoint: train.py}\n"
    assert has_errors(compiled(base + text, [layer]).diagnostics)
    assert has_errors(compiled(base + text, [platform(enforce="{runtime: {env: {A: b}}}")]).diagnostics)


def test_an_overlay_with_errors_says_them_without_a_workload() -> None:
    found = repository([overlay("Platform", "p", enforce="{compute: {memori: 1Gi}}")]).overlays
    assert found.overlays is None
    assert [d.id for d in found.diagnostics] == ["TAU201"]


def test_image_is_a_name() -> None:
    layer = platform(enforce=f"{{runtime: {{image: '{IMAGE}'}}}}")
    assert ids(GPU, [layer]) == []
    assert ids(DIRECT + f"engine: job\nimage: {IMAGE}\ncompute: {{gpus: 1}}\n", [layer]) == []
    assert ids(DIRECT + "engine: job\nimage: other:1\ncompute: {gpus: 1}\n", [layer]) == ["TAU330"]


def test_layers_that_decide_one_thing_by_two_fields_are_in_conflict() -> None:
    layers = [
        platform(enforce="{policy: {priority_tier: default}}"),
        cluster(
            "c", enforce="{policy: {workload_priority_class: urgent}}", priorityClasses="[{name: urgent}]"
        ),
    ]
    assert [d.id for d in repository(layers).overlays.diagnostics] == ["TAU332"]


def test_an_enforced_kind_counts_for_a_profile_too() -> None:
    layers = [platform(enforce="{run: {workload_kind: rayjob}}"), profile("p", workerCount="2")]
    text = f"schema_version: 1\nname: train\nrun: {{entrypoint: train.py}}\nruntime: {{image: '{RAY}'}}\n"
    made = workload(accepted(text, layers))
    assert made["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"] == 2


def test_a_profile_does_not_enforce_what_its_own_numbers_deny() -> None:
    layers = [profile("p", gpusPerWorker="2", enforce="{compute: {gpus: 4}}")]
    (said,) = repository(layers).overlays.diagnostics
    assert (said.id, said.related[0].span.line) == ("TAU332", 3)
    assert (
        repository([profile("p", gpusPerWorker="2", enforce="{compute: {gpus: 2}}")]).overlays.diagnostics
        == ()
    )


def test_profiles_of_other_workspaces_are_no_conflict() -> None:
    layers = [
        workspace("v", enforce="{resilience: {max_retries: 1}}"),
        profile("p", enforce="{resilience: {max_retries: 2}}", applicability="{namespaces: [other]}"),
    ]
    assert repository(layers).overlays.diagnostics == ()

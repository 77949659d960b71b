"""Limits: on the resolved tree, on what follows from it, on totals; and limits that make no sense."""

from __future__ import annotations

import time

import pytest

from tau_compile.guard.bounds import LONGEST, fits
from tau_compile.guard.expression import fault
from tau_compile.guard.fields import kinds, matcher, matching
from tau_compile.guard.limits import Effective
from tau_compile.quantity import parse
from tests.policy.documents import cluster, platform, profile, workspace
from tests.support.compiling import JOB, RAYJOB, accepted, compiled, ids, pods, repository, workload

GPU = JOB + "compute: {gpus: 1}\n"


def limits(*items: str) -> str:
    return platform(limits="[" + ", ".join(f"{{name: l{n}, {item}}}" for n, item in enumerate(items)) + "]")


@pytest.mark.parametrize(
    "text, limit, broken",
    [
        (GPU, "field: compute.memory, max: 64Gi", False),  # the default of 64Gi counts
        (GPU, "field: compute.memory, max: 63Gi", True),
        (GPU, "field: compute.memory_limit, max: 63Gi", True),
        (GPU, "field: 'compute.*mem*', max: 63Gi", True),
        (GPU, "field: runtime.image, oneOf: [other]", True),
        (GPU, "field: execution.nodes, max: 1", False),
        (GPU, "field: execution.nodes, min: 2", True),
        (GPU, "field: compute.gpus, forbidden: true", True),
        (JOB, "field: compute.gpus, forbidden: true", False),
        (JOB, "field: compute.gpus, min: 1", True),
        (JOB, "field: compute.gpus, required: true", True),
        (GPU, "field: compute.gpus, required: true", False),
        (GPU, "field: storage, forbidden: true", False),
        (GPU + "storage: {data_pvc: x}\n", "field: storage, forbidden: true", True),
        (GPU + "storage: {data_pvc: x}\n", "field: storage.*, forbidden: true", True),
        (GPU + "resilience: {max_retries: 3}\n", "field: resilience.max_retries, oneOf: [0, 1]", True),
        (GPU + "resilience: {max_retries: 1}\n", "field: resilience.max_retries, oneOf: ['1']", False),
        (GPU + "resilience: {max_retries: 1, retry_on: [oomkilled]}\n",
         "field: resilience.retry_on, oneOf: [Evicted, Preempted]", True),
        (GPU + "policy: {node_selector: {example.com/zone: a}}\n",
         "field: policy.node_selector.example.com/zone, oneOf: [b]", True),
        (GPU + "policy: {node_selector: {example.com/zone: a}}\n",
         "field: policy.node_selector.example.com/*, forbidden: true", True),
        (GPU + "policy: {topology: independent}\n", "field: policy.topology, oneOf: [unconstrained]", False),
        (JOB + "  service_account_token: true\ncompute: {gpus: 1}\n",
         "field: runtime.service_account_token, oneOf: [false]", True),
        (JOB + "  env: {A: b}\ncompute: {gpus: 1}\n", "field: runtime.env.A, pattern: b", False),
        (JOB + "  env: {A: bc}\ncompute: {gpus: 1}\n", "field: runtime.env.A, pattern: b", True),
        (JOB + "  env_secret: {A: s:k}\ncompute: {gpus: 1}\n", "field: runtime.env.A, pattern: b", False),
        (JOB + "  env_secret: {A: s:k}\ncompute: {gpus: 1}\n", "field: runtime.env.*, forbidden: true", True),
        (RAYJOB + "compute: {gpus: 1, worker_memory: 2Gi}\n", "field: compute.memory, max: 1Gi", True),
        (RAYJOB + "compute: {gpus: 1}\n", "field: compute.head_memory, max: 1Gi", True),
        (RAYJOB + "compute: {gpus: 1}\n", "field: compute.workers, min: 2", True),
        (RAYJOB + "compute: {gpus: 2, workers: 3}\n", "field: total.gpus, max: 5", True),
        (RAYJOB + "compute: {gpus: 2, workers: 3}\n", "field: total.gpus, max: 6", False),
        (JOB + "compute: {gpus: 1, memory: 1Gi}\n", "field: total.memory, max: 1024Mi", False),
        (GPU, "field: 'total.*', max: 3", True),
        (GPU, "field: policy.node_selector.example.com/zone, required: true", True),
        (GPU + "policy: {node_selector: {example.com/zone: a}}\n",
         "field: policy.node_selector.example.com/zone, required: true", False),
        (GPU + "execution: {launcher: torchrun, configs: {lr: 1}}\n", "field: execution.configs.lr, oneOf: [1.0]", False),
        (GPU + "execution: {launcher: torchrun, configs: {lr: 2}}\n", "field: execution.configs.lr, oneOf: [1.0]", True),
        (JOB + "compute: {gpus: 1, cpus: 500m}\n", "field: total.cpus, min: 0.5, max: 0.5", False),
    ],
)  # fmt: skip
def test_what_breaks_a_limit(text: str, limit: str, broken: bool) -> None:
    found = ids(text, [limits(limit)])
    assert ("TAU331" in found) == broken
    assert not broken or "total.*" in limit or found.count("TAU331") == 1, "one place is judged once"


def test_an_enforced_value_is_judged_as_any_other() -> None:
    layers = [limits("field: compute.memory, max: 1Gi"), workspace("v", enforce="{compute: {memory: 2Gi}}")]
    (said,) = compiled(GPU, layers).diagnostics
    assert (said.id, said.span and said.span.file) == ("TAU331", "overlays/1.yaml")
    assert [place.span.file for place in said.related] == ["overlays/0.yaml", "tau.yaml"]


def test_limits_of_every_layer_count() -> None:
    item = "[{name: a, field: compute.gpus, max: 0}]"
    layers = [platform(limits=item), cluster("c", limits=item), workspace("v", limits=item)]
    assert ids(GPU, layers) == ["TAU331"] * 3
    assert ids(JOB + "execution: {launcher: torchrun}\n", [profile("p", limits=item)]) == ["TAU331"]


def test_warn_lets_pass() -> None:
    result = compiled(GPU, [limits("field: compute.gpus, max: 0, mode: warn")])
    assert result.objects
    assert [(d.id, d.severity) for d in result.diagnostics] == [("TAU331", "warning")]


def test_a_total_stands_where_the_workload_decides_it() -> None:
    layers = [limits("field: total.gpus, max: 1"), workspace("v", defaults="{compute: {gpus: 1}}")]
    text = JOB + "execution: {launcher: torchrun, nodes: 2}\n"
    (said,) = compiled(text, layers).diagnostics
    assert (said.span and (said.span.file, said.span.line)) == ("tau.yaml", text.count("\n"))


def test_values_too_long_for_a_pattern_are_refused() -> None:
    assert fits("a+", "a" * LONGEST)
    assert not fits("a+", "a" * (LONGEST + 1))
    text = JOB + f"  env: {{A: {'a' * (LONGEST + 1)}}}\ncompute: {{gpus: 1}}\n"
    (said,) = compiled(text, [limits("field: runtime.env.A, pattern: a+")]).diagnostics
    assert "longer than the 512 characters" in said.message


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+", "(a*)*b", "(a|aa)+", "([a-z]+)*", "(a{1,100})*", "((ab)+c)*", "(a+){5}", r"(a)\1", "(?:a+?)+", "(?=(a+)+)b",
     "(a*+)*", ".*a.*b.*c.*", "(", "[z-a]", "(?P<n", "a{99999999999}", "*",
     "a?" * 24 + "b", "a{0,64}" * 5, "(a?a)*b", "(a|a)" * 24, "a{1,5}" * 14 + "b", "(?:(?:a|b)?){24}"],
)  # fmt: skip
def test_patterns_that_are_refused(pattern: str) -> None:
    assert fault(pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"registry\.example\.com/.+", "[a-z0-9]([-a-z0-9]*[a-z0-9])?", "(a|b|c)", "(dev|prod)-.+", "a{3}", "(ab){2,4}", "",
     r"(ghcr\.io|quay\.io)/team/.+@sha256:[0-9a-f]{64}", "(?i)x+", "^a+$", ".*/.*:.*",
     r"registry\.example\.com/[a-z0-9-]{1,63}/[a-z0-9._/-]+(:v?[0-9.]+)?@sha256:[0-9a-f]{64}", "(?:a?b){1,8}"],
)  # fmt: skip
def test_patterns_that_are_fine(pattern: str) -> None:
    assert fault(pattern) == ""
    start = time.process_time()
    for text in (
        "a" * LONGEST,
        "a/" * (LONGEST // 2),
        "x" * (LONGEST - 1) + "!",
        ":/" * (LONGEST // 2) + "\n",
    ):
        fits(pattern, text)
    assert time.process_time() - start < 2


def test_every_field_of_the_reference_can_be_limited() -> None:
    assert {"compute.gpus", "runtime.image", "run.max_duration", "policy.gpu_class"} <= set(kinds())
    assert kinds()["compute.memory"] == "quantity"
    assert kinds()["resilience.backoff_max"] == "duration"
    assert not {"run.image", "image", "engine", "workflow.main_script", "compute.gpus_per_worker"} & set(
        kinds()
    )


def test_what_patterns_mean() -> None:
    assert matching("runtime.env.*") == ["text"]
    assert matching("runtime.env.*.x") == ["text"]
    assert matching("compute.*gpu") == []
    assert matching("total.*") == ["integer", "quantity"]
    assert matching("storage.mounts.*.pvc") == ["text"]
    assert matcher("runtime.env.A*")("runtime.env.A.B")
    assert not matcher("compute.*")("compute")
    assert not matcher("run*")("runtime.image")
    assert not matcher("compute.g.us")("compute.gpus")


@pytest.mark.parametrize(
    "limit, id",
    [
        ("field: runtime.env_secret.X, forbidden: true", "TAU334"),
        ("field: compute.cpu_request, max: 1", "TAU334"),
        ("field: runtime.env.*, max: 1", "TAU335"),
        ("field: run.max_duration, max: 1", "TAU335"),
        ("field: policy.topology, oneOf: [same_host]", "TAU335"),
        ("field: policy.topology, oneOf: [same-host]", ""),
        ("field: resilience.retry_on, oneOf: [OOMKilled]", ""),
        ("field: 'total.*', max: 4", ""),
        ("field: compute.memory, oneOf: [1Gi, much]", "TAU335"),
        ("field: runtime.service_account_token, oneOf: [maybe]", "TAU335"),
        ("field: run.max_duration, min: 2h, max: 119m", "TAU335"),
        ("field: run.max_duration, min: 2h, max: 120m", ""),
        ("field: compute.memory, min: 1024Mi, max: 1Gi", ""),
    ],
)
def test_limits_on_their_own(limit: str, id: str) -> None:
    assert [d.id for d in repository([limits(limit)]).overlays.diagnostics] == [id] * bool(id)


@pytest.mark.parametrize("mode", ["K8sJobMode", "HTTPMode"])
@pytest.mark.parametrize(
    "text",
    [
        JOB + "compute: {gpus: 2}\nexecution: {launcher: torchrun, nodes: 3}\n",
        RAYJOB + "compute: {gpus: 1, workers: 2}\n",
    ],
)
def test_totals_are_what_all_pods_ask_for(text: str, mode: str) -> None:
    text = text.replace("run: {", "run: {max_duration: 1h, ")
    result = accepted(text, [platform(ray=f"{{submissionMode: {mode}}}")])
    assert result.resolved is not None
    assert result.workload is not None
    made = workload(result)
    asked = [
        (
            spec["spec"]["containers"][0]["resources"],
            result.workload.pods if name in ("main", "worker") else 1,
        )
        for name, spec in pods(made).items()
    ]
    found = Effective(result.resolved, result.workload)
    for path, section, resource in [
        ("total.gpus", "limits", "nvidia.com/gpu"),
        ("total.cpus", "requests", "cpu"),
        ("total.memory", "requests", "memory"),
    ]:
        amount = sum(parse(one[section].get(resource, "0")).nanos * times for one, times in asked)
        assert [value.same for value in found.meant(path)] == [amount]

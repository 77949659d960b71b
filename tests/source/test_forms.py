"""The two forms of a tau.yaml, and what the front end makes of them."""

from __future__ import annotations

from typing import Any

import pytest

from tau_compile.emit.yaml import dump_all
from tau_compile.source.forms import form_of, is_direct, to_canonical
from tau_compile.source.nodes import Mapping, find, find_entry, spelled
from tests.support.compiling import IMAGE, RAY, accepted, compiled, ids, said, workload
from tests.support.trees import parse, plain


@pytest.mark.parametrize(
    "text, form",
    [
        ("schema_version: 1\n", "canonical"),
        ('schema_version: "1"\n', "canonical"),
        ("schema_version: 2\n", "canonical"),
        ("name: a\n", "direct"),
        ("schema_version:\nname: a\n", "direct"),
        ("schema_version: null\n", "direct"),
        ("schema_version: ~\n", "direct"),
        ("schema_version: 1\nengine: job\n", "direct"),
        ("schema_version: 1\nrun: {engine: job}\n", "direct"),
        ("schema_version: 1\nengine:\n", "canonical"),
        ("schema_version: 1\nrun: {engine: null}\n", "canonical"),
        ("schema_version: 1\nrun: {workload_kind: job}\n", "canonical"),
    ],
)
def test_which_form(text: str, form: str) -> None:
    assert form_of(parse(text)) == form


def canonical(text: str) -> Any:
    result = to_canonical(parse(text))
    assert not [d for d in result.diagnostics if d.severity == "error"], result.diagnostics
    return plain(result.node)


HEAD = "name: a\n"
CPU = HEAD + "engine: job\ncompute: {gpus: 0}\n"


def test_a_direct_job() -> None:
    text = HEAD + (
        "engine: Job\nscript: train.py\nimage: x:1\n"
        "compute: {gpus: 2, cpu_request: 4, memory_request: 8Gi, cpu_limit: 5, memory_limit: 9Gi}\n"
        "storage: {checkpoint: last, data_pvc: c}\nexperiment: {title: t}\npolicy: {priority: normal}\n"
    )
    assert canonical(text) == {
        "schema_version": "1",
        "name": "a",
        "run": {"workload_kind": "job", "entrypoint": "train.py"},
        "runtime": {"image": "x:1"},
        "compute": {"gpus": "2", "cpus": "4", "memory": "8Gi", "cpu_limit": "5", "memory_limit": "9Gi"},
        "storage": {"data_pvc": "c"},
        "artifacts": {"checkpoint": "last"},
        "experiment": {"name": "t"},
        "policy": {"priority_tier": "default"},
    }


def test_a_direct_rayjob() -> None:
    text = (
        HEAD
        + "engine: rayjob\nentrypoint: t.py\n"
        + "compute: {workers: 2, gpus_per_worker: 3, memory_request: 8Gi, head_cpu_request: 1}\n"
    )
    assert canonical(text) == {
        "schema_version": "1",
        "name": "a",
        "run": {"workload_kind": "rayjob", "entrypoint": "t.py"},
        "compute": {
            "workers": "2",
            "gpus": "3",
            "head_memory": "8Gi",
            "worker_memory": "8Gi",
            "head_cpus": "1",
        },
    }


@pytest.mark.parametrize(
    "lines, kind",
    [
        ("", "job"),
        ("compute: {workers: 1}\n", "job"),
        ("compute: {workers: 2}\n", "rayjob"),
        ("compute: {gpus_per_worker: 1}\n", "rayjob"),
        ("compute: {gpus: 2}\n", "job"),
        ("runtime: {pip: [torch]}\n", "rayjob"),
        ("runtime: {pip: []}\n", "job"),
        ("execution: {launcher: ray-tune}\n", "rayjob"),
        ("execution: {launcher: torchrun}\n", "job"),
        ("engine: job\nruntime: {pip: [torch]}\n", "job"),
        ("engine: RAYJOB\n", "rayjob"),
        ("engine: ray\n", "rayjob"),
        ("run: {engine: job}\ncompute: {workers: 2}\n", "job"),
        ("run: {workload_kind: ray_train}\n", "rayjob"),
        ("workflow: {workload_kind: ray-train}\nrun: {workload_kind: rayjob}\n", "rayjob"),
        ("compute: {workload_kind: rayjob}\n", "rayjob"),
    ],
)
def test_which_kind_of_workload(lines: str, kind: str) -> None:
    result = to_canonical(parse(HEAD + lines))
    assert plain(result.node)["run"]["workload_kind"] == kind


@pytest.mark.parametrize(
    "lines",
    [
        "engine: job\nrun: {workload_kind: rayjob}\n",
        "engine: rayjob\nrun: {engine: job}\n",
        "workflow: {workload_kind: job}\ncompute: {workload_kind: ray}\n",
    ],
)
def test_two_kinds_of_workload(lines: str) -> None:
    assert "TAU242" in [d.id for d in to_canonical(parse(HEAD + lines)).diagnostics]


@pytest.mark.parametrize(
    "spellings, target",
    [
        (["run.name", "name"], "name"),
        (
            [
                "run.main_script",
                "workflow.main_script",
                "workflow.script",
                "run.entrypoint",
                "run.script",
                "entrypoint",
                "script",
            ],
            "run.entrypoint",
        ),
        (["runtime.image", "run.image", "image"], "runtime.image"),
        (["workflow.smoke_pairs", "run.smoke_pairs"], "run.smoke_pairs"),
        (["policy.priority_tier", "policy.priority"], "policy.priority_tier"),
        (["artifacts.checkpoint", "storage.checkpoint"], "artifacts.checkpoint"),
        (["experiment.name", "experiment.title"], "experiment.name"),
    ],
)
def test_the_spelling_that_wins(spellings: list[str], target: str) -> None:
    for place, winner in enumerate(spellings):
        document: dict[str, Any] = {}
        for value, path in enumerate(spellings[place:]):
            section = document
            *above, name = path.split(".")
            for step in above:
                section = section.setdefault(step, {})
            section[name] = f"v{value}"
        import json

        result = to_canonical(parse(json.dumps(document)))
        node = find(result.node, target)
        assert node is not None
        assert plain(node) == "v0"
        entry = find_entry(result.node, target)
        assert entry is not None
        assert (entry.key.written or target) == winner
        ignored = [d for d in result.diagnostics if d.id == "TAU240"]
        assert len(ignored) == len(spellings) - place - 1
        assert all(d.severity == "warning" and d.related for d in ignored)
        for other in spellings:
            if other != target:
                assert find(result.node, other) is None


def test_equal_spellings_are_not_told() -> None:
    assert to_canonical(parse(CPU + "image: x\nruntime: {image: x}\n")).diagnostics == ()


def test_places_stay_and_paths_are_told_as_written() -> None:
    text = HEAD + "engine: rayjob\ncompute:\n  gpus_per_worker: 2\n  worker_memory_request: 8Gi\n"
    node = to_canonical(parse(text)).node
    gpus, memory = find(node, "compute.gpus"), find(node, "compute.worker_memory")
    assert gpus is not None
    assert memory is not None
    assert (gpus.span.line, gpus.span.column) == (4, 20)
    assert (memory.span.line, memory.span.column) == (5, 26)
    assert spelled(node, "compute.gpus") == "compute.gpus_per_worker"
    assert spelled(node, "compute.worker_memory") == "compute.worker_memory_request"
    assert spelled(node, "compute.workers") == "compute.workers"


def test_only_the_direct_form_is_direct_afterwards() -> None:
    assert is_direct(to_canonical(parse(CPU)).node)
    assert is_direct(to_canonical(parse("schema_version: 1\n" + CPU)).node)
    assert not is_direct(to_canonical(parse("schema_version: 1\nname: a\n")).node)


# --- compute and storage


@pytest.mark.parametrize(
    "lines, expected",
    [
        ("engine: job\ncompute: {gpus_per_worker: 1}\n", ["TAU243"]),
        ("engine: rayjob\ncompute: {gpus: 1}\n", ["TAU245"]),
        ("engine: rayjob\n", []),
    ],
)
def test_gpus_of_the_other_kind(lines: str, expected: list[str]) -> None:
    assert [d.id for d in to_canonical(parse(HEAD + lines)).diagnostics] == expected


@pytest.mark.parametrize("policy", ["profile: p", "shape: 2xany", "workspace: w"])
def test_what_may_say_how_many_gpus_a_ray_worker_has(policy: str) -> None:
    node = to_canonical(parse(HEAD + f"engine: rayjob\npolicy: {{{policy}}}\n")).node
    assert find(node, "compute.gpus") is None


def storage(lines: str) -> Any:
    return canonical(CPU + f"storage: {lines}\n").get("storage")


@pytest.mark.parametrize(
    "written, expected",
    [
        ("{data_pvc: c}", {"data_pvc": "c"}),
        ("{result_pvc: c}", {"data_pvc": "c"}),
        ("{volumes: [d=pvc:c]}", {"data_pvc": "c"}),
        (
            "{volumes: [d=pvc:c], mounts: ['d:/x']}",
            {"mounts": [{"name": "d", "mountPath": "/x", "pvc": "c"}]},
        ),
        (
            "{volumes: [d=pvc:c, e=pvc:f.g], mounts: ['e:/y:ro', 'd:/x:rw']}",
            {
                "mounts": [
                    {"name": "e", "mountPath": "/y", "pvc": "f.g", "readOnly": "true"},
                    {"name": "d", "mountPath": "/x", "pvc": "c"},
                ]
            },
        ),
        (
            "{mounts: [{name: d, mountPath: /x, pvc: c}]}",
            {"mounts": [{"name": "d", "mountPath": "/x", "pvc": "c"}]},
        ),
    ],
)
def test_volumes_and_mounts(written: str, expected: Any) -> None:
    assert storage(written) == expected


@pytest.mark.parametrize(
    "written, expected",
    [
        ("{volumes: [a=pvc:c, a=pvc:d], mounts: ['a:/x']}", ["TAU246"]),
        ("{volumes: [a=pvc:c], data_pvc: d, mounts: ['a:/x']}", ["TAU247"]),
        ("{volumes: [a=pvc:c, b=pvc:d]}", ["TAU248"]),
        ("{mounts: ['a:/x']}", ["TAU248"]),
        ("{volumes: [a=pvc:c], mounts: ['b:/x']}", ["TAU248", "TAU249"]),
        ("{volumes: [a=pvc:c, b=pvc:d], mounts: ['a:/x']}", ["TAU249"]),
    ],
)
def test_volumes_and_mounts_that_do_not_match(written: str, expected: list[str]) -> None:
    assert sorted(d.id for d in to_canonical(parse(CPU + f"storage: {written}\n")).diagnostics) == expected


# --- both forms mean the same

PAIRS = {
    "job": (
        f"name: a\nengine: job\nscript: train.py\nimage: {IMAGE}\ncompute: {{gpus: 2, cpu_request: 4, memory_request: 32Gi}}\n"
        "storage: {volumes: [s=pvc:sets, o=pvc:out], mounts: ['s:/sets:ro', 'o:/out'], output: /out/a}\n"
        "runtime: {env: {A: '1'}, env_secret: {B: 's:k'}}\nexperiment: {title: t}\n",
        f"schema_version: 1\nname: a\nrun: {{workload_kind: job, entrypoint: train.py}}\n"
        f"runtime: {{image: {IMAGE}, env: [{{name: A, value: '1'}}, "
        "{name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}]}\ncompute: {gpus: 2, cpus: 4, memory: 32Gi}\n"
        "storage: {output: /out/a, mounts: [{name: s, mountPath: /sets, pvc: sets, readOnly: true}, "
        "{name: o, mountPath: /out, pvc: out}]}\n"
        "experiment: {name: t}\n",
    ),
    "rayjob": (
        f"name: a\nengine: rayjob\nentrypoint: train.py\nrun: {{image: {RAY}}}\ncompute: {{workers: 2, cpu_request: 4}}\n"
        "storage: {data_pvc: c, checkpoint: last}\nruntime: {pip: [torch]}\n",
        f"schema_version: 1\nname: a\nrun: {{workload_kind: ray, entrypoint: train.py}}\n"
        f"runtime: {{image: {RAY}, pip: [torch]}}\n"
        "compute: {gpus: 1, workers: 2, head_cpus: 4, worker_cpus: 4}\nstorage: {data_pvc: c}\nartifacts: {checkpoint: last}\n",
    ),
}


@pytest.mark.parametrize("direct, canonical", PAIRS.values(), ids=PAIRS)
def test_both_forms_render_the_same_bytes_and_the_same_run(direct: str, canonical: str) -> None:
    first, second = accepted(direct), accepted(canonical)
    assert first.run_id == second.run_id
    assert dump_all(first.objects) == dump_all(second.objects)
    assert workload(first)["metadata"]["name"] == first.run_id


def test_errors_speak_of_the_direct_forms_own_words() -> None:
    text = f"name: a\nengine: rayjob\nscript: gone.py\nimage: {RAY}\n"
    text += "compute:\n  gpus_per_worker: 1\n  mig_profile: 1g.10gb\n  memory_request: 64GB\n"
    found = {d.id: d for d in said(compiled(text))}
    assert set(found) == {"TAU402", "TAU701"}
    assert (found["TAU402"].line, found["TAU701"].line) == (8, 3)


def test_a_value_of_the_wrong_kind_is_told_and_nothing_breaks() -> None:
    for lines in (
        "compute: 3\n",
        "run: [a]\n",
        "storage: {volumes: x, mounts: 3}\n",
        "runtime: {env: 3, env_secret: [a]}\n",
        "run: {name: [a]}\n",
    ):
        for head in ("engine: job\n", "engine: rayjob\n", "schema_version: 1\n"):
            assert ids(HEAD + head + lines)
    assert isinstance(to_canonical(parse("{}")).node, Mapping)

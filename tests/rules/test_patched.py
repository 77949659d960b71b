"""Patched objects: judged by every rule, faults at the line that made them, and no input that breaks the compiler."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.compiling import IMAGE, JOB, RAYJOB, accepted, compiled, said

HEAD = "apiVersion: tau-compile/v1\nkind: Platform\nmetadata: {name: lab}\npatches:\n"
GPUS = f"schema_version: 1\nname: train\nrun: {{entrypoint: train.py}}\nruntime: {{image: {IMAGE}}}\ncompute: {{gpus: 2}}\n"


def overlay(*bodies: str, kind: str = "Job") -> str:
    return HEAD + "".join(f"- target: {{kind: {kind}}}\n  patch: {body}\n" for body in bodies)


def pod(spec: str) -> str:
    return f"{{spec: {{template: {{spec: {spec}}}}}}}"


def main(container: str) -> str:
    return pod(f"{{containers: [{{name: main, {container}}}]}}")


def faults(*bodies: str, text: str = JOB, kind: str = "Job") -> list[tuple[str, int, str]]:
    """(id, line, what the caret is at) of what is said about patches."""
    platform = overlay(*bodies, kind=kind)
    lines = platform.split("\n")
    found = []
    for one in compiled(text, [platform]).diagnostics:
        assert one.span is not None
        assert one.span.file == "overlays/0.yaml", one
        found.append(
            (one.id, one.span.line, lines[one.span.line - 1][one.span.column - 1 : one.span.end_column - 1])
        )
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{spec: {suspend: false}}", ("TAU721", "suspend")),
        ("{spec: {backoffLimit: 1, ttlSecondsAfterFinished: 3}}", ("TAU722", "ttlSecondsAfterFinished")),
        ("{metadata: {annotations: {a: b, helm.sh/hook: x}}}", ("TAU724", "helm.sh/hook")),
        ("{spec: {manualSelector: false}}", ("TAU434", "manualSelector")),
        (pod("{hostNetwork: false, restartPolicy: null}"), ("TAU433", "restartPolicy")),
        (main("tty: true, securityContext: {privileged: true}"), ("TAU810", "privileged")),
        (main("resources: {requests: {cpu: 99, memory: 1Gi}}"), ("TAU436", "cpu")),
        (pod("{initContainers: [{name: a, image: b}, {name: c}]}"), ("TAU358", "name")),
        (pod("{tolerations: [{key: a}, {operator: Equal}]}"), ("TAU358", "operator")),
        (main("ports: [{containerPort: 80, protocol: UDP, hostPort: x}]"), ("TAU430", "hostPort")),
        (main("env: [{name: A, vlaue: 1}]"), ("TAU430", "vlaue")),
        (main("env: [$NOTHING]").replace("$NOTHING", '{name: "", value: a}'), ("TAU358", "name")),
        ("{spec: {template: {metadata: {labels: {a: '-'}}}}}", ("TAU358", "a")),
        (pod("{priorityClassName: none}"), ("TAU503", "priorityClassName")),
        ("{spec: {parallelism: 2}}", ("TAU357", "parallelism")),
        (
            "{metadata: {annotations: {argocd.argoproj.io/sync-options: Replace=true}}}",
            ("TAU350", "argocd.argoproj.io/sync-options"),
        ),
        ("{metadata: {labels: {kustomize.toolkit.fluxcd.io/prune: Disabled}}}", ("TAU350", "kustomize.toolkit.fluxcd.io/prune")),
        (
            "{spec: {template: {metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: a}}}}}",
            ("TAU350", "kueue.x-k8s.io/podset-required-topology"),
        ),
        (main("command: null"), None),
    ],
)  # fmt: skip
def test_a_fault_stands_at_what_made_it(body: str, expected: tuple[str, str] | None) -> None:
    before = pod("{terminationGracePeriodSeconds: 30, containers: [{name: main, stdin: false}]}")
    for bodies, line in (([body], 6), ([before, body], 8), ([body, before], 6)):
        assert faults(*bodies) == ([(expected[0], line, expected[1])] if expected else [])


def test_each_of_many_alike_has_its_own_line() -> None:
    bad = ",\n  ".join(f"{{name: V{number}, vlaue: x}}" for number in range(12))
    found = faults(main("env: [{name: OK, value: a}]"), main(f"env: [{bad}]").replace("env: [", "env: [\n  "))
    assert {(one, word) for one, _, word in found} == {("TAU430", "vlaue")}
    assert sorted(line for _, line, _ in found) == list(range(9, 21))


def test_what_it_takes_two_patches_for_names_both() -> None:
    first = pod(
        "{volumes: [{name: scratch, emptyDir: {}}], containers: [{name: main, volumeMounts: [{name: scratch, mountPath: /a}]}]}"
    )
    second = pod("{hostNetwork: false, volumes: [{name: scratch, $patch: delete}]}")
    (one,) = compiled(JOB, [overlay(first, second)]).diagnostics
    assert one.id == "TAU358"
    assert one.span is not None
    assert one.span.line == 8
    assert [related.span.line for related in one.related] == [6]


def test_a_device_of_another_name_is_a_gpu_too() -> None:
    assert faults(
        main("resources: {limits: {nvidia.com/gpu: 3}, requests: {nvidia.com/gpu: 3}}"), text=GPUS
    ) == [("TAU357", 6, "nvidia.com/gpu")]
    side = pod("{containers: [{name: side, image: a, resources: {limits: {amd.com/gpu: 1}}}]}")
    assert faults(side, text=GPUS) == [("TAU357", 6, "amd.com/gpu")]
    other = main("resources: {limits: {rdma/hca: 1}, requests: {rdma/hca: 1}}")
    assert faults(other, text=GPUS) == []


def test_a_fault_of_a_template_stays_the_template_s() -> None:
    result = compiled(
        JOB,
        [overlay("{metadata: {labels: {a: b}}}")],
        templates={
            "job.yaml.j2": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec: {suspend: true}\n"
        },
    )
    found = said(result)
    assert {one.id for one in found} >= {"TAU721", "TAU432"}
    assert {d.span.file for d in result.diagnostics if d.span} == {"templates/job.yaml.j2"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (main('env: [{name: API_KEY, value: "0123456789abcdef"}]'), "TAU802"),
        (main("env: [{name: API_KEY, valueFrom: {secretKeyRef: {name: a, key: b}}}]"), ""),
        (main("args: [AKIAIOSFODNN7EXAMPL2]"), "TAU801"),
        (pod("{automountServiceAccountToken: false, volumes: [{name: s, secret: {secretName: a-b}}]}"), ""),
    ],
)
def test_credentials(body: str, expected: str) -> None:
    assert [one[0] for one in faults(body)] == [expected] * bool(expected)


def test_a_patch_of_credentials_is_refused_where_it_is_for_nobody() -> None:
    body = main('env: [{name: API_KEY, value: "0123456789abcdef"}]')
    assert [d.id for d in compiled(RAYJOB, [overlay(body)]).diagnostics] == ["TAU802"]


def test_the_objects_are_those_without_patches_where_none_is_for_them() -> None:
    plain = accepted(RAYJOB)
    patched = accepted(RAYJOB, [overlay("{metadata: {annotations: {a: b}}}", kind="RayJob")])
    assert patched.objects[0] == plain.objects[0]
    assert patched.objects[1] != plain.objects[1]


# --- no patch breaks the compiler

_WORDS = """apiVersion metadata labels annotations name spec template containers initContainers env value valueFrom volumes
volumeMounts mountPath ports containerPort protocol tolerations key effect rayClusterSpec workerGroupSpecs groupName
headGroupSpec rayStartParams resources limits requests cpu nvidia.com/gpu command port targetPort $patch tau-compile/x"""
_SCALARS = 'null ~ main workers 1 010 yes 1e3 .inf delete replace "" "-" [] {} -1 0x1F "\t"'
_KEYS = st.sampled_from(_WORDS.split())
_VALUES = st.sampled_from(_SCALARS.split())
_TREES = st.recursive(
    _VALUES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(_KEYS, inner, max_size=4).map(
            lambda d: "{" + ", ".join(f"{k}: {v}" for k, v in d.items()) + "}"
        ),
    ),
    max_leaves=12,
)
_SPECS = st.dictionaries(_KEYS, _TREES, max_size=4).map(
    lambda d: "{" + ", ".join(f"{k}: {v}" for k, v in d.items()) + "}"
)


@given(spec=_SPECS, depth=st.integers(0, 4), ray=st.booleans())
@settings(max_examples=150)
def test_any_patch_is_merged_or_refused_with_a_place(spec: str, depth: int, ray: bool) -> None:
    around = [
        "{}", "{{spec: {}}}", "{{spec: {{template: {}}}}}", "{{spec: {{template: {{spec: {}}}}}}}",
        "{{spec: {{template: {{spec: {{containers: [{}]}}}}}}}}",
    ]  # fmt: skip
    text, kind = (RAYJOB, "RayJob") if ray else (JOB, "Job")
    result = compiled(text, [overlay(around[depth].format(spec), kind=kind)])
    assert result.objects or result.diagnostics
    for one in result.diagnostics:
        assert one.span is not None
        assert one.span.file == "overlays/0.yaml"
        assert "report this as a bug" not in one.hint

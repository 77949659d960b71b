"""Damaged documents: whatever is dropped, replaced or put in, there is an answer, never an accident."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tau_compile.codes import CODES
from tau_compile.source.scalars import plain_data
from tests.policy.documents import cluster, platform, profile, workspace
from tests.support.cli import run
from tests.support.compiling import compiled
from tests.support.trees import parse
from tests.support.workloads import DOCUMENTS, FILES, written

if TYPE_CHECKING:
    from pathlib import Path

    from tau_compile.compiler import Compiled

WORDS = [
    "", "a", "A b", "job", "rayjob", "1", "010", "yes", "null", "64GB", "1.5Gi", "-1", "10m", "/data", "/data/x",
    "../x", "a:b", "a=pvc:b",
    "same-host", "torchrun", "ray-tune", "staged", "mig", "1g.10gb", "8xa100-80gb", "$(A)", "{{ x }}", "a\nb",
    "\x00", "é", "x" * 300,
]  # fmt: skip
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.floats(),
    st.sampled_from(WORDS),
    st.just([]),
    st.just({}),
    st.lists(st.sampled_from(WORDS), max_size=3),
    st.dictionaries(st.sampled_from([w for w in WORDS if w]), st.sampled_from(WORDS), max_size=3),
)
SECTIONS = [
    section for document in DOCUMENTS.values() for section in document.values() if isinstance(section, dict)
]
KEYS = st.sampled_from(
    [
        *sorted({key for part in (*DOCUMENTS.values(), *SECTIONS) for key in part}),
        "engine",
        "gpus_per_worker",
        "workers",
        "nodes",
        "mig_profile",
        "gpu_resource_mode",
        "unknown",
        "shape",
        "gpu_class",
    ]
)
OVERLAYS: list[dict[str, Any]] = [
    plain_data(parse(text))
    for text in (
        platform(ray="{image: rayproject/ray:2.9.0}", defaults="{runtime: {env: {A: x}}}"),
        cluster(
            "c",
            versions="{kueue: 0.19.2}",
            gpuTaints="[{key: g}]",
            gpuClasses="[{name: a, gpusPerNode: 8, nodeLabels: {p: a}, migProfiles: [1g.10gb]}]",
            flavors="[{name: f, gpuClass: a, topology: t}]",
            priorityClasses="[{name: n, tier: default}]",
            queues="[{name: q, flavors: [f], localQueues: [{namespace: w, name: jobqueue}]}]",
            topologies="[{name: t, levels: [{nodeLabel: kubernetes.io/hostname, placement: same-host}]}]",
        ),
        workspace("w", outputRoot="/data/w", defaults="{storage: {data_pvc: c}}"),
        profile("pr", placement="same-host"),
        "apiVersion: tau.azure.com/v1alpha1\nkind: TauWorkspace\nmetadata: {name: w}\n"
        "spec: {queue: jobqueue, target: {namespace: w}}\n",
        "apiVersion: tau.azure.com/v1alpha1\nkind: TauCluster\nmetadata: {name: c}\n"
        "spec: {workloadProfiles: [{name: p, gpusPerWorker: 1, workerCount: 1}]}\n",
    )
]


@st.composite
def damaged(draw: st.DrawFn, documents: list[Any]) -> Any:
    """A document with up to four changes anywhere in it."""
    document = json.loads(json.dumps(draw(st.sampled_from(documents))))
    for _ in range(draw(st.integers(1, 4))):
        document = _change(draw, document)
    return document


def _change(draw: st.DrawFn, value: Any) -> Any:
    if isinstance(value, dict) and value and draw(st.integers(0, 3)):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: _change(draw, value[key])}
    if isinstance(value, list) and value and draw(st.integers(0, 3)):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], _change(draw, value[place]), *value[place + 1 :]]
    if isinstance(value, dict) and value:
        what = draw(st.sampled_from(["drop", "add", "rename", "replace"]))
        key = draw(st.sampled_from(sorted(value)))
        if what == "drop":
            return {k: v for k, v in value.items() if k != key}
        if what == "add":
            return {**value, draw(KEYS): draw(VALUES)}
        if what == "rename":
            return {draw(KEYS) if k == key else k: v for k, v in value.items()}
    if isinstance(value, list) and value and draw(st.booleans()):
        return [*value, draw(st.one_of(VALUES, st.sampled_from(value)))]
    return draw(VALUES)


def data(document: Any) -> bytes:
    """YAML text of any data; what JSON cannot say becomes text that YAML can."""
    return written(document).replace(b"NaN", b".nan").replace(b"Infinity", b".inf")


def check(result: Compiled) -> None:
    """What every answer is like."""
    errors = [d for d in result.diagnostics if d.severity == "error"]
    assert bool(result.objects) != bool(errors)
    for d in result.diagnostics:
        assert d.id in CODES
        assert d.message
        assert d.hint, d
        assert d.span is not None, d
        assert d.span.line >= 1
        assert d.span.column >= 1
        assert (d.span.end_line, d.span.end_column) >= (d.span.line, d.span.column)
    assert list(result.diagnostics) == sorted(
        result.diagnostics, key=lambda d: (d.span or (), d.id, d.message)
    )
    assert len(set(result.diagnostics)) == len(result.diagnostics)


@settings(max_examples=400)
@given(damaged(list(DOCUMENTS.values())))
def test_damaged_workloads(document: Any) -> None:
    check(compiled(data(document), files=FILES))


@settings(max_examples=200)
@given(damaged(OVERLAYS), st.sampled_from(list(DOCUMENTS.values())))
def test_damaged_overlays(overlay: Any, document: Any) -> None:
    others = [
        json.dumps(other)
        for other in OVERLAYS[:4]
        if not isinstance(overlay, dict) or other.get("kind") != overlay.get("kind")
    ]
    check(compiled(data(document), [*others, data(overlay).decode()], files=FILES))


@settings(max_examples=200)
@given(damaged(list(DOCUMENTS.values())), st.lists(st.sampled_from(range(4)), unique=True))
def test_damaged_workloads_under_policy(document: Any, chosen: list[int]) -> None:
    check(compiled(data(document), [json.dumps(OVERLAYS[n]) for n in chosen], files=FILES))


TEXTS = [written(document).decode() for document in DOCUMENTS.values()] + [
    "schema_version: 1\nname: a\nrun:\n  entrypoint: train.py\nruntime:\n  image: x:1\n  env: &e\n    A: 'b'\n    <<: {C: d}\n"
    'model: {tags: [a, "b"]} # c\n'
]


@settings(max_examples=300)
@given(
    st.sampled_from(TEXTS),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 6), st.binary(max_size=6)), max_size=4),
)
def test_damaged_bytes(text: str, edits: list[tuple[float, int, bytes]]) -> None:
    found = text.encode()
    for where, length, new in edits:
        at = int(where * len(found))
        found = found[:at] + new + found[at + length :]
    check(compiled(found, files=FILES))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    damaged(list(DOCUMENTS.values())),
    damaged(OVERLAYS),
    st.sampled_from(["render", "validate", "migrate"]),
    st.booleans(),
)
def test_the_command_line_never_fails_by_itself(
    tmp_path: Path, document: Any, overlay: Any, verb: str, as_json: bool
) -> None:
    (tmp_path / "overlays").mkdir(exist_ok=True)
    (tmp_path / "lib").mkdir(exist_ok=True)
    (tmp_path / "overlays" / "a.yaml").write_bytes(data(overlay))
    (tmp_path / "tau.yaml").write_bytes(data(document))
    for name, content in {**FILES, "train.py": b"x = 1\n"}.items():
        (tmp_path / name).write_bytes(content)
    arguments = [verb, "tau.yaml", *(["--format", "json"] if as_json and verb != "migrate" else [])]
    outcome = run(arguments, tmp_path)
    assert outcome.exit in (0, 1), outcome.stderr
    assert "Traceback" not in outcome.stderr
    if as_json and verb != "migrate":
        json.loads(outcome.stdout)
    assert all(c.isprintable() or c == "\n" for c in outcome.stderr)


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_the_documents_that_are_damaged_are_good(document: Any) -> None:
    assert compiled(data(document), files=FILES).objects
    for overlay in OVERLAYS:
        assert not [
            d
            for d in compiled(b"name: [", [json.dumps(overlay)]).diagnostics
            if d.span and "overlays" in d.span.file
        ]

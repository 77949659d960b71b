from __future__ import annotations

import pytest

from tau_compile.schema import store
from tau_compile.schema.check import check
from tests.schema.documents import parse

HEAD = "schema_version: 1\nname: a\n"


def _hint(text: str, schema: str = "tau.schema.json") -> str:
    """The hint for the one unknown key of ``text``."""
    (hint,) = [
        said.hint
        for said in check(parse(text), store.prepared(schema), file_kind="x").diagnostics
        if said.id == "TAU201"
    ]
    return hint


@pytest.mark.parametrize(
    "text, hint",
    [
        ("comput: {gpus: 1}", "did you mean `compute`?"),
        ("compute: {gpu: 1}", "did you mean `compute.gpus`?"),
        ("runtime: {workingDir: /a}", "did you mean `runtime.working_dir`?"),
        (
            "storage: {mounts: [{name: a, mountPath: /a, pvc: a, readonly: true}]}",
            "did you mean `storage.mounts[0].readOnly`?",
        ),
        ("workers: 4", "it belongs under `compute`: `compute.workers`"),
        ("runtime: {cpus: 4}", "it belongs under `compute`: `compute.cpus`"),
        ("compute: {nodes: 2}", "it belongs under `execution`: `execution.nodes`"),
        ("env: {A: b}", "it belongs under `runtime`: `runtime.env`"),
        ("run: {schema_version: 1}", "it belongs at the top level: `schema_version`"),
        (
            "compute: {gpus_per_worker: 1}",
            "it belongs to the other form of this file; here, write `compute.gpus`",
        ),
        ("image: x", "it belongs to the other form of this file; here, write `runtime.image`"),
        ("resources: {cpus: 8, memory: 4Gi}", "did you mean `compute`?"),
        ("resilience: {retries: 3}", "did you mean `resilience.max_retries`?"),
        (
            "resilience: {backoff: 3s}",
            "did you mean `resilience.backoff_initial` or `resilience.backoff_max`?",
        ),
        ("cpu: 4", "did you mean `compute.cpus`?"),
        ("policy: {prioritytier: default}", "did you mean `policy.priority_tier`?"),
        ("run: {source: {image: x, path: /x, zzzzz: 1}}", "known keys here: `image` and `path`"),
    ],
)
def test_canonical(text: str, hint: str) -> None:
    assert _hint(HEAD + text) == hint


def test_keys_that_lead_nowhere_are_not_listed() -> None:
    hint = _hint(HEAD + "kind: Job")
    assert hint.startswith("known keys here: `schema_version`, `name`, `run`, ")
    assert "eval" not in hint  # every key below it is refused


def test_direct() -> None:
    text = "name: a\nengine: rayjob\ncompute: {cpus: 4}\n"
    assert _hint(text) == "it belongs to the other form of this file; here, write `compute.cpu_request`"


def test_overlay() -> None:
    text = "apiVersion: tau-compile/v1\nkind: Workspace\nmetadata: {name: a}\nqueue: q\n"
    assert (
        _hint(text + "gpus: 1\n", "workspace.schema.json")
        == "it belongs under `defaults.compute` or `enforce.compute`: `defaults.compute.gpus` or `enforce.compute.gpus`"
    )
    assert _hint(text + "output_root: /a\n", "workspace.schema.json") == "did you mean `outputRoot`?"


def test_refused_and_renamed_keys_are_never_suggested() -> None:
    assert "preset" not in _hint(HEAD + "policy: {presett: x}")
    assert "title" not in _hint(HEAD + "experiment: {titel: x}")


def test_very_long_keys_are_not_compared() -> None:
    assert _hint(HEAD + "x" * 300 + ": 1\n") == "remove it"

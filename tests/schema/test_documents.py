"""The packaged schemas: complete, consistent, and judged as the reference judges them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.codes import CODES
from tau_compile.data import locate
from tau_compile.schema import fast, store
from tau_compile.schema.document import Document
from tau_compile.schema.faults import faults
from tau_compile.schema.keywords import subschemas
from tau_compile.schema.known import index
from tau_compile.schema.shape import build
from tests.schema.documents import ALL, damaged, data
from tests.schema.strategies import reference
from tests.schemas.manifests import good

ROOT = Path(locate("schemas"))
OURS = sorted(path.name for path in ROOT.glob("*.schema.json"))
KUBERNETES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("kubernetes/*/*.json"))
VOCABULARY = {
    "x-tau-canonical": str,
    "x-tau-engines": list,
    "x-tau-expects": str,
    "x-tau-fold": bool,
    "x-tau-forbidden": list,
    "x-tau-hint": str,
    "x-tau-refused": dict,
    "x-tau-renamed": str,
    "x-tau-sensitive": bool,
    "x-tau-spelling": str,
}
NEIGHBOURS = {"tau.schema.json": store.load("tau.schema.json")}


def _parts(schema: Any) -> Any:
    if isinstance(schema, dict):
        yield schema
        for inner in subschemas(schema):
            yield from _parts(inner)


def _same(schema: str, value: Any) -> None:
    document = store.document(schema)
    verdict = fast.check(document.root, document)(value)
    assert verdict is bool(reference(document.root, NEIGHBOURS).is_valid(value))
    assert verdict is (next(faults(document.root, document, value), None) is None)


@pytest.mark.parametrize("name", OURS + KUBERNETES)
def test_every_keyword_is_implemented(name: str) -> None:
    document = store.document(name)
    fast.audit(document.root, document)


@pytest.mark.parametrize("name", OURS)
def test_custom_keywords_are_known_and_lead_somewhere(name: str) -> None:
    document = store.document(name)
    known = {
        ".".join(path)
        for path in (*index(document.root, document).here, *index(document.root, document).other)
    }
    for part in _parts(document.root):
        build(part, document)  # refuses a text that has bounds of a number
        for keyword, value in part.items():
            if keyword.startswith("x-"):
                assert isinstance(value, VOCABULARY[keyword]), (keyword, value)
        assert part.get("x-tau-spelling", "keep") in ("keep", "resolve")
        assert set(part.get("x-tau-engines", ())) <= {"job", "rayjob"}
        for keyword in ("x-tau-canonical", "x-tau-renamed"):
            assert part.get(keyword) is None or part[keyword] in known, (keyword, part[keyword])
        if "x-tau-refused" in part:
            assert part["x-tau-refused"].keys() == {"id", "message", "hint"}


@pytest.mark.parametrize("name", OURS)
def test_refusals_use_registered_ids(name: str) -> None:
    used = {part["x-tau-refused"]["id"] for part in _parts(store.load(name)) if "x-tau-refused" in part}
    assert used <= CODES.keys()


@pytest.mark.parametrize("name", OURS)
def test_examples_and_defaults_are_valid(name: str) -> None:
    document = store.document(name)
    for part in _parts(document.root):
        for value in (*part.get("examples", ()), *([part["default"]] if "default" in part else ())):
            assert fast.check(part, document)(value), (part, value)


@pytest.mark.parametrize("label", ALL)
def test_good_documents_pass(label: str) -> None:
    _same(ALL[label][1], data(label))
    document = store.document(ALL[label][1])
    assert fast.check(document.root, document)(data(label))


@pytest.mark.parametrize("label", ALL)
def test_damaged_documents_are_judged_as_the_reference_does(label: str) -> None:
    base, schema = data(label), ALL[label][1]

    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def run(draw: st.DataObject) -> None:
        _same(schema, draw.draw(damaged(base)))

    run()


@pytest.mark.parametrize("label", ["job/Job", "rayjob/RayJob", "kueue/ClusterQueue", "indexed-job/Service"])
def test_damaged_objects_are_judged_as_the_reference_does(label: str) -> None:
    base = good()[label]
    schema = store.kubernetes_name(base["apiVersion"], base["kind"])
    assert schema
    _same(schema, base)

    @settings(max_examples=40, deadline=None)
    @given(st.data())
    def run(draw: st.DataObject) -> None:
        _same(schema, draw.draw(damaged(base)))

    run()


def test_a_kubernetes_schema_is_found_by_its_names() -> None:
    job = store.kubernetes("batch/v1", "Job")
    assert job is not None
    assert job == json.loads((ROOT / "kubernetes/batch/job_v1.json").read_text(encoding="utf-8"))
    assert store.kubernetes("v1", "ConfigMap") is not None
    for names in [
        ("batch/v1", "Jobs"),
        ("batch/v2", "Job"),
        ("../x/v1", "Job"),
        ("v1", "../../v1/configmap"),
        ("", ""),
    ]:
        assert store.kubernetes(*names) is None


def test_definitions_can_be_checked_alone() -> None:
    ready = store.prepared("tau.schema.json#/$defs/naming")
    assert ready.verdict({"prefix": "tau"})
    assert not ready.verdict({"prefix": "TAU"})
    assert isinstance(ready.document, Document)

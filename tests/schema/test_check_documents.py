"""Whole documents, good and damaged, through `check`."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.codes import CODES
from tau_compile.schema import store
from tau_compile.schema.check import Checked, check
from tau_compile.source.reader import read
from tests.schema.documents import ALL, CANONICAL, DIRECT, damaged, data, parse, written
from tests.schema.strategies import reference

if TYPE_CHECKING:
    from tau_compile.diagnostics import Diagnostic


def _check(text: str, schema: str = "tau.schema.json") -> Checked:
    return check(parse(text), store.prepared(schema), file_kind="tau.yaml")


@pytest.mark.parametrize("label", ALL)
def test_good_documents_have_nothing_said_about_them(label: str) -> None:
    text, schema = ALL[label]
    assert _check(text, schema) == Checked(data(label), ())


def test_the_data_of_both_forms() -> None:
    canonical = _check(CANONICAL).data
    assert canonical["compute"]["cpus"] == "64"
    assert canonical["compute"]["worker_cpus"] == "1.10"
    assert canonical["compute"]["gpus"] == 8
    assert canonical["runtime"]["env"] == {
        "NCCL_DEBUG": "INFO",
        "LEADING": "010",
        "FLAG": "yes",
        "FLOAT": "1e3",
    }
    assert canonical["execution"]["configs"] == {"lr": [0.001, 1e-4], "batch": 32, "tag": "010"}
    assert canonical["resilience"]["retry_on"] == ["Preempted", "Evicted"]
    direct = _check(DIRECT).data
    assert direct["engine"] == "job"
    assert direct["runtime"]["env"][0] == {"name": "A", "value": "1.10"}
    assert direct["profiler"]["rank"] == "0"


def test_a_file_full_of_mistakes_is_answered_briefly() -> None:
    count = 1000
    text = (
        "".join(f"unknown{i}: 1\n" for i in range(count))
        + "runtime:\n  env:\n"
        + "".join(f"    A{i}:\n" for i in range(count))
    )
    said = _check(text).diagnostics
    assert 200 <= len(said) <= 400


def test_a_document_of_the_wrong_kind() -> None:
    for text in ("just text\n", "[1, 2]\n", "12\n"):
        (said,) = _check(text).diagnostics
        assert (said.id, said.message.split(",")[0]) == ("TAU202", "the document must be a mapping")


def _errors(said: tuple[Diagnostic, ...]) -> list[Diagnostic]:
    return [one for one in said if one.severity == "error"]


@pytest.mark.parametrize("label", ALL)
def test_damaged_documents_are_refused_exactly_when_the_reference_refuses_them(label: str) -> None:
    base, schema = data(label), ALL[label][1]
    validator = reference(store.load(schema), {"tau.schema.json": store.load("tau.schema.json")})

    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def run(draw: st.DataObject) -> None:
        text = written(draw.draw(damaged(base)))
        node = read(text.encode(), "f.yaml").node
        if node is None:
            return
        checked = check(node, store.prepared(schema), file_kind=label)
        before_schema = {"TAU140", "TAU141", "TAU206"} | {
            said.id for said in checked.diagnostics if said.id > "TAU219"
        }
        errors = [one for one in _errors(checked.diagnostics) if one.id not in before_schema]
        if not _errors(checked.diagnostics):
            assert validator.is_valid(checked.data)
        elif errors:
            assert not validator.is_valid(checked.data)
        for said in checked.diagnostics:
            assert said.id in CODES
            assert said.span
            assert (1, 1) <= said.span[1:3] <= said.span[3:5] <= (text.count("\n") + 1, 10**4)
            assert "given schemas" not in said.message

    run()


def test_checking_a_good_document_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from tau_compile.source.reader import read\n"
        "from tau_compile.schema import store\n"
        "from tau_compile.schema.check import check\n"
        f"done = check(read({CANONICAL.encode()!r}, 'f').node, store.tau(), file_kind='tau.yaml')\n"
        "assert done.diagnostics == (), done\n"
        "print(*sorted(sys.modules))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    unwanted = {
        "jsonschema",
        "decimal",
        "logging",
        "importlib.metadata",
        "ruamel",
        "tau_compile.schema.report",
    }
    assert loaded & unwanted == set()
    assert "tau_compile.schema.check" in loaded

"""Run records: their file, their schema, and what is refused of them."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tau_compile.runs.lineage import follows, latest, may_become
from tau_compile.runs.record import Ended, Record, from_json, restated, to_json
from tau_compile.schema import store
from tests.runs.records import DIGEST, ended, hostile, record, records

SCHEMA = store.load("run-record.schema.json")
VALID = Draft202012Validator(SCHEMA)
# Written as escapes besides what JSON wants: what drives a terminal, turns text round or hides.
UNSAFE = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\uffff]"
)


def body(made: Record) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(to_json(made))
    return found


def read(data: dict[str, Any], path: str = "") -> Record | None:
    place = path or f"runs/{data.get('workspace')}/{data.get('run')}.json"
    return from_json(json.dumps(data).encode(), place).record


@given(records())
@settings(max_examples=200)
def test_every_record_written_is_valid_and_read_back(made: Record) -> None:
    text = to_json(made)
    assert [problem.message for problem in VALID.iter_errors(json.loads(text))] == []
    data = text.encode("utf-8")
    assert from_json(data, made.path) == (made, ())
    assert from_json(data.replace(b"\n", b"\r\n"), made.path).record == made
    brief = from_json(data, made.path, brief=True).record
    assert brief == made._replace(origins={})
    assert "\u2028" not in text
    assert "\x7f" not in text


@given(records())
@settings(max_examples=100)
def test_the_text_is_that_of_any_json_writer(made: Record) -> None:
    data = made._asdict()
    data["evidence"] = made.evidence._asdict() if made.evidence else None
    optional = ("supersedes", "evidence", "waivers")
    data = {name: value for name, value in data.items() if value or name not in optional}
    text = json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert re.sub(r"\\u[0-9a-f]{4}", "?", to_json(made)) == UNSAFE.sub(
        "?", re.sub(r"\\u[0-9a-f]{4}", "?", text)
    )


@given(made=records(), where=st.data(), value=hostile())
@settings(max_examples=400)
def test_the_reader_refuses_what_the_schema_refuses(made: Record, where: st.DataObject, value: Any) -> None:
    data = body(made)
    fields = sorted(SCHEMA["properties"])
    field = where.draw(st.sampled_from([*fields, "unknown"]))
    inner = data.get(field)
    if isinstance(inner, dict) and inner and field != "resolved" and where.draw(st.booleans()):
        key = where.draw(st.sampled_from(sorted(inner)))
        data[field] = {**inner, key: value}
    elif where.draw(st.booleans()):
        data.pop(field, None)
    else:
        data[field] = value
    found = read(data)
    if not VALID.is_valid(data):
        assert found is None
    elif found is None:  # only what no schema can say
        assert data["run"] != f"{data['name']}-{data['digest'][:8]}"


def test_every_field_is_described() -> None:
    def undescribed(schema: dict[str, Any], path: str) -> list[str]:
        found = []
        for name, inner in schema.get("properties", {}).items():
            here = f"{path}{name}"
            found += [] if inner.get("description") else [here]
            found += undescribed(inner, f"{here}.")
        return found

    assert undescribed(SCHEMA, "") == []
    assert set(SCHEMA["properties"]) == set(Record._fields)
    assert set(SCHEMA["required"]) == set(Record._fields) - {"supersedes", "evidence", "waivers"}
    assert set(SCHEMA["properties"]["evidence"]["properties"]) == set(Ended._fields)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "is not JSON: Expecting value"),
        (b"\xff", "is not JSON"),
        (b"[" * 100_000, "is not JSON: it is nested too deeply"),
        (b"[]", "is not a JSON object"),
        (b"{}", "is of version None, and this tau-compile knows version 1"),
        (b'{"version": 2}', "is of version 2"),
        (b'{"version": true}', "is of version True"),
        (b"{\n<<<<<<< HEAD\n", "has a merge conflict"),
    ],
)
def test_what_is_no_record(text: bytes, why: str) -> None:
    parsed = from_json(text, "runs/vision/train.json")
    assert parsed.record is None
    (said,) = parsed.diagnostics
    assert said.id == "TAU731"
    assert said.message.startswith(f"the run record {why}")
    assert "`git checkout BASE -- runs/vision/train.json`" in said.hint


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"state": "running"}, "has no valid `state`"),
        ({"attempt": 0}, "has no valid `attempt`"),
        ({"attempt": True}, "has no valid `attempt`"),
        ({"gpus": "2"}, "has no valid `gpus`"),
        ({"cluster": "../x"}, "has no valid `cluster`"),
        ({"manifests": {"../x.yaml": f"sha256:{DIGEST}"}}, "has no valid `manifests`"),
        ({"manifests": {}}, "is active and has no manifests"),
        ({"state": "cancelled"}, "is cancelled and has manifests"),
        ({"state": "retired", "manifests": {}}, "has no valid `evidence`"),
        (
            {"evidence": {"state": "succeeded", "digest": f"sha256:{DIGEST}", "path": "x"}},
            "has no valid `evidence`",
        ),
        ({"note": "mine"}, "has a field `note`, which this tau-compile does not know"),
        ({"digest": "00" * 32}, "has a `run` that is not its name and the head of its digest"),
        ({"source": "/x"}, "has no valid `source`"),
        ({"supersedes": ""}, "has no valid `supersedes`"),
    ],
)
def test_what_is_wrong_with_a_record(changes: dict[str, Any], why: str) -> None:
    data = body(record()) | changes
    (said,) = from_json(json.dumps(data).encode(), record().path).diagnostics
    assert said.message == f"the run record {why}"


def test_a_record_lies_where_it_says() -> None:
    (said,) = from_json(to_json(record()).encode(), "runs/speech/train-abababab.json").diagnostics
    assert said.message == "the run record says that it is runs/vision/train-abababab.json"


@given(records())
@settings(max_examples=100)
def test_a_change_of_state_changes_nothing_else(made: Record) -> None:
    if made.state != "active":
        return
    data = to_json(made).encode()
    for after in (made.cancelled(), ended(made)):
        brief = from_json(data, made.path, brief=True).record
        assert brief is not None
        changed = brief.cancelled() if after.state == "cancelled" else ended(brief)
        assert restated(data, changed) == to_json(after)
        assert may_become(made, after)
        assert not may_become(after, made)
        assert may_become(after, after)
    assert not may_become(made.cancelled(), ended(made))
    assert not may_become(ended(made), ended(made, "failed"))
    assert not may_become(made, made._replace(state="adopted", manifests={}))
    assert not may_become(made, made.cancelled()._replace(gpus=made.gpus + 1))


def test_lineage() -> None:
    first = record("a", "01" * 32)
    second = record("a", "02" * 32, supersedes=first.run)
    beside = record("a", "03" * 32, supersedes=first.run)
    again = record("a", "04" * 32, supersedes=second.run, attempt=2)
    assert follows([]) == ""
    assert latest([first, second]) == [second]
    assert latest([beside, second, first]) == [second, beside]
    assert follows([first, second, beside]) == beside.run
    assert follows([first, second, beside, again]) == again.run
    for state in (first.cancelled(), ended(first)):
        assert follows([state, copy.copy(second)]) == second.run

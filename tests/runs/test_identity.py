from __future__ import annotations

import copy
import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.runs.identity import DROPPED, IDENTITY, QUANTITIES, SYNONYMS, intent_digest, project, run_id
from tau_compile.workload.code import CodeFile
from tests.support.tools import ROOT

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "identity_vectors.json").read_text("utf-8")
)


def shipped(files: list[list[Any]]) -> list[CodeFile]:
    return [CodeFile(path, executable, text.encode()) for path, executable, text in files]


def digest(canonical: dict[str, Any], *files: CodeFile) -> str:
    return intent_digest(project(canonical), files)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: str(v["what"]))
def test_vectors(vector: dict[str, Any]) -> None:
    assert digest(vector["canonical"], *shipped(vector["files"])) == vector["digest"]


def test_vectors_are_enough_and_say_what_they_share() -> None:
    assert IDENTITY == 1
    assert len(VECTORS) >= 12
    by_name = {v["what"]: v["digest"] for v in VECTORS}
    assert len(by_name) == len(VECTORS)
    for vector in VECTORS:
        if other := vector.get("same as"):
            assert vector["digest"] == by_name[other]
    different = [v["digest"] for v in VECTORS if "same as" not in v]
    assert len(set(different)) == len(different)


def test_the_published_page_and_the_vectors_it_leads_to() -> None:
    """Whoever follows the page with nothing but a JSON library and sha256 gets the digests."""
    page = ROOT / "docs" / "reference" / "run-identity.md"
    text = page.read_text("utf-8")
    (link,) = re.findall(r"\]\((\.\./[^)#]*vectors\.json)\)", text)
    assert (page.parent / link).resolve() == Path(__file__).parent / "identity_vectors.json"
    assert all(f"| `{key}` |" in text for key in DROPPED)
    assert all(f"`{key}`" in text for key in QUANTITIES)
    assert "the line `tau-compile identity 1`, a line feed, and that text" in text
    plain = [v for v in VECTORS if v["what"] in ("nothing at all", "three files", "no code", "letters")]
    assert len(plain) == 4
    for vector in plain:
        intent = {key: value for key, value in vector["canonical"].items() if key != "schema_version"}
        for key, amount in (("cpus", "16"), ("memory", str(64 << 30))):
            if "compute" in intent:
                intent["compute"] = intent["compute"] | {key: amount}
        code = sorted(
            [path, bit, hashlib.sha256(data.encode()).hexdigest()] for path, bit, data in vector["files"]
        )
        document = {"intent": intent, "code": code}
        line = json.dumps(document, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        assert hashlib.sha256(f"tau-compile identity 1\n{line}".encode()).hexdigest() == vector["digest"]


def test_the_documented_text_by_hand() -> None:
    canonical = {
        "name": "é",
        "compute": {"memory": "64Gi", "cpus": 0.5},
        "run": {"entrypoint": 'a"b\n\x1f\x7f'},
    }
    content = hashlib.sha256(b"x").hexdigest()
    text = (
        '{"code":[["a.py",false,"' + content + '"],["b.sh",true,"' + content + '"]],'
        '"intent":{"compute":{"cpus":"500000000n","memory":"68719476736"},"name":"é",'
        '"run":{"entrypoint":"a\\"b\\n\\u001f\x7f"}}}'
    )
    expected = hashlib.sha256(b"tau-compile identity 1\n" + text.encode()).hexdigest()
    files = [CodeFile("b.sh", True, b"x", "elsewhere"), CodeFile("a.py", False, b"x")]
    assert digest(canonical, *files) == expected
    assert run_id("train", expected) == f"train-{expected[:8]}"


def test_no_code_is_an_empty_list() -> None:
    assert digest({}) == hashlib.sha256(b'tau-compile identity 1\n{"code":[],"intent":{}}').hexdigest()


BASE: dict[str, Any] = {
    "schema_version": 1,
    "name": "train",
    "run": {"entrypoint": "train.py", "workload_kind": "rayjob", "attempt": 2},
    "compute": {"gpus": 1, "cpus": "16", "memory": "64Gi"},
    "runtime": {"pip": ["torch", "numpy"], "env": {"A": "1", "B": "x"}, "rdma": {"shm_size": "1Gi"}},
    "execution": {"configs": {"lr": [1e-4, 1], "deep": {"a": None, "b": {}}}},
    "policy": {"queue": "q", "node_selector": {"zone": "a"}},
    "storage": {"mounts": [{"name": "m", "pvc": "p", "mountPath": "/m"}]},
}
FILES = (CodeFile("train.py", False, b"1"), CodeFile("u.py", False, b"2"))


def changed(path: str, value: Any) -> dict[str, Any]:
    data = copy.deepcopy(BASE)
    *above, last = path.split(".")
    place = data
    for name in above:
        place = place.setdefault(name, {})
    place[last] = value
    return data


@pytest.mark.parametrize("path", sorted(DROPPED))
def test_keys_that_say_how(path: str) -> None:
    for value in ("x", 3, ["a"], {"a": {"b": 1}}):
        assert digest(changed(path, value), *FILES) == digest(BASE, *FILES)


def test_dropped_keys_are_whole_paths() -> None:
    for path in ("policy.priority_tiers", "xresilience", "run.model", "modelx", "compute.priority"):
        assert digest(changed(path, "x")) != digest(BASE)


@pytest.mark.parametrize("path", sorted(QUANTITIES))
def test_quantities_by_amount(path: str) -> None:
    for same in (["64Gi", "65536Mi", "68719476736", 68719476736, "64.0Gi"], ["500m", "0.5", 0.5, ".5", "5e-1"],
                 ["1G", "1000M", 1e9, "1000000000"], ["16", 16, 16.0, "16.0"]):  # fmt: skip
        assert len({digest(changed(path, value)) for value in same}) == 1, same
    assert len({digest(changed(path, value)) for value in ("1Gi", "1G", "64GB", "64 GB", "x", True)}) == 6


def test_quantities_only_where_they_are() -> None:
    for path in ("compute.mig_profile", "name", "runtime.rdma.resource_name", "runtime.shm_size"):
        assert digest(changed(path, "1k")) != digest(changed(path, "1000"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0), (0, -0.0), (1000, 1e3), (10**20, 1e20), (0.0001, 1e-4), (0.30000000000000004, 0.1 + 0.2),
        (math.inf, ".inf"), (-math.inf, "-.inf"), (math.nan, ".nan"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["execution.configs.x", "compute.gpus"])
def test_numbers_that_are_one(path: str, one: Any, other: Any) -> None:
    assert digest(changed(path, one)) == digest(changed(path, other))


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (0, False), (1, "1"), (1, 2), (0.1, 0.10000000000000002), (None, "")]
)
def test_values_that_are_not_one(one: Any, other: Any) -> None:
    path = "execution.configs.x"
    assert digest(changed(path, one)) != digest(changed(path, other))


@pytest.mark.parametrize("path", sorted(SYNONYMS))
def test_older_words(path: str) -> None:
    for old, new in SYNONYMS[path].items():
        assert digest(changed(path, old)) == digest(changed(path, new)) != digest(BASE)
        assert new not in SYNONYMS[path]
        assert digest(changed("policy.lane", old)) != digest(changed("policy.lane", new))
    assert len({digest(changed(path, new)) for new in SYNONYMS[path].values()}) == len(
        set(SYNONYMS[path].values())
    )


def test_older_words_are_those_of_the_compiler() -> None:
    from tau_compile.policy.profile import OLDER_PLACEMENTS

    # A word that grows old later is not one with its successor here: identity 1 is frozen.
    assert SYNONYMS["policy.topology"].items() <= OLDER_PLACEMENTS.items()


def test_env_has_one_form() -> None:
    as_map = {"A": "1", "B": "x y", "S": {"valueFrom": {"secretKeyRef": {"name": "n", "key": "k:2"}}}}
    as_list = [
        {"name": "S", "valueFrom": {"secretKeyRef": {"key": "k:2", "name": "n"}}},
        {"value": "x y", "name": "B"},
        {"name": "A", "value": "1"},
    ]
    runtimes = [
        {"env": as_map},
        {"env": as_list},
        {"env": {"B": "x y", "A": "1"}, "env_secret": {"S": "n:k:2"}},
        {"env": as_list[1:], "env_secret": {"S": "n:k:2"}},
        {"env": {**as_map, "A": 1}},
    ]
    assert len({digest({"runtime": runtime}) for runtime in runtimes}) == 1
    empties: list[dict[str, Any]] = [{}, {"env": {}}, {"env": []}, {"env_secret": {}}, {"env": None}]
    for empty in empties:
        assert digest({"runtime": empty}) == digest({})
    others = [
        {"A": "01"},
        {"A": "1.0"},
        {"a": "1"},
        {"A": "1", "B": ""},
        {"A": True},
        {"A": "True"},
        {"A": None},
    ]
    assert len({digest({"runtime": {"env": env}}) for env in others}) == len(others)


def test_empty_maps_say_nothing_and_empty_lists_do() -> None:
    for empty in ({}, None, {"a": {"b": None}}):
        assert digest({**BASE, "profiler": empty}) == digest(BASE)
    assert digest({**BASE, "metrics": {"history": []}}) != digest(BASE)
    # in the user's own tree everything counts
    assert digest(changed("execution.configs.deep", {"a": None})) != digest(BASE)
    assert digest(changed("execution.configs", {})) == digest(changed("execution", {}))


def test_lists_keep_their_order() -> None:
    assert digest(changed("runtime.pip", ["numpy", "torch"])) != digest(BASE)


def test_code_counts_by_path_bit_and_content() -> None:
    train, u = FILES
    assert digest(BASE, u, train) == digest(BASE, train, u)
    edits = [
        (train,),
        (train, CodeFile("v.py", False, b"2")),
        (train, CodeFile("u.py", True, b"2")),
        (train, CodeFile("u.py", False, b"3")),
        (CodeFile("train.py", False, b"2"), CodeFile("u.py", False, b"1")),
    ]
    assert len({digest(BASE, *files) for files in [FILES, *edits]}) == 6


def test_a_lone_surrogate_is_no_traceback() -> None:
    assert len(digest({"name": "\ud800"})) == 64


# --- any edit of intent gives another digest, any other edit does not

_SCALAR = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=4),
)
_KEY = st.sampled_from(["a", "b", "é", "x.y", ""])
_TREE = st.recursive(
    _SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEY, inner, max_size=3),
    max_leaves=8,
)


def essence(value: Any) -> Any:
    """Equal exactly when two values mean the same in `execution.configs`: types apart, 1 and 1.0 are one."""
    if isinstance(value, dict):
        return ("map", tuple(sorted((k, essence(v)) for k, v in value.items())))
    if isinstance(value, list):
        return ("list", tuple(map(essence, value)))
    kind = (
        "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__
    )
    return (kind, value)


@given(_TREE, _TREE)
@settings(deadline=None, max_examples=300)
def test_configs_are_told_apart(one: Any, other: Any) -> None:
    a, b = ({"execution": {"configs": {"k": value}}} for value in (one, other))
    assert (digest(a) == digest(b)) == (
        repr(essence(one)) == repr(essence(other)) or essence(one) == essence(other)
    )


def shuffled(value: Any, draw: Any) -> Any:
    if isinstance(value, dict):
        return {key: shuffled(value[key], draw) for key in draw(st.permutations(sorted(value)))}
    if isinstance(value, float | int) and not isinstance(value, bool):
        return draw(st.sampled_from([value, float(value) if abs(value) < 2**53 else value]))
    return [shuffled(item, draw) for item in value] if isinstance(value, list) else value


@given(st.data())
@settings(deadline=None, max_examples=100)
def test_spelling_does_not_matter(data: st.DataObject) -> None:
    draw = data.draw
    again = shuffled(BASE, draw)
    again["compute"]["memory"] = draw(st.sampled_from(["64Gi", "65536Mi", "67108864Ki", 68719476736]))
    again["compute"]["cpus"] = draw(st.sampled_from(["16", "16000m", 16, 16.0]))
    if draw(st.booleans()):
        again["runtime"]["env"] = [
            {"name": n, "value": v} for n, v in draw(st.permutations(sorted(BASE["runtime"]["env"].items())))
        ]
    for path in draw(st.sets(st.sampled_from(sorted(DROPPED)))):
        section, _, key = path.partition(".")
        if key:
            again.setdefault(section, {})[key] = draw(_SCALAR)
        else:
            again[section] = draw(_SCALAR)
    files = draw(st.permutations(FILES))
    assert digest(again, *files) == digest(BASE, *FILES)


_LEAVES = ["name", "run.entrypoint", "run.attempt", "compute.gpus", "compute.cpus", "compute.memory", "runtime.pip",
           "runtime.env.A", "runtime.env.C", "execution.configs.lr", "policy.queue", "policy.node_selector.zone",
           "storage.mounts", "policy.gpu_class", "new.key"]  # fmt: skip


@settings(deadline=None)
@given(st.sampled_from(_LEAVES), st.text("abc", min_size=1, max_size=3))
def test_any_edit_of_intent_is_another_run(path: str, value: str) -> None:
    assert digest(changed(path, f"edited {value}"), *FILES) != digest(BASE, *FILES)


@settings(deadline=None)
@given(st.dictionaries(st.text("ab/", min_size=1), st.tuples(st.booleans(), st.binary(max_size=4)), max_size=3),
       st.dictionaries(st.text("ab/", min_size=1), st.tuples(st.booleans(), st.binary(max_size=4)), max_size=3))  # fmt: skip
def test_any_edit_of_code_is_another_run(
    one: dict[str, tuple[bool, bytes]], other: dict[str, tuple[bool, bytes]]
) -> None:
    digests = [digest(BASE, *(CodeFile(p, x, c) for p, (x, c) in files.items())) for files in (one, other)]
    assert (digests[0] == digests[1]) == (one == other)


def test_the_projection_is_left_unchanged_by_itself() -> None:
    before = copy.deepcopy(BASE)
    projection = project(BASE)
    assert before == BASE
    assert json.loads(json.dumps(projection)) == projection
    assert digest(BASE) == intent_digest(projection, ())


def test_the_first_attempt_is_the_same_written_or_not() -> None:
    plain = {"name": "a", "run": {"entrypoint": "train.py"}}
    first = {"name": "a", "run": {"entrypoint": "train.py", "attempt": 1}}
    second = {"name": "a", "run": {"entrypoint": "train.py", "attempt": 2}}
    digests = [intent_digest(project(one), ()) for one in (plain, first, second)]
    assert digests[0] == digests[1] != digests[2]

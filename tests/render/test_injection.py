"""Hostile text in every field that takes text: it is refused, or it arrives whole, and nothing else of the output changes.

The fields are found in ``schemas/tau.schema.json``, so that a new one is attacked as soon as it is there.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tau_compile.emit.yaml import dump_all
from tau_compile.source.scalars import plain_data
from tests.support.compiling import IMAGE, RAY, compiled, pods
from tests.support.tools import ROOT
from tests.support.trees import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

DIGEST = "@sha256:" + "0123456789abcdef" * 4
HOSTILE = [
    "a\nb: c",
    "a\n---\nkind: Pod\n",
    "a\r\nb",
    "a: b",
    "a #b",
    "- a",
    "'\"'\"",
    "'; rm -rf / #",
    "{{ run.id }}",
    "{% for x in run %}{{ x }}{% endfor %}",
    "{# c #}",
    "<tau-value-0>",
    "<tau-value-999999999>",
    "$(HOME)",
    "$(date)",
    "${HOME}",
    "`id`",
    "$$",
    "|",
    ">",
    "&a",
    "*a",
    "!!python/object/apply:os.system [id]",
    "%YAML 1.1",
    "---",
    "...",
    "? a",
    "<<",
    "=",
    "yes",
    "010",
    "1e3",
    "null",
    "~",
    "",
    " ",
    "\t",
    "\u2028",
    "\x85",
    "\ufeff",
    "\x1b[31m",
    "\x7f",
    "\x9b2J",
    "\u202ea",
    "\U0001f600",
    "é\u0301",
    "\ufffe",
    "\x00",
    "\\",
    "\\n\\x41",
    "a" * 1000,
    "../../etc/passwd",
    "/etc/passwd",
    "-rf",
    "--flag=x",
]

# Documents in which as many fields as possible have a value; every text of them is attacked in turn.
JOB: dict[str, Any] = {
    "schema_version": 1,
    "name": "train",
    "resource_naming": {"prefix": "team"},
    "run": {"entrypoint": "train.py", "working_dir": ".", "working_dir_excludes": ["*.bin"], "max_duration": "1h"},
    "runtime": {
        "image": IMAGE,
        "pip": ["torch"],
        "env": {"A": "x"},
        "env_secret": {"B": "secret:key"},
        "rdma": {"enabled": True, "resource_name": "rdma/hca", "shm_size": "1Gi"},
    },
    "compute": {"gpus": 1, "cpus": "8", "memory": "64Gi", "cpu_limit": "9", "memory_limit": "65Gi"},
    "policy": {"node_selector": {"zone": "a"}, "team": "t", "workspace": "taugrid-default", "namespace": "taugrid-default", "queue": "jobqueue"},
    "storage": {
        "data_pvc": "claim",
        "output": "/data/out",
        "mounts": [{"name": "sets", "mountPath": "/sets", "pvc": "sets"}],
        "image_assets": [{"name": "tok", "image": f"ghcr.io/t/tok{DIGEST}", "source_path": "/tok", "mount_path": "/tok"}],
    },
    "execution": {"launcher": "python", "configs": {"flag": "value"}},
    "resilience": {"max_retries": 1, "checkpoint_path": "/data/c", "backoff_initial": "1s", "backoff_max": "2s"},
    "profiler": {"mode": "nsys", "rank": "0", "warmup": "1s", "duration": "2s"},
    "metrics": {"history": ["m.jsonl"]},
    "experiment": {"project": "p", "name": "n", "group": "g"},
    "research": {"experiment": "n"},
    "model": {"name": "m", "base": "b", "task": "t", "tags": ["x"], "primary_metric": "loss"},
    "artifacts": {"checkpoint": "last"},
    "workflow": {"extra_scripts": ["lib/util.py:util.py"], "upstream_checkpoint": "/data/up"},
}
RAYJOB = {
    **JOB,
    "run": {**JOB["run"], "workload_kind": "rayjob"},
    "runtime": {**JOB["runtime"], "image": RAY},
    "compute": {"gpus": 1, "worker_cpus": "8", "worker_memory": "64Gi", "head_cpus": "1", "head_memory": "4Gi"},
    "execution": {"launcher": "ray-tune", "metric": "loss", "configs": {"lr": ["a"]}},
    "profiler": {"mode": "nsys"},
}
SOURCE = {
    "schema_version": 1,
    "name": "train",
    "run": {"entrypoint": "train.py", "source": {"image": f"ghcr.io/t/code{DIGEST}", "path": "/src"}},
    "runtime": {"image": IMAGE},
}
PLAIN = {
    "schema_version": 1,
    "name": "train",
    "runtime": {"image": IMAGE, "working_dir": "/opt/x", "env": [{"name": "A", "value": "x"}, {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]},
    "execution": {"configs": {"flag": "value"}},
}
DIRECT = {
    "name": "train",
    "engine": "job",
    "script": "train.py",
    "image": IMAGE,
    "compute": {"gpus": 1, "cpu_request": "8", "memory_request": "64Gi"},
    "storage": {"volumes": ["sets=pvc:sets"], "mounts": ["sets:/sets:ro"], "output": "/sets/x"},
    "experiment": {"title": "t"},
}
DIRECT["storage"] = {"volumes": ["sets=pvc:sets"], "mounts": ["sets:/sets"], "output": "/sets/x", "checkpoint": "last"}
DOCUMENTS = {"job": JOB, "rayjob": RAYJOB, "source": SOURCE, "plain": PLAIN, "direct": DIRECT}
FILES = {"lib/util.py": b"x = 1\n", "weights.bin": b"\x00\x01"}


def texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all texts of a document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from texts(inner, (*path, place))
    elif isinstance(value, str):
        yield path


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The document with another value at a path."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


def written(document: Any) -> bytes:
    """A document as YAML that any text survives."""
    text = json.dumps(document, ensure_ascii=False)
    return "".join(c if c.isprintable() or c == " " else f"\\u{ord(c):04x}" for c in text).encode()


def shape(value: Any) -> Any:
    """Keys and types: everything but the words themselves."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else type(value).__name__


def check_text(objects: tuple[dict[str, Any], ...]) -> None:
    """What comes out, printed and read again by a reader that knows nothing of us, is the same."""
    light = [
        {**made, "data": {k: v for k, v in made["data"].items() if not k.endswith(".sh")}} if "data" in made else made
        for made in objects
    ]  # our own scripts would cost most of the time
    assert list(yaml.load_all(dump_all(light), getattr(yaml, "CSafeLoader", yaml.SafeLoader))) == light


@cache
def benign(name: str) -> tuple[dict[str, Any], ...]:
    """What comes out of a document as it is."""
    return compiled(written(DOCUMENTS[name]), files=FILES).objects


CASES = [(name, path) for name, document in DOCUMENTS.items() for path in texts(document)]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_documents_are_good(name: str) -> None:
    result = compiled(written(DOCUMENTS[name]), files=FILES)
    assert not [d for d in result.diagnostics if d.severity == "error"], result.diagnostics
    check_text(result.objects)


def _id(part: Any) -> str:
    return part if isinstance(part, str) else ".".join(map(str, part))


@pytest.mark.parametrize("name, path", CASES, ids=_id)
def test_hostile_text_changes_nothing_but_itself(name: str, path: tuple[Any, ...]) -> None:
    attack(name, path, HOSTILE[CASES.index((name, path)) % 10 :: 10])


@pytest.mark.slow
@pytest.mark.parametrize("name, path", CASES, ids=_id)
def test_any_hostile_text_changes_nothing_but_itself(name: str, path: tuple[Any, ...]) -> None:
    attack(name, path, HOSTILE)


def attack(name: str, path: tuple[Any, ...], hostile: list[str]) -> None:
    document = DOCUMENTS[name]
    for text in hostile:
        result = compiled(written(changed(document, path, text)), files=FILES)
        if not result.objects:
            assert any(d.severity == "error" for d in result.diagnostics)
            continue
        check_text(result.objects)
        if not _moves(path):
            assert shape(_settled(result.objects)) == shape(_settled(benign(name))), text
        for made in result.objects:
            for pod in pods(made).values() if made["kind"] in ("Job", "RayJob") else ():
                _commands_are_ours(pod, made)


def _moves(path: tuple[Any, ...]) -> bool:
    """Fields whose value may decide what is rendered, and that is their purpose."""
    if path[:2] == ("runtime", "env") and path[-1] == "name":
        return True  # variables are sorted by name
    return path[-1] in ("entrypoint", "working_dir", "script", "launcher", "mode", "rank") or path[:2] in (
        ("run", "working_dir_excludes"),
        ("workflow", "extra_scripts"),
        ("execution", "configs"),
        ("policy", "team"),
        ("run", "workload_kind"),
        ("engine",),
    )


def _settled(objects: tuple[dict[str, Any], ...]) -> Any:
    """Objects in which the names of shipped files and of mounted paths do not count."""
    return [
        {**made, "data": {}, "binaryData": {}} if made["kind"] == "ConfigMap" else made for made in objects
    ]


def _commands_are_ours(pod: dict[str, Any], made: dict[str, Any]) -> None:
    """What is executed without our launcher is fixed, but for paths of images that stand as arguments of their own."""
    for container in pod["spec"]["containers"]:
        assert container.get("command", []) in ([], ["/bin/sh", "/tau/bin/run.sh"])
    for init in pod["spec"].get("initContainers", []):
        command = init["command"]
        assert command[:2] == ["/bin/cp", "-R"] or (command[:2] == ["/bin/sh", "-c"] and command[3].startswith("tau-"))
    if made["kind"] == "RayJob":
        assert made["spec"]["entrypoint"] == "sh /tau/bin/run.sh"


def fields(schema: Any, defs: Any, path: tuple[str, ...] = (), seen: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of all fields of a schema that take text of any kind; list items and free keys are `*`."""
    if not isinstance(schema, dict) or "x-tau-refused" in schema:
        return
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in seen:
            yield from fields({**defs[name], **{k: v for k, v in schema.items() if k != "$ref"}}, defs, path, (*seen, name))
        return
    kinds = schema.get("type", [])
    if "string" in ([kinds] if isinstance(kinds, str) else kinds) and "enum" not in schema:
        yield path
    for name, inner in schema.get("properties", {}).items():
        yield from fields(inner, defs, (*path, name), seen)
    yield from fields(schema.get("additionalProperties"), defs, (*path, "*"), seen)
    yield from fields(schema.get("items"), defs, (*path, "*"), seen)
    for part in schema.get("allOf", []):
        yield from fields(part, defs, path, seen)


# Other spellings of a field that is attacked, and fields that a Job and a RayJob do not have at the same time.
SPELLINGS = {
    ("run", "name"), ("run", "script"), ("run", "main_script"), ("run", "image"), ("workflow", "script"), ("workflow", "main_script"),
    ("storage", "result_pvc"), ("policy", "priority"), ("experiment", "title"), ("entrypoint",), ("storage", "checkpoint"),
}  # fmt: skip
ELSEWHERE = {
    ("policy", "profile"), ("policy", "gpu_class"), ("policy", "shape"), ("policy", "workload_priority_class"),
    ("policy", "pod_priority_class"), ("compute", "mig_profile"),
}  # fmt: skip


def test_every_field_that_takes_text_is_attacked() -> None:
    schema = json.loads((ROOT / "schemas" / "tau.schema.json").read_text())
    defs = schema["$defs"]
    attacked = {tuple("*" if isinstance(step, int) else step for step in path) for _, path in CASES}
    free = {("runtime", "env"), ("runtime", "env_secret"), ("policy", "node_selector"), ("execution", "configs")}
    attacked |= {(*path[:2], "*", *path[3:]) for path in attacked if path[:2] in free}
    sizes = {"cpus", "memory", "cpu_limit", "memory_limit"}
    missing = {
        path
        for form in ("canonical", "direct")
        for path in fields(defs[form], defs)
        if path not in attacked | SPELLINGS | ELSEWHERE
        and not (path[0] == "compute" and path[1].replace("head_", "").replace("worker_", "").replace("_request", "s") in {*sizes, "memorys"})
    }
    assert missing == set()


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(ELSEWHERE | SPELLINGS), ids=".".join)
def test_other_fields_refuse_or_take_it_whole(path: tuple[str, ...]) -> None:
    base = "name: train\nengine: job\ncompute: {gpus: 1}\n" if path == ("entrypoint",) else "schema_version: 1\nname: train\n"
    for text in HOSTILE:
        document: Any = plain_data(parse(base)) | {"runtime": {"image": IMAGE}, "storage": {"data_pvc": "c"}}
        section = document
        for step in path[:-1]:
            section = section.setdefault(step, {})
        section[path[-1]] = text
        _refused_or_whole(document)


@pytest.mark.parametrize("path", [("runtime", "env"), ("runtime", "env_secret"), ("execution", "configs"), ("policy", "node_selector")], ids=".".join)
def test_keys_are_text_too(path: tuple[str, str]) -> None:
    for text in HOSTILE:
        value = "s:k" if path[1] == "env_secret" else "x"
        section = {**SOURCE.get(path[0], {}), path[1]: {text: value}}  # type: ignore[dict-item]
        _refused_or_whole({**SOURCE, path[0]: section})


def _refused_or_whole(document: Any) -> None:
    result = compiled(written(document), files=FILES)
    assert result.objects or any(d.severity == "error" for d in result.diagnostics)
    check_text(result.objects)


def test_text_arrives_whole() -> None:
    """Where any text is allowed, the program gets exactly that text."""
    from tests.render.kubelet import expand

    for text in HOSTILE:
        result = compiled(written(changed(JOB, ("runtime", "env", "A"), text)), files=FILES)
        if "\x00" in text:
            assert [d.id for d in result.diagnostics if d.severity == "error"] == ["TAU253"]
            continue
        job = result.objects[-1]
        found = {v["name"]: v.get("value") for v in pods(job)["main"]["spec"]["containers"][0]["env"]}
        assert expand(found["A"], {"HOME": "!"}) == text
    assert plain_data(parse(written({"a": HOSTILE}).decode())) == {"a": HOSTILE}

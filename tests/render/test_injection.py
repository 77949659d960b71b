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
from tests.support.compiling import IMAGE, compiled, pods
from tests.support.tools import ROOT
from tests.support.trees import parse
from tests.support.workloads import DOCUMENTS, FILES, JOB, SOURCE, changed, texts, written

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def shape(value: Any) -> Any:
    """Keys and types: everything but the words themselves."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else type(value).__name__


def check_text(objects: tuple[dict[str, Any], ...]) -> None:
    """What comes out, printed and read again by a reader that knows nothing of us, is the same."""
    light = [
        {**made, "data": {k: v for k, v in made["data"].items() if not k.endswith(".sh")}}
        if "data" in made
        else made
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
        assert command[:2] == ["/bin/cp", "-R"] or (
            command[:2] == ["/bin/sh", "-c"] and command[3].startswith("tau-")
        )
    if made["kind"] == "RayJob":
        assert made["spec"]["entrypoint"] == "sh /tau/bin/run.sh"


def fields(
    schema: Any, defs: Any, path: tuple[str, ...] = (), seen: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    """The paths of all fields of a schema that take text of any kind; list items and free keys are `*`."""
    if not isinstance(schema, dict) or "x-tau-refused" in schema:
        return
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in seen:
            yield from fields(
                {**defs[name], **{k: v for k, v in schema.items() if k != "$ref"}}, defs, path, (*seen, name)
            )
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
    ("run", "name"), ("run", "script"), ("run", "main_script"), ("run", "image"), ("workflow", "script"),
    ("workflow", "main_script"),
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
    free = {
        ("runtime", "env"),
        ("runtime", "env_secret"),
        ("policy", "node_selector"),
        ("execution", "configs"),
    }
    attacked |= {(*path[:2], "*", *path[3:]) for path in attacked if path[:2] in free}
    sizes = {"cpus", "memory", "cpu_limit", "memory_limit"}
    missing = {
        path
        for form in ("canonical", "direct")
        for path in fields(defs[form], defs)
        if path not in attacked | SPELLINGS | ELSEWHERE
        and not (
            path[0] == "compute"
            and path[1].replace("head_", "").replace("worker_", "").replace("_request", "s")
            in {*sizes, "memorys"}
        )
    }
    assert missing == set()


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(ELSEWHERE | SPELLINGS), ids=".".join)
def test_other_fields_refuse_or_take_it_whole(path: tuple[str, ...]) -> None:
    base = (
        "name: train\nengine: job\ncompute: {gpus: 1}\n"
        if path == ("entrypoint",)
        else "schema_version: 1\nname: train\n"
    )
    for text in HOSTILE:
        document: Any = plain_data(parse(base)) | {"runtime": {"image": IMAGE}, "storage": {"data_pvc": "c"}}
        section = document
        for step in path[:-1]:
            section = section.setdefault(step, {})
        section[path[-1]] = text
        _refused_or_whole(document)


@pytest.mark.parametrize(
    "path",
    [("runtime", "env"), ("runtime", "env_secret"), ("execution", "configs"), ("policy", "node_selector")],
    ids=".".join,
)
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

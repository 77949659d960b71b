"""Nothing is dropped in silence: each leaf of an imported object is carried over, reported, or the server's own."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tau_compile.importing.job import import_job
from tau_compile.importing.kueue import import_kueue
from tau_compile.importing.ledger import NOISE, shown
from tau_compile.importing.taugrid import import_taugrid
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tau_compile.importing.result import Made

SAMPLES = ROOT / "tests" / "importing" / "samples"
Path = tuple[str | int, ...]
READERS: dict[str, Callable[[bytes], Made]] = {
    "job": lambda data: import_job([("in.yaml", data)]),
    "rayjob": lambda data: import_job([("in.yaml", data)]),
    "torchrun": lambda data: import_job([("in.yaml", data)]),
    "image-program": lambda data: import_job([("in.yaml", data)]),
    "kueue": lambda data: import_kueue([("in.yaml", data)], "east"),
    "kueue-v1beta2": lambda data: import_kueue([("in.yaml", data)], "east"),
    "taugrid": lambda data: import_taugrid([("in.yaml", data)]),
    "taugrid-managed": lambda data: import_taugrid([("in.yaml", data)]),
}
# Beside what servers write into every object: what only says which object it is, or what a controller made of it.
MORE_NOISE = re.compile(
    r"spec\.suspend"  # Kueue starts and stops
    r"|spec\.template\.spec\.enableServiceLinks"  # on by default, off in a run
    r"|spec\.selector\b.*"  # made from the Job's uid
    r"|spec\.template\.metadata\.creationTimestamp"
    r'|spec\.template\.metadata\.labels(\.(job-name|controller-uid)|\["(job-name|controller-uid|batch\.kubernetes\.io/.*)"\])'
    r"|spec\.template\.spec\.serviceAccount"  # the older name of serviceAccountName, when they are the same
    r"|spec\.rayClusterSpec\.(headGroupSpec|workerGroupSpecs\[0\])\.template\.spec\.containers\[0\]\.name"
    r"|spec\.rayClusterSpec\.workerGroupSpecs\[0\]\.groupName"
    r"|spec\.template\.spec\.containers\[0\]\.name"  # of the only container
    r"|metadata\.namespace"  # of a TauWorkspace: where TauGrid keeps its objects; of a queue that leads nowhere
    r"|metadata\.annotations\[\"batch\.kubernetes\.io/job-tracking\"\]"
)


def documents(name: str) -> list[dict[str, Any]]:
    """The objects of a sample."""
    found: list[dict[str, Any]] = []
    for document in yaml.safe_load_all((SAMPLES / f"{name}.yaml").read_text()):
        found += (
            document["items"] if document and document["kind"] == "List" else [document] if document else []
        )
    return found


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of everything that has nothing below it."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and value:
        for place, inner in enumerate(value):
            yield from leaves(inner, (*path, place))
    else:
        yield path


def mappings(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of all mappings."""
    if isinstance(value, dict):
        yield path
        for key, inner in value.items():
            yield from mappings(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from mappings(inner, (*path, place))


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def outcome(name: str, objects: list[dict[str, Any]]) -> tuple[Any, list[str]]:
    """(files, messages) of an import."""
    made = READERS[name](yaml.safe_dump_all(objects, sort_keys=False).encode())
    return made.files, [f"{d.id} {d.message} {d.hint}" for d in made.diagnostics]


def changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"{value}x" if isinstance(value, str) and value else "x"


def reported(path: Path, item: dict[str, Any], messages: list[str]) -> bool:
    """Whether a message names the leaf, or what it is a part of, and the object."""
    name = item["metadata"].get("name")
    title = f"{item['kind']} `{name}`" if name else f"this {item['kind']}"
    paths = {shown(path[:length]) for length in range(1, len(path) + 1)}
    return any(f"`{place}` of {title} is" in message for place in paths for message in messages)


def noise(path: Path) -> bool:
    return any(path[: len(known)] == known for known in NOISE) or bool(MORE_NOISE.fullmatch(shown(path)))


@pytest.mark.parametrize("name", READERS)
def test_every_leaf_is_carried_over_or_reported(name: str) -> None:
    objects = documents(name)
    plain = outcome(name, objects)
    assert plain[0]
    silent = []
    for place, item in enumerate(objects):
        for path in leaves(item):
            if noise(path) or reported(path, item, plain[1]):
                continue
            other = copy.deepcopy(objects)
            at(other[place], path[:-1])[path[-1]] = changed(at(item, path))
            if outcome(name, other) == plain:
                silent.append(f"{item['kind']} {shown(path)}")
    assert silent == []


@pytest.mark.parametrize("name", READERS)
def test_a_key_that_nobody_knows_is_reported_wherever_it_stands(name: str) -> None:
    objects = documents(name)
    plain = outcome(name, objects)
    silent = []
    for place, item in enumerate(objects):
        for path in mappings(item):
            inner = (*path, "zzz")
            if noise(inner) or reported(inner, item, plain[1]):
                continue
            other = copy.deepcopy(objects)
            at(other[place], path)["zzz"] = "zzz"
            files, messages = outcome(name, other)
            if not any("zzz" in text for _, text in files) and not reported(inner, item, messages):
                silent.append(f"{item['kind']} {shown(inner)}")
    assert silent == []


@pytest.mark.parametrize("name", READERS)
def test_every_report_has_a_place_and_a_cure(name: str) -> None:
    made = READERS[name]((SAMPLES / f"{name}.yaml").read_bytes())
    lines = (SAMPLES / f"{name}.yaml").read_text().splitlines()
    assert made.diagnostics
    for said in made.diagnostics:
        assert said.hint
        assert said.span is not None
        found = re.match(r"`(?:.*[.\]])?([\w-]+)` of ", said.message)
        if found:
            assert found[1] in lines[said.span.line - 1], (said, lines[said.span.line - 1])


def test_what_a_server_wrote_says_nothing() -> None:
    [job] = documents("job")
    messages = outcome("job", [job])[1]
    assert not any(word in message for message in messages for word in ("status", "managedFields", "uid"))

"""A compilation of texts: no disk, no Git, the packaged overlays unless others are given."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tau_compile.compiler import Compiled, Repository, compile_file
from tau_compile.source.files import SourceFile
from tau_compile.source.project import packaged_overlays
from tests.workload.memory_tree import MemoryTree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tau_compile.diagnostics import Diagnostic

Overlays = Sequence[str] | dict[str, str]

IMAGE = "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime"
RAY = "rayproject/ray:2.9.0-gpu"
JOB = f"schema_version: 1\nname: train\nrun: {{entrypoint: train.py}}\nruntime:\n  image: {IMAGE}\n"
RAYJOB = (
    "schema_version: 1\nname: train\nrun: {workload_kind: rayjob, entrypoint: train.py}\n"
    f"runtime:\n  image: {RAY}\n"
)
DIRECT = "name: train\nentrypoint: train.py\n"
CODE = {"train.py": b"print('training')\n"}


class Said(NamedTuple):
    """What a test asks of a diagnostic."""

    id: str
    text: str
    line: int
    hint: str


@cache
def packaged() -> tuple[SourceFile, ...]:
    """The packaged overlays, read once."""
    return tuple(packaged_overlays())


def repository(
    overlays: Overlays = (),
    templates: Mapping[str, str] | None = None,
    files: Mapping[str, bytes] | None = None,
    as_of: str = "",
) -> Repository:
    """A repository of texts; a list of overlays gets names."""
    if not isinstance(overlays, dict):
        overlays = {f"overlays/{place}.yaml": text for place, text in enumerate(overlays)}
    sources = [SourceFile(path, text.encode()) for path, text in sorted(overlays.items())]
    return Repository(sources, packaged(), MemoryTree({**CODE, **(files or {})}), templates or {}, as_of)


def compiled(
    text: str | bytes,
    overlays: Overlays = (),
    *,
    path: str = "tau.yaml",
    workspace: str = "",
    templates: Mapping[str, str] | None = None,
    files: Mapping[str, bytes] | None = None,
    as_of: str = "",
) -> Compiled:
    """Compile one tau.yaml."""
    data = text.encode() if isinstance(text, str) else text
    return compile_file(repository(overlays, templates, files, as_of), path, data, workspace)


def accepted(text: str | bytes, overlays: Overlays = (), **given: Any) -> Compiled:
    """Compile what must compile."""
    result = compiled(text, overlays, **given)
    assert result.objects, said(result)
    return result


def said(result: Compiled) -> list[Said]:
    """What was said, in order; ids alone are not enough to see what went wrong."""
    return [said_of(d) for d in result.diagnostics]


def said_of(d: Diagnostic) -> Said:
    """One diagnostic."""
    return Said(d.id, d.message, d.span.line if d.span else 0, d.hint)


def ids(text: str | bytes, overlays: Overlays = (), **given: Any) -> list[str]:
    """The ids of what is said about a file."""
    return [d.id for d in compiled(text, overlays, **given).diagnostics]


def workload(result: Compiled) -> dict[str, Any]:
    """The Job or RayJob."""
    return next(made for made in result.objects if made["kind"] in ("Job", "RayJob"))


def pods(made: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The pod templates of a Job (``main``) or RayJob (``head``, ``worker``, ``submitter``)."""
    spec = made["spec"]
    if made["kind"] == "Job":
        return {"main": spec["template"]}
    cluster = spec["rayClusterSpec"]
    found = {
        "head": cluster["headGroupSpec"]["template"],
        "worker": cluster["workerGroupSpecs"][0]["template"],
    }
    if "submitterPodTemplate" in spec:
        found["submitter"] = spec["submitterPodTemplate"]
    return found


def container(made: dict[str, Any], pod: str = "main") -> dict[str, Any]:
    """The program's container of a pod."""
    found: dict[str, Any] = pods(made)[pod]["spec"]["containers"][0]
    return found


def env(made: dict[str, Any], pod: str = "main") -> dict[str, Any]:
    """The variables of that container: values, or where they come from."""
    return {v["name"]: v.get("value", v.get("valueFrom")) for v in container(made, pod)["env"]}

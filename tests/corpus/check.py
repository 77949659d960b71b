"""Real configuration files against the compiler: each must compile, or be refused for the reason that is written here.

A file is copied into a fresh repository, one folder below its top, so that a program it names as ``../other/train.py`` stays
inside. The programs it names are made up. Files that use the profiles of the folder's ``kind-profiles.yaml`` get them as a
TauCluster, with a workspace beside it.
"""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from tests.support.cli import run
from tests.support.tools import kubeconform

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROFILES = "kind-profiles.yaml"
COMPILES = "compiles"
# What is expected of the files that are known, by name: COMPILES, or the ids of all errors.
EXPECTED: dict[str, str] = {
    "aks-cpu-quickstart.yaml": COMPILES,
    "kind-kueue-lanes.yaml": "TAU109",  # the Kueue objects of a cluster, several documents
    "kind-profiles.yaml": "TAU201",  # a part of a TauCluster: used as an overlay, no tau.yaml
    "kind-smoke-job.yaml": COMPILES,
    "kind-smoke-ray.yaml": COMPILES,
    "ray-tune-smoke.yaml": COMPILES,
    "seed-gpu-quickstart.yaml": COMPILES,
}
PROGRAM = "def train_func(config):\n    return {'loss': 0.0}\n"
SCRIPT = "#!/bin/sh\ntrue\n"
_ENTRYPOINTS = (
    "entrypoint",
    "script",
    "run.entrypoint",
    "run.script",
    "run.main_script",
    "workflow.script",
    "workflow.main_script",
)


class Verdict(NamedTuple):
    """What became of one file. ``detail`` says what is wrong, or what came out."""

    file: str
    expected: str
    got: str
    passed: bool
    detail: str


def check_folder(folder: Path, scratch: Path) -> list[Verdict]:
    """Compile every .yaml file of a folder; ``scratch`` is an empty folder to work in."""
    files = sorted(folder.glob("*.yaml"))
    return [check_file(file, folder / PROFILES, scratch / f"{n}-{file.stem}") for n, file in enumerate(files)]


def check_file(file: Path, profiles: Path, repository: Path) -> Verdict:
    """Compile one file in the new folder ``repository``."""
    prepare(file, profiles, repository)
    as_json = run(["render", "config/tau.yaml", "--format", "json"], repository)
    as_text = run(["render", "config/tau.yaml"], repository)
    said = json.loads(as_json.stdout)["diagnostics"] if as_json.exit in (0, 1) else []
    ids = _ids(said, "error")
    got = {0: COMPILES, 1: ids or "refused for no reason"}.get(as_text.exit, "internal error")
    detail = _trouble(as_text.exit, as_text.stdout, as_text.stderr)
    expected = EXPECTED.get(file.name, "")
    passed = not detail and got in ((expected,) if expected else (COMPILES, ids))
    detail = detail or _summary(as_text.stdout, _ids(said, "warning"))
    return Verdict(file.name, expected or "any clean verdict", got, passed, detail)


def prepare(file: Path, profiles: Path, repository: Path) -> None:
    """Make the repository around one file."""
    text = file.read_text(encoding="utf-8")
    _write(repository / "tau-compile.yaml", "{}\n")
    _write(repository / "config" / "tau.yaml", text)
    config = _mapping(text)
    for path in _programs(config):
        _write(repository / path, PROGRAM if path.endswith(".py") else SCRIPT)
    if profiles.is_file() and isinstance(_get(config, "policy.profile"), str):
        cluster = {
            "apiVersion": "tau.azure.com/v1alpha1",
            "kind": "TauCluster",
            "metadata": {"name": "cluster"},
        }
        whole = cluster | _mapping(profiles.read_text(encoding="utf-8"))
        _write(repository / "overlays" / "clusters" / "cluster.yaml", yaml.safe_dump(whole))
        workspace = {
            "apiVersion": "tau-compile/v1",
            "kind": "Workspace",
            "metadata": {"name": "ray"},
            "namespace": "ray",
            "queue": "kind-cpu",
        }
        _write(repository / "overlays" / "workspaces" / "ray.yaml", yaml.safe_dump(workspace))


def table(verdicts: list[Verdict]) -> str:
    """The verdicts for people, and the line that counts them."""
    lines = [f"{'file':32} {'expected':18} {'got':18} result"]
    for v in verdicts:
        lines.append(f"{v.file:32} {v.expected:18} {v.got:18} {'ok' if v.passed else 'FAILED'}: {v.detail}")
    failed = sum(not v.passed for v in verdicts)
    return "\n".join([*lines, f"{len(verdicts) - failed} passed, {failed} failed"])


def _trouble(code: int, manifests: str, said: str) -> str:
    """What is wrong whatever the verdict."""
    if code not in (0, 1) or "Traceback" in said:
        return f"exit {code}: {said.strip()}"
    if (code == 0) != bool(manifests):
        return f"exit {code} with {len(manifests)} characters of manifests"
    if code == 1:
        return (
            "" if "config/tau.yaml:" in said or "overlays/" in said else f"no place is named: {said.strip()}"
        )
    results = kubeconform(manifests)
    wrong = [f"{r.kind} {r.name}: {r.status} {r.msg}" for r in results if not r.valid]
    if len(results) != len(list(yaml.safe_load_all(manifests))):
        wrong.append(f"kubeconform saw {len(results)} objects")
    return "; ".join(wrong)


def _ids(said: list[dict[str, Any]], severity: str) -> str:
    return " ".join(sorted({d["id"] for d in said if d["severity"] == severity}))


def _summary(manifests: str, warnings: str) -> str:
    kinds = ", ".join(made["kind"] for made in yaml.safe_load_all(manifests)) if manifests else "refused"
    return f"{kinds}; warnings {warnings}" if warnings else kinds


def _programs(config: dict[str, Any]) -> Iterator[str]:
    """Paths, from the top of the repository, of the programs that a configuration names and that could be there."""
    extra = _get(config, "workflow.extra_scripts")
    named = [_get(config, path) for path in _ENTRYPOINTS]
    named += [str(item).partition(":")[0] for item in extra] if isinstance(extra, list) else []
    for name in named:
        path = posixpath.normpath(posixpath.join("config", name)) if isinstance(name, str) and name else "."
        if path not in (".", "..") and not path.startswith(("/", "../")):
            yield path


def _mapping(text: str) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        return {}
    return found if isinstance(found, dict) else {}


def _get(value: Any, path: str) -> Any:
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")

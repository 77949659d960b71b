"""Run records: ``runs/<workspace>/<run>.json``, what was launched, from what, and what became of it.

A record is written once and afterwards changes only its state: active, then retired or cancelled for good; adopted is an
intent that exists and is not to be launched.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple

from tau_compile.diagnostics import Diagnostic, Span, error

State = Literal["active", "retired", "cancelled", "adopted"]
STATES: tuple[State, ...] = ("active", "retired", "cancelled", "adopted")
VERSION = 1
FOLDER = "runs"
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended, from its evidence: ``digest`` is ``sha256:<64 hex>`` of the statement at ``path``."""

    state: str
    digest: str
    path: str


@dataclass(frozen=True, slots=True)
class Record:
    """One run. See ``schemas/run-record.schema.json`` for what each field means."""

    run: str
    workspace: str
    name: str
    attempt: int
    digest: str
    kind: str
    cluster: str
    namespace: str
    queue: str
    gpus: int
    source: str
    state: State
    compiler: str
    sources: dict[str, str] = field(default_factory=dict)
    code: dict[str, list[Any]] = field(default_factory=dict)
    resolved: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    manifests: dict[str, str] = field(default_factory=dict)
    supersedes: str = ""
    evidence: Ended | None = None
    identity: int = 1
    version: int = VERSION

    @property
    def path(self) -> str:
        """Where the record lies, from the repository root."""
        return f"{FOLDER}/{self.workspace}/{self.run}.json"

    @property
    def key(self) -> tuple[str, str]:
        """(workspace, name): two files may not share it."""
        return self.workspace, self.name

    def ended(self, how: Ended) -> Record:
        """The record of the run after its end; its manifests leave the tree."""
        return replace(self, state="retired", evidence=how, manifests={})

    def cancelled(self) -> Record:
        """The record of the run after it was cancelled; its manifests leave the tree."""
        return replace(self, state="cancelled", manifests={})


class Parsed(NamedTuple):
    """A record, or None and why not."""

    record: Record | None
    diagnostics: tuple[Diagnostic, ...]


def to_json(record: Record) -> str:
    """The record's file: sorted keys, two spaces, a final newline; the same text for the same record."""
    body: dict[str, Any] = {}
    for item in fields(record):
        value = getattr(record, item.name)
        if isinstance(value, Ended):
            value = {"digest": value.digest, "path": value.path, "state": value.state}
        if value not in ("", None):
            body[item.name] = value
    return json.dumps(body, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


_REQUIRED = {
    "run": str, "workspace": str, "name": str, "attempt": int, "digest": str, "kind": str, "cluster": str,
    "namespace": str, "queue": str, "gpus": int, "source": str, "state": str, "compiler": str, "sources": dict,
    "code": dict, "resolved": dict, "origins": dict, "manifests": dict, "identity": int, "version": int,
}  # fmt: skip


def from_json(data: bytes, path: str) -> Parsed:
    """Read one record. A record is never written by hand, so what is wrong is said shortly."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as problem:
        return _broken(path, f"is not JSON: {getattr(problem, 'msg', 'it is nested too deeply')}")
    if not isinstance(body, dict):
        return _broken(path, "is not a JSON object")
    evidence = body.pop("evidence", None)
    supersedes = body.pop("supersedes", "")
    for name, kind in _REQUIRED.items():
        if not isinstance(body.get(name), kind) or isinstance(body.get(name), bool):
            return _broken(path, f"has no valid `{name}`")
    unknown = sorted(body.keys() - _REQUIRED.keys())
    if unknown or body["version"] != VERSION:
        return _broken(path, f"is of another version: {unknown[0] if unknown else body['version']}")
    if body["state"] not in STATES or len(body["digest"]) != 64 or not _HEX.issuperset(body["digest"]):
        return _broken(path, "has no valid `state` or `digest`")
    ended = None
    if evidence is not None:
        if not isinstance(evidence, dict) or not all(
            isinstance(evidence.get(k), str) for k in ("state", "digest", "path")
        ):
            return _broken(path, "has no valid `evidence`")
        ended = Ended(evidence["state"], evidence["digest"], evidence["path"])
    record = Record(**body, supersedes=str(supersedes), evidence=ended)
    if record.path != path or record.run != f"{record.name}-{record.digest[:8]}":
        return _broken(path, f"says it is `{record.path}`")
    return Parsed(record, ())


def _broken(path: str, why: str) -> Parsed:
    span = Span(path, 1, 1, 1, 1)
    hint = "records are written by `tau-compile build`; restore the file from the base branch"
    return Parsed(None, (error("TAU731", f"the run record {why}", span, hint),))

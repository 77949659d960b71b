"""Run records: ``runs/<workspace>/<run>.json``, what was launched, from what, and what became of it.

A record is written once and afterwards changes only its state: active, then retired or cancelled for good; adopted is an
intent that exists and is not to be launched. ``schemas/run-record.schema.json`` describes every field.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal

from tau_compile.diagnostics import Diagnostic, Span, error
from tau_compile.named import NamedTuple
from tau_compile.runs.valid import fault_of

if TYPE_CHECKING:
    from collections.abc import Callable

State = Literal["active", "retired", "cancelled", "adopted"]
VERSION = 1
IDENTITY = 1
FOLDER = "runs"
MAX_BYTES = 4 << 20  # of one record's file: Git keeps every version of it


class Ended(NamedTuple):
    """How a run ended, from its evidence: ``digest`` is ``sha256:<64 hex>`` of the statement at ``path``."""

    state: str
    digest: str
    path: str


class Record(NamedTuple):
    """One run. Dictionaries are never changed; ``origins`` is empty in a record that was read in brief."""

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
    sources: dict[str, str]
    code: dict[str, list[Any]]
    resolved: dict[str, Any]
    origins: dict[str, str]
    manifests: dict[str, str]
    supersedes: str = ""
    evidence: Ended | None = None
    identity: int = IDENTITY
    version: int = VERSION
    waivers: tuple[dict[str, Any], ...] | list[dict[str, Any]] = ()

    @property
    def path(self) -> str:
        """Where the record lies, from the repository root."""
        return f"{FOLDER}/{self.workspace}/{self.run}.json"

    def ended(self, how: Ended) -> Record:
        """The record of the run after its end; its manifests leave the tree."""
        return self._replace(state="retired", evidence=how, manifests={})

    def cancelled(self) -> Record:
        """The record of the run after it was cancelled; its manifests leave the tree."""
        return self._replace(state="cancelled", manifests={})


class Parsed(NamedTuple):
    """A record, or None and why not."""

    record: Record | None
    diagnostics: tuple[Diagnostic, ...]


def to_json(record: Record) -> str:
    """The record's file: sorted keys, two spaces, a final newline; the same text for the same record."""
    return _text(_body(record))


def fault(record: Record) -> str:
    """What ``from_json`` would say of the record's file, in words that follow "the record"; or an empty text."""
    return fault_of(_body(record))


def _body(record: Record) -> dict[str, Any]:
    body = record._asdict()
    for name in ("supersedes", "evidence", "waivers"):
        if not body[name]:
            del body[name]
    if record.evidence is not None:
        body["evidence"] = record.evidence._asdict()
    return body


def restated(data: bytes, record: Record) -> str:
    """The text of a record's file after a change of its state; everything else stays as it is in ``data``."""
    body = json.loads(data)
    body |= {"state": record.state, "manifests": record.manifests}
    if record.evidence is not None:
        body["evidence"] = record.evidence._asdict()
    return _text(body)


def from_json(data: bytes, path: str, brief: bool = False) -> Parsed:
    """Read one record; ``brief`` leaves out ``origins``. A record is never written by hand, so faults are said shortly."""
    if len(data) > MAX_BYTES:
        return _broken(path, f"is larger than {MAX_BYTES >> 20} MiB")
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as problem:
        if b"<<<<<<< " in data:
            return _broken(path, "has a merge conflict")
        return _broken(path, f"is not JSON: {getattr(problem, 'msg', 'it is nested too deeply')}")
    if not isinstance(body, dict):
        return _broken(path, "is not a JSON object")
    if body.get("version") != VERSION or isinstance(body["version"], bool):
        return _broken(
            path, f"is of version {body.get('version')!r}, and this tau-compile knows version {VERSION}"
        )
    wrong = fault_of(body)
    if wrong:
        return _broken(path, wrong)
    ended = body.get("evidence")
    if ended is not None:
        body["evidence"] = Ended(ended["state"], ended["digest"], ended["path"])
    if brief:
        body["origins"] = {}
    record = Record(**body)
    if record.path != path:
        return _broken(path, f"says that it is {record.path}")
    return Parsed(record, ())


def _broken(path: str, why: str) -> Parsed:
    hint = f"nobody writes records by hand: `git checkout BASE -- {path}`, with the base branch for BASE, brings it back"
    return Parsed(None, (error("TAU731", f"the run record {why}", Span(path, 1, 1, 1, 1), hint),))


# What Git shows of a record shall be what it holds: nothing that drives a terminal, turns text round or hides.
_UNSAFE = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\uffff]"
)
_quoted = json.encoder.encode_basestring


def _text(body: dict[str, Any]) -> str:
    parts: list[str] = []
    _write(body, "\n", parts.append)
    text = "".join(parts)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def _write(value: Any, line: str, add: Callable[[str], None]) -> None:
    """As ``json.dumps(indent=2, sort_keys=True)``, which is slow; ``line`` ends a line and indents the next one."""
    if isinstance(value, str):
        add(_quoted(value))
    elif isinstance(value, dict) and value:
        inner, mark = f"{line}  ", "{"
        for name, item in sorted(value.items()):
            if type(item) is str:  # most are
                add(f"{mark}{inner}{_quoted(name)}: {_quoted(item)}")
            else:
                add(f"{mark}{inner}{_quoted(name)}: ")
                _write(item, inner, add)
            mark = ","
        add(f"{line}}}")
    elif isinstance(value, list) and value:
        inner, mark = f"{line}  ", "["
        for item in value:
            add(f"{mark}{inner}")
            _write(item, inner, add)
            mark = ","
        add(f"{line}]")
    else:
        add(json.dumps(value))

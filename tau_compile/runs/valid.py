"""What makes a record's values valid: the schema's rules once more, by hand, as thousands of records are read at a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

STATES = ("active", "retired", "cancelled", "adopted")
OUTCOMES = ("succeeded", "failed", "cancelled")
# The same expressions as in the schema; a test compares the two.
_HEX64 = re.compile(r"[0-9a-f]{64}").fullmatch
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}").fullmatch
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?").fullmatch
_MANIFEST = re.compile(r"[a-z0-9][-a-z0-9._]{0,300}\.yaml").fullmatch
_PATH = re.compile(r"(?!/)(?!([\s\S]*[/\\])?\.\.?([/\\]|$))[^\x00]{1,4096}").fullmatch
_TEXTS: tuple[tuple[str, Callable[[str], object] | None], ...] = (
    ("cluster", _NAME),
    ("compiler", None),
    ("digest", _HEX64),
    ("kind", frozenset({"job", "rayjob"}).__contains__),
    ("name", _NAME),
    ("namespace", _NAME),
    ("queue", None),
    ("run", _NAME),
    ("source", _PATH),
    ("state", frozenset(STATES).__contains__),
    ("workspace", _NAME),
)
_NUMBERS = (("attempt", 1), ("gpus", 0), ("identity", 1))
_MAPS = ("code", "manifests", "origins", "resolved", "sources")
_KNOWN = frozenset(
    (
        *(name for name, _ in _TEXTS),
        *(name for name, _ in _NUMBERS),
        *_MAPS,
        "evidence",
        "supersedes",
        "version",
        "waivers",
    )
)
_ENDED = {"digest", "path", "state"}
_ONLY_TEXT = {str}


def fault_of(body: dict[str, Any]) -> str:
    """What is wrong with a record's values, or an empty text. Thousands are read at a time: no loop more than needed."""
    for name, fits in _TEXTS:
        value = body.get(name)
        if type(value) is not str or (fits is not None and not fits(value)):
            return f"has no valid `{name}`"
    for name, least in _NUMBERS:
        value = body.get(name)
        if type(value) is not int or value < least:
            return f"has no valid `{name}`"
    for name in _MAPS:
        if type(body.get(name)) is not dict:
            return f"has no valid `{name}`"
    for name, good in (
        ("code", all(map(_is_file, body["code"].values()))),
        ("manifests", _each(_DIGEST, body["manifests"].values()) and _each(_MANIFEST, body["manifests"])),
        ("origins", _ONLY_TEXT.issuperset(map(type, body["origins"].values()))),
        ("sources", _each(_HEX64, body["sources"].values())),
        ("supersedes", _each(_NAME, (body.get("supersedes", "x"),))),
    ):
        if not good:
            return f"has no valid `{name}`"
    if "waivers" in body and not _are_waivers(body["waivers"]):
        return "has no valid `waivers`"
    if not _KNOWN.issuperset(body):
        return f"has a field `{min(body.keys() - _KNOWN)}`, which this tau-compile does not know"
    if (body["state"] == "active") != bool(body["manifests"]):
        return f"is {body['state']} and has {'' if body['manifests'] else 'no '}manifests"
    if (body["state"] == "retired") != ("evidence" in body) or not _is_end(body.get("evidence")):
        return "has no valid `evidence`"
    if body["run"] != f"{body['name']}-{body['digest'][:8]}":
        return "has a `run` that is not its name and the head of its digest"
    return ""


def _is_file(entry: Any) -> bool:
    """Whether it is ``[executable, sha256, path]``."""
    if type(entry) is not list or len(entry) != 3 or type(entry[0]) is not bool:
        return False
    return _each(_HEX64, entry[1:2]) and type(entry[2]) is str


def _are_waivers(found: Any) -> bool:
    return type(found) is list and bool(found) and all(map(_is_waiver, found))


def _is_waiver(entry: Any) -> bool:
    """Whether it is ``{lifted: [name], reason: text, expires: date}``."""
    if type(entry) is not dict or entry.keys() != {"expires", "lifted", "reason"}:
        return False
    lifted, texts = entry["lifted"], (entry["reason"], entry["expires"])
    return (
        type(lifted) is list
        and bool(lifted)
        and all(type(text) is str and text for text in (*lifted, *texts))
    )


def _each(fits: Callable[[str], object], values: Iterable[Any]) -> bool:
    return all(type(value) is str and fits(value) for value in values)


def _is_end(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, dict) or value.keys() != _ENDED:
        return False
    return value["state"] in OUTCOMES and _each(_DIGEST, [value["digest"]]) and _each(_PATH, [value["path"]])

"""TauGrid's direct form → the canonical form, in place: comments, order, quoting and spelling of everything else stay.

ruamel.yaml edits the user's text; which value goes where is decided by the same front end that compiles.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq, merge_attrib
from ruamel.yaml.resolver import VersionedResolver

from tau_compile.source.forms import RAY_WORDS
from tau_compile.source.nodes import Mapping, Scalar, Sequence, find, text_of
from tau_compile.source.reader import read

if TYPE_CHECKING:
    from tau_compile.source.forms import Canonical
    from tau_compile.source.nodes import Node


class _AsWritten(VersionedResolver):  # type: ignore[misc,unused-ignore]
    """Takes every plain scalar for its text, so that `010`, `1e3` and `yes` are written back as they were."""

    @property
    def versioned_resolver(self) -> dict[str, list[tuple[str, re.Pattern[str]]]]:
        return {
            "<": [("tag:yaml.org,2002:merge", re.compile("^<<$"))],
            "": [("tag:yaml.org,2002:null", re.compile("^$"))],
        }


def migrate(data: bytes, canonical: Canonical) -> str:
    """The canonical text of a tau.yaml that ``to_canonical`` has read without errors."""
    text = data.decode("utf-8-sig")
    yaml = _yaml(data)
    document: Any = yaml.load(text.replace("\r\n", "\n"))
    _flatten(document)
    placed: set[str] = set()
    carried: set[str] = set()
    for source, target in canonical.moves:
        if target not in placed:
            _put(document, target, _value(canonical.node, document, source, target))
            if source not in carried:
                _carry_comment(document, source, target)
            placed.add(target)
            carried.add(source)
    for path in [*(source for source, _ in canonical.moves), *canonical.dropped]:
        if path not in placed:
            _remove(document, path)
    if canonical.form == "direct":
        for path, written in canonical.added:
            _put(document, path, written)
        _storage(document, canonical.node)
        _remove(document, "schema_version")
        document.insert(0, "schema_version", "1")
    out = io.StringIO()
    yaml.dump(document, out)
    result = _with_lost_comments(out.getvalue(), text)
    return result.replace("\n", "\r\n") if "\r\n" in text else result


def _yaml(data: bytes) -> YAML:
    yaml = YAML()
    yaml.Resolver = _AsWritten
    yaml.preserve_quotes = True
    yaml.width = 1 << 20  # never fold
    step, dash = _indentation(read(data, "").node)
    yaml.indent(mapping=step, sequence=dash + 2, offset=dash)
    return yaml


def _indentation(node: Node | None) -> tuple[int, int]:
    """(columns of a mapping below its key, columns of a list's dashes below its key) where the document has them first."""
    step, dash, todo = 0, -1, [node]
    while todo and not (step and dash >= 0):
        here = todo.pop(0)
        if isinstance(here, Sequence):
            todo.extend(here.items)
        for entry in here.entries if isinstance(here, Mapping) else ():
            value, below = entry.value, entry.value.span.column - entry.key.span.column
            todo.append(value)
            if value.span.line == entry.key.span.line:
                continue
            if isinstance(value, Mapping) and not step:
                step = below
            if isinstance(value, Sequence) and dash < 0:
                dash = below
    return (step if 1 <= step <= 8 else 2), (dash if 0 <= dash <= 8 else 2)


def _flatten(node: Any) -> None:
    """Write merged keys (`<<`) out: a key can only move from a mapping of its own."""
    if isinstance(node, CommentedMap):
        if getattr(node, merge_attrib, None):
            merged = dict(node)
            delattr(node, merge_attrib)
            for name, value in merged.items():
                node[name] = value
        for value in node.values():
            _flatten(value)


def _value(node: Mapping, document: Any, source: str, target: str) -> Any:
    """The written value, in its own spelling; a word that has another one in the canonical form, in that."""
    written = _get(document, source)
    word = str(written).strip().lower()
    if target == "run.workload_kind":
        return "rayjob" if word in RAY_WORDS else word
    found = find(node, target)
    if written is None or (isinstance(found, Scalar) and isinstance(written, str) and found.text != written):
        return text_of(found)
    return written


def _storage(document: Any, node: Mapping) -> None:
    """``volumes`` and ``mounts`` of the direct form, where they are strings."""
    mounts, old = find(node, "storage.mounts"), _get(document, "storage.mounts")
    if isinstance(mounts, Sequence) and any(isinstance(item, str) for item in old or ()):
        items = CommentedSeq()
        for item in mounts.items:
            if isinstance(item, Mapping):
                items.append(CommentedMap((e.key.name, text_of(e.value)) for e in item.entries))
        _put(document, "storage.mounts", items)
    claim = find(node, "storage.data_pvc")
    if isinstance(claim, Scalar) and _get(document, "storage.volumes") is not None:
        _put(document, "storage.data_pvc", claim.text)
    _remove(document, "storage.volumes")


def _get(document: Any, path: str) -> Any:
    for step in path.split("."):
        document = document.get(step) if isinstance(document, dict) else None
    return document


def _put(document: Any, path: str, value: Any) -> None:
    section, _, name = path.rpartition(".")
    if section:
        if not isinstance(document.get(section), dict):
            # `run` belongs at the top, behind the name; other new sections go to the end.
            place = (
                list(document).index("name") + 1 if section == "run" and "name" in document else len(document)
            )
            document.insert(place, section, CommentedMap())
        document = document[section]
    document[name] = value


def _carry_comment(document: Any, source: str, target: str) -> None:
    """A comment belongs to the key before it in ruamel's model, and moves with it."""
    holder, name = _holder(document, source)
    new, key = _holder(document, target)
    comment = holder.ca.items.get(name) if isinstance(holder, CommentedMap) else None
    if comment is not None and isinstance(new, CommentedMap) and key not in new.ca.items:
        new.ca.items[key] = comment


def _holder(document: Any, path: str) -> tuple[Any, str]:
    section, _, name = path.rpartition(".")
    return (document.get(section) if section else document), name


def _remove(document: Any, path: str) -> None:
    section, _, name = path.rpartition(".")
    holder = document.get(section) if section else document
    if isinstance(holder, dict) and name in holder:
        del holder[name]
        if section and not holder:
            del document[section]


def _with_lost_comments(result: str, original: str) -> str:
    """Comments that stood at a key which is gone, at the top of the document."""
    left = Counter(_comments(result))
    lost = []
    for comment in _comments(original):
        left[comment] -= 1
        if left[comment] < 0:
            lost.append(f"{comment}\n")
    return "".join(lost) + result


def _comments(text: str) -> list[str]:
    """Every comment of a document that can be read, in order: what begins with `#` between two tokens."""
    import yaml

    found, end = [], 0
    for token in yaml.scan(text):
        found += re.findall(r"#[^\n]*", text[end : token.start_mark.index])
        end = max(end, token.end_mark.index)
    return [comment.rstrip() for comment in found]

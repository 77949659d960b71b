"""TauGrid's direct form → the canonical form, in place: comments, order and quoting of everything else stay.

ruamel.yaml edits the user's text; which value goes where is decided by the same front end that compiles.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from tau_compile.source.forms import KIND_SPELLINGS, RAY_WORDS
from tau_compile.source.nodes import Mapping, Scalar, Sequence, find

if TYPE_CHECKING:
    from tau_compile.source.forms import Canonical
    from tau_compile.source.nodes import Node


def migrate(data: bytes, canonical: Canonical) -> str:
    """The canonical text of a tau.yaml that ``to_canonical`` has read without errors."""
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1 << 20  # never fold
    yaml.indent(mapping=2, sequence=4, offset=2)
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    document: Any = yaml.load(text)
    placed = set()
    for source, target in canonical.moves:
        if target not in placed:
            _put(document, target, _value(canonical.node, document, source, target))
            _carry_comment(document, source, target)
            placed.add(target)
    for source, _ in canonical.moves:
        if source not in placed:
            _remove(document, source)
    for path in _spellings_left(document, canonical.node):
        _remove(document, path)
    for path, written in canonical.added:
        _put(document, path, int(written) if written.isdigit() else written)
    mounts = find(canonical.node, "storage.mounts")
    if isinstance(mounts, Sequence) and _get(document, "storage.mounts") is not None:
        _put(document, "storage.mounts", _plain_mounts(mounts))
        _remove(document, "storage.volumes")
    claim = find(canonical.node, "storage.data_pvc")
    if isinstance(claim, Scalar) and _get(document, "storage.volumes") is not None:
        _put(document, "storage.data_pvc", claim.text)
        _remove(document, "storage.volumes")
    _remove(document, "schema_version")
    document.insert(0, "schema_version", 1)
    out = io.StringIO()
    yaml.dump(document, out)
    return out.getvalue()


def _value(node: Mapping, document: Any, source: str, target: str) -> Any:
    """The written value, in its own spelling; the kind of workload in the canonical word."""
    written = _get(document, source)
    if target == "run.workload_kind":
        return "rayjob" if str(written).strip().lower() in RAY_WORDS else str(written).strip().lower()
    return written if written is not None else _text(find(node, target))


def _spellings_left(document: Any, node: Mapping) -> list[str]:
    """Other spellings of the kind of workload, which agreed with the one that moved."""
    return [
        path
        for path in KIND_SPELLINGS
        if path != "run.workload_kind" and _get(document, path) is not None and find(node, path) is None
    ]


def _plain_mounts(mounts: Sequence) -> CommentedSeq:
    items = CommentedSeq()
    for item in mounts.items:
        if isinstance(item, Mapping):
            items.append(CommentedMap((e.key.name, _plain(e.key.name, e.value)) for e in item.entries))
    return items


def _plain(name: str, node: Node) -> Any:
    text = _text(node)
    return text.lower() == "true" if name == "readOnly" else text


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


def _text(node: Node | None) -> str:
    return node.text if isinstance(node, Scalar) else ""

"""Files with a Secret that SOPS encrypted. They are passed on byte for byte (F15), so they have to be right as they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, Span, error
from tau_compile.named import NamedTuple
from tau_compile.rules.credential_shapes import find_shapes
from tau_compile.source.nodes import Mapping, Scalar, find, text_of
from tau_compile.source.reader import read
from tau_compile.workload.names import is_dns_subdomain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.source.nodes import Entry, Node

# What SOPS makes of a value (F15); whoever writes the like of it by hand has encrypted nothing.
_ENCRYPTED = re.compile(r"ENC\[AES256_GCM,data:[^,\]\s]*,iv:[^,\]\s]+,tag:[^,\]\s]+,type:[a-z]+\]")
_SEALED = _ENCRYPTED.fullmatch
_KEY = re.compile(r"[-._a-zA-Z0-9]+").fullmatch
_ENCRYPT = "sops --encrypt --encrypted-regex '^(data|stringData)$' --in-place"
_AGAIN = "decrypt the file, remove that, and encrypt it again; what was in clear is no secret any more"
_OPEN = ("apiVersion", "immutable", "kind", "metadata", "sops", "type")  # all else is values
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class Sealed(NamedTuple):
    """One encrypted file: the name of its Secret, empty when it cannot be used."""

    name: str
    diagnostics: tuple[Diagnostic, ...]


def sealed(path: str, data: bytes, namespace: str, named: Span) -> Sealed:
    """Judge one file; ``named`` is where the overlay names it.

    What is wrong with values is said there and not in the file: an excerpt would show them to whoever reads the output.
    """
    result = read(data, path)
    wrong = next((d for d in result.diagnostics if d.severity == "error"), None)
    if result.node is None or wrong is not None:
        place = f", line {wrong.span.line}" if wrong and wrong.span else ""
        message = f"`{path}` is no YAML document that can be read ({wrong.id if wrong else 'TAU108'}{place})"
        return Sealed("", (error("TAU383", message, named, "decrypt it, mend it, and encrypt it again"),))
    said = list(_wrong(path, data, result.node, namespace, named))
    name = find(result.node, "metadata.name")
    return Sealed(name.text if isinstance(name, Scalar) and not said else "", tuple(said))


def _wrong(path: str, data: bytes, node: Node, namespace: str, named: Span) -> Iterator[Diagnostic]:
    if text_of(find(node, "kind")) != "Secret" or text_of(find(node, "apiVersion")) != "v1":
        whole = _SEALED(text_of(find(node, "kind"))) is not None
        cure = (
            f"encrypt the values only: `{_ENCRYPT} {path}`"
            if whole
            else "name a file with one Secret, apiVersion v1"
        )
        yield error("TAU383", f"`{path}` holds no Secret", named, cure)
        return
    yield from _misplaced(node, namespace, named)
    yield from _misshapen(path, node, named)
    cure = f"encrypt it: `{_ENCRYPT} {path}`"
    if not _SEALED(text_of(find(node, "sops.mac"))):
        why = "it has no `sops` block" if find(node, "sops") is None else "its `sops` block has no `mac`"
        yield error("TAU821", f"`{path}` holds a Secret in clear: {why}", named, cure)
        return
    spans = {
        span.line for entry in _entries(node) if entry.key.name not in _OPEN for span in _clear(entry.value)
    }
    if spans:
        lines = ", ".join(map(str, sorted(spans)))
        yield error(
            "TAU821", f"`{path}` has values in clear beside the encrypted ones, in line {lines}", named, cure
        )
    if _APPLIED in _names(find(node, "metadata.annotations")):
        message = f"`{path}` has the annotation `{_APPLIED}`, which holds the Secret in clear"
        yield error("TAU821", message, named, _AGAIN)
    for hit in find_shapes(_readable(data, node)):
        yield error("TAU821", f"`{path}` has in clear what looks like {hit.what}", named, _AGAIN)


def _misplaced(node: Node, namespace: str, named: Span) -> Iterator[Diagnostic]:
    for field, wanted in (("metadata.name", ""), ("metadata.namespace", namespace)):
        found = find(node, field)
        text = found.text if isinstance(found, Scalar) else ""
        if not text or (wanted and text != wanted) or not is_dns_subdomain(text):
            what = (
                "is missing"
                if found is None
                else f"is not `{wanted}`"
                if wanted
                else "is no name of a Secret"
            )
            yield error(
                "TAU383",
                f"`{field}` of the Secret {what}",
                found.span if found else node.span,
                f"write `{field.rpartition('.')[2]}: {wanted or 'NAME'}`, and encrypt the file again",
                (Related(named, "named here"),),
            )


def _misshapen(path: str, node: Node, named: Span) -> Iterator[Diagnostic]:
    """What no API server takes as the data of a Secret."""
    for field in ("data", "stringData"):
        found = find(node, field)
        if found is not None and not (isinstance(found, Mapping) and all(map(_KEY, _names(found)))):
            cure = (
                "let each of its keys have letters, digits, `.`, `_` and `-` only, and encrypt the file again"
            )
            yield error(
                "TAU383", f"`{field}` of the Secret in `{path}` is no map of keys to values", named, cure
            )


def _readable(data: bytes, node: Node) -> str:
    """What stands in the file in clear, comments too, but for the block of SOPS, which has keys of its own."""
    lines = data.decode("utf-8", "replace").splitlines()
    for entry in _entries(node):
        if entry.key.name == "sops":
            lines[entry.key.span.line - 1 : entry.value.span.end_line] = []
            break
    return _ENCRYPTED.sub("", "\n".join(lines))


def _clear(node: Node) -> Iterator[Span]:
    """Places of values that are not encrypted; SOPS leaves empty ones as they are."""
    if isinstance(node, Scalar):
        if node.text and not _SEALED(node.text):
            yield node.span
        return
    for inner in (entry.value for entry in node.entries) if isinstance(node, Mapping) else node.items:
        yield from _clear(inner)


def _entries(node: Node) -> tuple[Entry, ...]:
    return node.entries if isinstance(node, Mapping) else ()


def _names(node: Node | None) -> list[str]:
    return [entry.key.name for entry in _entries(node)] if node is not None else []

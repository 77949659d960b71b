"""Files with a Secret that SOPS encrypted. They are passed on byte for byte (F15), so they have to be right as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, Span, error
from tau_compile.named import NamedTuple
from tau_compile.source.nodes import Mapping, Node, Scalar, find
from tau_compile.source.reader import read

if TYPE_CHECKING:
    from collections.abc import Iterator

_CURE = "encrypt it: `sops --encrypt --encrypted-regex '^(data|stringData)$' --in-place {path}`"


class Sealed(NamedTuple):
    """One encrypted file: the name of its Secret, empty when it cannot be used."""

    name: str
    diagnostics: tuple[Diagnostic, ...]


def sealed(path: str, data: bytes, namespace: str, named: Span) -> Sealed:
    """Judge one file; ``named`` is where the overlay names it. No message shows a value."""
    result = read(data, path)
    if result.node is None or any(d.severity == "error" for d in result.diagnostics):
        return Sealed("", result.diagnostics)
    said = list(_wrong(path, result.node, namespace, named))
    name = find(result.node, "metadata.name")
    return Sealed(name.text if isinstance(name, Scalar) and not said else "", tuple(said))


def _wrong(path: str, node: Node, namespace: str, named: Span) -> Iterator[Diagnostic]:
    from_overlay = (Related(named, "named here"),)
    if _text(node, "kind") != "Secret" or _text(node, "apiVersion") != "v1":
        yield error(
            "TAU383",
            f"`{path}` holds no Secret",
            node.span,
            "name a file with one Secret, apiVersion v1",
            from_overlay,
        )
        return
    for field, wanted in (("metadata.name", ""), ("metadata.namespace", namespace)):
        found = find(node, field)
        if not isinstance(found, Scalar) or not found.text or (wanted and found.text != wanted):
            what = f"is not `{wanted}`" if found is not None else "is missing"
            yield error(
                "TAU383",
                f"`{field}` of the Secret {what}",
                found.span if found else node.span,
                f"write `{field.rpartition('.')[2]}: {wanted or 'NAME'}`, and encrypt the file again",
                from_overlay,
            )
    plain = [span for field in ("data", "stringData") for span in _clear(find(node, field))]
    if not isinstance(find(node, "sops.mac"), Scalar):
        place = find(node, "data") or find(node, "stringData") or node
        yield error(
            "TAU821",
            f"`{path}` holds a Secret in clear: it has no `sops` block",
            place.span,
            _CURE.format(path=path),
            from_overlay,
        )
    elif plain:
        message = (
            f"`{path}` has {len(plain)} value{'s' * (len(plain) > 1)} in clear beside the encrypted ones"
        )
        yield error("TAU821", message, plain[0], _CURE.format(path=path), from_overlay)


def _clear(node: Node | None) -> Iterator[Span]:
    """Places of values that are not encrypted; SOPS leaves empty ones as they are."""
    if isinstance(node, Scalar):
        if node.text and not (node.text.startswith("ENC[") and node.text.endswith("]")):
            yield node.span
    elif isinstance(node, Mapping):
        for entry in node.entries:
            yield from _clear(entry.value)
    elif node is not None:
        for item in node.items:
            yield from _clear(item)


def _text(node: Node, path: str) -> str:
    found = find(node, path)
    return found.text if isinstance(found, Scalar) else ""

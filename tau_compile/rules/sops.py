"""Files with a Secret that SOPS encrypted. They are passed on byte for byte (F15), so they have to be right as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, Span, error
from tau_compile.named import NamedTuple
from tau_compile.source.nodes import Mapping, Node, Scalar, find, text_of
from tau_compile.source.reader import read

if TYPE_CHECKING:
    from collections.abc import Iterator


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
    said = list(_wrong(path, result.node, namespace, named))
    name = find(result.node, "metadata.name")
    return Sealed(name.text if isinstance(name, Scalar) and not said else "", tuple(said))


def _wrong(path: str, node: Node, namespace: str, named: Span) -> Iterator[Diagnostic]:
    if text_of(find(node, "kind")) != "Secret" or text_of(find(node, "apiVersion")) != "v1":
        yield error(
            "TAU383", f"`{path}` holds no Secret", named, "name a file with one Secret, apiVersion v1"
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
                (Related(named, "named here"),),
            )
    plain = [span for field in ("data", "stringData") for span in _clear(find(node, field))]
    cure = f"encrypt it: `sops --encrypt --encrypted-regex '^(data|stringData)$' --in-place {path}`"
    if not isinstance(find(node, "sops.mac"), Scalar):
        yield error("TAU821", f"`{path}` holds a Secret in clear: it has no `sops` block", named, cure)
    elif plain:
        lines = ", ".join(str(line) for line in sorted({span.line for span in plain}))
        yield error(
            "TAU821", f"`{path}` has values in clear beside the encrypted ones, in line {lines}", named, cure
        )


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

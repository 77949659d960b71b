"""Exported objects: one or several YAML documents or JSON, each an object or a List of them, every value at its own place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, Span, error, has_errors
from tau_compile.named import NamedTuple
from tau_compile.source.nodes import Entry, Mapping, Scalar, Sequence, find
from tau_compile.source.reader import Limits, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tau_compile.source.nodes import Node

# An export of a busy cluster is larger than what people write.
LIMITS = Limits(size=8 << 20, nodes=400_000)
MAX_DOCUMENTS = 2000
MAX_OBJECTS = 5000
# `---` and `...` in the first column end a document, even inside a text: YAML allows them nowhere else.
_BREAK = re.compile(rb"^(?:---|\.\.\.)(?=[ \t\r\n]|\Z)[^\r\n]*", re.MULTILINE)


class Object(NamedTuple):
    """One Kubernetes object. ``group`` is its API group, empty for the core group."""

    node: Mapping
    group: str
    kind: str
    name: str
    namespace: str

    @property
    def title(self) -> str:
        """What messages call it."""
        kind, name = self.kind[:64], self.name[:253]
        return f"{kind} `{name}`" if name else f"this {kind}"


def objects(data: bytes, file: str, said: list[Diagnostic]) -> list[Object]:
    """All objects of a file, in its order."""
    found: list[Object] = []
    if len(data) > LIMITS.size:
        said += read(data, file, LIMITS).diagnostics
        return found
    for count, (lines, part) in enumerate(_documents(data)):
        if count >= MAX_DOCUMENTS:
            place = Span(file, lines + 1, 1, lines + 1, 1)
            said.append(
                error(
                    "TAU394",
                    f"more than {MAX_DOCUMENTS:,} documents in a file",
                    place,
                    "split it into several",
                )
            )
            break
        result = read(part, file, LIMITS)
        said += [_moved(d, lines) for d in result.diagnostics]
        if result.node is not None and not has_errors(result.diagnostics):
            found += _objects(shifted(result.node, lines) if lines else result.node, said)
        if len(found) > MAX_OBJECTS:
            said.append(
                error(
                    "TAU394",
                    f"more than {MAX_OBJECTS:,} objects in a file",
                    found[MAX_OBJECTS].node.span,
                    "split it into several",
                )
            )
            del found[MAX_OBJECTS:]
            break
    return found


def _documents(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(lines before it, bytes) of each document that has content."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    start, lines, empty = 0, 0, True
    for mark in [*_BREAK.finditer(data), None]:
        part = data[start : mark.start() if mark else len(data)]
        if _has_content(part):
            empty = False
            yield lines, part
        if mark:
            # What follows `---` on its line belongs to the document: blanks keep the columns.
            head = mark[0][3:] if mark[0].startswith(b"---") else b""
            head = b"" if head.lstrip().startswith(b"#") else head
            lines += part.count(b"\n")
            start = mark.end() - len(head)
            if head.strip():
                data = data[: start - 3] + b"   " + data[start:]
                start -= 3
    if empty:
        yield 0, b""  # the reader says that there is nothing


def _has_content(part: bytes) -> bool:
    return any(line.strip() and not line.lstrip().startswith(b"#") for line in part.splitlines())


def shifted(node: Node, lines: int) -> Node:
    """A copy of a document, so many lines further down."""
    if isinstance(node, Scalar):
        return Scalar(_down(node.span, lines), node.text, node.plain)
    if isinstance(node, Sequence):
        return Sequence(_down(node.span, lines), tuple(shifted(item, lines) for item in node.items))
    return Mapping(
        _down(node.span, lines),
        tuple(
            Entry(key._replace(span=_down(key.span, lines)), shifted(value, lines))
            for key, value in node.entries
        ),
    )


def _down(span: Span, lines: int) -> Span:
    return span._replace(line=span.line + lines, end_line=span.end_line + lines)


def _moved(said: Diagnostic, lines: int) -> Diagnostic:
    related = tuple(Related(_down(r.span, lines), r.message) for r in said.related)
    return said._replace(span=_down(said.span, lines) if said.span else None, related=related)


def _objects(node: Node, said: list[Diagnostic]) -> Iterator[Object]:
    kind, version = text(find(node, "kind")), text(find(node, "apiVersion"))
    items = node.get("items") if isinstance(node, Mapping) else None
    if isinstance(items, Sequence) and (kind.endswith("List") or not kind):
        for item in items.items:
            yield from _objects(item, said)
        return
    if not isinstance(node, Mapping) or not kind:
        said.append(
            error(
                "TAU394",
                "this is not a Kubernetes object: it names no kind",
                node.span,
                "export objects with `kubectl get KIND NAME -o yaml`",
            )
        )
        return
    name = text(find(node, "metadata.name"))
    yield Object(node, version.rpartition("/")[0], kind, name, text(find(node, "metadata.namespace")))


def text(node: Node | None) -> str:
    """The text of a scalar, or ""."""
    return node.text if isinstance(node, Scalar) else ""


def wanted(found: Iterable[Object], kinds: dict[str, str], verb: str, said: list[Diagnostic]) -> list[Object]:
    """The objects of the ``kinds`` (kind → API group); the others are reported."""
    from tau_compile.diagnostics import warning

    kept: list[Object] = []
    others: list[Object] = []
    for item in found:
        (kept if kinds.get(item.kind) == item.group else others).append(item)
    for item in others:
        make, code = (warning, "TAU395") if kept else (error, "TAU394")
        if item.kind in kinds:
            place, expected = item.node.get("apiVersion") or item.node, kinds[item.kind] or "v1"
            message = f"{item.title} is not of the API group `{expected}`"
            said.append(
                make(code, message, place.span, f"export it again: its apiVersion begins with `{expected}`")
            )
            continue
        place = item.node.get("kind") or item.node
        said.append(
            make(code, f"`import {verb}` does not read {item.title}", place.span, _elsewhere(item, kinds))
        )
    return kept


_VERBS = {
    "kueue.x-k8s.io": "use `tau-compile import kueue`",
    "tau.azure.com": "use `tau-compile import taugrid`",
    "batch": "use `tau-compile import job`",
    "ray.io": "use `tau-compile import job`",
}


def _elsewhere(item: Object, kinds: dict[str, str]) -> str:
    if item.group == "tau-compile":
        return "it is an overlay already: put it below overlays/"
    if item.kind in ("Job", "RayJob") or (item.group in ("kueue.x-k8s.io", "tau.azure.com")):
        close = _VERBS.get(item.group, "")
        if close and item.group not in kinds.values():
            return close
    if item.kind == "CronJob":
        return (
            "take one Job of it: `kubectl create job NAME --from=cronjob/NAME --dry-run=client -o yaml`; its schedule becomes "
            "one of CI, which raises `run.attempt`"
        )
    if item.kind == "RayCronJob":
        return (
            "write the RayJob of its `spec.jobTemplate` into a file, with apiVersion, kind and metadata; its schedule becomes "
            "one of CI, which raises `run.attempt`"
        )
    return f"it reads {', '.join(sorted(kinds))}; leave the others out"

"""A tolerant reader of a merged tree: values by dotted path, each with its place and the user's own spelling of the path.

A value of the wrong type reads as absent: the schema has reported it already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, error, warning
from tau_compile.source.forms import is_direct
from tau_compile.source.nodes import Mapping, Node, Scalar, Sequence, find, find_entry, spelled

if TYPE_CHECKING:
    from tau_compile.diagnostics import Span

# What the direct form calls a canonical path, where the two differ.
_DIRECT = {
    "run.workload_kind": "engine",
    "compute.cpus": "compute.cpu_request",
    "compute.memory": "compute.memory_request",
    "compute.worker_cpus": "compute.worker_cpu_request",
    "compute.worker_memory": "compute.worker_memory_request",
    "compute.head_cpus": "compute.head_cpu_request",
    "compute.head_memory": "compute.head_memory_request",
}


class View:
    """One merged tree, and the list that collects what is wrong with it."""

    def __init__(self, node: Mapping, said: list[Diagnostic]) -> None:
        self.node = node
        self.said = said

    def has(self, path: str) -> bool:
        """Whether the path is set."""
        return find(self.node, path) is not None

    def own(self, path: str) -> bool:
        """Whether the workload's own file sets the path, and not an overlay."""
        node = find(self.node, path)
        return node is not None and node.span.file == self.node.span.file

    def text(self, path: str, default: str = "") -> str:
        """The scalar at a path, as spelled."""
        node = find(self.node, path)
        return node.text if isinstance(node, Scalar) else default

    def word(self, path: str, default: str = "") -> str:
        """The scalar at a path in lower case, for fields whose values are words."""
        return self.text(path, default).strip().lower()

    def integer(self, path: str, default: int) -> int:
        """The whole number at a path."""
        text = self.text(path).removeprefix("+")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else default

    def flag(self, path: str, default: bool = False) -> bool:
        """The boolean at a path."""
        text = self.text(path).lower()
        return text == "true" if text in ("true", "false") else default

    def items(self, path: str) -> tuple[Node, ...]:
        """The items of the list at a path."""
        node = find(self.node, path)
        return node.items if isinstance(node, Sequence) else ()

    def mapping(self, path: str) -> Mapping | None:
        """The mapping at a path."""
        node = find(self.node, path)
        return node if isinstance(node, Mapping) else None

    def span(self, path: str) -> Span:
        """Where the value at a path stands; the document's own place when it is not set."""
        node = find(self.node, path)
        return node.span if node is not None else self.node.span

    def key_span(self, path: str) -> Span:
        """Where the key of a path stands."""
        entry = find_entry(self.node, path)
        return entry.key.span if entry else self.node.span

    def name(self, path: str) -> str:
        """The path as the user spelled it."""
        return spelled(self.node, path)

    def call(self, path: str) -> str:
        """What a path is called in the form of this file, for advice about keys that it may not have."""
        if not is_direct(self.node):
            return path
        if path == "compute.gpus" and self.word("run.workload_kind") == "rayjob":
            return "compute.gpus_per_worker"
        return _DIRECT.get(path, path)

    def error(
        self,
        id: str,
        message: str,
        span: Span,
        hint: str,
        related: tuple[Related, ...] = (),
        fixed: bool = False,
    ) -> None:
        """Report an error. About what an overlay set, it stands at the workload and shows the overlay's place too.

        ``fixed`` tells that a profile fixes the value, and that the hint says what to do about it.
        """
        span, cure, related = self._place(span, hint, related)
        self.said.append(error(id, message, span, hint if fixed else cure, related))

    def warning(
        self, id: str, message: str, span: Span, hint: str, related: tuple[Related, ...] = ()
    ) -> None:
        """Report a warning, placed as an error is."""
        self.said.append(warning(id, message, *self._place(span, hint, related)))

    def _place(
        self, span: Span, hint: str, related: tuple[Related, ...]
    ) -> tuple[Span, str, tuple[Related, ...]]:
        if span.file == self.node.span.file:
            return span, hint, related
        others = tuple(other for other in related if other.span != span)
        hint = f"for the platform team: {hint}; or give it another value in this file"
        return self.node.span, hint, (Related(span, "set here"), *others)

    def refuse_key(
        self, id: str, path: str, message: str, hint: str, related: tuple[Related, ...] = ()
    ) -> None:
        """Report an error at the key of a path; ``{}`` in the message stands for the path as spelled."""
        self.error(id, message.replace("{}", f"`{self.name(path)}`"), self.key_span(path), hint, related)


def scalar(node: Node | None) -> str:
    """The text of a scalar node, or ""."""
    return node.text if isinstance(node, Scalar) else ""

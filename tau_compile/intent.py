"""What a user asked for: one tau.yaml in the canonical form, the code it ships, and the digest that names both.

Nothing of the platform takes part, so an intent is the same under every policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Span, error, has_errors
from tau_compile.named import NamedTuple
from tau_compile.runs.identity import intent_digest, project
from tau_compile.schema import store
from tau_compile.schema.check import check
from tau_compile.schema.coerce import read_as
from tau_compile.source.blanks import without_blanks
from tau_compile.source.forms import Canonical, to_canonical
from tau_compile.source.nodes import Mapping, Sequence, find, find_entry, text_of
from tau_compile.source.reader import read
from tau_compile.workload.code import Asked, CodeBundle, CodeRequest, collect

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.source.nodes import Node
    from tau_compile.workload.code import Tree


class Intent(NamedTuple):
    """One tau.yaml. ``bundle`` is None when the code comes in an image; ``name`` is the run's, with its prefix."""

    path: str
    canonical: Canonical
    bundle: CodeBundle | None
    name: str

    @property
    def document(self) -> Mapping:
        """The user's own canonical tree."""
        return self.canonical.node

    @property
    def ships_folder(self) -> bool:
        """Whether a whole folder ships (``run.working_dir``)."""
        return find(self.document, "run.working_dir") is not None

    def digest(self) -> str:
        """The 64 hex digits of the intent."""
        return intent_digest(project(self.data()), self.bundle.files if self.bundle else ())

    def data(self) -> dict[str, Any]:
        """The user's own canonical tau.yaml as plain data, nothing filled in."""
        shape = store.prepared("tau.schema.json#/$defs/canonical").shape
        found: dict[str, Any] = read_as(self.document, shape).data
        return found

    def text(self, path: str, default: str = "") -> str:
        """A scalar of the document."""
        return text_of(find(self.document, path)) or default


def read_document(path: str, data: bytes, said: list[Diagnostic]) -> Canonical | None:
    """Read one tau.yaml and bring it into the canonical form; None when there is no document to go on with."""
    result = read(data, path)
    said += result.diagnostics
    return None if result.node is None else canonical_of(result.node, said)


def canonical_of(node: Node, said: list[Diagnostic]) -> Canonical | None:
    """Check a tau.yaml that was read and bring it into the canonical form."""
    if not isinstance(node, Mapping):
        said.append(
            error(
                "TAU202",
                "a tau.yaml is a mapping, such as `name: my-training`",
                node.span,
                "start with `schema_version: 1` and `name:`",
            )
        )
        return None
    kind = find_entry(node, "apiVersion")
    if kind is not None and node.get("kind") is not None:
        said.append(
            error(
                "TAU213",
                "this is a Kubernetes or overlay document, not a tau.yaml",
                kind.key.span,
                "overlays lie below overlays/; a tau.yaml starts with `schema_version: 1` and `name:`",
            )
        )
        return None
    node = without_blanks(node, said)
    found = check(node, store.tau(), file_kind="tau.yaml").diagnostics
    said += found
    canonical = to_canonical(node)
    later = list(canonical.diagnostics)
    said += told_apart(found, later, node.span) if has_errors(found) else later
    return canonical


def read_intent(tree: Tree, path: str, canonical: Canonical, said: list[Diagnostic]) -> Intent:
    """Collect the code of a canonical tau.yaml."""
    node = canonical.node
    name, prefix = text_of(find(node, "name")), text_of(find(node, "resource_naming.prefix"))
    return Intent(path, canonical, _code(tree, path, node, said), f"{prefix}-{name}" if prefix else name)


def told_apart(first: Iterable[Diagnostic], later: list[Diagnostic], whole: Span) -> list[Diagnostic]:
    """Of what was found in a document with schema errors, only that which stands elsewhere and is not an absence."""
    lines = {(d.span.file, d.span.line) for d in first if d.span}
    return [d for d in later if d.span and d.span != whole and (d.span.file, d.span.line) not in lines]


def _code(tree: Tree, path: str, node: Mapping, said: list[Diagnostic]) -> CodeBundle | None:
    """The files that ship; none for code that comes in an image."""
    if find(node, "run.source") is not None or not text_of(find(node, "run.entrypoint")):
        return None
    folder = _asked(node, "run.working_dir")
    request = CodeRequest(
        path,
        _asked(node, "run.entrypoint"),
        folder,
        _asked_items(node, "run.working_dir_excludes"),
        _asked_items(node, "workflow.extra_scripts"),
        archive=folder is not None and text_of(find(node, "run.workload_kind")) == "rayjob",
    )
    bundle, problems = collect(tree, request)
    said += problems
    if bundle is not None:
        from tau_compile.rules.credentials import find_in_code

        for file in bundle.files:
            said += find_in_code(file.source or file.path, file.content)
    return bundle


def _asked(node: Mapping, path: str) -> Asked | None:
    found = find(node, path)
    return Asked(text_of(found), found.span) if found is not None else None


def _asked_items(node: Mapping, path: str) -> tuple[Asked, ...]:
    found = find(node, path)
    return (
        tuple(Asked(text_of(item), item.span) for item in found.items) if isinstance(found, Sequence) else ()
    )

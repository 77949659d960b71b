"""One workload on the bench: compiled once as it is, and then again with one document changed.

Nothing stops at an error here: a change that contradicts something else still shows what depends on it.
"""

from __future__ import annotations

import posixpath
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from tau_compile.compiler import Compiled, Repository, compile_intent
from tau_compile.diagnostics import has_errors
from tau_compile.explain.inputs import Edit, edited
from tau_compile.explain.leaves import Key, Leaf, Naming, leaves, named
from tau_compile.explain.twins import Twins
from tau_compile.intent import Intent, canonical_of, read_intent
from tau_compile.named import NamedTuple
from tau_compile.policy.overlays import load
from tau_compile.source.nodes import Mapping, find
from tau_compile.source.reader import read
from tau_compile.source.scalars import plain_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tau_compile.diagnostics import Diagnostic
    from tau_compile.explain.templates import Rendered
    from tau_compile.policy.model import Cluster, Platform, Profile, Workspace
    from tau_compile.policy.overlays import Loaded
    from tau_compile.policy.resolve import Resolved
    from tau_compile.source.files import SourceFile
    from tau_compile.source.forms import Canonical
    from tau_compile.source.nodes import Node
    from tau_compile.workload.code import CodeBundle
    from tau_compile.workload.code.model import CodeFile

OTHERS = 12  # overlays that take no part, and are read again for every question all the same
_CODE = (
    "run.entrypoint",
    "run.working_dir",
    "run.working_dir_excludes",
    "run.source",
    "run.workload_kind",
    "workflow.extra_scripts",
)


class Recorder:
    """Renders, and keeps what each template was given and what it made."""

    def __init__(self, repository: Repository) -> None:
        self._templates = repository.renderer
        self.seen: list[Rendered] = []

    def render(self, name: str, context: dict[str, Any]) -> tuple[dict[str, Any] | None, list[Diagnostic]]:
        """See ``Templates``."""
        made, said = self._templates.render(name, context)
        if made is not None:
            from tau_compile.explain.templates import Rendered

            self.seen.append(Rendered(name, dict(context), made))
        return made, said


class Made(NamedTuple):
    """What one compilation made; ``clean``: nothing was wrong with it."""

    leaves: dict[Key, Leaf]
    clean: bool


class Tested(Protocol):
    """What the search for origins needs to know of a bench: of a workload, or of a workspace, which has no tau.yaml.

    ``path`` is the tau.yaml, or empty; ``code`` are the files that ship, None when none do.
    """

    path: str
    digest: str
    repository: Repository
    documents: dict[str, Node]
    leaves: dict[Key, Leaf]
    rendered: Sequence[Rendered]
    code: Sequence[CodeFile] | None

    @property
    def layers(self) -> dict[str, str]:
        """What each file is called."""

    @property
    def naming(self) -> Naming:
        """How objects are told apart."""

    def changed(self, edits: Sequence[Edit]) -> Made | None:
        """What comes out after some edits; None if nothing does."""


class Bench:
    """One workload. ``documents`` are those that take part, by file; ``rendered`` is what each template was given and made."""

    def __init__(
        self, repository: Repository, intent: Intent, raw: Node, compiled: Compiled, workspace: str
    ) -> None:
        assert compiled.resolved is not None
        self.repository, self.intent, self.path = repository, intent, intent.path
        self.compiled, self.resolved, self.digest = compiled, compiled.resolved, compiled.digest
        self.leaves = leaves(compiled.objects)
        self.rendered: Sequence[Rendered] = ()
        self.code: Sequence[CodeFile] | None = intent.bundle.files if intent.bundle else None
        self._workspace = workspace
        self.files = _taking_part(self.resolved)
        self._own = some(repository.overlay_files, self.files)
        self._packaged = [read_file(file) for file in repository.packaged]
        nodes = {file.path: file.node for file in (*self._packaged, *self._own) if file.node is not None}
        packaged = {file.path for file in self._packaged}
        self.documents: dict[str, Node] = {
            self.path: raw,
            **{path: node for path, node in nodes.items() if path in self.files or path in packaged},
        }
        said: list[Diagnostic] = []
        canonical_of(raw, said)
        self._known = {(d.id, d.span) for d in said if d.severity == "error"}

    @property
    def naming(self) -> Naming:
        """See ``Tested``."""
        return named

    @property
    def layers(self) -> dict[str, str]:
        """What each file is called."""
        resolved = self.resolved
        parts = (resolved.platform, resolved.cluster, resolved.workspace, resolved.profile)
        return {**layer_names(self.documents, *parts), self.path: "tau.yaml"}

    def changed(self, edits: Sequence[Edit]) -> Made | None:
        """What comes out after some edits; None if nothing does, or if they make something illegal of their document."""
        nodes: dict[str, Node] = {}
        bundle, digest, tree = self.intent.bundle, self.digest, self.repository.tree
        for edit in edits:
            if edit.action == "digest":
                digest = edit.text
            elif edit.action in ("content", "executable", "move"):
                bundle = _with_file(bundle, edit)
            else:
                nodes[edit.file] = edited(nodes.get(edit.file, self.documents[edit.file]), edit)
            if edit.twin:
                tree = Twins(tree, *edit.twin.split("\n"))
        try:
            intent = self.intent._replace(bundle=bundle)
            if self.path in nodes:
                read_again = self._intent(nodes[self.path], tree, intent)
                if read_again is None:
                    return None
                intent = read_again
            return self._made(intent, nodes, digest)
        except Exception:
            return None  # what is compiled in spite of errors may break anywhere: then it says nothing

    def with_field(self, path: str, value: Node) -> Made | None:
        """What comes out when the tau.yaml sets one more canonical field."""
        canonical = self.intent.canonical
        node = _with_field(canonical.node, path.split("."), value)
        try:
            return self._made(self.intent._replace(canonical=canonical._replace(node=node)), {}, self.digest)
        except Exception:
            return None

    def _made(self, intent: Intent, nodes: dict[str, Node], digest: str) -> Made | None:
        said: list[Diagnostic] = []
        repository, workspace = self.repository, self._workspace
        if any(path != self.path for path in nodes):
            own, packaged = with_nodes(self._own, nodes), with_nodes(self._packaged, nodes)
            loaded = load(own, packaged, lenient=True)
            overlays = loaded.overlays
            said += loaded.diagnostics
            if overlays is None:
                return None
            parts = (overlays.clusters, overlays.workspaces, overlays.profiles)
            there = {document.span.file for part in parts for document in part}
            if not self.files <= there | {overlays.platform.span.file}:
                return None
            repository = again(repository, loaded)
            repository.overlay_files, repository.packaged = own, packaged
            repository.renderer = self.repository.renderer
            if find(intent.document, "policy.workspace") is None:  # it may have another name now
                here = self.resolved.workspace.span.file
                workspace = next(w.name for w in overlays.workspaces if w.span.file == here)
        compiled = compile_intent(repository, intent, workspace, said, digest, lenient=True)
        if compiled is None or not compiled.objects:
            return None
        clean = not has_errors(said)
        same = compiled.objects == self.compiled.objects
        return Made(self.leaves if same else leaves(compiled.objects), clean)

    def _intent(self, raw: Node, tree: Any, before: Intent) -> Intent | None:
        said: list[Diagnostic] = []
        canonical = canonical_of(raw, said)
        if canonical is None or self._fails(said):
            return None
        if _code_of(canonical) == _code_of(before.canonical):
            return before._replace(canonical=canonical)
        said.clear()
        intent = read_intent(tree, self.path, canonical, said)
        return None if self._fails(said) else intent

    def _fails(self, said: list[Diagnostic]) -> bool:
        return any(d.severity == "error" and (d.id, d.span) not in self._known for d in said)


def bench(repository: Repository, path: str, data: bytes, workspace: str, digest: str = "") -> Bench | None:
    """Put a tau.yaml on the bench; None when nothing can be made of it, which compiling it will explain.

    ``digest`` is that of the run, where the run is known.
    """
    said: list[Diagnostic] = []
    raw = read(data, path).node
    canonical = None if raw is None else canonical_of(raw, said)
    if raw is None or canonical is None:
        return None
    loaded = lenient(repository)
    if loaded.overlays is None:
        return None
    own = again(repository, loaded)
    recorder = Recorder(own)
    own.renderer = recorder  # type: ignore[assignment]
    intent = read_intent(own.tree, path, canonical, said)
    try:
        compiled = compile_intent(own, intent, workspace, said, digest, lenient=True)
    except Exception:
        compiled = None
    if compiled is None:
        return None
    own.renderer = repository.renderer
    made = Bench(own, intent, raw, compiled, workspace)
    made.rendered = recorder.seen
    return made


def lenient(repository: Repository) -> Loaded:
    """The overlays, and where they have errors what can be made of them."""
    loaded = repository.overlays
    if loaded.overlays is None:
        loaded = load(repository.overlay_files, repository.packaged, lenient=True)
    return loaded


def layer_names(
    documents: Iterable[str], *parts: Platform | Cluster | Workspace | Profile | None
) -> dict[str, str]:
    """What each file is called: by its layer, when it is one of the overlays that take part."""
    found = dict.fromkeys(documents, "built-in overlay")
    return found | {
        part.span.file: f"{type(part).__name__.lower()} `{part.name}`" for part in parts if part is not None
    }


def again(repository: Repository, loaded: Loaded) -> Repository:
    """The same repository with other overlays, and nothing worked out yet from those that it had."""
    other = copy(repository)
    for name, attribute in vars(Repository).items():
        if isinstance(attribute, cached_property):
            vars(other).pop(name, None)
    other.overlays = loaded
    return other


def some(files: Sequence[SourceFile], needed: set[str]) -> list[SourceFile]:
    """The overlays to try changes with: those that take part, and some others that a changed name may lead to."""
    others = [file.path for file in files if file.path not in needed][:OTHERS]
    return [read_file(file) for file in files if file.path in needed or file.path in others]


def read_file(file: SourceFile) -> SourceFile:
    """An overlay with its node."""
    return file if file.problem else file._replace(node=read(file.data, file.path).node)


def with_nodes(files: Sequence[SourceFile], nodes: dict[str, Node]) -> list[SourceFile]:
    """Overlays, some of them with another node."""
    return [file._replace(node=nodes[file.path]) if file.path in nodes else file for file in files]


def _taking_part(resolved: Resolved) -> set[str]:
    parts = (resolved.platform, resolved.cluster, resolved.workspace, resolved.profile)
    return {part.span.file for part in parts if part is not None}


def _code_of(canonical: Canonical) -> list[Any]:
    found = [find(canonical.node, path) for path in _CODE]
    return [None if node is None else plain_data(node) for node in found]


def _with_file(bundle: CodeBundle | None, edit: Edit) -> CodeBundle | None:
    if bundle is None:
        return None
    files, start = [], bundle.entrypoint
    for file in bundle.files:
        if file.source == edit.file and edit.action == "content":
            file = file._replace(content=edit.text.encode("utf-8", "surrogateescape"))
        elif file.source == edit.file and edit.action == "executable":
            file = file._replace(executable=not file.executable)
        elif file.source == edit.file:
            start = edit.text if start == file.path else start
            file = file._replace(path=edit.text)
        files.append(file)
    return bundle._replace(files=tuple(sorted(files, key=lambda f: f.path)), entrypoint=start)


def _with_field(node: Mapping, steps: list[str], value: Node) -> Mapping:
    from tau_compile.source.nodes import Entry, Key

    name, rest = steps[0], steps[1:]
    old = node.entry(name)
    if rest:
        inner = old.value if old and isinstance(old.value, Mapping) else Mapping(node.span, ())
        value = _with_field(inner, rest, value)
    entry = Entry(old.key if old else Key(name, node.span), value)
    return Mapping(node.span, (*(e for e in node.entries if e.key.name != name), entry))


def place_below(path: str, text: str) -> str:
    """A path in a tau.yaml, counted from the root of the repository."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), text))

"""The changes to try for each input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Span
from tau_compile.explain.bench import place_below
from tau_compile.explain.inputs import Edit, Input, inputs, names_beside
from tau_compile.explain.others import others, similar
from tau_compile.schema import store
from tau_compile.schema.shape import ANY
from tau_compile.source.nodes import Mapping, Scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.explain.bench import Tested
    from tau_compile.schema.shape import Shape
    from tau_compile.source.nodes import Node
    from tau_compile.workload.code.model import CodeFile

ENOUGH = 3  # changes of one input that came out; two without an effect say that there is none
KINDS = ("Platform", "Cluster", "Workspace", "Profile")


class Tries:
    """All inputs of one workload, and what to do to each."""

    def __init__(self, bench: Tested) -> None:
        self._bench = bench
        self._code = {file.source: file for file in bench.code or ()}
        documents = bench.documents
        self.written = [
            one for f, node in documents.items() for one in inputs(node, f, _shape(bench, f, node))
        ]
        self._names = {one.text for one in self.written if one.what == "name"}
        self._beside = names_beside(list(documents.values()))

    def inputs(self) -> Iterator[Input]:
        """The intent as a whole, every place of the documents, and the files that ship."""
        path = self._bench.path
        if path:
            yield Input(path, Span(path, 1, 1, 1, 1), "", "", "intent")
        yield from self.written
        for file in self._code:
            yield Input(file, Span(file, 1, 1, 1, 1), "", "", "code")

    def alone(self, one: Input) -> Iterator[Edit]:
        """Changes of this input and nothing else."""
        if one.what == "intent":
            yield Edit(one.file, "digest", one.span, _other_digest(self._bench.digest))
        elif one.what == "code":
            yield from _code_changes(self._code[one.file])
        else:
            yield from (self.set(one, text) for text in self.texts(one))
            if one.holder is not None:
                yield Edit(one.file, "remove", one.holder)

    def texts(self, one: Input) -> list[str]:
        """Other texts for a written input."""
        if one.what == "name":
            return [text for text in dict.fromkeys(similar(one.text)) if text not in self._names][:ENOUGH]
        # A reference may lead elsewhere; what gives a thing its name must not give it the name of another.
        defines = one.file != self._bench.path and one.path.endswith(".name")
        beside = [] if defines else self._beside.get(one.text, [])
        return others(Scalar(one.span, one.text, one.plain), one.words, beside)

    def equal(self, one: Input) -> list[Input]:
        """The other inputs with the same text, which may refer to it or be referred to."""
        return [other for other in self.written if other.text == one.text and other is not one]

    def set(self, one: Input, text: str) -> Edit:
        """Another text; the file or folder that the old one leads to gets a second name."""
        if one.what == "name":
            return Edit(one.file, "rename", one.span, text)
        return Edit(one.file, "set", one.span, text, self._twin(one, text))

    def _twin(self, one: Input, text: str) -> str:
        if one.file != self._bench.path or self._bench.code is None:
            return ""
        old, new = (place_below(self._bench.path, t.partition(":")[0]) for t in (one.text, text))
        if old == new or old.startswith(("..", "/")) or new.startswith(("..", "/")):
            return ""
        tree = self._bench.repository.tree
        try:
            return f"{old}\n{new}" if tree.info(old) is not None and tree.info(new) is None else ""
        except (OSError, ValueError):
            return ""


def _shape(bench: Tested, file: str, node: Node) -> Shape:
    """What the schema of a document expects; nothing in particular of TauGrid's own kinds."""
    if file == bench.path:
        return store.tau().shape
    kind = node.get("kind") if isinstance(node, Mapping) else None
    return store.overlay(kind.text).shape if isinstance(kind, Scalar) and kind.text in KINDS else ANY


def _other_digest(digest: str) -> str:
    return "".join("1" if c == "0" else "0" for c in digest)


def _code_changes(file: CodeFile) -> Iterator[Edit]:
    place = Span(file.source, 1, 1, 1, 1)
    text = file.content.decode("utf-8", "surrogateescape")
    yield Edit(file.source, "content", place, f"{text}\n# changed\n")
    if text.startswith("#!"):
        first, _, rest = text.partition("\n")
        shell = "#!/bin/bash" if first != "#!/bin/bash" else "#!/bin/sh"
        yield Edit(file.source, "content", place, f"{shell}\n{rest}")
    yield Edit(file.source, "executable", place)
    folder, slash, name = file.path.rpartition("/")
    yield Edit(file.source, "move", place, folder + slash + next(iter(similar(name))))

"""A JSON Schema document: its draft, and the references inside it and to the documents beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Schema = dict[str, Any] | bool

_URN = "urn:tau-compile:"
_DRAFT_7 = "http://json-schema.org/draft-07/schema"
_DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


class SchemaError(Exception):
    """A schema of ours says something this room does not implement. Never the fault of a user's file."""


class Document:
    """One schema file. ``memo`` keeps what other modules of this room derive from it, by subject and schema.

    ``load`` finds a neighbour by file name; without it only references inside the document resolve.
    """

    __slots__ = ("_load", "draft7", "memo", "root")

    def __init__(self, root: Schema, load: Callable[[str], Document] | None = None) -> None:
        self.root = root
        self._load = load
        self.memo: dict[tuple[str, int], Any] = {}
        draft = root.get("$schema", _DRAFT_2020).rstrip("#") if isinstance(root, dict) else _DRAFT_2020
        if draft not in (_DRAFT_7, _DRAFT_2020):
            raise SchemaError(f"unsupported draft {draft}")
        self.draft7 = draft == _DRAFT_7

    def find(self, reference: str) -> tuple[Schema, Document]:
        """The schema that ``file#/json/pointer`` names, and the document it lies in.

        ``file`` is empty for this document, else a name beside it, with or without our URN in front.
        """
        file, _, pointer = reference.partition("#")
        document = self._neighbour(file.removeprefix(_URN)) if file else self
        found: Any = document.root
        for step in pointer.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            found = found[int(name)] if isinstance(found, list) else found.get(name)
            if found is None:
                raise SchemaError(f"{reference} leads nowhere")
        if (pointer and not pointer.startswith("/")) or not isinstance(found, dict | bool):
            raise SchemaError(f"{reference} is not a schema")
        return found, document

    def _neighbour(self, name: str) -> Document:
        if self._load is None:
            raise SchemaError(f"no loader for {name}")
        return self._load(name)

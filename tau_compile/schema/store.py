"""The packaged schemas, each read once."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from typing import Any

from tau_compile import data
from tau_compile.schema import fast, shape
from tau_compile.schema.document import Document

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*").fullmatch


class Prepared:
    """A schema made ready for checking: its verdict and the way it wants a document to be read."""

    __slots__ = ("document", "schema", "shape", "verdict")

    def __init__(self, document: Document, reference: str = "#") -> None:
        self.schema, self.document = document.find(reference)
        self.verdict = fast.check(self.schema, self.document)
        self.shape = shape.build(self.schema, self.document)


def prepare(schema: dict[str, Any]) -> Prepared:
    """A schema that is in no file, ready for checking. Keep the result: this is where the work is done."""
    return Prepared(Document(schema))


@cache
def load(name: str) -> dict[str, Any]:
    """The file ``name`` below ``schemas/``, such as ``tau.schema.json``. Raises OSError if there is none."""
    with open(data.locate("schemas", *name.split("/")), encoding="utf-8") as file:
        loaded: dict[str, Any] = json.load(file)
    return loaded


@cache
def document(name: str) -> Document:
    """``load(name)`` with its references; neighbours are looked up in the same folder."""
    folder = name.rpartition("/")[0]
    return Document(load(name), lambda other: document(f"{folder}/{other}" if folder else other))


@cache
def prepared(name: str) -> Prepared:
    """The schema file ``name``, or one of its definitions: ``tau.schema.json#/$defs/canonical``."""
    file, _, pointer = name.partition("#")
    return Prepared(document(file), f"#{pointer}")


def tau() -> Prepared:
    """The schema of tau.yaml, both forms."""
    return prepared("tau.schema.json")


def overlay(kind: str) -> Prepared:
    """The schema of an overlay document: Platform, Cluster, Workspace or Profile."""
    return prepared(f"{kind.lower()}.schema.json")


@cache
def kubernetes_name(api_version: str, kind: str) -> str | None:
    """The schema file of a Kubernetes kind below ``schemas/``, in the catalogue layout (P19), or None."""
    group, _, version = api_version.rpartition("/")
    if not all(_SAFE(part) for part in (group or version, version, kind)):
        return None
    # The folder of the core group is its version: that is what kubeconform puts for the group of `v1`.
    name = f"kubernetes/{group or version}/{kind.lower()}_{version}.json"
    return name if os.path.isfile(data.locate("schemas", *name.split("/"))) else None


def kubernetes(api_version: str, kind: str) -> dict[str, Any] | None:
    """The schema of a Kubernetes kind, such as ``("batch/v1", "Job")``; None for one we do not know."""
    name = kubernetes_name(api_version, kind)
    return load(name) if name else None

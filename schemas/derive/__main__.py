"""``python -m schemas.derive [--check]``: write ``schemas/kubernetes``, or say whether it is fresh.

Exit codes: 0 written or fresh, 1 a module cannot be had or converted, 3 ``--check`` found differences.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from .convert import Converter, Schema, UnknownKeywordError
from .fold import compact, fold
from .kinds import CORE, KINDS, MODULES, Kind
from .upstream import OpenAPI, Published, UpstreamError, download, find_custom

TARGET = Path(__file__).resolve().parents[1] / "kubernetes"
_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def derive() -> dict[str, str]:
    """Derive every file below ``schemas/kubernetes``, by relative path. Downloads the modules if need be."""
    folders = download(MODULES)
    builtin = OpenAPI(folders[CORE] / CORE.documents)
    files = {}
    scopes: dict[str, dict[str, str]] = {module.path: {} for module in MODULES}
    for kind in KINDS:
        documents = folders[kind.module] / kind.module.documents
        published = builtin.find(kind) if kind.module is CORE else find_custom(kind, documents)
        files[kind.file] = _text(kind, fold(root_schema(kind, published, builtin.definitions)))
        scope = "Namespaced" if published.namespaced else "Cluster"
        scopes[kind.module.path][f"{kind.api_version}/{kind.name}"] = scope
    files["VERSIONS.json"] = _json(
        {m.path: {"version": m.version, "sum": m.sum, "kinds": scopes[m.path]} for m in MODULES}
    )
    return files


def root_schema(kind: Kind, published: Published, definitions: dict[str, Schema]) -> Schema:
    """Build the schema of one kind: its published structure, pinned to its name, with strict metadata.

    A CustomResourceDefinition says nothing about metadata, so all kinds get the built-in kinds' ObjectMeta.
    """
    schema = Converter(definitions, published.custom).convert(published.schema)
    metadata = Converter(definitions, custom=False).convert({"$ref": f"#/definitions/{_OBJECT_META}"})
    fields = dict(metadata["properties"])
    if not published.namespaced:
        del fields["namespace"]  # the server would drop it in silence
    schema["properties"] |= {
        "apiVersion": {"const": kind.api_version},
        "kind": {"const": kind.name},
        "metadata": {
            **metadata,
            "properties": {**fields, "name": {"minLength": 1, "type": "string"}},
            "required": ["name"],
        },
    }
    schema["required"] = sorted({"apiVersion", "kind", "metadata", *schema.get("required", ())})
    return schema


def _text(kind: Kind, schema: Schema) -> str:
    """Write one line a definition and a property: small, and still readable in a review."""
    head = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$comment": f"Derived by `make schemas` from {kind.module.path} {kind.module.version}; do not edit.",
    }
    lines = [f"{json.dumps(key)}:{compact(value)}" for key, value in head.items()]
    for key in sorted(schema):
        value = schema[key]
        if key in {"definitions", "properties"}:
            entries = ",\n".join(f"{json.dumps(name)}:{compact(value[name])}" for name in sorted(value))
            lines.append(f"{json.dumps(key)}:{{\n{entries}\n}}")
        else:
            lines.append(f"{json.dumps(key)}:{compact(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def _stale(files: dict[str, str]) -> list[str]:
    """List what differs between the folder and ``files``: changed, missing and surplus paths."""
    there = {
        path.relative_to(TARGET).as_posix(): path.read_text(encoding="utf-8")
        for path in TARGET.rglob("*.json")
    }
    return sorted(path for path in there.keys() | files.keys() if there.get(path) != files.get(path))


def _write(files: dict[str, str], stale: list[str]) -> None:
    for name in stale:
        path = TARGET / name
        if name in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[name], encoding="utf-8")
        else:
            path.unlink()


def main() -> int:
    """Command line entry; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m schemas.derive", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 3 if a file is not fresh")
    check = parser.parse_args().check
    try:
        files = derive()
    except (UpstreamError, UnknownKeywordError) as problem:
        print(f"schemas/derive: {problem}", file=sys.stderr)
        return 1
    stale = _stale(files)
    if not check:
        _write(files, stale)
    elif stale:
        print("schemas/kubernetes is not fresh; run `make schemas`:", *stale, sep="\n  ", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())

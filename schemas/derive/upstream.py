"""Fetches the upstream modules and finds a kind's published schema in them."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .kinds import Kind, Module

_GO = Path(__file__).resolve().parents[2] / "tests" / "tools" / "go.sh"


class Published(NamedTuple):
    """A kind as upstream publishes it."""

    schema: dict[str, Any]
    namespaced: bool
    custom: bool  # from a CustomResourceDefinition, hence pruned and checked against exactly this schema


class UpstreamError(Exception):
    """A module could not be had, is not the reviewed one, or lacks a kind; the text says which and why."""


def download(modules: Sequence[Module]) -> dict[Module, Path]:
    """Return the modules' folders in Go's module cache, downloaded if need be and checked by their hash."""
    command = ["sh", str(_GO), "mod", "download", "-json", *(f"{m.path}@{m.version}" for m in modules)]
    with tempfile.TemporaryDirectory() as outside_any_module:
        done = subprocess.run(  # noqa: S603 - fixed command, no shell
            command, cwd=outside_any_module, capture_output=True, text=True, check=False
        )
    answers = {answer["Path"]: answer for answer in _json_stream(done.stdout)}
    folders = {}
    for module in modules:
        answer = answers.get(module.path, {})
        if "Dir" not in answer:
            reason = answer.get("Error") or done.stderr.strip() or "go said nothing"
            raise UpstreamError(f"cannot download {module.path}@{module.version}: {reason}")
        if answer["Sum"] != module.sum:
            raise UpstreamError(
                f"{module.path}@{module.version} hashes to {answer['Sum']}, but {module.sum} is pinned"
            )
        folders[module] = Path(answer["Dir"])
    return folders


def _json_stream(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        value, end = decoder.raw_decode(text)
        yield value
        text = text[end:]


class OpenAPI:
    """The OpenAPI (Swagger 2.0) document of the built-in kinds."""

    def __init__(self, path: Path) -> None:
        document = json.loads(path.read_bytes())
        self.definitions: dict[str, dict[str, Any]] = document["definitions"]
        self._paths: dict[str, dict[str, Any]] = document["paths"]

    def find(self, kind: Kind) -> Published:
        """Find the kind's definition, and its scope as its ``create`` path tells."""
        group, _, version = kind.api_version.rpartition("/")
        identity = {"group": group, "version": version, "kind": kind.name}
        for name in sorted(self.definitions):
            if self.definitions[name].get("x-kubernetes-group-version-kind") == [identity]:
                return Published(self.definitions[name], self._namespaced(identity), custom=False)
        raise UpstreamError(f"{kind.module.path}@{kind.module.version} has no {kind.api_version} {kind.name}")

    def _namespaced(self, identity: dict[str, str]) -> bool:
        creating = [
            path
            for path, verbs in self._paths.items()
            if verbs.get("post", {}).get("x-kubernetes-group-version-kind") == identity
        ]
        return any("{namespace}" in path for path in creating)


def find_custom(kind: Kind, folder: Path) -> Published:
    """Find the served version of the kind in the folder's CustomResourceDefinitions."""
    group, _, version = kind.api_version.rpartition("/")
    for path in sorted(folder.glob(f"{group}_*.yaml")):
        text = path.read_text(encoding="utf-8")
        if f" kind: {kind.name}\n" not in text:  # parsing megabytes of YAML is what costs here
            continue
        spec = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))["spec"]  # noqa: S506
        if spec["names"]["kind"] != kind.name:
            continue
        for candidate in spec["versions"]:
            if candidate["name"] == version and candidate["served"]:
                schema = candidate["schema"]["openAPIV3Schema"]
                return Published(schema, spec["scope"] == "Namespaced", custom=True)
    raise UpstreamError(f"{kind.module.path}@{kind.module.version} serves no {kind.api_version} {kind.name}")

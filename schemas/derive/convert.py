"""OpenAPI as Kubernetes publishes it, to plain JSON Schema: structure only.

What goes: prose, defaults, examples, every ``x-kubernetes-*`` hint, and the fields that only the server
writes (``status``, ``metadata.uid``...), so that emitting one is an error. What comes: unknown fields are
refused, also at the root (P22), numbers have the range of their Go type, and a field that happens to be
called ``properties`` is a field like any other.

What JSON Schema cannot say is left to the rules: CEL, and that a ``list-type: map`` repeats no key.

Both Python's ``re`` and Go's must read a pattern the same way, for two validators judge by these schemas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

Schema = dict[str, Any]

# Where a converted schema keeps the name it would like to have as a shared definition; `fold` takes it out.
# The value is a pair of rank and name: a type's name (rank 0) goes before one made from a field's (rank 1).
NAME = "x-name"

_PROSE = {"default", "description", "example", "externalDocs", "title"}
_COPIED = {"enum", "maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"}
_SHAPE = {"$ref", "additionalProperties", "items", "properties", "required", "type"}
_LEAF = {"format", "maximum", "minimum", "nullable", "pattern"}
_SERVER_OWNED_METADATA = {
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generateName",  # would make a new object at every sync
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
}
# int64 ends one too late: kubeconform compares as float64, in which 2**63 - 1 is 2**63.
_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63)}
_DECIMAL = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)"
_FORMATS = {
    "byte": r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    "date-time": r"^[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}(\.[0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})$",
}
_QUANTITY = rf"^[-+]?{_DECIMAL}([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$"


class UnknownKeywordError(Exception):
    """Upstream uses a keyword that this converter does not know; to drop it could be to accept too much."""


def closed_text(pattern: str) -> Schema:
    r"""Return keywords that match ``pattern`` the same way everywhere.

    Python's ``$`` also matches before a final newline, Go's does not, and the two share no other anchor, so
    the newline is refused apart. Python wants ``(?i)`` in front, and its ``\d`` would match beyond ASCII.
    """
    if pattern.startswith("^(?i)"):
        pattern = "(?i)^" + pattern.removeprefix("^(?i)")
    if any(escape in pattern for escape in (r"\d", r"\w", r"\s", r"\b", "(?=", "(?!", "(?<")):
        raise UnknownKeywordError(f"the pattern {pattern!r} does not mean the same to Go and to Python")
    closed: Schema = {"pattern": pattern}
    if pattern.endswith("$"):
        closed["not"] = {"pattern": "\n$", "type": "string"}
    return closed


class Converter:
    """Converts the schemas of one source.

    ``definitions`` resolves ``$ref``, and also names the parts of CustomResourceDefinitions, which inline
    everything: ``twin`` is the node of the built-in kinds at the same place, if there is one. ``custom``: the
    API server prunes what the schema does not list, so an object without properties holds nothing.
    """

    def __init__(self, definitions: Mapping[str, Schema], custom: bool) -> None:
        self._definitions = definitions
        self._custom = custom

    def convert(self, node: Schema, twin: Schema | None = None, field: str = "") -> Schema:
        """Convert ``node``, which lies at a field of that name. Raises UnknownKeywordError."""
        if not self._custom:
            twin = node
        elif twin is None and _is_pod_template(node):
            twin = {"$ref": "#/definitions/io.k8s.api.core.v1.PodTemplateSpec"}
        go_type = _reference(twin).rpartition(".")[2]
        node, twin = self._resolve(node), self._resolve(twin or {})
        self._refuse_unknown(node, field)
        if node.get("x-kubernetes-int-or-string") or go_type in {"IntOrString", "Quantity"}:
            return _int_or_string(node, go_type)
        name = (0, go_type) if go_type else (1, field[:1].upper() + field[1:])
        match node.get("type"):
            case "object":
                return {NAME: name, **self._object(node, twin, name[1], _dropped(node, go_type))}
            case "array":
                items = self.convert(node["items"], twin.get("items"), _singular(field))
                unique = {"uniqueItems": True} if self._custom and _is_set(node) else {}
                return {**_copied(node), "items": items, **unique, "type": "array"}
            case "string" | "integer" | "number" | "boolean":
                return {NAME: name if go_type else (1, "Text"), **_leaf(node, name[1])}
            case None if not self._custom or node.get("x-kubernetes-preserve-unknown-fields"):
                return {}
        raise UnknownKeywordError(f"{field or 'the root'} has type {node.get('type')!r}")

    def _object(self, node: Schema, twin: Schema, name: str, dropped: set[str]) -> Schema:
        converted: Schema = {**_copied(node), "type": _nullable(node, "object")}
        values = node.get("additionalProperties")
        if isinstance(values, dict):
            converted["additionalProperties"] = self.convert(
                values, twin.get("additionalProperties"), name + "Value"
            )
            return converted
        fields: Mapping[str, Schema] = node.get("properties", {})
        twins: Mapping[str, Schema] = twin.get("properties", {})
        kept = sorted(fields.keys() - dropped)
        if kept:
            converted["properties"] = {key: self.convert(fields[key], twins.get(key), key) for key in kept}
        # A default fills the gap before the server looks whether the field is there.
        if required := sorted(
            k for k in node.get("required", ()) if k in kept and "default" not in fields[k]
        ):
            converted["required"] = required
        if not node.get("x-kubernetes-preserve-unknown-fields") and (fields or self._custom):
            converted["additionalProperties"] = False
        return converted

    def _resolve(self, node: Schema) -> Schema:
        while reference := _reference(node):
            node = self._definitions[reference]
        return node

    def _refuse_unknown(self, node: Schema, field: str) -> None:
        known = _PROSE | _COPIED | _SHAPE | _LEAF
        unknown = {key for key in node if key not in known and not key.startswith("x-kubernetes-")}
        if node.get("x-kubernetes-int-or-string"):
            unknown -= {"anyOf"}  # always [integer, string]
        if unknown:
            raise UnknownKeywordError(f"{field or 'the root'} uses {', '.join(sorted(unknown))}")


def _reference(node: Schema | None) -> str:
    return str((node or {}).get("$ref", "")).removeprefix("#/definitions/")


def _is_pod_template(node: Schema) -> bool:
    fields = node.get("properties", {})
    return "metadata" in fields and "containers" in fields.get("spec", {}).get("properties", {})


def _is_set(node: Schema) -> bool:
    return node.get("x-kubernetes-list-type") == "set"


def _singular(field: str) -> str:
    return field.removesuffix("s") or field


def _dropped(node: Schema, go_type: str) -> set[str]:
    if go_type == "ObjectMeta":
        return _SERVER_OWNED_METADATA
    # Of a whole object, embedded ones included; a plain field called `status` stays.
    return {"status"} if {"metadata", "spec", "status"} <= node.get("properties", {}).keys() else set()


def _nullable(node: Schema, kind: str) -> str | list[str]:
    return [kind, "null"] if node.get("nullable") else kind


def _copied(node: Schema) -> Schema:
    return {key: node[key] for key in _COPIED & node.keys()}


def _int_or_string(node: Schema, go_type: str) -> Schema:
    """Convert a quantity if there is a pattern; the published one lets the unreadable ``1e1.5`` pass."""
    if go_type == "Quantity" or "numkMGTPE" in node.get("pattern", ""):
        return {NAME: (0, "Quantity"), "type": ["integer", "string"], **closed_text(_QUANTITY)}
    low, high = _RANGES["int32"]
    return {NAME: (0, "IntOrString"), "type": ["integer", "string"], "minimum": low, "maximum": high}


def _leaf(node: Schema, name: str) -> Schema:
    leaf: Schema = {**_copied(node), "type": _nullable(node, node["type"])}
    low, high = node.get("minimum"), node.get("maximum")
    written = node.get("format")
    if written in _RANGES:
        floor, ceiling = _RANGES[written]
        low = floor if low is None else max(floor, low)
        high = ceiling if high is None else min(ceiling, high)
    elif written in _FORMATS:
        leaf |= closed_text(_FORMATS[written])
    elif written is not None:
        raise UnknownKeywordError(f"{name} has the format {written!r}")
    if low is not None:
        leaf["minimum"] = low
    if high is not None:
        leaf["maximum"] = high
    if "pattern" in node:
        leaf |= closed_text(node["pattern"])
    return leaf

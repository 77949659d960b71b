"""JSON Schema as closures that give a verdict and nothing else.

Everything is compiled on first use: a subschema that no document reaches costs nothing. A keyword that is
not implemented raises `SchemaError` when its schema is reached, and `audit` reaches all of them (a test does
so), so that a schema is never silently weaker than it reads. ``format`` asserts nothing, as in both drafts
by default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.schema.asserts import BUILDERS, Check
from tau_compile.schema.document import Document, Schema, SchemaError
from tau_compile.schema.keywords import refuse_unknown, says_nothing, subschemas

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_GROUPS: dict[type, str] = {str: "string", int: "number", float: "number", list: "array", dict: "object"}


def _yes(value: Any) -> bool:
    return True


def _no(value: Any) -> bool:
    return False


def _whole(value: float) -> bool:
    return value.is_integer()


def compile(schema: Schema) -> Check:  # noqa: A001 - `fast.compile` is how it reads
    """A function that tells whether a value is valid under ``schema``, which refers to no other files."""
    return check(schema, Document(schema))


def check(schema: Schema, document: Document) -> Check:
    """The verdict function of one (sub)schema of ``document``."""
    if schema is True or schema == {}:
        return _yes
    if not isinstance(schema, dict):
        return _no
    key = ("check", id(schema))
    found: Check | None = document.memo.get(key)
    if found is None:
        found = document.memo[key] = _build(schema, document)
    return found


def audit(schema: Schema, document: Document | None = None) -> None:
    """Compile all of ``schema`` at once; raises `SchemaError` for anything that is not implemented."""
    document = document or Document(schema)
    if isinstance(schema, dict):
        check(schema, document)
        if "$ref" in schema:
            document.find(schema["$ref"])
        for inner in subschemas(schema):
            audit(inner, document)


def _build(schema: dict[str, Any], document: Document) -> Check:
    refuse_unknown(schema, document)
    if "$ref" in schema and all(key == "$ref" or says_nothing(key) for key in schema):
        return _reference(schema["$ref"], document)
    groups: dict[str, list[Check]] = {"string": [], "number": [], "array": [], "object": [], "any": []}
    if "$ref" in schema:
        groups["any"].append(_reference(schema["$ref"], document))
    for group, keys, build in BUILDERS:
        if any(key in schema for key in keys):
            groups[group].append(build(schema, document, check))
    table: dict[type, tuple[Check, ...]] = {}
    for name in _type_names(schema):
        for kind in KINDS[name]:
            tests = (*groups.get(_GROUPS.get(kind, ""), ()), *groups["any"])
            if name == "integer" and kind is float:
                if kind not in table:
                    table[kind] = (_whole, *tests)
            else:
                table[kind] = tests
    return _by_kind(table)


def _type_names(schema: dict[str, Any]) -> tuple[str, ...]:
    names = schema.get("type", tuple(KINDS))
    names = (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        if name not in KINDS:
            raise SchemaError(f"unknown type {name}")
    return names


def _by_kind(table: dict[type, tuple[Check, ...]]) -> Check:
    find = table.get

    def verdict(value: Any) -> bool:
        tests = find(type(value))
        if tests is None:
            tests = find(_base(value))
            if tests is None:
                return False
        for test in tests:  # noqa: SIM110 - twice as fast as all() over a generator
            if not test(value):
                return False
        return True

    return verdict


def _base(value: Any) -> type:
    """The JSON kind of an instance of a subclass, such as an enum member that is a str."""
    for kind in (bool, str, int, float, list, dict):
        if isinstance(value, kind):
            return kind
    return type(value)


def _reference(reference: str, document: Document) -> Check:
    target: Callable[[Any], bool] | None = None

    def verdict(value: Any) -> bool:
        nonlocal target
        if target is None:
            target = check(*document.find(reference))
        return target(value)

    return verdict

"""What a schema expects at each place of a document, as far as *reading* scalars goes.

YAML text has no types of its own: ``010`` is text in one field and a mistake in another. A `Shape` answers
which kinds of value may stand at a place. Combinators are resolved against the node at hand: ``if`` by its
verdict, the branches of ``anyOf`` and ``oneOf`` by what the node could be. Everything is built when first
reached and kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.schema import fast
from tau_compile.schema.asserts import list_parts
from tau_compile.schema.condition import mentioned, outline
from tau_compile.schema.document import SchemaError
from tau_compile.schema.pattern import searcher
from tau_compile.schema.reading import TEXT, TYPED
from tau_compile.source.nodes import Scalar, Sequence

if TYPE_CHECKING:
    from tau_compile.schema.document import Document, Schema
    from tau_compile.source.nodes import Node

ALL = frozenset(fast.KINDS)
_SCALARS = ALL - {"array", "object"}
_NUMBERS = frozenset({"integer", "number"})
_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_NOTES = ("x-tau-refused", "x-tau-renamed", "x-tau-fold")
_OWN = frozenset(
    "type enum const properties patternProperties additionalProperties items prefixItems".split()  # noqa: SIM905
).union(_NOTES, {"x-tau-spelling"})
_LEAF = _OWN | {"required"}  # `required` changes no reading, but tells alternatives apart
_READING = _OWN | {"$ref", "allOf", "anyOf", "oneOf", "if"}


class Shape:
    """The expectation at one place. The base class expects nothing in particular.

    ``types`` are the JSON types that may stand here; ``words`` the only texts, when they are enumerated;
    ``spelling`` is a schema's explicit ``x-tau-spelling``; ``notes`` are the schemas that have something to
    say about a value being here at all; ``bounded``: numbers have bounds; ``silent``: the value is in the
    wrong place already, so that nothing more is said about it; ``varies``: `at` must be asked; ``mode``: how
    a plain scalar is read.
    """

    __slots__ = ("_children", "bounded", "mode", "notes", "silent", "spelling", "types", "varies", "words")

    def __init__(
        self,
        types: frozenset[str] = ALL,
        words: frozenset[str] | None = None,
        spelling: str = "",
        notes: tuple[dict[str, Any], ...] = (),
        bounded: bool = False,
        silent: bool = False,
        varies: bool = False,
    ) -> None:
        self.types, self.words, self.spelling, self.notes = types, words, spelling, notes
        self.bounded, self.silent, self.varies = bounded, silent, varies
        self._children: dict[str | int, Shape] = {}
        self.mode = self._mode()
        if self.mode == TEXT and self.bounded and types & _NUMBERS:
            raise SchemaError("a number is read as text here, so its bounds would not be checked")

    def _mode(self) -> int:
        """TEXT: as spelled (B-43). TYPED: as YAML 1.2 reads it, refusing what YAML 1.1 reads differently."""
        others = self.types & _SCALARS - {"string", "null"}
        if self.spelling:
            return TEXT if self.spelling == "keep" else TYPED
        if "string" not in self.types or (others and self.words is not None):
            return TYPED
        return TYPED if "boolean" in others else TEXT

    def child(self, name: str) -> Shape:
        """What is expected under a key."""
        found = self._children.get(name)
        if found is None:
            found, known = self._child(name) if "object" in self.types else (SILENT, False)
            if known:
                self._children[name] = found
        return found

    def item(self, index: int) -> Shape:
        """What is expected of a list's item."""
        return self._item(index) if "array" in self.types else SILENT

    def at(self, node: Node) -> Shape:
        """The shape for this very node, in which nothing varies any more."""
        return self

    def possible(self, node: Node) -> bool:
        """Whether ``node`` could be meant for this shape; used to choose between alternatives."""
        return True

    def _child(self, name: str) -> tuple[Shape, bool]:
        return (SILENT if self.silent else ANY), False

    def _item(self, index: int) -> Shape:
        return SILENT if self.silent else ANY


ANY = Shape()
SILENT = Shape(silent=True)


class _Leaf(Shape):
    """The keywords of one schema, without its combinators."""

    __slots__ = ("_consts", "_document", "_first", "_patterns", "_rest", "_schema")

    def __init__(self, schema: dict[str, Any], document: Document) -> None:
        values = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else None
        types = ALL
        if "type" in schema:
            names = schema["type"]
            types = frozenset((names,) if isinstance(names, str) else names)
        words = None
        if values is not None:
            types = meet(types, frozenset(map(_type_of, values)))
            words = frozenset(value for value in values if isinstance(value, str))
        notes = (schema,) if any(name in schema for name in _NOTES) else ()
        self._schema, self._document = schema, document
        self._patterns = [(searcher(text), s) for text, s in schema.get("patternProperties", {}).items()]
        self._consts: dict[str, frozenset[str]] | None = None
        self._first: list[Schema] | None = None
        self._rest: Schema = True
        super().__init__(
            types, words, schema.get("x-tau-spelling", ""), notes, not _BOUNDS.isdisjoint(schema)
        )

    def _child(self, name: str) -> tuple[Shape, bool]:
        inner: list[Schema] = [s for search, s in self._patterns if search(name)]
        known = name in self._schema.get("properties", ())
        if known:
            inner.append(self._schema["properties"][name])
        if not inner:
            return build(self._schema.get("additionalProperties", True), self._document), False
        found = ANY
        for part in inner:
            found = both(found, build(part, self._document))
        return found, known

    def _item(self, index: int) -> Shape:
        if self._first is None:
            self._first, self._rest = list_parts(self._schema, self._document)
        return build(self._first[index] if index < len(self._first) else self._rest, self._document)

    def possible(self, node: Node) -> bool:
        if isinstance(node, Scalar):
            return not self.types.isdisjoint(_SCALARS)
        if isinstance(node, Sequence):
            return "array" in self.types
        schema = self._schema
        names = [entry.key.name for entry in node.entries]
        if "object" not in self.types or any(name not in names for name in schema.get("required", ())):
            return False
        if schema.get("additionalProperties") is False and not self._patterns:
            allowed = schema.get("properties", {})
            if any(name not in allowed for name in names):
                return False
        return all(
            not isinstance(value := node.get(name), Scalar) or value.text in texts
            for name, texts in self._tags().items()
        )

    def _tags(self) -> dict[str, frozenset[str]]:
        """The properties whose text is fixed: they tell alternatives apart."""
        if self._consts is None:
            found: dict[str, frozenset[str]] = {}
            for name, inner in self._schema.get("properties", {}).items():
                if isinstance(inner, dict):
                    values = inner.get("enum", [inner["const"]] if "const" in inner else [])
                    if values and all(isinstance(value, str) for value in values):
                        found[name] = frozenset(values)
            self._consts = found
        return self._consts


class _Both(Shape):
    """Two expectations at once."""

    __slots__ = ("_left", "_right", "_settled")

    def __init__(self, left: Shape, right: Shape) -> None:
        self._left, self._right = left, right
        self._settled: dict[tuple[int, int], Shape] = {}
        super().__init__(
            meet(left.types, right.types),
            left.words
            if right.words is None
            else right.words
            if left.words is None
            else left.words & right.words,
            left.spelling or right.spelling,
            left.notes + right.notes,
            left.bounded or right.bounded,
            varies=left.varies or right.varies,
        )

    def _child(self, name: str) -> tuple[Shape, bool]:
        found = both(self._left.child(name), self._right.child(name))
        return found, name in self._left._children or name in self._right._children

    def _item(self, index: int) -> Shape:
        return both(self._left.item(index), self._right.item(index))

    def at(self, node: Node) -> Shape:
        if not self.varies:
            return self
        left, right = self._left.at(node), self._right.at(node)
        key = (id(left), id(right))
        if key not in self._settled:
            self._settled[key] = both(left, right)
        return self._settled[key]

    def possible(self, node: Node) -> bool:
        return self._left.possible(node) and self._right.possible(node)


class _Either(Shape):
    """Alternatives. Those that vary are narrowed to what the node could be; the rest are taken together."""

    __slots__ = ("_options", "_settled")

    def __init__(self, options: tuple[Shape, ...], varies: bool) -> None:
        self._options = options
        self._settled: dict[tuple[int, ...], Shape] = {}
        words: frozenset[str] | None = frozenset()
        for option in options:
            if "string" in option.types:
                words = None if words is None or option.words is None else words | option.words
        super().__init__(
            frozenset().union(*(option.types for option in options)),
            words,
            next((option.spelling for option in options if option.spelling), ""),
            tuple(note for option in options for note in option.notes),
            any(option.bounded for option in options),
            varies=varies,
        )

    def _child(self, name: str) -> tuple[Shape, bool]:
        inner = [option.child(name) for option in self._options if "object" in option.types]
        return either(inner), any(name in option._children for option in self._options)

    def _item(self, index: int) -> Shape:
        return either([option.item(index) for option in self._options if "array" in option.types])

    def at(self, node: Node) -> Shape:
        if not self.varies:
            return self
        options = [option for option in self._options if option.possible(node)] or self._options
        live = tuple(option.at(node) for option in options)
        key = tuple(map(id, live))
        if key not in self._settled:
            self._settled[key] = either(live, settled=True)
        return self._settled[key]

    def possible(self, node: Node) -> bool:
        return any(option.possible(node) for option in self._options)


class _Choice(Shape):
    """``if``, ``then``, ``else``. The condition is judged on the few keys that it mentions."""

    __slots__ = ("_document", "_names", "_schema")

    def __init__(self, schema: dict[str, Any], document: Document) -> None:
        self._schema, self._document = schema, document
        self._names = mentioned(schema["if"], document)
        super().__init__(varies=True)

    def at(self, node: Node) -> Shape:
        condition = self._schema["if"]
        value = outline(node, build(condition, self._document), self._names)
        holds = fast.check(condition, self._document)(value)
        return build(self._schema.get("then" if holds else "else", True), self._document).at(node)


def build(schema: Schema, document: Document) -> Shape:
    """The shape of one (sub)schema of ``document``."""
    if schema is True:
        return ANY
    if not isinstance(schema, dict):
        return SILENT
    if _READING.isdisjoint(schema):
        return ANY
    key = ("shape", id(schema))
    found: Shape | None = document.memo.get(key)
    if found is None:
        found = document.memo[key] = _build(schema, document)
    return found


def _build(schema: dict[str, Any], document: Document) -> Shape:
    found: Shape = ANY if _LEAF.isdisjoint(schema) else _Leaf(schema, document)
    if "$ref" in schema:
        found = both(found, build(*document.find(schema["$ref"])))
    for part in schema.get("allOf", ()):
        found = both(found, build(part, document))
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword, ())
        if not all(map(_mute, options)):
            found = both(found, either([build(option, document) for option in options]))
    if not (_mute(schema.get("then", True)) and _mute(schema.get("else", True))) and "if" in schema:
        found = both(found, _Choice(schema, document))
    return found


def both(left: Shape, right: Shape) -> Shape:
    """Both expectations at once."""
    if left is ANY or left is right or right is SILENT:
        return right
    return left if right is ANY or left is SILENT else _Both(left, right)


def either(options: list[Shape] | tuple[Shape, ...], settled: bool = False) -> Shape:
    """One expectation or another; a place that is wrong in one alternative says nothing about the others."""
    live = tuple(dict.fromkeys(option for option in options if option is not SILENT))
    if not live:
        return SILENT
    return ANY if ANY in live else live[0] if len(live) == 1 else _Either(live, varies=not settled)


def meet(left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    """The types in both sets; an integer is a number."""
    found = left & right
    if "integer" in left | right and "number" in left | right and "number" not in found:
        found |= {"integer"} if ("number" in left or "integer" in left) and right & _NUMBERS else frozenset()
    return found


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    for name in ("string", "number", "array", "object", "null"):
        if isinstance(value, fast.KINDS[name]):
            return name
    raise SchemaError(f"{value!r} is not JSON")


def _mute(schema: Schema) -> bool:
    """Whether ``schema`` says nothing about how a value is read."""
    return not isinstance(schema, dict) or _READING.isdisjoint(schema)

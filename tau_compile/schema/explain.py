"""A fault of a value in words: an id, a message, a cure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tau_compile.schema import words
from tau_compile.suggest import nearest

if TYPE_CHECKING:
    from tau_compile.schema.faults import Fault

_MORE = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
}
_SIZES = {"Length": "character", "Items": "item", "Properties": "key"}


class Said(NamedTuple):
    """What to say about one fault."""

    id: str
    message: str
    hint: str = ""


def explain(fault: Fault, path: str) -> Said:
    """Words for ``fault``; ``path`` is the value's place, "" for the whole document."""
    said = _SAY.get(fault.keyword, _bound)(fault, f"`{path}`" if path else "the document", path)
    extra = note(fault, "x-tau-hint")
    if extra and fault.keyword not in ("additionalProperties", "required"):
        return said._replace(hint=f"{said.hint}; {extra}" if said.hint else extra)
    return said


def note(fault: Fault, keyword: str) -> Any:
    """What the nearest schema of the value says under ``keyword``, or None."""
    return next((holder[keyword] for holder in reversed(fault.holders) if keyword in holder), None)


def below(path: str, name: str) -> str:
    """The place of a key."""
    return f"{path}.{name}" if path else name


def _value(fault: Fault) -> str:
    return words.value(fault.value, bool(note(fault, "x-tau-sensitive")))


def _type(fault: Fault, name: str, path: str) -> Said:
    expected = words.types(fault.detail)
    if fault.value is None:
        return Said("TAU206", f"{name} has no value", f"remove the key or write {expected}")
    return Said("TAU202", f"{name} must be {expected}, not {_value(fault)}", _type_hint(fault, path))


def _type_hint(fault: Fault, path: str) -> str:
    key = path.rpartition(".")[2] or path
    examples = note(fault, "examples")
    if examples and key and not key.endswith("]"):
        return f"for example `{key}: {words.spelled(examples[0])}`"
    if isinstance(fault.value, str) and {"integer", "number"} & set(fault.detail) and _numeric(fault.value):
        return "remove the quotes"
    if (
        "array" in fault.detail
        and isinstance(fault.value, str)
        and key
        and not note(fault, "x-tau-sensitive")
    ):
        return f"write a list: `{key}: [{words.spelled(fault.value)[:60]}]`"
    if set(fault.detail) == {"object"}:
        return "write keys of its own below it, indented"
    if set(fault.detail) == {"array"}:
        return "write a list: items below it, each behind `- `"
    return f"write {words.types(fault.detail)}"


def _numeric(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def _choice(fault: Fault, name: str, path: str) -> Said:
    schema = fault.holders[-1]
    allowed = schema["enum"] if fault.keyword == "enum" else [schema["const"]]
    hint = "write one of them" if len(allowed) > 1 else f"write {words.choices(allowed)}"
    if isinstance(fault.value, str) and len(allowed) > 1:
        texts = [item for item in allowed if isinstance(item, str)]
        same = [item for item in texts if item.casefold() == fault.value.strip().casefold()]
        close = nearest(fault.value, texts)
        hint = f"write `{same[0]}`" if same else f"did you mean `{close}`?" if close else hint
    return Said("TAU203", f"{name} must be {words.choices(allowed)}, not {_value(fault)}", hint)


def _missing(fault: Fault, name: str, path: str) -> Said:
    return Said("TAU204", f"`{below(path, fault.detail)}` is missing")


def _alternatives(fault: Fault, name: str, path: str) -> Said:
    wanted = [words.either((f"`{below(path, key)}`" for key in group), "and") for group in fault.detail]
    return Said("TAU204", f"{words.either(wanted)} is missing", "add one of them")


def _dependent(fault: Fault, name: str, path: str) -> Said:
    present, missing = fault.detail
    return Said(
        "TAU204",
        f"`{below(path, missing)}` is missing: `{below(path, present)}` needs it",
        f"add `{missing}`",
    )


def _unknown(fault: Fault, name: str, path: str) -> Said:
    return Said("TAU201", f"unknown key {name}")


def _forbidden(fault: Fault, name: str, path: str) -> Said:
    return Said("TAU207", f"{name} cannot be used here", "remove it")


def _not(fault: Fault, name: str, path: str) -> Said:
    expects = note(fault, "x-tau-expects")
    if expects:
        return Said("TAU207", f"{name} cannot be used like this", f"write {expects}")
    keys = fault.detail.get("required", ()) if isinstance(fault.detail, dict) else ()
    shown = [f"`{below(path, key)}`" for key in keys]
    if len(shown) > 1:
        return Said("TAU207", f"{words.either(shown, 'and')} exclude each other", "remove one of them")
    return Said("TAU207", f"{shown[0] if shown else name} cannot be used like this", "remove it")


def _one_of(fault: Fault, name: str, path: str) -> Said:
    expects = note(fault, "x-tau-expects")
    if expects:
        return Said("TAU207", f"{name} cannot be used like this", f"write {expects}")
    keys = [key for option in fault.detail if isinstance(option, dict) for key in option.get("required", ())]
    if keys:
        shown = [f"`{below(path, key)}`" for key in dict.fromkeys(keys)]
        return Said("TAU207", f"{words.either(shown, 'and')} exclude each other", "keep one of them")
    return Said("TAU207", f"{name} fits more than one of its forms", "keep to one of them")


def _any_of(fault: Fault, name: str, path: str) -> Said:
    expects = note(fault, "x-tau-expects") or words.either(expected(branch[0]) for branch in fault.detail)
    return Said("TAU205", f"{name} cannot be {_value(fault)}", f"write {expects}")


def expected(fault: Fault) -> str:
    """A noun phrase for what an assertion wants."""
    phrase = note(fault, "x-tau-expects")
    if phrase:
        return str(phrase)
    schema, keyword = fault.holders[-1], fault.keyword
    if keyword == "pattern":
        return f"text that matches the pattern `{schema['pattern']}`"
    if keyword in ("enum", "const"):
        return words.choices(schema.get("enum", [schema.get("const")]))
    if keyword == "type":
        return words.types(fault.detail)
    if keyword == "multipleOf":
        return f"a multiple of {schema['multipleOf']}"
    for ending, noun in _SIZES.items():
        if keyword.endswith(ending):
            least, most = schema.get(f"min{ending}"), schema.get(f"max{ending}")
            return words.between(least, most, noun)
    if keyword in _MORE:
        return words.either((f"{_MORE[key]} {schema[key]}" for key in _MORE if key in schema), "and")
    return "something else"


def _bound(fault: Fault, name: str, path: str) -> Said:
    schema, keyword, value = fault.holders[-1], fault.keyword, fault.value
    for ending, noun in _SIZES.items():
        if keyword in (f"min{ending}", f"max{ending}"):
            if not value:
                return Said("TAU205", f"{name} is empty", f"write {expected(fault)}")
            allowed = words.between(schema.get(f"min{ending}"), schema.get(f"max{ending}"), noun)
            cure = "remove some" if keyword.startswith("max") else "add more"
            return Said("TAU205", f"{name} has {words.count(len(value), noun)}, allowed are {allowed}", cure)
    if keyword in _MORE or keyword == "multipleOf":
        cure = "write a larger one" if keyword in ("minimum", "exclusiveMinimum") else "write a smaller one"
        cure = "round it" if keyword == "multipleOf" else cure
        return Said("TAU205", f"{name} must be {expected(fault)}, not {_value(fault)}", cure)
    return Said("TAU205", f"{name} cannot be {_value(fault)}", f"write {expected(fault)}")


def _repeated(fault: Fault, name: str, path: str) -> Said:
    again, first = fault.detail
    return Said("TAU205", f"`{path}[{again}]` repeats `{path}[{first}]`", "remove one of them")


def _contains(fault: Fault, name: str, path: str) -> Said:
    expects = note(fault, "x-tau-expects")
    return Said("TAU205", f"{name} lacks an item of the expected kind", f"add {expects or 'one'}")


def _name(fault: Fault, name: str, path: str) -> Said:
    inner = fault._replace(keyword=fault.detail)
    return Said("TAU205", f"the key {name} is not allowed", f"use {expected(inner)}")


_SAY = {
    "type": _type,
    "enum": _choice,
    "const": _choice,
    "required": _missing,
    "alternatives": _alternatives,
    "dependentRequired": _dependent,
    "additionalProperties": _unknown,
    "false": _forbidden,
    "not": _not,
    "oneOf": _one_of,
    "anyOf": _any_of,
    "uniqueItems": _repeated,
    "contains": _contains,
    "propertyNames": _name,
}

"""How one plain scalar is read where a schema expects something in particular."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.named import NamedTuple
from tau_compile.source.scalars import ambiguity, resolve

if TYPE_CHECKING:
    from tau_compile.schema.shape import Shape
    from tau_compile.source.nodes import Scalar

TEXT, TYPED = 0, 1  # Shape.mode: keep the text as spelled, or read it as YAML 1.2 does

NULLS = frozenset({"", "~", "null", "Null", "NULL"})
TRUE = frozenset({"y", "yes", "on", "true"})
FALSE = frozenset({"n", "no", "off", "false"})


class Complaint(NamedTuple):
    """What is wrong with a scalar. ``kind`` is "ambiguous", "infinite" or "null"."""

    kind: str
    reason: str = ""


def read(node: Scalar, shape: Shape) -> tuple[Any, Complaint | None]:
    """The value of ``node`` under ``shape``, and what is wrong with it, if anything is.

    A wrong value is returned as what was probably meant, so that it causes no further complaints.
    """
    text = node.text
    if not node.plain:
        return text, None
    if shape.mode == TEXT:
        if text in NULLS and "string" in shape.types:
            return None, None if "null" in shape.types else Complaint("null")
        return text, None
    if shape.words and text in shape.words:
        return text, None
    reason = ambiguity(text)
    if reason is not None:
        return likely(text), None if shape.silent else Complaint("ambiguous", reason)
    value = resolve(node)
    if value is None:
        return None, None if "null" in shape.types else Complaint("null")
    if isinstance(value, float):
        if value - value != 0:  # infinite or not a number
            return text, None if shape.silent else Complaint("infinite")
        if "number" not in shape.types and "integer" in shape.types and value.is_integer():
            return int(value), None
    return value, None


def likely(text: str) -> Any:
    """What an ambiguous scalar most likely means."""
    word = text.lower()
    if word in TRUE or word in FALSE:
        return word in TRUE
    numbers = readings(text)
    return numbers[-1] if numbers else text


def readings(text: str) -> list[int]:
    """The whole numbers that an ambiguous plain scalar is in YAML 1.1 and in 1.2, the one of 1.1 first."""
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-").replace("_", "")
    found: list[int] = []
    for prefix, base, ok in (("0x", 16, True), ("0b", 2, True), ("0o", 8, True), ("0", 8, digits.isdigit())):
        if ok and digits.lower().startswith(prefix) and len(digits) > len(prefix):
            found += _number(digits[len(prefix) :], base)
            break
    if ":" in digits:
        parts = [_number(part, 10) for part in digits.split(":")]
        if all(parts):
            total = 0
            for part in parts:
                total = total * 60 + part[0]
            found.append(total)
    if digits.isdigit() and digits.isascii():
        found += _number(digits, 10)
    return [sign * number for number in dict.fromkeys(found)]


def _number(digits: str, base: int) -> list[int]:
    if not digits.isascii() or len(digits) > 40:
        return []
    try:
        return [int(digits, base)]
    except ValueError:
        return []

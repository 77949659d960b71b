"""What a scalar means: YAML 1.2's core schema, and where YAML 1.1 would disagree.

kubectl, Argo CD and PyYAML read YAML 1.1 in three dialects, newer libraries read 1.2. Where a number or a
boolean is wanted, a spelling that they take for different values must be refused (`ambiguity`); where a string
is wanted, any spelling is kept as written.
"""

from __future__ import annotations

import math
import re
from typing import Any

from tau_compile.source.nodes import Mapping, Node, Scalar, Sequence
from tau_compile.source.places import show

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER = re.compile(
    r"(?P<int>[-+]?[0-9]+)|0o(?P<oct>[0-7]+)|0x(?P<hex>[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
)
_NOT_FINITE = {
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_NUMBER_STARTS = frozenset("-+.0123456789")
# Python converts no more than 640 decimal digits when its limit is set as low as it goes.
_DIGITS = 500

_BOOLEANS = {"y": "true", "yes": "true", "on": "true", "n": "false", "no": "false", "off": "false"}
# Asked for few scalars, so compiled on use.
_LEADING_ZERO = r"([-+]?)0([0-9]+)"
_SAME_IN_OCTAL = ("", "1", "2", "3", "4", "5", "6", "7")
_BASE = r"[-+]?0(?:[bB][01_]+|[oO][0-7_]+|[xX][0-9a-fA-F_]+)"
_COMMON_HEX = r"0x[0-9a-fA-F]+"
_BASE_60 = r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
_DATE = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}.*)?"


def resolve(scalar: Scalar) -> str | int | float | bool | None:
    """Return the value of a scalar: its text if quoted or a block, else as YAML 1.2's core schema reads it.

    ``1e3`` and ``1e-4`` are numbers, as in Kubernetes and unlike in PyYAML (B-38). A number that no double
    holds, or with more than 500 digits, stays a text, as ``695e0514`` does in Go (B-49).
    """
    text = scalar.text
    if not scalar.plain:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    if text in _NOT_FINITE:
        return _NOT_FINITE[text]
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text
    if match["float"]:
        value = float(text)
        return value if math.isfinite(value) else text
    if len(text) > _DIGITS:
        return text
    if match["oct"]:
        return int(match["oct"], 8)
    return int(match["hex"], 16) if match["hex"] else int(text)


def ambiguity(text: str) -> str | None:
    """Say why readers of YAML 1.1 and 1.2 take this plain scalar for different values, None if they agree.

    Ask it where a number or boolean is wanted. ``1e3`` passes: only PyYAML takes it for a text (B-38).
    """
    word = _BOOLEANS.get(text.lower())
    if word is not None:
        return f"YAML 1.1 reads {show(text)} as {word}, YAML 1.2 as a text"
    if text in ("=", "<<"):
        return f"{show(text)} has a meaning of its own in YAML 1.1 and is a text in YAML 1.2"
    if not text or text[0] not in _NUMBER_STARTS or (text.isdecimal() and text[0] != "0"):
        return None
    if match := re.fullmatch(_LEADING_ZERO, text):
        if match[2].lstrip("0") in _SAME_IN_OCTAL:
            return None
        if not set(match[2]) & set("89"):
            return f"YAML 1.1 reads {show(text)} as an octal number, YAML 1.2 as a decimal one"
        return f"YAML 1.1 reads {show(text)} as a text, YAML 1.2 as a decimal number"
    if re.fullmatch(_BASE, text) and not re.fullmatch(_COMMON_HEX, text):
        return f"some YAML readers take {show(text)} for a number and others for a text"
    if "_" in text and _NUMBER.fullmatch(text.replace("_", "")):
        return f"YAML 1.1 reads {show(text)} as a number without its underscores, YAML 1.2 as a text"
    if re.fullmatch(_BASE_60, text):
        return f"YAML 1.1 reads {show(text)} as a number in base 60, YAML 1.2 as a text"
    if re.fullmatch(_DATE, text):
        return f"YAML 1.1 reads {show(text)} as a date, YAML 1.2 as a text"
    return None


def plain_data(node: Node) -> Any:
    """Return the node as Python data: dicts with string keys, lists, and scalars as `resolve` reads them."""
    if isinstance(node, Scalar):
        return resolve(node)
    if isinstance(node, Mapping):
        return {entry.key.name: plain_data(entry.value) for entry in node.entries}
    assert isinstance(node, Sequence)
    return [plain_data(item) for item in node.items]

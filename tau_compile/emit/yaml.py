"""The canonical YAML text of a value: our own writer, so that every reader reads the same value back.

YAML 1.1 readers (kubectl, kustomize and Helm through ``sigs.k8s.io/yaml``; PyYAML) and YAML 1.2 readers
(ruamel.yaml) disagree on what unquoted text means, and general writers fall into the gap (B36 to B51). Here a
string is unquoted only where it cannot be anything else, and double-quoted as in JSON otherwise. Nothing is
folded, no anchor is written.

Lists stand at the indentation of their key, as ``kubectl get -o yaml`` and kustomize write them, so our text
compares line by line with what a cluster shows.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tau_compile.emit.order import USER_MAPS, ordered_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Words, paths, image references and API groups; or a quantity with a unit that no reader takes for an
# exponent.
_SAFE = re.compile(
    r"[A-Za-z/][A-Za-z0-9_./-]*(?:[:@]+[A-Za-z0-9_./-]+)*|[1-9][0-9]*(?:\.[0-9]+)?(?:[KMGTPE]i|[kMGTPm])"
)
# What some reader takes for a boolean, null or a number although it starts with a letter, in any case.
_WORDS = frozenset(("y", "yes", "n", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"))
# Written as escapes: what YAML calls not printable, what some readers take for a line break, and what changes
# the direction of text, since a reviewer must see what a manifest holds.
_HIDDEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff"
)
_ESCAPE = re.compile(rf'["\\\t\n{_HIDDEN}]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
# A literal block cannot hold blanks at the end of a line, an indented first line, a line led by a tab, or an
# escape.
_NOT_LITERAL = re.compile(rf"[ \t]$|\A\n*(?:[ \t]|\Z)|^ *\t|[{_HIDDEN}]", re.MULTILINE)
_LINE_START = re.compile(r"\n(?=[^\n])")
# Readers look for the colon of a key within 1,024 characters; a longer one needs the explicit form, `? key`.
_LONG_KEY = 1_000
# Longer text seldom repeats: remembering it would only hold memory.
_MEMO_TEXT = 200


def dump(value: Any, *, keep_order: bool = False) -> str:
    """Write one document, ending in a line feed: a tree of dict, list, tuple, str, int, float, bool and None.

    Keys come in the order of ``tau_compile.emit.order``, or as inserted with ``keep_order``. Raises TypeError
    for other types and for keys that are not strings, ValueError for what no Kubernetes reader accepts: NaN,
    infinities and lone surrogates.
    """
    lines: list[str] = []
    if isinstance(value, dict) and value:
        _mapping(value, "", "", lines.append, keep_order, False)
    elif isinstance(value, (list, tuple)) and value:
        _sequence(value, "", "", lines.append, keep_order)
    else:
        lines.append(_scalar(value, "  "))
    return "\n".join(lines) + "\n"


def dump_all(documents: Iterable[Any], *, keep_order: bool = False) -> str:
    """Write documents with ``---`` lines between them; none give the empty text. See ``dump``."""
    return "---\n".join([dump(document, keep_order=keep_order) for document in documents])


def _mapping(
    value: dict[str, Any], first: str, pad: str, out: Callable[[str], None], keep: bool, user: bool
) -> None:
    """Write a map that is not empty: ``first`` leads its first line, ``pad`` the others."""
    deeper = pad + "  "
    for key, name, below in _plan(tuple(value), keep, user):
        item = value[key]
        head = first + name
        if len(name) > _LONG_KEY:
            out(f"{first}? {name[:-1]}")
            head = pad + ":"
        first = pad
        if type(item) is str:
            if len(item) > _MEMO_TEXT or "\n" in item:
                out(f"{head} {_text(item, deeper)}")
            else:
                out(f"{head} {_quoted(item)}")
        elif isinstance(item, dict) and item:
            out(head)
            _mapping(item, deeper, deeper, out, keep, below)
        elif isinstance(item, (list, tuple)) and item:
            out(head)
            _sequence(item, pad, pad, out, keep)
        else:
            out(f"{head} {_scalar(item, deeper)}")


@lru_cache(maxsize=1024)
def _plan(keys: tuple[str, ...], keep: bool, user: bool) -> tuple[tuple[str, str, bool], ...]:
    """Order the keys of a map, each with how it is written and with whether users name the keys below it."""
    if not keep:
        keys = tuple(sorted(keys)) if user else ordered_keys(keys)
    return tuple((key, f"{_quoted(key)}:", key in USER_MAPS) for key in keys)


def _sequence(
    value: list[Any] | tuple[Any, ...], first: str, pad: str, out: Callable[[str], None], keep: bool
) -> None:
    """Write a list that is not empty: ``first`` leads its first line, ``pad`` the others."""
    deeper = pad + "  "
    head = first + "- "
    for item in value:
        if isinstance(item, dict) and item:
            _mapping(item, head, deeper, out, keep, False)
        elif isinstance(item, (list, tuple)) and item:
            _sequence(item, head, deeper, out, keep)
        else:
            out(head + _scalar(item, deeper))
        head = pad + "- "


def _scalar(value: Any, pad: str) -> str:
    """Write anything that is not a map or list with members."""
    if isinstance(value, str):
        return _text(value, pad)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, (list, tuple)):
        return "[]"
    raise TypeError(f"no YAML form for {type(value).__name__}")


def _float(value: float) -> str:
    """Write the shortest text that reads back; YAML 1.1 wants a dot (B38), so 0.00001 is ``1.0e-05``."""
    if not math.isfinite(value):
        raise ValueError(f"no JSON form for {value}")
    text = float.__repr__(value)
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}.0{e}{exponent}" if e and "." not in mantissa else text


def _text(text: str, pad: str) -> str:
    """Write a string: a literal block indented by ``pad`` for clean lines, else one line."""
    block = _block(text, pad) if "\n" in text else ""
    return block or (_quoted(text) if len(text) <= _MEMO_TEXT else _quote(text))


@lru_cache(maxsize=16)  # for the scripts that every run ships
def _block(text: str, pad: str) -> str:
    """A literal block, or an empty text where none can hold the string."""
    if _NOT_LITERAL.search(text):
        return ""
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    style = "|-" if ends == 0 else "|" if ends == 1 else "|+"
    body = _LINE_START.sub("\n" + pad, "\n" + body)
    return style + body + "\n" * (ends - 1)


def _quote(text: str) -> str:
    """Write a string or key on one line."""
    if _SAFE.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return f'"{_ESCAPE.sub(_escape, text)}"'


_quoted = lru_cache(maxsize=4096)(_quote)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if "\ud800" <= char <= "\udfff":
        raise ValueError("a lone surrogate has no UTF-8 form")
    return _SHORT.get(char) or f"\\u{ord(char):04x}"

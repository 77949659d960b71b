"""Bytes to text: everything that can be refused before YAML is parsed."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Span, error
from tau_compile.source.places import BLANKS, advance, line_end, show, span_of

if TYPE_CHECKING:
    from tau_compile.source.limits import Limits

_BOM = b"\xef\xbb\xbf"
# The UTF-16 little-endian mark also begins the UTF-32 one.
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")

_ASCII = bytes([0x09, 0x0A, 0x0D, *range(0x20, 0x7F)])
# What YAML does not allow, and the breaks that YAML 1.1 knows and 1.2 does not. The complement, YAML's printable
# characters, takes milliseconds to compile; few files need either pattern, so they are compiled on use.
_FORBIDDEN = "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]"
_DIRECTIVE = r"(?:\A|[\r\n])(%)"
_SEPARATORS = "\x85\u2028\u2029"
_MANY = 10


def decode(data: bytes, file: str, limits: Limits) -> tuple[str, list[Diagnostic]]:
    """Return the text of a file without its byte order mark, or an empty one and why it is not parsed."""
    if len(data) > limits.size:
        message = f"the file has {len(data)} bytes; at most {limits.size} are read"
        return "", [error("TAU101", message, _top(file), "keep code and data in files of their own")]
    if data.startswith(_WIDE_BOMS):
        hint = "save the file as UTF-8, with or without a byte order mark"
        return "", [error("TAU105", "the file is UTF-16 or UTF-32, not UTF-8", _top(file), hint)]
    data = data.removeprefix(_BOM)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        return "", [_undecodable(data, file, problem.start)]
    if not (data.isascii() and not data.translate(None, _ASCII)):
        found = [_forbidden(text, file, m.start()) for m in islice(re.finditer(_FORBIDDEN, text), _MANY)]
        if found:
            return "", found
    if "%" in text:
        found = [_directive(text, file, m.start(1)) for m in islice(re.finditer(_DIRECTIVE, text), _MANY)]
        if found:
            return "", found
    return text, []


def _top(file: str) -> Span:
    return Span(file, 1, 1, 1, 1)


def _undecodable(data: bytes, file: str, start: int) -> Diagnostic:
    line, column = advance(1, 1, data[:start].decode("utf-8"))
    place = Span(file, line, column, line, column + 1)
    message = f"the byte 0x{data[start]:02X} is not valid UTF-8"
    return error("TAU104", message, place, "save the file as UTF-8")


def _forbidden(text: str, file: str, at: int) -> Diagnostic:
    char = text[at]
    code = f"U+{ord(char):04X}"
    place = span_of(text, file, at, at + 1)
    if char in _SEPARATORS:
        message = f"{code} ends a line in YAML 1.1 but not in YAML 1.2, so readers see different documents"
        hint = f'remove it, or write it as "\\u{ord(char):04x}" in double quotes'
        return error("TAU107", message, place, hint)
    if char == "\0":
        message = "NUL (U+0000) is not allowed in YAML"
        return error("TAU106", message, place, "remove it; if the file was saved as UTF-16, save it as UTF-8")
    if char == "\ufeff":
        message = "a byte order mark (U+FEFF) is allowed at the start of the file only"
        return error("TAU106", message, place, "remove it")
    kind = "control character" if ord(char) < 0xA0 else "character"
    message = f"the {kind} {code} is not allowed in YAML"
    hint = f'remove it, or write it as "\\u{ord(char):04x}" in double quotes'
    return error("TAU106", message, place, hint)


def _directive(text: str, file: str, at: int) -> Diagnostic:
    line = text[at : line_end(text, at)].rstrip(BLANKS)
    message = f"the directive {show(line)} is not supported: a line must not start with `%`"
    hint = "remove the line; to begin a text with %, put it in quotes"
    return error("TAU110", message, span_of(text, file, at, at + len(line)), hint)

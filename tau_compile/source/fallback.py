"""PyYAML's pure-Python parser, made to read exactly what libyaml reads.

The two differ in where tabs are allowed, in `?` and `:` inside flow collections, in tags and a few escapes.
A file must not change its meaning with the machine it is compiled on, so the scanner methods in question are
written anew, after libyaml's rules. Only the place of an error and some words matter: ``syntax`` words it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from yaml.parser import Parser, ParserError
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError
from yaml.tokens import ScalarToken, TagToken

if TYPE_CHECKING:
    from collections.abc import Callable

_END = "\0\r\n"
_BLANK = "\0 \t\r\n"
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_URI = _WORD | frozenset(";/?:@&=+$.%!~*'()")
_UNKNOWN = "unknown"
_HEX = frozenset("0123456789abcdefABCDEF")


class PureParser(Reader, Scanner, Parser):
    """A source of events like ``yaml.cyaml.CParser``; reads a decoded text without U+FEFF."""

    peek: Callable[..., str]
    prefix: Callable[..., str]
    forward: Callable[..., None]
    get_mark: Callable[[], Any]

    scan_line_break: Callable[[], str]

    def __init__(self, text: str) -> None:
        self._unknown_tags: list[Any] = []
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)

    def _fail(self, context: str, start: Any, problem: str) -> NoReturn:
        raise ScannerError(f"while scanning {context}", start, problem, self.get_mark())

    def scan_to_next_token(self) -> None:
        """Skip blanks and comments: tabs may stand between tokens, but not where they would indent one."""
        while True:
            while (c := self.peek()) == " " or (c == "\t" and (self.flow_level or not self.allow_simple_key)):
                self.forward()
            if c == "#":
                while self.peek() not in _END:
                    self.forward()
            if not self.scan_line_break():
                return
            if not self.flow_level:
                self.allow_simple_key = True

    def fetch_flow_collection_end(self, token_class: Any) -> None:
        """Close a bracket, also one that was never opened."""
        super().fetch_flow_collection_end(token_class)
        self.flow_level = max(self.flow_level, 0)

    def fetch_stream_end(self) -> None:
        """End the text as if with a line break, so that a key still without its colon is an error."""
        if self.column:
            self.line += 1
            self.column = 0
        self.stale_possible_simple_keys()
        super().fetch_stream_end()

    def _at_document_mark(self) -> bool:
        return self.column == 0 and self.prefix(3) in ("---", "...") and self.peek(3) in _BLANK

    def scan_plain(self) -> ScalarToken:
        """Scan a plain scalar: tabs count as blanks; in flow context `?` is text and `x:,` an error."""
        start = end = self.get_mark()
        indent = self.indent + 1
        chunks: list[str] = []
        gap = ""
        new_line = False
        while not self._at_document_mark() and self.peek() != "#":
            length = self._plain_length(start)
            if length:
                chunks += (gap, self.prefix(length))
                self.forward(length)
                end = self.get_mark()
                new_line = False
            if self.peek() not in " \t\r\n":
                break
            gap, new_line = self._plain_gap(indent, start)
            if not self.flow_level and self.column < indent:
                break
        if new_line:
            self.allow_simple_key = True
        return ScalarToken("".join(chunks), True, start, end)

    def _plain_length(self, start: Any) -> int:
        length = 0
        while (c := self.peek(length)) not in _BLANK:
            if c == ":":
                after = self.peek(length + 1)
                if self.flow_level and after in ",?[]{}":
                    self.forward(length)
                    self._fail("a plain scalar", start, "found unexpected ':'")
                if after in _BLANK:
                    break
            elif self.flow_level and c in ",[]{}":
                break
            length += 1
        return length

    def _plain_gap(self, indent: int, start: Any) -> tuple[str, bool]:
        """Return the folded white space before the next word, and whether a line ended in it."""
        blanks = ""
        breaks = 0
        while (c := self.peek()) in " \t\r\n":
            if c in "\r\n":
                self.scan_line_break()
                breaks += 1
                continue
            if breaks and c == "\t" and self.column < indent:
                self._fail("a plain scalar", start, "found a tab character that violates indentation")
            blanks += c
            self.forward()
        return ("\n" * (breaks - 1) or " ") if breaks else blanks, breaks > 0

    def scan_flow_scalar(self, style: str) -> Any:
        """Scan quoted text; an escape must not be half of a surrogate pair, nor a number beyond Unicode."""
        start = self.get_mark()
        try:
            token = super().scan_flow_scalar(style)
        except (ValueError, OverflowError):  # from chr()
            self._fail("a quoted scalar", start, "found an invalid escape")
        if style == '"' and not token.value.isascii() and any("\ud800" <= c <= "\udfff" for c in token.value):
            self._fail("a quoted scalar", start, "found an invalid escape")
        return token

    def scan_block_scalar_indicators(self, start_mark: Any) -> tuple[bool | None, int | None]:
        """Scan the header after ``|`` or ``>``: a chomping sign and a digit, in any order."""
        chomping: bool | None = None
        increment: int | None = None
        for _ in range(2):
            c = self.peek()
            if c in "+-" and chomping is None:
                chomping = c == "+"
            elif c in "0123456789" and increment is None:
                increment = int(c)
            else:
                break
            if increment == 0:
                self._fail("a block scalar", start_mark, "found an indentation indicator equal to 0")
            self.forward()
        return chomping, increment

    def scan_block_scalar_ignored_line(self, start_mark: Any) -> None:
        """Scan the rest of the header's line."""
        while self.peek() in " \t":
            self.forward()
        if self.peek() == "#":
            while self.peek() not in _END:
                self.forward()
        if self.peek() not in _END:
            self._fail("a block scalar", start_mark, "did not find expected comment or line break")
        self.scan_line_break()

    def scan_block_scalar_indentation(self) -> tuple[list[str], int, Any]:
        """Return the blank lines before the content, and how far it is indented."""
        breaks: list[str] = []
        width = 0
        end = self.get_mark()
        while (c := self.peek()) in " \r\n":
            if c == " ":
                self.forward()
                width = max(width, self.column)
            else:
                breaks.append(self.scan_line_break())
                end = self.get_mark()
        if c == "\t":
            self._fail("a block scalar", None, "found a tab character")
        return breaks, width, end

    def scan_block_scalar_breaks(self, indent: int) -> tuple[list[str], Any]:
        """Skip the blank lines and the indentation before the next line of content."""
        breaks: list[str] = []
        end = self.get_mark()
        while True:
            while self.column < indent and self.peek() == " ":
                self.forward()
            if self.column < indent and self.peek() == "\t":
                self._fail("a block scalar", None, "found a tab character")
            if self.peek() not in "\r\n":
                return breaks, end
            breaks.append(self.scan_line_break())
            end = self.get_mark()

    def scan_tag(self) -> TagToken:
        """Scan a tag: it ends at a blank, or a comma in flow context. What it means is of no interest."""
        start = self.get_mark()
        verbatim = self.peek(1) == "<"
        self.forward(2 if verbatim else 1)
        name = ""
        if not verbatim:
            length = 0
            while self.peek(length) in _WORD:
                length += 1
            if self.peek(length) == "!":
                name = f"!{self.prefix(length)}!"
                length += 1
            self.forward(length)
        if not self._skip_uri(verbatim, start) and (verbatim or name):
            self._fail("a tag", start, "did not find expected tag URI")
        if verbatim:
            if self.peek() != ">":
                self._fail("a tag", start, "did not find the expected '>'")
            self.forward()
        if self.peek() not in _BLANK and not (self.flow_level and self.peek() == ","):
            self._fail("a tag", start, "did not find expected whitespace or line break")
        if name not in ("", "!!"):
            self._unknown_tags.append(start)
            return TagToken((None, _UNKNOWN), start, self.get_mark())
        return TagToken((None, "!"), start, self.get_mark())

    def parse_node(self, block: bool = False, indentless_sequence: bool = False) -> Any:
        """Refuse a tag like `!name!x` as late as libyaml does, when the token behind it has been read."""
        event = super().parse_node(block, indentless_sequence)
        if getattr(event, "tag", None) == _UNKNOWN:
            tag = next(mark for mark in self._unknown_tags if mark.index >= event.start_mark.index)
            raise ParserError("while parsing a node", event.start_mark, "undefined tag handle", tag)
        return event

    def _skip_uri(self, verbatim: bool, start: Any) -> int:
        octets = bytearray()
        length = 0
        while (c := self.peek()) in _URI or (verbatim and c in ",[]"):
            if c == "%":
                if not (self.peek(1) in _HEX and self.peek(2) in _HEX):
                    self._fail("a tag", start, "did not find URI escaped octet")
                octets.append(int(self.prefix(3)[1:], 16))
                self.forward(2)
            else:
                octets.append(ord(c))
            self.forward()
            length += 1
        try:
            octets.decode()
        except UnicodeDecodeError:
            self._fail("a tag", start, "found octets that are not UTF-8")
        return length

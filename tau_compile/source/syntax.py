"""A syntax error of the YAML library, in our words: what is wrong, where it began, what to write instead.

libyaml and PyYAML's own parser word and place the same error differently. What both agree on is kept: what
was being read, where it starts, and where reading stopped. The rest is read off the text itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, Span, error
from tau_compile.source.places import BLANKS, line_end, line_prefix, show, span_of

if TYPE_CHECKING:
    from yaml.error import MarkedYAMLError

    from tau_compile.source.places import Mark

_ESCAPE = re.compile(
    r'\\(?:[0abt\tnvfre "\\/N_LP\r\n]|x[0-9a-fA-F]{2}'
    r"|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|U(?!0000[dD][89a-fA-F])(?:000[0-9a-fA-F]|0010)[0-9a-fA-F]{4})"
)
_WORD = re.compile(r"[^\s,\[\]{}]+|.")
_COLON = re.compile(r":(?:[ \t\r\n]|\Z)")
_QUOTE_HINT = "put the whole value in quotes"


class Reporter:
    """Words the error that ended the parse of ``text``."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file

    def explain(self, problem: MarkedYAMLError, opened: int | None) -> Diagnostic:
        """Word ``problem``; ``opened`` is the index of the innermost `[` or `{` that is still open."""
        context = problem.context or ""
        stop = self._index(problem.problem_mark)
        start = self._index(problem.context_mark) if problem.context_mark else stop
        words = problem.problem or ""
        if self.text[stop : stop + 1] == "\t" and ("tab" in words or "start any token" in words):
            return self._tab(stop)
        if "quoted scalar" in context:
            return self._quoted(start)
        if "block scalar" in context:
            return self._header(start)
        if "tag" in context or "tag handle" in words:
            return bad_tag(self.span(stop if "tag handle" in words else start), self._word(start))
        if "an anchor" in context or "an alias" in context:
            return self._reserved(start)
        if "plain scalar" in context:
            hint = "write a space after the colon, or put the text in quotes"
            return error("TAU123", "a space must follow this colon", self.span(stop), hint)
        if "simple key" in context:
            return self._no_colon(start)
        if "flow" in context or (opened is not None and stop == len(self.text)):
            return self._flow(stop, opened, "node" in context)
        if "start any token" in words or "node" in context:
            return self._reserved(stop)
        return self._layout(start, stop, context, words)

    def span(self, index: int) -> Span:
        """Return the extent of the word at ``index``."""
        match = _WORD.match(self.text, index)
        return span_of(self.text, self.file, index, match.end() if match else index)

    def undecodable_tag(self, after: int) -> Diagnostic:
        """Refuse a tag behind ``after`` whose escapes are not UTF-8: the library tells no place."""
        tag = re.search(r"![^ \t\r\n,\[\]{}]*%", self.text[after:])
        start = after + tag.start() if tag else after
        return bad_tag(self.span(start), self._word(start))

    def _index(self, mark: Mark | None) -> int:
        return min(mark.index, len(self.text)) if mark else 0

    def _word(self, index: int) -> str:
        match = _WORD.match(self.text, index)
        return show(match[0]) if match and match[0] not in BLANKS else "the end of the file"

    def _tab(self, at: int) -> Diagnostic:
        message = "a tab cannot be used for indentation"
        place = span_of(self.text, self.file, at, at + 1)
        return error("TAU111", message, place, "indent with spaces, two for each level")

    def _quoted(self, start: int) -> Diagnostic:
        at = self._bad_escape(start)
        if at is None:
            quote = self.text[start]
            message = f"the text that begins with {quote} here is never closed"
            place = span_of(self.text, self.file, start, start + 1)
            return error("TAU118", message, place, f"add the closing {quote}")
        escape = self.text[at : at + 2].rstrip(BLANKS)
        message = f"{show(escape)} is not an escape that YAML knows"
        hint = "write \\\\ for a backslash, or put the text in single quotes"
        if escape in ("\\x", "\\u", "\\U"):
            message = f"{show(escape)} is not followed by the number of a character"
            hint = "write \\\\ for a backslash; \\x takes 2 hexadecimal digits, \\u 4 and \\U 8 for one character"
        return error("TAU120", message, span_of(self.text, self.file, at, at + len(escape)), hint)

    def _bad_escape(self, start: int) -> int | None:
        if self.text[start : start + 1] != '"':
            return None
        at = start + 1
        while at < len(self.text) and self.text[at] != '"':
            if self.text[at] == "\\":
                match = _ESCAPE.match(self.text, at)
                if not match:
                    return at
                at = match.end()
            else:
                at += 1
        return None

    def _header(self, start: int) -> Diagnostic:
        end = line_end(self.text, start)
        message = f"{show(self.text[start:end].rstrip(BLANKS))} does not begin a block of text"
        hint = "only +, -, a digit 1-9 and a comment may follow | or >; begin the text on the next line"
        return error("TAU124", message, span_of(self.text, self.file, start, end), hint)

    def _reserved(self, at: int) -> Diagnostic:
        if at == len(self.text):
            return error("TAU129", "the file ends where a value is expected", self.span(at), "complete it")
        if self.text.startswith(("---", "..."), at):
            message = f"{show(self.text[at : at + 3])} stands where a value is expected"
            return error("TAU129", message, self.span(at), "write a value above it")
        char = self.text[at]
        message = f"a value without quotes cannot begin with {show(char) if char != '`' else 'a backtick'}"
        if char in "*&":
            message += ", unless the name of an anchor follows"
        return error("TAU122", message, self.span(at), _QUOTE_HINT)

    def _no_colon(self, start: int) -> Diagnostic:
        word = self._word(start)
        hint = "write `key: value`"
        if ":" in word:
            hint = "write a space after the colon"
        return error("TAU123", f"no `: ` follows {word}", self.span(start), hint)

    def _flow(self, stop: int, opened: int | None, wants_value: bool) -> Diagnostic:
        if opened is None:
            return self._reserved(stop)
        here = self.span(stop)
        begin = span_of(self.text, self.file, opened, opened + 1)
        bracket = self.text[opened]
        close, name = ("]", "list") if bracket == "[" else ("}", "mapping")
        if stop == len(self.text) or here.line > begin.line:
            message = f"the {name} that begins with {bracket} here is never closed"
            related = (Related(here, "reading stopped here"),)
            return error("TAU119", message, begin, f"add the closing {close}", related)
        if wants_value:
            message = f"{show(self.text[stop])} stands where a value is expected"
        else:
            message = f"`,` or `{close}` is expected before {self._word(stop)}"
        hint = f"put commas between items and {close} at the end; quote a text that has brackets in it"
        return error("TAU119", message, here, hint, (Related(begin, f"the {name} begins here"),))

    def _layout(self, start: int, stop: int, context: str, words: str) -> Diagnostic:
        here = self.span(stop)
        before = line_prefix(self.text, stop).strip(BLANKS)
        word = self._word(stop)
        if not before and _COLON.match(self.text, stop):
            hint = "write it behind its key: `key: value`"
            return error("TAU125", "`: ` stands at the beginning of a line", here, hint)
        if "mapping values" in words:
            if _COLON.search(before):
                message = "a second `: ` in one line: a value without quotes cannot contain it"
                return error("TAU121", message, here, _QUOTE_HINT)
            message = f"{show(before)} cannot be a key here: the text began on a line above"
            hint = "give the line above its `: `, or align the two lines"
            return error("TAU125", message, here, hint)
        if "are not allowed" in words:
            hint = "begin the list or mapping on a line of its own"
            return error("TAU125", f"{word} cannot begin here", here, hint)
        if before or self.text[stop : stop + 1] in tuple(",]}"):
            hint = _QUOTE_HINT + "; inside single quotes write '' for one quote"
            return error("TAU126", f"unexpected {word}", here, hint)
        if "block" in context:
            return self._unaligned(start, here, word, "mapping" if "mapping" in context else "list")
        return error("TAU126", f"unexpected {word} after the end of the document", here, "remove it")

    def _unaligned(self, start: int, here: Span, word: str, kind: str) -> Diagnostic:
        begin = span_of(self.text, self.file, start, start)
        related = (Related(begin, f"the {kind} begins here"),)
        if here.column == begin.column:
            message = f"{word} does not continue the {kind} it is aligned with"
            hint = (
                "begin it with `- `" if kind == "list" else "write `key: value`; indent a list below its key"
            )
        else:
            message = f"{word} is not aligned with any line above"
            hint = (
                f"begin it in column {begin.column} to continue the {kind} that begins in line {begin.line}"
            )
        return error("TAU125", message, here, hint, related)


def bad_tag(place: Span, word: str) -> Diagnostic:
    """Refuse a tag; ``word`` is the tag as it is to be shown."""
    hint = "remove the tag" + ("; put the value in quotes to make it a string" if word == "`!!str`" else "")
    return error("TAU112", f"the tag {word} is not supported", place, hint)

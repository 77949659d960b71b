"""Parse events to nodes: expands aliases and merge keys, and counts what the file costs while it is read.

Nothing here recurses, and a cap ends the parse at the event that passes it, so neither nesting nor aliases
can hurt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from tau_compile.diagnostics import Diagnostic, Related, Span, error
from tau_compile.source.frames import NO_KEY, Anchored, Frame
from tau_compile.source.nodes import Entry, Key, Mapping, Node, Scalar, Sequence
from tau_compile.source.places import BLANKS, Origin, advance, show
from tau_compile.source.properties import blank_comments, skip_properties, skip_to_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from tau_compile.source.limits import Limits
    from tau_compile.source.places import Mark


_BLOCK = ("|", ">")
# Makes a named tuple in half the time its own constructor takes; there are several for each scalar.
_new = tuple.__new__


class Stop(Exception):  # noqa: N818
    """The parse ends here: the last diagnostic says why."""


class Composer:
    """Builds the tree of one file from parse events.

    After ``run``, ``root`` is the document and ``diagnostics`` what is wrong with it, in the order found.
    ``broken`` tells that the tree lacks something the user wrote, so that it must not be judged any further.
    """

    def __init__(self, text: str, file: str, limits: Limits) -> None:
        self.text = text
        self.file = file
        self.limits = limits
        self.root: Node | None = None
        self.broken = False
        self.diagnostics: list[Diagnostic] = []
        self._stack: list[Frame] = []
        self._frame: Frame | None = None
        self._anchors: dict[str, Anchored] = {}
        self._documents = 0
        self._nodes = 0
        self._max_nodes = limits.nodes
        self._copied = 0
        # Where the last token of content ended, and in lines and columns if the library's mark is not exact.
        self._last: Mark = Origin()
        self._end: tuple[int, int] | None = None

    def run(self, next_event: Callable[[], Any]) -> None:
        """Read all events. Raises `Stop`, and lets the parser's own errors pass."""
        while True:
            event = next_event()
            kind = type(event)
            if kind is ScalarEvent:
                self._scalar(event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                self._open(event, kind is MappingStartEvent)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                self._close(event)
            elif kind is AliasEvent:
                self._alias(event)
            elif kind is DocumentStartEvent:
                self._document(event)
            elif kind is StreamEndEvent:
                return

    def opened(self) -> int | None:
        """Return the index of the innermost bracket that is still open."""
        return next((f.bracket for f in reversed(self._stack) if f.bracket is not None), None)

    def last_index(self) -> int:
        """Return the index at which the last token of content ended."""
        return self._last.index

    def _scalar(self, event: ScalarEvent) -> None:
        # The hot path: most of a file is scalars, so calls and counters are kept few here.
        start: Any = event.start_mark
        end: Any = event.end_mark
        text = event.value
        plain = not event.style
        anchor = event.anchor
        frame = self._frame
        if (text or not plain) and event.style not in _BLOCK and anchor is None and event.tag is None:
            self._end = None
            span = _new(Span, (self.file, start.line + 1, start.column + 1, end.line + 1, end.column + 1))
        else:
            if plain and not text and frame is not None and frame.is_mapping and frame.key is None:
                self._missing_key()
            span = self._odd_span(event)
            self._end = span[3:]
        self._last = end
        self._nodes += 1
        if self._nodes > self._max_nodes:
            self._too_many(span)
        if frame is None:
            self.root = node = Scalar(span, text, plain)
        elif (key := frame.key) is None and frame.is_mapping:
            self._key(frame, text, span, plain)
            if anchor is None:
                return
            node = Scalar(span, text, plain)
        else:
            node = Scalar(span, text, plain)
            if key is None:
                frame.items.append(node)
            elif key is NO_KEY or key is frame.merge:
                self._attach(node, span)
            else:
                frame.key = None
                frame.entries.append(_new(Entry, (key, node)))
        if anchor is not None:
            self._anchors[anchor] = Anchored(node, span, 1, end.index - start.index)

    def _odd_span(self, event: ScalarEvent) -> Span:
        """Return the span of a scalar that is left out, is a block, or has an anchor or a tag."""
        start: Any = event.start_mark
        end: Any = event.end_mark
        if event.anchor is not None or event.tag is not None:
            index, line, column = self._properties(event)
        elif not event.style:
            place = self._empty(start)
            return Span(self.file, *place, *place)
        else:
            index, line, column = start.index, start.line + 1, start.column + 1
        if event.style not in _BLOCK:
            return Span(self.file, line, column, end.line + 1, end.column + 1)
        # The library counts the blank lines that follow a block as part of it.
        block = self.text[index : end.index].rstrip(BLANKS)
        return Span(self.file, line, column, *advance(line, column, block))

    def _open(self, event: MappingStartEvent | SequenceStartEvent, is_mapping: bool) -> None:
        start: Any = event.start_mark
        index, line, column = start.index, start.line + 1, start.column + 1
        if event.anchor is not None or event.tag is not None:
            index, line, column = self._properties(event)
        if len(self._stack) >= self.limits.depth:
            self._too_deep(self._char(line, column))
        frame = Frame(is_mapping, line, column, self._nodes, self._copied - index)
        self._nodes += 1
        if self._nodes > self._max_nodes:
            self._too_many(self._char(line, column))
        end: Any = event.end_mark
        # The mapping of one pair in `[a: b]` is in flow style too, but has no bracket.
        if event.flow_style and end.index > start.index and self.text[index] in "[{":
            frame.bracket = index
            self._last = end
            self._end = None
        if event.anchor is not None:
            frame.anchor = event.anchor
            frame.open = self._anchors[event.anchor] = Anchored(None, self._char(line, column))
        parent = self._frame
        if parent is not None and parent.is_mapping and parent.key is None:
            self._collection_key(self._char(line, column), is_mapping)
        self._stack.append(frame)
        self._frame = frame

    def _close(self, event: MappingEndEvent | SequenceEndEvent) -> None:
        frame = self._stack.pop()
        parent = self._frame = self._stack[-1] if self._stack else None
        mark: Any = event.end_mark
        if mark.index > event.start_mark.index:  # type: ignore[union-attr]
            self._last = mark
            self._end = None
        last = self._last
        span = Span(self.file, frame.line, frame.column, *(self._end or (last.line + 1, last.column + 1)))
        node: Node = Mapping(span, frame.merged()) if frame.is_mapping else Sequence(span, tuple(frame.items))
        if parent is not None and parent.height <= frame.height:
            parent.height = frame.height + 1
        # An anchor may be given anew inside; then the later one counts.
        if frame.anchor is not None and self._anchors[frame.anchor] is frame.open:
            cost = (self._nodes - frame.nodes, self._copied + last.index - frame.characters)
            self._anchors[frame.anchor] = Anchored(node, span, *cost, frame.height)
        self._attach(node, span)

    def _alias(self, event: AliasEvent) -> None:
        start: Any = event.start_mark
        end: Any = event.end_mark
        name = event.anchor or ""
        span = Span(self.file, start.line + 1, start.column + 1, end.line + 1, end.column + 1)
        frame = self._frame
        known = self._anchors.get(name)
        if known is None:
            hint = f"write &{name} before the value that is to be repeated, above this line"
            self._refuse("TAU115", f"no anchor {show('&' + name)} stands above this alias", span, hint)
            self._attach(None, span)
        elif known.node is None or frame is None:
            related = (Related(known.place, "the value that would hold itself"),)
            message = f"the alias {show('*' + name)} stands inside its own anchor"
            self._refuse("TAU116", message, span, "write the value out", related)
            self._attach(None, span)
        else:
            self._charge(frame, known, span)
            if frame.is_mapping and frame.key is None:
                self._alias_key(frame, known.node, span)
            else:
                self._attach(known.node, span)
        self._last = end
        self._end = None

    def _charge(self, frame: Frame, known: Anchored, place: Span) -> None:
        """Count a copy of ``known``, which is shared in fact, since nodes never change."""
        if len(self._stack) + known.height > self.limits.depth:
            self._too_deep(place)
        frame.height = max(frame.height, known.height + 1)
        self._nodes += known.nodes
        self._copied += known.characters
        if self._nodes > self._max_nodes or self._copied > self.limits.characters:
            self._too_many(place)

    def _alias_key(self, frame: Frame, node: Node, span: Span) -> None:
        if not isinstance(node, Scalar):
            self._collection_key(span, isinstance(node, Mapping))
            frame.key = NO_KEY
        elif node.plain and not node.text:
            self._missing_key()
        else:
            self._key(frame, node.text, span, plain=False)

    def _attach(self, node: Node | None, place: Span) -> None:
        """Put a node where it belongs; None stands for one that was refused."""
        frame = self._frame
        if frame is None:
            self.root = node
        elif not frame.is_mapping:
            if node is not None:
                frame.items.append(node)
        elif (key := frame.key) is None:
            frame.key = NO_KEY
        else:
            frame.key = None
            if key is frame.merge:
                if node is not None and not frame.add_source(node):
                    hint = "merge a mapping, or a list of mappings: `<<: *name` or `<<: [*one, *two]`"
                    related = (
                        (Related(node.span, "this is what it stands for"),) if node.span != place else ()
                    )
                    self._refuse("TAU117", "`<<` can only merge mappings", place, hint, related)
            elif node is not None and key is not NO_KEY:
                frame.entries.append(Entry(key, node))

    def _key(self, frame: Frame, name: str, span: Span, plain: bool) -> None:
        key = _new(Key, (name, span, ""))
        is_merge = plain and name == "<<"
        first = frame.merge if is_merge else frame.seen.get(name)
        if first is not None:
            hint = (
                "merge several mappings as a list: `<<: [*one, *two]`" if is_merge else "keep one of the two"
            )
            related = (Related(first.span, "first given here"),)
            self._report(error("TAU113", f"the key {show(name)} is given twice", span, hint, related))
        elif is_merge:
            frame.key = frame.merge = key
            frame.merge_at = len(frame.entries)
            return
        else:
            frame.key = frame.seen[name] = key
            return
        frame.key = NO_KEY

    def _collection_key(self, place: Span, is_mapping: bool) -> None:
        message = f"a {'mapping' if is_mapping else 'list'} cannot be a key"
        hint = "use a name as the key; put a text that begins with { or [ in quotes"
        self._refuse("TAU114", message, place, hint)

    def _document(self, event: DocumentStartEvent) -> None:
        self._documents += 1
        if self._documents > 1:
            mark: Any = event.start_mark
            place = Span(self.file, mark.line + 1, mark.column + 1, mark.line + 1, mark.column + 4)
            message = "a second document begins here; a file holds one"
            hint = "remove this line, or move what follows to a file of its own"
            self._stop(error("TAU109", message, place, hint))

    def _properties(self, event: Any) -> tuple[int, int, int]:
        """Return the place of the value itself, behind its anchor and tag; report the tag."""
        start = event.start_mark
        count = (event.anchor is not None) + (event.tag is not None)
        empty = type(event) is ScalarEvent and not event.value and not event.style
        index, tag = skip_properties(self.text, start.index, count)
        if tag is not None:
            from tau_compile.source.syntax import bad_tag

            place = advance(start.line + 1, start.column + 1, self.text[start.index : tag[0]])
            word = self.text[tag[0] : tag[1]]
            span = Span(self.file, *place, *advance(*place, word))
            self._report(bad_tag(span, show(word)))
        if empty:
            index = event.end_mark.index
        return index, *advance(start.line + 1, start.column + 1, self.text[start.index : index])

    def _empty(self, mark: Mark) -> tuple[int, int]:
        """Where a value that is left out would begin: right after the `:` or `-` that asks for it."""
        last = self._last
        gap = blank_comments(self.text[last.index : mark.index]).rstrip(BLANKS)
        return advance(last.line + 1, last.column + 1, gap)

    def _missing_key(self) -> NoReturn:
        # The parse ends, since libyaml loses the token that follows such a key in `[? : a]`. Its mark may be
        # behind the colon, so the place is looked up.
        last = self._last
        gap = self.text[last.index : skip_to_key(self.text, last.index)]
        place = advance(last.line + 1, last.column + 1, gap)
        span = Span(self.file, *place, *place)
        self._stop(error("TAU114", "the key is missing", span, "write it before the colon"))

    def _char(self, line: int, column: int) -> Span:
        return Span(self.file, line, column, line, column + 1)

    def _too_many(self, place: Span) -> NoReturn:
        message = f"the file holds more than {self._max_nodes} keys and values"
        if self._nodes <= self._max_nodes:
            message = f"aliases repeat more than {self.limits.characters} characters"
        self._stop(error("TAU103", message + ", with aliases expanded", place, "split it, or repeat less"))

    def _too_deep(self, place: Span) -> NoReturn:
        message = f"lists and mappings are nested more than {self.limits.depth} deep"
        self._stop(error("TAU102", message, place, "flatten the structure"))

    def _refuse(
        self, id: str, message: str, place: Span, hint: str, related: tuple[Related, ...] = ()
    ) -> None:
        self.broken = True
        self._report(error(id, message, place, hint, related))

    def _report(self, diagnostic: Diagnostic) -> None:
        self.diagnostics.append(diagnostic)
        if len(self.diagnostics) >= self.limits.diagnostics:
            raise Stop

    def _stop(self, diagnostic: Diagnostic) -> NoReturn:
        self.diagnostics.append(diagnostic)
        raise Stop

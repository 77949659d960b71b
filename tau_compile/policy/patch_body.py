"""What a patch may say, whatever it will meet: directives, merge keys, and what is not for patches to touch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, error
from tau_compile.policy.list_keys import ITEM, list_keys, shown, union_at
from tau_compile.policy.patch_closed import Closed
from tau_compile.source.nodes import Mapping, Scalar, Sequence
from tau_compile.source.scalars import resolve

if TYPE_CHECKING:
    from tau_compile.diagnostics import Span
    from tau_compile.policy.list_keys import ListKey, Path
    from tau_compile.source.nodes import Entry, Node

DIRECTIVE = "$patch"


def check_body(kind: str, body: Mapping) -> list[Diagnostic]:
    """Everything that is wrong with the body of a patch for objects of ``kind``, whatever it meets."""
    checker = _Checker(kind)
    checker.mapping(body, (), None)
    return checker.said


def is_null(node: Node) -> bool:
    """Whether a value says that its key is deleted."""
    return isinstance(node, Scalar) and resolve(node) is None


def directive(node: Node) -> str:
    """What ``$patch`` says in a mapping, or empty."""
    value = node.get(DIRECTIVE) if isinstance(node, Mapping) else None
    return value.text if isinstance(value, Scalar) else ""


def is_marker(node: Node) -> bool:
    """Whether a list's item says that the list replaces what was there."""
    return isinstance(node, Mapping) and len(node.entries) == 1 and directive(node) == "replace"


def identity(item: Mapping, key: ListKey) -> tuple[str, ...]:
    """What an item of a patch is told apart by."""
    given = dict(key.defaults)
    values = (item.get(field) for field in key.fields)
    return tuple(
        value.text if isinstance(value, Scalar) and not is_null(value) else given.get(field, "")
        for field, value in zip(key.fields, values, strict=True)
    )


class _Checker:
    """Walks one patch."""

    def __init__(self, kind: str) -> None:
        self.keys = list_keys(kind)
        self.closed = Closed(kind)
        self.said: list[Diagnostic] = []

    def mapping(self, node: Mapping, path: Path, key: ListKey | None) -> None:
        """``key`` is what items are told apart by, when ``node`` is one."""
        self.union(node, path, key)
        for entry in node.entries:
            name, below = entry.key.name, (*path, entry.key.name)
            if name.startswith("$"):
                self.directive(entry, node, path, key)
            elif self.is_closed(entry, below):
                continue
            elif is_null(entry.value):
                if key is not None and name in key.required:
                    self.no_key(entry.key.span, path, key)
                self.keep(below, entry.key.span, "deletes")
            else:
                self.value(entry.value, below, entry.key.span)

    def value(self, node: Node, path: Path, at: Span) -> None:
        if isinstance(node, Mapping):
            self.mapping(node, path, None)
        elif isinstance(node, Sequence) and (path in self.keys or path not in self.closed.holders):
            self.sequence(node, path)
        else:
            self.keep(path, at, "replaces")

    def sequence(self, node: Sequence, path: Path) -> None:
        key = self.keys.get(path)
        seen: dict[tuple[str, ...], Span] = {}
        for place, item in enumerate(node.items):
            if is_marker(item):
                self.keep(path, item.span, "replaces")
                if place:
                    hint = "make `- $patch: replace` the first item of the list"
                    self.say(
                        "TAU351",
                        "it is too late to replace the list: items come before this",
                        item.span,
                        hint,
                    )
                continue
            if key is None:
                if isinstance(item, Mapping):
                    self.mapping(item, (*path, ITEM), None)
                continue
            if not isinstance(item, Mapping):
                self.no_key(item.span, path, key)
                continue
            missing = [field for field in key.required if not isinstance(item.get(field), Scalar)]
            if missing:
                self.no_key(item.span, path, key)
            else:
                known = identity(item, key)
                if known in seen:
                    self.said.append(
                        error(
                            "TAU353",
                            f"`{shown(path)}` has two items of one {' and '.join(key.fields)}",
                            _head(item, key),
                            "make one item of the two",
                            (Related(seen[known], "the other one"),),
                        )
                    )
                seen.setdefault(known, _head(item, key))
            self.mapping(item, (*path, ITEM), key)

    def union(self, node: Mapping, path: Path, key: ListKey | None) -> None:
        """A volume of two kinds, a variable with two sources: the API server takes neither."""
        union = union_at(path, key)
        if union is None:
            return
        given = [
            e
            for e in node.entries
            if union(e.key.name) and not e.key.name.startswith("$") and not is_null(e.value)
        ]
        if len(given) > 1:
            first, second = given[:2]
            self.said.append(
                error(
                    "TAU358",
                    f"`{shown(path)}` has `{first.key.name}` or `{second.key.name}`, not both",
                    second.key.span,
                    "keep one of the two; what was there before goes by itself",
                    (Related(first.key.span, "the other one"),),
                )
            )

    def directive(self, entry: Entry, node: Mapping, path: Path, key: ListKey | None) -> None:
        name, span = entry.key.name, entry.key.span
        word = entry.value.text if isinstance(entry.value, Scalar) else ""
        if name != DIRECTIVE:
            message = f"`{name}` is no directive of a patch"
            self.say("TAU351", message, span, "`$patch: delete` and `$patch: replace` are the two there are")
        elif word not in ("delete", "replace"):
            message = (
                f"`$patch: {word}` is no directive"
                if word
                else "`$patch` says neither `delete` nor `replace`"
            )
            hint = "write `delete` or `replace`; without `$patch` mappings are merged"
            self.say("TAU351", message, entry.value.span if word else span, hint)
        elif word == "delete" and path[-1:] == (ITEM,) and key is None:
            message = f"items of `{shown(path[:-1])}` have nothing to tell them apart by"
            self.say(
                "TAU351",
                message,
                span,
                "write the whole list as it should be, with `- $patch: replace` as its first item",
            )
        elif not path:
            self.say("TAU350", f"a patch may not {word} the whole object", span, "name what should change")
        else:
            extra = [
                e
                for e in node.entries
                if e is not entry and not (key is not None and e.key.name in key.fields)
            ]
            if word == "delete" and extra:
                message = f"`{extra[0].key.name}` has no effect beside `$patch: delete`"
                hint = "remove it, or `$patch: delete`"
                self.said.append(
                    error("TAU351", message, extra[0].key.span, hint, (Related(span, "deleted here"),))
                )
            self.keep(path, span, f"{word}s")

    def is_closed(self, entry: Entry, path: Path) -> bool:
        """Refuse a key that no patch may touch."""
        why, hint = self.closed.why(path)
        if why:
            self.say("TAU350", f"a patch may not touch `{shown(path)}`: {why}", entry.key.span, hint)
        return bool(why)

    def keep(self, path: Path, span: Span, verb: str) -> None:
        """Refuse to take away what holds labels and annotations of ours."""
        if path in self.closed.holders:
            message = f"a patch may not touch all of `{shown(path)}`: this {verb} it, and with it labels that have to stay"
            self.say("TAU350", message, span, "name what should change inside it")

    def no_key(self, span: Span, path: Path, key: ListKey) -> None:
        fields = " and ".join(f"`{field}`" for field in key.required)
        where = shown(path[:-1] if path[-1] == ITEM else path)
        self.say(
            "TAU352",
            f"an item of `{where}` does not say its {fields}",
            span,
            f"add {fields}: items are merged by it",
        )

    def say(self, id: str, message: str, span: Span, hint: str) -> None:
        self.said.append(error(id, message, span, hint))


def _head(item: Mapping, key: ListKey) -> Span:
    """Where an item says what it is."""
    return next((e.key.span for e in item.entries if e.key.name in key.fields), item.span)

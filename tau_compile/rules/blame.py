"""Which line of which patch made an object wrong. Asked only when one is.

Nothing is known about a rule but that it holds or does not. So the patches are applied one by one until it is broken, and what
that patch says is left out piece by piece: the smallest piece without which all would be well is the cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Related, error
from tau_compile.named import NamedTuple
from tau_compile.policy.list_keys import ITEM, list_keys
from tau_compile.policy.strategic import apply
from tau_compile.source.nodes import Entry, Mapping, Sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tau_compile.diagnostics import Span
    from tau_compile.policy.list_keys import Path
    from tau_compile.policy.patches import Patch
    from tau_compile.rules.rendered import Wrong
    from tau_compile.source.nodes import Node

    Judge = Callable[[dict[str, Any]], list[Wrong]]

_ONCE = ("TAU350", "TAU357")
_TRIES = 200  # of leaving something out; after that the places are as near as it got
_WORK = 20_000  # the same in parts of patches that are merged, for very large ones


def blamed(
    faults: list[Wrong], before: dict[str, Any], patches: list[Patch], judge: Judge
) -> list[Diagnostic]:
    """The faults that ``patches`` brought into the object ``before``, each at its place in a patch.

    It stands at the last patch that it takes; the others that it takes, too, are named beside it.
    """
    trials = _Trials(before, patches, judge)
    said = []
    for fault in faults:
        last = next(place for place in range(len(patches)) if fault in trials.all_until(place))
        others = [
            search for search in (_Search(fault, trials, last, n) for n in range(last)) if search.takes_part()
        ]
        said.append(_diagnostic(fault, patches[last], _Search(fault, trials, last, last).place(), others))
    # One line may change many facts, and one of them is enough to say so.
    return list({(one.span, one.id if one.id in _ONCE else one): one for one in reversed(said)}.values())[
        ::-1
    ]


def _diagnostic(fault: Wrong, patch: Patch, span: Span, others: list[_Search]) -> Diagnostic:
    cure = fault.cure
    if cure.startswith(("render", "mend")):
        cure = "correct it in the patch, or remove it there: what is rendered without it is right"
    related = tuple(
        Related(other.place(), f"together with the patch of {other.patch.layer}") for other in others
    )
    return error(fault.id, f"patch of {patch.layer}: {fault.message}", span, cure, related)


class _Piece(NamedTuple):
    """Something inside a patch.

    ``patch_with`` gives the whole patch with something else, or nothing, in its place; ``rest`` is what is put there to see
    whether it is the cause; ``trail`` is different for every piece.
    """

    node: Node
    span: Span
    path: Path
    patch_with: Callable[[Node | None], Mapping]
    rest: Node | None = None
    trail: tuple[tuple[int, bool], ...] = ()


class _Trials:
    """What is wrong after patches with something left out of one of them. Nothing is tried twice, and not for ever."""

    def __init__(self, before: dict[str, Any], patches: list[Patch], judge: Judge) -> None:
        self.before, self.patches, self.judge = before, patches, judge
        self.known: dict[object, list[Wrong]] = {}
        self.left = min(_TRIES, _WORK // sum(_size(patch.body) for patch in patches))

    def all_until(self, last: int) -> list[Wrong]:
        """With all of every patch until ``last``."""
        return self._found(last, lambda: self.patches[: last + 1])

    def without(self, last: int, number: int, piece: _Piece) -> list[Wrong] | None:
        """Without a piece of the patch with that number; None when it is too late to try."""
        key = (last, number, piece.trail)
        if key not in self.known:
            if self.left == 0:
                return None
            self.left -= 1
        return self._found(key, lambda: self._changed(last, number, piece))

    def _changed(self, last: int, number: int, piece: _Piece) -> list[Patch]:
        body = piece.patch_with(piece.rest)
        return [
            patch._replace(body=body) if place == number else patch
            for place, patch in enumerate(self.patches[: last + 1])
        ]

    def _found(self, key: object, patches: Callable[[], list[Patch]]) -> list[Wrong]:
        if key not in self.known:
            made = self.before
            for patch in patches():
                made = apply(made, patch).made
            self.known[key] = self.judge(made)
        return self.known[key]


class _Search:
    """The search for the cause of one fault in one of the patches."""

    def __init__(self, fault: Wrong, trials: _Trials, last: int, number: int) -> None:
        self.fault, self.trials, self.last, self.number = fault, trials, last, number
        self.patch = trials.patches[number]
        self.keys = list_keys(self.patch.target.kind)
        self.count = self.alike(trials.all_until(last))
        body = self.patch.body
        span = body.entries[0].key.span if body.entries else body.span
        self.all = _Piece(
            body, span, (), lambda new: new if isinstance(new, Mapping) else Mapping(body.span, ())
        )

    def takes_part(self) -> bool:
        """Whether all would be well without the patch."""
        return self.is_cause(self.all)

    def place(self) -> Span:
        at = self.all
        while True:
            inner = next((piece for piece in self.pieces(at) if self.is_cause(piece)), None)
            if inner is None:
                return at.span
            at = inner

    def is_cause(self, piece: _Piece) -> bool:
        """Whether all is well without: the fault is gone, and not only because another item of a list now has its number."""
        found = self.trials.without(self.last, self.number, piece)
        return found is not None and self.fault not in found and self.alike(found) < self.count

    def alike(self, found: list[Wrong]) -> int:
        return sum(one.id == self.fault.id and one.key == self.fault.key for one in found)

    def pieces(self, at: _Piece) -> Iterator[_Piece]:
        """What is inside, but for the keys by which items find their place.

        The items of a list are emptied one by one before one is left out, which gives others its number.
        """
        node = at.node
        if isinstance(node, Mapping):
            key = self.keys.get(at.path[:-1]) if at.path[-1:] == (ITEM,) else None
            for place, entry in enumerate(node.entries):
                if key is None or entry.key.name not in key.fields:
                    path, trail = (*at.path, entry.key.name), (*at.trail, (place, False))
                    changed = _entry_changed(at, node, place, entry)
                    yield _Piece(entry.value, entry.key.span, path, changed, None, trail)
        elif isinstance(node, Sequence):
            key = self.keys.get(at.path)
            for emptied in (True, False):
                for place, item in enumerate(node.items):
                    fields = key.fields if key is not None and isinstance(item, Mapping) else ()
                    rest = _only(item, fields) if emptied and isinstance(item, Mapping) else None
                    if not emptied or (fields and rest != item):
                        path, trail = (*at.path, ITEM), (*at.trail, (place, emptied))
                        yield _Piece(item, _head(item), path, _item_changed(at, node, place), rest, trail)


def _size(node: Node) -> int:
    """How many parts there are."""
    inner = [e.value for e in node.entries] if isinstance(node, Mapping) else getattr(node, "items", ())
    return 1 + sum(map(_size, inner))


def _only(item: Mapping, fields: tuple[str, ...]) -> Mapping:
    return Mapping(item.span, tuple(entry for entry in item.entries if entry.key.name in fields))


def _entry_changed(at: _Piece, node: Mapping, place: int, entry: Entry) -> Callable[[Node | None], Mapping]:
    def changed(new: Node | None) -> Mapping:
        kept = (Entry(entry.key, new),) if new is not None else ()
        return at.patch_with(Mapping(node.span, (*node.entries[:place], *kept, *node.entries[place + 1 :])))

    return changed


def _item_changed(at: _Piece, node: Sequence, place: int) -> Callable[[Node | None], Mapping]:
    def changed(new: Node | None) -> Mapping:
        kept = (new,) if new is not None else ()
        return at.patch_with(Sequence(node.span, (*node.items[:place], *kept, *node.items[place + 1 :])))

    return changed


def _head(item: Node) -> Span:
    return item.entries[0].key.span if isinstance(item, Mapping) and item.entries else item.span

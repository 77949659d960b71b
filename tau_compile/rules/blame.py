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
_TRIES = 400  # of leaving something out; after that the place is as near as it got


def blamed(
    faults: list[Wrong], before: dict[str, Any], patches: list[Patch], judge: Judge
) -> list[Diagnostic]:
    """The faults that ``patches`` brought into the object ``before``, each at its place in a patch.

    It stands at the last patch that it takes; the others that it takes, too, are named beside it.
    """
    said = []
    for fault in faults:
        made = before
        for last, patch in enumerate(patches):
            made = apply(made, patch).made
            if fault in judge(made):
                searches = [
                    _Search(fault, before, patches[: last + 1], place, judge) for place in range(last + 1)
                ]
                others = [search for search in searches[:-1] if search.takes_part()]
                said.append(_diagnostic(fault, patch, searches[-1].place(), others))
                break
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
    """Something inside a patch. ``patch_with`` gives the whole patch with something else, or nothing, in its place."""

    node: Node
    span: Span
    path: Path
    patch_with: Callable[[Node | None], Mapping]


class _Search:
    """The search for the cause of one fault in one of the patches, all of which are applied."""

    def __init__(
        self, fault: Wrong, before: dict[str, Any], patches: list[Patch], number: int, judge: Judge
    ) -> None:
        self.fault, self.before, self.judge = fault, before, judge
        self.patches, self.number, self.patch = patches, number, patches[number]
        self.keys = list_keys(self.patch.target.kind)
        self.count = self.alike(self.patch.body)[1]
        self.left = _TRIES

    def takes_part(self) -> bool:
        """Whether all would be well without the patch."""
        there, count = self.alike(Mapping(self.patch.body.span, ()))
        return not there and count < self.count

    def place(self) -> Span:
        body = self.patch.body
        span = body.entries[0].key.span if body.entries else body.span
        at = _Piece(body, span, (), lambda new: new if isinstance(new, Mapping) else Mapping(body.span, ()))
        while True:
            for piece in self.pieces(at):
                if self.left == 0:
                    return at.span
                self.left -= 1
                there, count = self.alike(piece.patch_with(None))
                if not there and count < self.count:
                    at = piece
                    break
            else:
                return at.span

    def alike(self, body: Mapping) -> tuple[bool, int]:
        """Whether a patch with this body has the fault, and how many of its kind: the words of some count items of a list."""
        made = self.before
        for number, patch in enumerate(self.patches):
            made = apply(made, patch._replace(body=body) if number == self.number else patch).made
        found = self.judge(made)
        return self.fault in found, sum(
            one.id == self.fault.id and one.key == self.fault.key for one in found
        )

    def pieces(self, at: _Piece) -> Iterator[_Piece]:
        """What is inside, but for the keys by which items find their place."""
        node = at.node
        if isinstance(node, Mapping):
            key = self.keys.get(at.path[:-1]) if at.path[-1:] == (ITEM,) else None
            for place, entry in enumerate(node.entries):
                if key is None or entry.key.name not in key.fields:
                    path = (*at.path, entry.key.name)
                    yield _Piece(entry.value, entry.key.span, path, _entry_changed(at, node, place, entry))
        elif isinstance(node, Sequence):
            for place, item in enumerate(node.items):
                yield _Piece(item, _head(item), (*at.path, ITEM), _item_changed(at, node, place))


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

"""Which inputs decide a rendered leaf: those whose change, alone, changes it.

Nothing here knows how a value travels: whatever a field, a policy, a catalogue, a patch or the code of a run does to a
manifest, it does again when its input is changed. Two things need more than one change at a time: a name that others refer
to, and a value that is written twice and has to be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tau_compile.explain.inputs import Edit, long_lists
from tau_compile.explain.leaves import Key, Leaf, items, realigned, same
from tau_compile.explain.tries import ENOUGH, Tries
from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tau_compile.diagnostics import Span
    from tau_compile.explain.bench import Made, Tested
    from tau_compile.explain.inputs import Input

Kind = Literal["value", "presence"]
_SHARED = 3  # characters that a text needs before equal ones elsewhere are taken for the same thing


class Effect(NamedTuple):
    """What an input does to a leaf: it decides its value, or whether it is there at all. ``edits`` show it.

    ``clean``: the edited workload compiles without errors.
    """

    input: Input
    kind: Kind
    edits: tuple[Edit, ...]
    clean: bool


def effects(bench: Tested, wanted: Collection[Key] | None = None) -> dict[Key, list[Effect]]:
    """For each leaf, or each wanted one, the inputs that decide it, those of its value first."""
    search = _Search(bench, wanted)
    quiet = search.quiet()
    unmoved = [one for one in search.tries.inputs() if not _within(one, quiet) and not search.alone(one)]
    for one in unmoved:
        search.with_equal(one)
    search.redundant()
    order = {file: place for place, file in enumerate([bench.path, *bench.documents])}
    return {
        key: sorted(
            found.values(),
            key=lambda e: (e.kind != "value", order.get(e.input.file, -1), e.input.file, e.input.span),
        )
        for key, found in search.found.items()
    }


class _Search:
    """``found``: for each wanted leaf, the effects by input."""

    def __init__(self, bench: Tested, wanted: Collection[Key] | None) -> None:
        self.bench, self.tries = bench, Tries(bench)
        self.base = {key: leaf for key, leaf in bench.leaves.items() if wanted is None or key in wanted}
        self.found: dict[Key, dict[Input, Effect]] = {key: {} for key in self.base}
        self._items = items(bench.leaves)

    def quiet(self) -> set[tuple[str, str]]:
        """(file, path) of items of long lists without which nothing is other than it is: they need no closer look."""
        found: set[tuple[str, str]] = set()
        for file, node in self.bench.documents.items():
            for items_of_one in long_lists(node):
                self._quiet(file, list(items_of_one.items()), found)
        return found

    def _quiet(self, file: str, some: list[tuple[str, Span]], found: set[tuple[str, str]]) -> None:
        made = self.bench.changed([Edit(file, "remove", span) for _, span in some])
        if made is not None and not any(True for _ in self._differences(made, "")):
            found |= {(file, path) for path, _ in some}
        elif len(some) > 1:
            self._quiet(file, some[: len(some) // 2], found)
            self._quiet(file, some[len(some) // 2 :], found)

    def alone(self, one: Input) -> bool:
        """Change one input in several ways; whether anything came of it."""
        came = silent = 0
        for edit in self.tries.alone(one):
            if edit.action in ("set", "rename") and (came >= ENOUGH or silent >= 2):
                continue
            made = self.bench.changed((edit,))
            if made is None:
                continue
            came += 1
            different = dict(self._differences(made, one.text))
            silent += not different
            for key, kind in different.items():
                self._note(key, Effect(one, kind, (edit,), made.clean))
        return came > 0

    def with_equal(self, one: Input) -> None:
        """Change an input together with all that have its text, as nothing else comes out."""
        same = self.tries.equal(one)
        if len(one.text) < _SHARED or not same:
            return
        for text in self.tries.texts(one):
            edits = tuple(self.tries.set(each, text) for each in (one, *same))
            made = self.bench.changed(edits)
            if made is None:
                continue
            for key, kind in self._differences(made, one.text):
                if not any(other in self.found[key] for other in same):
                    self._note(key, Effect(one, kind, edits, made.clean))
            return

    def redundant(self) -> None:
        """Leaves that seem to be constants, and hold a text that is an input more than once."""
        for key, found in self.found.items():
            if any(effect.kind == "value" for effect in found.values()):
                continue
            shown = str(self.base[key].value)
            for group in self._repeated().values():
                if group[0].text in shown and self._together(key, group):
                    break

    def _repeated(self) -> dict[str, list[Input]]:
        groups: dict[str, list[Input]] = {}
        for one in self.tries.written:
            if len(one.text) >= _SHARED:
                groups.setdefault(one.text, []).append(one)
        return {text: group for text, group in groups.items() if len(group) > 1}

    def _together(self, key: Key, group: list[Input]) -> bool:
        """Change a group, and then leave out of it what is not needed for the leaf to change."""
        for text in self.tries.texts(group[0]):
            made = self._changes(key, group, text)
            if made is None:
                continue
            for one in list(group):
                fewer = [other for other in group if other is not one]
                made_without = self._changes(key, fewer, text)
                if made_without is not None:
                    group, made = fewer, made_without
            edits = tuple(self.tries.set(one, text) for one in group)
            for one in group:
                self._note(key, Effect(one, "value", edits, made.clean))
            return True
        return False

    def _changes(self, key: Key, group: list[Input], text: str) -> Made | None:
        made = self.bench.changed(tuple(self.tries.set(one, text) for one in group)) if group else None
        if made is None or (key, "value") not in self._differences(made, group[0].text):
            return None
        return made

    def _note(self, key: Key, effect: Effect) -> None:
        known = self.found[key].get(effect.input)
        if known is None or (effect.kind, effect.clean) > (known.kind, known.clean):  # "value" > "presence"
            self.found[key][effect.input] = effect

    def _differences(self, made: Made, text: str) -> Iterator[tuple[Key, Kind]]:
        """The leaves that are other than at first. ``text`` is what was changed."""
        there: Mapping[Key, Leaf] = made.leaves
        if there is self.bench.leaves:
            return
        opened: set[Key] | None = None
        if not all(key in there for key in self.base):
            there = realigned(self._items, there, text)
        for key, leaf in self.base.items():
            other = there.get(key)
            if other is not None:
                if not same(other, leaf):
                    yield key, "value"
            elif leaf.value in ({}, []):  # no longer empty, or gone
                if opened is None:
                    opened = {k[:length] for k in there for length in range(1, len(k))}
                yield key, "value" if key in opened else "presence"
            else:
                yield key, "presence"


def _within(one: Input, quiet: set[tuple[str, str]]) -> bool:
    path = one.path
    while "]" in path:
        path = path[: path.rindex("]") + 1]
        if (one.file, path) in quiet:
            return True
        path = path[:-1]
    return False

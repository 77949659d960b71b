"""What has become of each leaf of an imported object: carried over, reported, or the server's own. What is left is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, warning
from tau_compile.source.nodes import Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tau_compile.diagnostics import Span
    from tau_compile.importing.documents import Object
    from tau_compile.source.nodes import Key, Node

Path = tuple[str | int, ...]
Why = tuple[str, str]  # why not, and what to do instead

# What API servers, controllers and kubectl write into every object.
NOISE: tuple[Path, ...] = (
    ("apiVersion",),
    ("kind",),
    ("status",),
    ("metadata", "uid"),
    ("metadata", "resourceVersion"),
    ("metadata", "generation"),
    ("metadata", "creationTimestamp"),
    ("metadata", "deletionTimestamp"),
    ("metadata", "deletionGracePeriodSeconds"),
    ("metadata", "managedFields"),
    ("metadata", "selfLink"),
    ("metadata", "finalizers"),
    ("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"),
    ("metadata", "annotations", "batch.kubernetes.io/job-tracking"),
    ("metadata", "annotations", "batch.kubernetes.io/cronjob-scheduled-timestamp"),
    ("metadata", "annotations", "cronjob.kubernetes.io/instantiate"),
)


class Ledger:
    """The leaves of one object. ``whys`` are reasons by path, list positions as `[]`; "" is the reason for all others."""

    def __init__(self, item: Object, said: list[Diagnostic], whys: dict[str, Why]) -> None:
        self.item = item
        self.said = said
        self.whys = whys
        self.done: set[Path] = set()
        self.touched: set[Path] = set()
        self.root = At(self, (), item.node, item.node.span)
        for path in NOISE:
            self.mark(path)

    def mark(self, path: Path) -> None:
        """Whatever is at or below ``path`` is accounted for."""
        self.done.add(path)
        for length in range(len(path)):
            self.touched.add(path[:length])

    def report(self, at: At, why: str, instead: str, code: str = "TAU393") -> None:
        """Say that what is at a place is not carried over."""
        self.mark(at.path)
        message = f"`{shown(at.path)}` of {self.item.title} {why}"
        self.said.append(warning(code, message, at.span, instead))

    def rest(self) -> None:
        """Report all that nobody has asked for, each subtree once."""
        self._rest(self.root)

    def _rest(self, at: At) -> None:
        if at.path in self.done:
            return
        # Labels and annotations have reasons of their own.
        deeper = at.path in self.touched or not at.path or at.path[-1] == "metadata"
        below = at.below() if deeper else []
        if below:
            for inner in below:
                self._rest(inner)
            return
        if at.path in self.touched and not isinstance(at.node, Scalar):
            return  # it is empty
        why, instead = self._why(at.path)
        self.report(at, why, instead)

    def _why(self, path: Path) -> Why:
        for length in range(len(path), 0, -1):
            found = self.whys.get(pattern(path[:length]))
            # The reason for an item of a list is one for the whole item, not for a part of another.
            if found and (length == len(path) or isinstance(path[length - 1], str)):
                return found
        return self.whys[""]


class At:
    """One place of an object, there or not. Texts are taken by asking for them."""

    __slots__ = ("ledger", "node", "path", "span")

    def __init__(self, ledger: Ledger, path: Path, node: Node | None, span: Span) -> None:
        self.ledger = ledger
        self.path = path
        self.node = node
        self.span = span

    def __bool__(self) -> bool:
        return self.node is not None

    def key(self, name: str) -> At:
        """The value of a key, which may have dots in it."""
        entry = self.node.entry(name) if isinstance(self.node, Mapping) else None
        if entry is None:
            return At(self.ledger, (*self.path, name), None, self.span)
        return At(self.ledger, (*self.path, name), entry.value, entry.key.span)

    def get(self, path: str) -> At:
        """The value at a dotted path of keys."""
        here = self
        for name in path.split("."):
            here = here.key(name)
        return here

    def items(self) -> list[At]:
        """The items of a list; none of anything else."""
        if not isinstance(self.node, Sequence):
            return []
        self.ledger.touched.add(self.path)
        return [At(self.ledger, (*self.path, n), item, item.span) for n, item in enumerate(self.node.items)]

    def entries(self) -> Iterator[tuple[Key, At]]:
        """The keys of a mapping and their values."""
        for entry in self.node.entries if isinstance(self.node, Mapping) else ():
            yield entry.key, self.key(entry.key.name)

    def below(self) -> list[At]:
        """Whatever is directly below."""
        return self.items() or [value for _, value in self.entries()]

    def peek(self) -> str:
        """The text of a scalar, or ""; it stays open."""
        return self.node.text if isinstance(self.node, Scalar) else ""

    def text(self) -> str:
        """The text of a scalar, which is carried over with it; "" for anything else, which stays open."""
        if not isinstance(self.node, Scalar):
            return ""
        self.ledger.mark(self.path)
        return self.node.text

    def take(self) -> Node | None:
        """The value, which is carried over as a whole."""
        if self.node is not None:
            self.ledger.mark(self.path)
        return self.node

    def scalar(self) -> Scalar | None:
        """A scalar, which is carried over; None for anything else, which stays open."""
        return self.node if isinstance(self.node, Scalar) and self.take() else None

    def same(self, *words: str) -> bool:
        """Whether it is one of the words, which then need not be said."""
        if isinstance(self.node, Scalar) and self.node.text in words:
            self.ledger.mark(self.path)
            return True
        return False

    def skip(self, when: Callable[[At], bool] | None = None) -> None:
        """Account for it as the server's or our own, without carrying it over."""
        if self.node is not None and (when is None or when(self)):
            self.ledger.mark(self.path)

    def drop(self, why: str, instead: str, code: str = "TAU393") -> None:
        """Report it, if it is there and still open."""
        if self.node is not None and self.path not in self.ledger.done:
            self.ledger.report(self, why, instead, code)


def shown(path: Path) -> str:
    """A path as people write it: ``spec.containers[0].env``, ``metadata.labels["a/b"]``."""
    out = ""
    for step in path:
        if isinstance(step, int):
            out += f"[{step}]"
        elif step.replace("-", "_").isidentifier():
            out += f".{step}" if out else step
        else:
            safe = (
                step
                if step.isprintable() and len(step) <= 100
                else step.encode("unicode_escape").decode()[:100]
            )
            out += f'["{safe.replace("`", "")}"]'
    return out or "the object"


def pattern(path: Path) -> str:
    """A path in the form of the tables of reasons."""
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")

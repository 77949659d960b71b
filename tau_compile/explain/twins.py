"""A tree in which one file or folder has a second name, for the question what a path in a tau.yaml decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tau_compile.workload.code import Tree
    from tau_compile.workload.code.tree import Info, Tracked


class Twins:
    """``tree``, in which ``new`` is what ``old`` is."""

    def __init__(self, tree: Tree, old: str, new: str) -> None:
        self._tree, self._old, self._new = tree, old, new

    def info(self, path: str) -> Info | None:
        """See ``Tree``."""
        return self._tree.info(self._real(path))

    def target(self, path: str) -> str:
        """See ``Tree``."""
        return self._tree.target(self._real(path))

    def names(self, path: str) -> list[str]:
        """See ``Tree``."""
        folder, _, name = self._new.rpartition("/")
        return sorted({*self._tree.names(self._real(path)), *([name] if folder == path else [])})

    def read(self, path: str, limit: int) -> bytes:
        """See ``Tree``."""
        return self._tree.read(self._real(path), limit)

    def tracked(self, paths: Sequence[str]) -> Mapping[str, Tracked] | None:
        """See ``Tree``."""
        found = self._tree.tracked([*paths, *(self._real(path) for path in paths)])
        if found is None:
            return None
        both = dict(found)
        for path, entry in found.items():
            if path == self._old or path.startswith(f"{self._old}/"):
                both[self._new + path[len(self._old) :]] = entry
        return both

    def _real(self, path: str) -> str:
        inside = path == self._new or path.startswith(f"{self._new}/")
        return self._old + path[len(self._new) :] if inside else path

"""A repository in memory: what a compilation sees is bytes, wherever they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Span
from tau_compile.workload.code import Asked, Info, Tracked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def asked(text: str, line: int = 1) -> Asked:
    return Asked(text, Span("tau.yaml", line, 1, line, 1 + len(text)))


class MemoryTree:
    """Files and links (to their targets) by path; ``git`` the modes of tracked paths, None outside Git."""

    def __init__(
        self,
        files: Mapping[str, bytes],
        links: Mapping[str, str] | None = None,
        git: Mapping[str, int] | None = None,
        executable: Sequence[str] = (),
        stage: int = 0,
    ) -> None:
        self.files, self.links = dict(files), dict(links or {})
        self.git = None if git is None else {p: Tracked(m, stage) for p, m in git.items()}
        self.executable = executable
        self.read_paths: list[str] = []

    def info(self, path: str) -> Info | None:
        if path in self.files:
            return Info("file", len(self.files[path]), path in self.executable)
        if path in self.links:
            return Info("link")
        start = path + "/" if path else ""
        return Info("folder") if any(p.startswith(start) for p in (*self.files, *self.links)) else None

    def target(self, path: str) -> str:
        return self.links[path]

    def names(self, path: str) -> list[str]:
        start = path + "/" if path else ""
        below = [p[len(start) :] for p in (*self.files, *self.links) if p.startswith(start)]
        return sorted({p.partition("/")[0] for p in below})

    def read(self, path: str, limit: int) -> bytes:
        self.read_paths.append(path)
        return self.files[path][:limit]

    def tracked(self, paths: Sequence[str]) -> Mapping[str, Tracked] | None:
        if self.git is None:
            return None
        return {
            p: t for p, t in self.git.items() if any(not q or p == q or p.startswith(q + "/") for q in paths)
        }

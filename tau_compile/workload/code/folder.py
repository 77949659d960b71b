"""The files below a working directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, error, has_errors, warning
from tau_compile.named import NamedTuple
from tau_compile.workload.code import excludes
from tau_compile.workload.code.model import MAX_FILES
from tau_compile.workload.code.paths import resolve, unreadable
from tau_compile.workload.code.size import HINT
from tau_compile.workload.code.text import quoted
from tau_compile.workload.code.tree import GitError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.diagnostics import Span
    from tau_compile.workload.code.model import CodeRequest
    from tau_compile.workload.code.paths import Found
    from tau_compile.workload.code.tree import Info, Tracked, Tree

MAX_SEEN = 20_000
MAX_FOLDER_LINKS = 100


class Picked(NamedTuple):
    """A file that ships: its path in the bundle and in the repository (past all links), and who asked."""

    path: str
    real: str
    info: Info
    span: Span


class Listing(NamedTuple):
    """The files of a working directory, and what Git tracks there (``git``: whether there was one to ask)."""

    files: list[Picked]
    tracked: dict[str, Tracked]
    git: bool


class _TooManyError(Exception):
    pass


class _Folder(NamedTuple):
    """A folder to list, its prefix in the bundle, and the folders whose links led here."""

    real: str
    prefix: str
    chain: tuple[str, ...]


def list_folder(tree: Tree, top: str, request: CodeRequest, span: Span, said: list[Diagnostic]) -> Listing:
    """List what ships of the folder ``top`` (a path without links); ``said`` gets what stands in the way."""
    walk = _Walk(tree, request, span, said)
    walk.parse_excludes()
    try:
        walk.git = tree.tracked((top,)) is not None
        walk.run(top)
        walk.check_links()
    except GitError as problem:
        hint = "a working directory ships what Git tracks, so `git ls-files` must work here"
        walk.refuse("TAU711", f"Git could not say which files it tracks: {problem}", hint)
    except _TooManyError:
        walk.refuse(
            "TAU714", f"the working directory has more files to ship than {MAX_FILES}, the most", HINT
        )
    else:
        walk.report_missing()
    return Listing(walk.files, walk.index, walk.git)


class _Walk:
    """One listing under way; links to folders open further folders."""

    def __init__(self, tree: Tree, request: CodeRequest, span: Span, said: list[Diagnostic]) -> None:
        self.tree, self.request, self.span, self.said = tree, request, span, said
        self.patterns: list[excludes.Pattern] = []
        self.git = False
        self.index: dict[str, Tracked] = {}
        self.files: list[Picked] = []
        self.absent: list[str] = []
        self.linked: set[str] = set()
        self.seen = 0

    def parse_excludes(self) -> None:
        for asked in self.request.excludes:
            pattern = excludes.parse(asked.text)
            if isinstance(pattern, str):
                why = f"the exclude pattern {quoted(asked.text)} {pattern}"
                hint = "write names or paths with *, ** and ?, such as `data/` or `*.ckpt`"
                self.said.append(error("TAU710", why, asked.span, hint))
            else:
                self.patterns.append(pattern)

    def run(self, top: str) -> None:
        todo = [_Folder(top, "", (top,))]
        opened = 0
        while todo:
            folder = todo.pop()
            for path, real in (self.tracked if self.git else self.present)(folder.real, folder.prefix):
                found = resolve(self.tree, real, "the file", self.span)
                if isinstance(found, Diagnostic):
                    self.said.append(found)
                elif found is None or (found.info.kind == "folder" and not found.linked):
                    self.absent.append(real)
                elif found.info.kind == "file":
                    self.pick(path, found)
                elif found.info.kind == "other":
                    self.refuse("TAU703", f"{quoted(real)} is not a regular file", "exclude it, or remove it")
                elif self.hidden(path, real, folder=True):
                    continue
                elif any(f"{link}/".startswith(f"{found.path}/") or not found.path for link in folder.chain):
                    why = f"the link {quoted(real)} leads to a folder that it lies in itself"
                    self.refuse("TAU704", why, "exclude the link, or remove it")
                else:
                    opened += 1
                    if opened > MAX_FOLDER_LINKS:
                        raise _TooManyError
                    todo.append(_Folder(found.path, path + "/", (*folder.chain, found.path)))

    def pick(self, path: str, found: Found) -> None:
        if found.linked:
            self.linked.add(found.path)
        self.files.append(Picked(path, found.path, found.info, self.span))
        if len(self.files) > MAX_FILES:
            raise _TooManyError

    def tracked(self, folder: str, prefix: str) -> Iterator[tuple[str, str]]:
        """Yield the path and the path from the root of each file that Git tracks below ``folder``."""
        entries = self.tree.tracked((folder,)) or {}
        self.index.update(entries)
        start = len(folder) + 1 if folder else 0
        for real in sorted(entries):
            path = prefix + real[start:]
            if real == folder or self.hidden(path, real):
                continue
            if entries[real].stage:
                self.refuse(
                    "TAU717", f"{quoted(real)} has a merge conflict", "resolve it and `git add` the file"
                )
            elif entries[real].mode == 0o160000:
                hint = "copy what the run needs into this repository, or exclude the submodule"
                self.said.append(
                    warning("TAU715", f"the submodule {quoted(real)} is not shipped", self.span, hint)
                )
            else:
                yield path, real

    def present(self, folder: str, prefix: str) -> Iterator[tuple[str, str]]:
        """Yield the same for each file that lies below ``folder``, where there is no Git to ask."""
        todo = [(folder, prefix)]
        while todo:
            above, start = todo.pop()
            try:
                entries = [(name, f"{above}/{name}" if above else name) for name in self.tree.names(above)]
                self.seen += len(entries)
                if self.seen > MAX_SEEN:
                    raise _TooManyError
                kinds = [info.kind if (info := self.tree.info(real)) else "" for _, real in entries]
            except (OSError, ValueError) as problem:
                self.said.append(unreadable("the folder", above, problem, self.span))
                continue
            for (name, real), kind in zip(entries, kinds, strict=True):
                if self.hidden(start + name, real, kind == "folder"):
                    continue
                if kind == "folder":
                    todo.append((real, f"{start}{name}/"))
                else:
                    yield start + name, real

    def hidden(self, path: str, real: str, folder: bool = False) -> bool:
        own = real == self.request.config_path or excludes.generated(real)
        return own or excludes.hidden(path, self.patterns, folder)

    def check_links(self) -> None:
        """Refuse links to what Git does not track: a fresh clone would not have it."""
        unknown = sorted(self.linked - self.index.keys())
        if not self.git or not unknown:
            return
        self.index.update(self.tree.tracked(unknown) or {})
        for real in unknown:
            if real not in self.index:
                why = f"a link leads to {quoted(real)}, which Git does not track"
                self.refuse("TAU704", why, "`git add` that file, or exclude the link")

    def report_missing(self) -> None:
        if self.absent:
            names = ", ".join(map(quoted, self.absent[:5])) + (" and others" if len(self.absent) > 5 else "")
            message = f"not shipped, as the work tree lacks them, though Git tracks them: {names}"
            self.said.append(warning("TAU715", message, self.span, "restore them, or remove them from Git"))
        elif self.git and not self.files and not has_errors(self.said):
            message = "Git tracks no file of the working directory, so nothing of it ships"
            self.said.append(warning("TAU715", message, self.span, "`git add` the files that the run needs"))

    def refuse(self, id: str, message: str, hint: str) -> None:
        self.said.append(error(id, message, self.span, hint))

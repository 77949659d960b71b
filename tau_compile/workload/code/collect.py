"""Collecting the files that a run ships.

Without a working directory the entrypoint ships alone, under its base name. With one, everything below it
ships under the paths it has there: what Git tracks when in a Git work tree, every file when not, in both
cases without what the exclude lists hide. The entrypoint and extra scripts are named by the user, so they
ship even if untracked or excluded. Text ships with LF line ends, as Git stores it, so a checkout with CRLF
gives the same bundle. The tau.yaml stays at home.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, error, has_errors
from tau_compile.workload.code.folder import Listing, Picked, list_folder
from tau_compile.workload.code.model import MAX_BYTES, Asked, CodeBundle, CodeFile, CodeRequest, decode
from tau_compile.workload.code.pack import ARCHIVE_TOP
from tau_compile.workload.code.paths import from_root, resolve, unreadable
from tau_compile.workload.code.size import too_large, too_large_to_read
from tau_compile.workload.code.suggest import similar
from tau_compile.workload.code.text import quoted, shippable
from tau_compile.workload.code.tree import GitError

if TYPE_CHECKING:
    from tau_compile.diagnostics import Span
    from tau_compile.workload.code.tree import Tree

_LFS = b"version https://git-lfs.github.com/spec/"


def collect(tree: Tree, request: CodeRequest) -> tuple[CodeBundle | None, list[Diagnostic]]:
    """Collect the bundle of one run, sorted by path.

    None when there is nothing to ship, and when something stands in the way: then the diagnostics say what.
    """
    collection = _Collection(tree, request)
    return collection.run(), collection.said


class _Collection:
    """One collection under way: ``files`` by their path in the bundle."""

    def __init__(self, tree: Tree, request: CodeRequest) -> None:
        self.tree, self.request = tree, request
        self.home = posixpath.dirname(request.config_path)
        self.said: list[Diagnostic] = []
        self.top: str | None = None  # the working directory as written, from the root
        self.listing: Listing | None = None
        self.files: dict[str, Picked] = {}

    def run(self) -> CodeBundle | None:
        request = self.request
        if request.working_dir:
            self.working_dir(request.working_dir)
        if has_errors(self.said):
            return None  # about the entrypoint nothing can be said yet
        entrypoint = self.entrypoint(request.entrypoint) if request.entrypoint else None
        for script in request.extra_scripts:
            self.extra_script(script)
        self.check_names()
        if has_errors(self.said) or not self.files:
            return None
        bundle = self.read(entrypoint)
        return None if has_errors(self.said) else bundle

    def working_dir(self, asked: Asked) -> None:
        what = "the working directory"
        path = from_root(self.home, asked, what)
        if isinstance(path, Diagnostic):
            self.said.append(path)
            return
        found = resolve(self.tree, path, what, asked.span)
        if isinstance(found, Diagnostic):
            self.said.append(found)
        elif found is None or found.info.kind != "folder":
            why = "is not a folder" if found else "does not exist"
            hint = "write a folder relative to the folder of this file; `.` is that folder itself"
            self.refuse("TAU705", f"{what} {quoted(asked.text)} {why}", asked.span, hint)
        else:
            self.top = path
            self.listing = list_folder(self.tree, found.path, self.request, asked.span, self.said)
            self.files = {picked.path: picked for picked in self.listing.files}

    def entrypoint(self, asked: Asked) -> str | None:
        """Pick the entrypoint; its path in the bundle."""
        what = "the entrypoint"
        path = from_root(self.home, asked, what)
        if isinstance(path, Diagnostic):
            self.said.append(path)
            return None
        picked = self.one_file(asked, path, what, "TAU701")
        if picked is None:
            return None
        if self.top is None:
            name = posixpath.basename(path)
        elif not self.top or path.startswith(self.top + "/"):
            name = path[len(self.top) + 1 :] if self.top else path
        else:
            why = f"the entrypoint {quoted(asked.text)} is not inside the working directory"
            hint = "both count from the folder of this file; choose a working directory that holds it"
            self.refuse("TAU707", why, asked.span, hint)
            return None
        self.files[name] = picked._replace(path=name)
        return name

    def extra_script(self, asked: Asked) -> None:
        source, colon, name = asked.text.rpartition(":")
        if not colon:
            source, name = asked.text, posixpath.basename(asked.text.rstrip("/"))
        what = "the extra script"
        if name in ("", ".", "..") or "/" in name or not shippable(name):
            why = f"{what} {quoted(asked.text)} has no file name to ship under"
            hint = "write SRC or SRC:DEST, where DEST is one file name without folders"
            self.refuse("TAU708", why, asked.span, hint)
            return
        written = Asked(source, asked.span)
        path = from_root(self.home, written, what)
        if isinstance(path, Diagnostic):
            self.said.append(path)
            return
        picked = self.one_file(written, path, what, "TAU709")
        if picked is None:
            return
        taken = self.files.get(name)
        if taken and taken.real != picked.real:
            why = f"{what} {quoted(asked.text)} and {quoted(taken.real)} would both ship as {quoted(name)}"
            self.refuse("TAU708", why, asked.span, "give it another name: SRC:DEST")
            return
        self.files[name] = picked._replace(path=name)

    def one_file(self, asked: Asked, path: str, what: str, missing: str) -> Picked | None:
        found = resolve(self.tree, path, what, asked.span)
        if isinstance(found, Diagnostic):
            self.said.append(found)
        elif found is None:
            names = similar(self.tree, path, self.home)
            hint = "paths count from the folder of this file"
            if names:
                hint = f"did you mean {' or '.join(map(quoted, names))}?"
            self.refuse(missing, f"{what} {quoted(asked.text)} does not exist", asked.span, hint)
        elif found.info.kind != "file":
            kind = "a folder" if found.info.kind == "folder" else "not a regular file"
            self.refuse("TAU703", f"{what} {quoted(asked.text)} is {kind}", asked.span, "name a file")
        else:
            return Picked("", found.path, found.info, asked.span)
        return None

    def check_names(self) -> None:
        """Refuse names that a ConfigMap volume cannot carry, and a file where others need a folder."""
        for path, picked in sorted(self.files.items()):
            if not shippable(path) or path.startswith(".."):
                why = f"the file {quoted(path)} cannot be shipped under its name"
                hint = "rename it, without a backslash, control characters or leading `..`; or exclude it"
                self.refuse("TAU713", why, picked.span, hint)
            above = posixpath.dirname(path)
            while above:
                if above in self.files:
                    why = f"{quoted(above)} would be a file, and also the folder of {quoted(path)}"
                    self.refuse(
                        "TAU708", why, self.files[above].span, "give the extra script another name: SRC:DEST"
                    )
                above = posixpath.dirname(above)

    def with_modes(self) -> list[Picked]:
        """Take the exec bit from Git where Git has one: a file system may have none to give."""
        index = dict(self.listing.tracked) if self.listing else {}
        files = sorted(self.files.values())
        unknown = sorted({picked.real for picked in files} - index.keys())
        if unknown and (self.listing is None or self.listing.git):
            try:
                index |= self.tree.tracked(unknown) or {}
            except GitError:
                index |= {}  # for files named one by one the file system's own bit is a good answer
        return [
            picked._replace(info=picked.info._replace(executable=bool(index[picked.real].mode & 0o111)))
            if picked.real in index
            else picked
            for picked in files
        ]

    def read(self, entrypoint: str | None) -> CodeBundle | None:
        request = self.request
        span = (request.working_dir or request.entrypoint or request.extra_scripts[0]).span
        files = self.with_modes()
        sizes = [(picked.path, picked.info.size) for picked in files]
        # CRLF at most doubles a text: what is beyond twice the limit is too large on every machine, and not
        # read.
        if sum(size for _, size in sizes) > 2 * MAX_BYTES:
            self.said.append(too_large_to_read(sizes, span))
            return None
        shipped = [file for picked in files if (file := self.read_one(picked))]
        bundle = CodeBundle(tuple(shipped), entrypoint)
        if not has_errors(self.said):
            self.said.extend(too_large(bundle, ARCHIVE_TOP if request.archive else "", span))
        return bundle

    def read_one(self, picked: Picked) -> CodeFile | None:
        try:
            content = self.tree.read(picked.real, 2 * MAX_BYTES + 1)
        except (OSError, ValueError) as problem:
            self.said.append(unreadable("the file", picked.real, problem, picked.span))
            return None
        if content.startswith(_LFS):
            why = f"{quoted(picked.real)} is a Git LFS pointer, not the file itself"
            hint = "run `git lfs pull`; a large file belongs into storage or an image (`run.source`)"
            self.refuse("TAU716", why, picked.span, hint)
        if decode(content) is not None:
            content = content.replace(b"\r\n", b"\n")
        return CodeFile(picked.path, picked.info.executable, content, picked.real)

    def refuse(self, id: str, message: str, span: Span, hint: str) -> None:
        self.said.append(error(id, message, span, hint))

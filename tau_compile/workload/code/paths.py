"""From the path that a user wrote to the file it stands for, without leaving the repository."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, error
from tau_compile.named import NamedTuple
from tau_compile.workload.code.text import quoted, shippable

if TYPE_CHECKING:
    from tau_compile.diagnostics import Span
    from tau_compile.workload.code.model import Asked
    from tau_compile.workload.code.tree import Info, Tree

MAX_LINKS = 40


class Found(NamedTuple):
    """What a path leads to: its path without links, what stands there, and whether a link was followed."""

    path: str
    info: Info
    linked: bool


def from_root(folder: str, asked: Asked, what: str) -> str | Diagnostic:
    """Turn a path counted from ``folder`` into one from the repository root; ``what`` opens the message.

    ``..`` is taken by its letters, before any link is followed.
    """
    text = asked.text
    why = hint = ""
    if not text or text != text.strip():
        why, hint = "is empty or has spaces around it", "write a path relative to the folder of this file"
    elif "\\" in text:
        why, hint = "has a backslash", "write folders with /"
    elif text.startswith(("/", "~")):
        why, hint = (
            "is absolute",
            "write a path relative to the folder of this file; it must lie in the repository",
        )
    elif not shippable(text):
        why, hint = "has a character that no file name should have", "rename the file"
    else:
        path = posixpath.normpath(posixpath.join(folder, text))
        if path != ".." and not path.startswith("../"):
            return "" if path == "." else path
        why, hint = "leads out of the repository", "move the file into the repository"
    return error("TAU702", f"{what} {quoted(text)} {why}", asked.span, hint)


def resolve(tree: Tree, path: str, what: str, span: Span) -> Found | Diagnostic | None:
    """Follow every link of ``path``; None if nothing stands there. ``what`` opens the messages.

    A link must be relative, stay in the repository and lead somewhere: else the same commit would ship other
    files on another machine.
    """
    todo = path.split("/")[::-1]
    done: list[str] = []
    links = 0
    info: Info | None = None
    try:
        info = tree.info("")
        while todo:
            name = todo.pop()
            if name in ("", "."):
                continue
            if name == "..":
                if not done:
                    return _bad_link(what, path, "leads out of the repository", span)
                done.pop()
                info = tree.info("/".join(done))
                continue
            here = "/".join((*done, name))
            info = tree.info(here)
            if info is None or (todo and info.kind in ("file", "other")):
                return _bad_link(what, path, "leads nowhere", span) if links else None
            if info.kind != "link":
                done.append(name)
                continue
            links += 1
            target = tree.target(here)
            if target.startswith("/"):
                return _bad_link(what, path, "is absolute", span)
            if links > MAX_LINKS:
                return _bad_link(what, path, "leads round in a circle", span)
            todo.extend(target.split("/")[::-1])
    except (OSError, ValueError) as problem:
        return unreadable(what, path, problem, span)
    return Found("/".join(done), info, links > 0) if info else None


def unreadable(what: str, path: str, problem: Exception, span: Span) -> Diagnostic:
    """Report what the system refused."""
    reason = (getattr(problem, "strerror", None) or str(problem) or "no reason given").lower()
    return error(
        "TAU706",
        f"{what} {quoted(path)} cannot be read: {reason}",
        span,
        "check the file and its permissions",
    )


def _bad_link(what: str, path: str, why: str, span: Span) -> Diagnostic:
    return error(
        "TAU704",
        f"{what} {quoted(path)} goes through a symbolic link that {why}",
        span,
        "use a relative link to a file in this repository, or the file itself",
    )

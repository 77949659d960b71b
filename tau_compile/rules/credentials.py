"""Literals that look like credentials, in what goes into Git: environment, settings, pip lines, shipped code.

A value is refused for its shape (``credential_shapes``), whatever it is called, or for a name that promises
a credential (``credential_names``). No message shows any part of a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Span, error, warning
from tau_compile.rules.credential_names import promises_secret
from tau_compile.rules.credential_shapes import find_shapes

if TYPE_CHECKING:
    from collections.abc import Iterable

_REVOKE = "if it is a real one, revoke it: it stays in the history of this repository"
_CODE = (
    "read it from an environment variable that `runtime.env_secret` sets, or exclude the file with "
    f"`run.working_dir_excludes`; {_REVOKE}"
)
# What stands for a password in the URLs of examples.
_EXAMPLES = frozenset(("changeme", "pass", "passwd", "password", "pw", "pwd", "secret", "token", "xxx"))


def find(env: Iterable[tuple[str, str, Span | None]], what: str = "environment variable") -> list[Diagnostic]:
    """Refuse literals that look like credentials, each once.

    ``env`` are (name, literal value, place of the value); ``what`` says in the message what the names are.
    """
    said = []
    for name, value, span in env:
        hit = next(iter(find_shapes(value)), None)
        if hit:
            message = f"the {what} `{name}` holds what looks like {hit.what}"
            said.append(error("TAU801", message, span, _instead(name)))
        elif promises_secret(name, value):
            message = f"the {what} `{name}` is named like a credential and has a literal value"
            said.append(error("TAU802", message, span, _instead(name)))
    return said


def find_in_text(text: str, span: Span | None, where: str) -> list[Diagnostic]:
    """Refuse credentials in a free text, such as a pip line; ``where`` opens the message and names it."""
    return [
        error("TAU801", f"{where} holds what looks like {hit.what}", span, _instead("NAME"))
        for hit in find_shapes(text)
    ]


def find_in_code(path: str, content: bytes) -> list[Diagnostic]:
    """Report credentials in a file that ships; ``path`` becomes the diagnostics' file.

    What only a credential looks like is an error. What also stands in examples and tests is a warning: a
    JSON web token, a password in a URL, the head of a private key without its body. Binary files are not
    searched.
    """
    if b"\0" in content:
        return []
    text = content.decode("utf-8", "replace")
    said = []
    for hit in find_shapes(text):
        span = _span(path, text, hit.start, hit.end)
        message = f"shipped code holds what looks like {hit.what}"
        if hit.exact:
            said.append(error("TAU803", message, span, _CODE))
        elif not _example(text[hit.start : hit.end]):
            said.append(warning("TAU804", message, span, _CODE))
    return said


def _instead(name: str) -> str:
    return f"take it from a Secret: `runtime.env_secret: {{{name}: SECRET:KEY}}`; {_REVOKE}"


def _example(found: str) -> bool:
    """Whether the program fills in a URL's password, or it is the word that examples use."""
    password = found.rpartition(":")[2].rstrip("@")
    return any(mark in password for mark in "{$%") or password.lower() in _EXAMPLES


def _span(path: str, text: str, start: int, end: int) -> Span:
    """Place a stretch of ``text``, up to the end of its first line."""
    line = text.count("\n", 0, start) + 1
    column = start - text.rfind("\n", 0, start)
    stop = text.find("\n", start, end)
    return Span(path, line, column, line, column + (end if stop < 0 else stop) - start)

"""Edits of a user's file: what need not change stays as it is, to the byte."""

from __future__ import annotations

import os
import re
from typing import Any

from tau_compile.source.nodes import Mapping, Node, Scalar
from tau_compile.source.reader import read
from tau_compile.source.scalars import plain_data, resolve

_LINE_END = re.compile(r"\r\n|\r|\n")


class EditError(Exception):
    """A file that cannot be edited without changing its meaning."""


def with_attempt(data: bytes, used: int) -> tuple[int, str]:
    """The text with ``run.attempt`` raised above both its value and ``used``, and the new number. Raises EditError.

    The file has been read without errors. What comes out is read again: it says the same but for the attempt.
    """
    document = read(data, "").node
    assert isinstance(document, Mapping)
    run = document.get("run")
    written = run.get("attempt") if isinstance(run, Mapping) else None
    now = resolve(written) if isinstance(written, Scalar) else 1
    attempt = max(int(now) if isinstance(now, (int, float)) else 1, used) + 1
    text = data.decode("utf-8-sig")
    expected = _with(plain_data(document), attempt)
    for edited in (
        _replaced(text, written, attempt),
        _inserted(text, document, run, attempt),
        _reparsed(text, attempt),
    ):
        if edited is not None and _means(edited, expected):
            return attempt, ("\ufeff" if data.startswith(b"\xef\xbb\xbf") else "") + edited
    raise EditError(
        f"the file is written in a way that cannot be edited: set `run.attempt: {attempt}` by hand"
    )


def _with(data: Any, attempt: int) -> Any:
    return {**data, "run": {**(data.get("run") or {}), "attempt": attempt}}


def _means(text: str, expected: Any) -> bool:
    node = read(text.encode(), "").node
    return node is not None and plain_data(node) == expected


def _replaced(text: str, written: Node | None, attempt: int) -> str | None:
    """The number in the place of the old one."""
    if not isinstance(written, Scalar):
        return None
    span = written.span
    start = _index(text, span.line, span.column)
    return f"{text[:start]}{attempt}{text[_index(text, span.end_line, span.end_column) :]}"


def _inserted(text: str, document: Mapping, run: Node | None, attempt: int) -> str | None:
    """A new line: the first of ``run``, or after ``name``."""
    end = "\r\n" if "\r\n" in text else "\n"
    if isinstance(run, Mapping) and run.entries:
        first = run.entries[0].key.span
        start = _index(text, run.span.line, run.span.column)
        if text[start : start + 1] == "{":
            return f"{text[: start + 1]}attempt: {attempt}, {text[start + 1 :]}"
        start = _index(text, first.line, first.column)
        return f"{text[:start]}attempt: {attempt}{end}{' ' * (first.column - 1)}{text[start:]}"
    name = document.entry("name")
    if run is not None or name is None:
        return None
    start = _index(text, name.value.span.end_line, name.value.span.end_column)
    line = _LINE_END.search(text, start)
    stop = line.end() if line else len(text)
    pad = " " * (name.key.span.column - 1)
    head = text[:stop] if line else text + end
    return f"{head}{pad}run:{end}{pad}  attempt: {attempt}{end}{text[stop:]}"


def _reparsed(text: str, attempt: int) -> str | None:
    """By a reader that keeps comments, where lines alone do not tell what belongs where: anchors, braces, odd layouts."""
    import io

    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.error import YAMLError

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1 << 20  # never fold
    out = io.StringIO()
    try:
        document: Any = yaml.load(text.replace("\r\n", "\n"))
        if not isinstance(document.get("run"), dict):
            document["run"] = CommentedMap()
        document["run"]["attempt"] = attempt
        yaml.dump(document, out)
    except (YAMLError, AttributeError, TypeError, ValueError):
        return None
    return out.getvalue().replace("\n", "\r\n") if "\r\n" in text else out.getvalue()


def _index(text: str, line: int, column: int) -> int:
    """The index of a place; lines and columns count from 1."""
    start = 0
    for found in _LINE_END.finditer(text):
        if line == 1:
            break
        line, start = line - 1, found.end()
    return start + column - 1


def replace_file(path: str, text: str) -> None:
    """Replace a file by another text, all or nothing: a new file beside the old one, then a rename. Its mode stays."""
    import tempfile

    real = os.path.realpath(path)
    mode = os.stat(real).st_mode & 0o777
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(real), prefix=".tau-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(temporary, mode)
        os.replace(temporary, real)
    except BaseException:
        os.unlink(temporary)
        raise

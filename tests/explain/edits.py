"""The edits that an explanation claims to have an effect, made to files on disk as a person would make them."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tau_compile.diagnostics import Span
    from tau_compile.explain.inputs import Edit


def apply(folder: Path, edits: Sequence[Edit]) -> bool:
    """Change the files below a folder; False if that takes more than an editor's search and replace."""
    for edit in sorted(edits, key=lambda e: e.span, reverse=True):
        file = folder / edit.file
        if edit.twin:
            old, new = (folder / path for path in edit.twin.split("\n"))
            (shutil.copytree if old.is_dir() else shutil.copy)(old, new)
        if edit.action == "content":
            file.write_bytes(edit.text.encode("utf-8", "surrogateescape"))
        elif edit.action == "executable":
            file.chmod(file.stat().st_mode ^ 0o111)
        elif edit.action in ("set", "rename"):
            if not _replace(file, edit.span, edit.text):
                return False
        elif edit.action == "remove":
            if not _remove(file, edit.span):
                return False
        elif edit.action == "digest":
            text = file.read_text()
            if text.count("\nrun:\n") != 1 or "attempt:" in text:
                return False
            file.write_text(text.replace("\nrun:\n", "\nrun:\n  attempt: 7\n"))
        else:
            return False
    return True


def _replace(file: Path, span: Span, text: str) -> bool:
    lines = file.read_text().split("\n")
    if span.line != span.end_line or not file.is_file():
        return False
    line = lines[span.line - 1]
    old = line[span.column - 1 : span.end_column - 1]
    if old[:1] in ("|", ">"):
        return False
    new = json.dumps(text) if old[:1] in ('"', "'") else text
    lines[span.line - 1] = line[: span.column - 1] + new + line[span.end_column - 1 :]
    file.write_text("\n".join(lines))
    return True


def _remove(file: Path, span: Span) -> bool:
    """Remove a line that holds one entry or item and nothing else."""
    lines = file.read_text().split("\n")
    line = lines[span.line - 1]
    before = line[: span.column - 1].strip()
    follows = lines[span.line] if span.line < len(lines) else ""
    depth = len(line) - len(line.lstrip())
    deeper = follows.strip() and len(follows) - len(follows.lstrip()) > depth
    if before not in ("", "-") or deeper or (before == "-" and ":" in line) or not os.path.exists(file):
        return False
    del lines[span.line - 1]
    file.write_text("\n".join(lines))
    return True

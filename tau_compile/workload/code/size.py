"""Whether a bundle fits into a ConfigMap, and what to say if it does not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, error
from tau_compile.workload.code.model import MAX_BYTES, MAX_FILES, MAX_JSON_BYTES
from tau_compile.workload.code.text import quoted, size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.diagnostics import Span
    from tau_compile.workload.code.model import CodeBundle, CodeFile

HINT = (
    "exclude what the run does not need with `run.working_dir_excludes`, read data from storage, "
    "or put the code into an image: `run.source`"
)
# Go's encoder, which kubectl and Argo CD use, writes these characters in 2 and in 6 bytes.
_TWO = re.compile(r'["\\\n\r\t]')
_SIX = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f<>&\u2028\u2029]")


def stored_size(file: CodeFile) -> int:
    """Count the bytes that a file takes in a ConfigMap: text as it is, binary content in base64."""
    return _base64(len(file.content)) if file.text is None else len(file.content)


def archive_size(files: Iterable[CodeFile], top: str) -> int:
    """Count the bytes of ``pack.archive``: 76 a file, its name twice, its content; 22 at the end."""
    return 22 + sum(76 + 2 * (len(top) + 1 + len(f.path.encode())) + len(f.content) for f in files)


def too_large_to_read(sizes: list[tuple[str, int]], span: Span) -> Diagnostic:
    """For files whose sizes on disk already say that they do not fit."""
    return _refuse(sum(count for _, count in sizes), sizes, "", span)


def too_large(bundle: CodeBundle, archive: str, span: Span) -> list[Diagnostic]:
    """Refuse a bundle beyond the limits. ``archive`` is the archive's top folder; empty for none."""
    sizes = [(file.path, stored_size(file)) for file in bundle.files]
    total = sum(count for _, count in sizes)
    zipped = _base64(archive_size(bundle.files, archive)) if archive else 0
    if len(sizes) > MAX_FILES:
        return [
            error("TAU714", f"the run ships {len(sizes)} files, and {MAX_FILES} are the most", span, HINT)
        ]
    if total + zipped > MAX_BYTES:
        note = f", {size(zipped)} of it for the archive that Ray unpacks on its nodes" if zipped else ""
        return [_refuse(total + zipped, sizes, note, span)]
    if 6 * total + zipped <= MAX_JSON_BYTES:
        return []  # whatever the characters are
    written = [(file.path, stored_size(file) + _escapes(file)) for file in bundle.files]
    total = sum(count for _, count in written) + zipped
    if total > MAX_JSON_BYTES:
        note = " once written as JSON, which escapes many of its characters"
        return [_refuse(total, written, note, span, MAX_JSON_BYTES)]
    return []


def _base64(count: int) -> int:
    return (count + 2) // 3 * 4


def _escapes(file: CodeFile) -> int:
    text = file.text or ""
    return len(_TWO.findall(text)) + 5 * len(_SIX.findall(text))


def _refuse(
    total: int, sizes: list[tuple[str, int]], note: str, span: Span, limit: int = MAX_BYTES
) -> Diagnostic:
    largest = sorted(sizes, key=lambda pair: (-pair[1], pair[0]))[:5]
    names = ", ".join(f"{quoted(path)} {size(count)}" for path, count in largest)
    few = "the largest: " if len(sizes) > len(largest) else ""
    message = f"the code takes {size(total)}{note}; {size(limit)} fit into a run ({few}{names})"
    return error("TAU712", message, span, HINT)

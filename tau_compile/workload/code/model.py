"""What is asked of the code collection and what it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from tau_compile.diagnostics import Span

CODE_ROOT = "/tau/code"

# A ConfigMap may hold 1 MiB, but client-side apply repeats the object, as JSON, in one annotation, and all
# annotations together may hold 256 KiB (J45, J49). The second bound is for text that JSON has to escape.
MAX_BYTES = 180 * 1024
MAX_JSON_BYTES = 240 * 1024
# Each file is one `items` entry of a volume, repeated in every pod template and again in Kueue's Workload.
MAX_FILES = 500


class Asked(NamedTuple):
    """A path or pattern as the user spelled it, and where."""

    text: str
    span: Span


class CodeRequest(NamedTuple):
    """What a tau.yaml says about its code.

    ``config_path`` is the tau.yaml's own path from the repository root, with ``/``; the others count from
    its folder. ``extra_scripts`` are spelled ``SRC[:DEST]``. ``archive``: the bundle also travels as one
    zip, for Ray.
    """

    config_path: str
    entrypoint: Asked | None = None
    working_dir: Asked | None = None
    excludes: tuple[Asked, ...] = ()
    extra_scripts: tuple[Asked, ...] = ()
    archive: bool = False


class CodeFile(NamedTuple):
    """One shipped file; ``path`` is below ``CODE_ROOT``, ``source`` in the repository (for messages only)."""

    path: str
    executable: bool
    content: bytes
    source: str = ""

    @property
    def text(self) -> str | None:
        """The content as text, or None for a binary file."""
        return decode(self.content)


class CodeBundle(NamedTuple):
    """The files of one run, sorted by path (code points), and the entrypoint's path among them, if any."""

    files: tuple[CodeFile, ...]
    entrypoint: str | None

    def file(self, path: str) -> CodeFile | None:
        """Find the file at ``path``."""
        return next((file for file in self.files if file.path == path), None)


def decode(content: bytes) -> str | None:
    """Decode a text file, which is valid UTF-8 without NUL; None for every other content."""
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None

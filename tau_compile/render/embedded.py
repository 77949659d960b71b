"""A run's files inside its pod templates, for clusters that mirror no ConfigMaps (MultiKueue targets).

An init container unpacks a base64 tar out of its environment into a volume at /tau.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.render.payload import ARCHIVE_FILE, script

if TYPE_CHECKING:
    from tau_compile.render.payload import Payload

_CHUNK = 96 * 1024  # characters of one variable; the kernel takes up to 128 KiB


def environment(files: Payload) -> list[dict[str, Any]]:
    """The variables that carry the archive."""
    from binascii import b2a_base64

    text = b2a_base64(_tar(files), newline=False).decode("ascii")
    chunks = [text[start : start + _CHUNK] for start in range(0, len(text), _CHUNK)]
    return [{"name": f"TAU_CODE_{place}", "value": chunk} for place, chunk in enumerate(chunks)]


def command(count: int) -> list[str]:
    """The init container's command for ``count`` variables."""
    return ["/bin/sh", "-c", script("unpack.sh"), "tau-unpack", "/tau", str(count)]


def _tar(files: Payload) -> bytes:
    """The same bytes for the same files: sorted, no times, no owners."""
    import io
    import tarfile

    entries = [(f"code/{f.path}", f.content, 0o755 if f.executable else 0o644) for f in files.bundle.files]
    entries += [(f"bin/{name}", text.encode(), 0o644) for name, text in files.scripts]
    if files.archive is not None:
        entries.append((f"archive/{ARCHIVE_FILE}", files.archive, 0o644))
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content, mode in sorted(entries):
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), mode
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()

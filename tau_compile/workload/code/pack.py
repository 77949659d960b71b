"""A bundle as a ConfigMap's data, with the volume items that rebuild its paths, and as one archive."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Mapping

    from tau_compile.workload.code.model import CodeBundle

# Ray strips the one top-level folder that all files of a `file://` archive share. With a folder of ours
# around them it is this one that goes, and never a package of the user's.
ARCHIVE_TOP = "code"

_FORBIDDEN = re.compile(r"[^-._a-zA-Z0-9]")
_MAX_KEY = 253
_EXECUTABLE = 0o755


class Item(NamedTuple):
    """One ``items`` entry of a ConfigMap volume; ``mode`` is None for the volume's default."""

    key: str
    path: str
    mode: int | None


class ConfigMapData(NamedTuple):
    """``data`` (text), ``binaryData`` (base64) and the items of the code volume, sorted by path."""

    data: dict[str, str]
    binary_data: dict[str, str]
    items: tuple[Item, ...]


def configmap(bundle: CodeBundle, extra: Mapping[str, str], reserved: Collection[str] = ()) -> ConfigMapData:
    """Lay the bundle out as a ConfigMap, one key a file.

    ``extra`` are more texts by key, without items; ``reserved`` are keys to leave free for what the caller adds.

    A key is the path with ``--`` for ``/``: ``src/model.py`` is ``src--model.py``. Where that would not be
    reversible, or not be a key (letters, digits, ``-``, ``_``, ``.``; 253 at most; not beginning with
    ``..``), or is taken, the head of a sha256 of the path follows. Contents play no part, so an
    edit never renames a key.
    """
    from binascii import b2a_base64

    data, binary, items = dict(sorted(extra.items())), {}, []
    taken = {*extra, *reserved}
    for file in bundle.files:
        key = _key(file.path, taken)
        taken.add(key)
        text = file.text
        if text is None:
            binary[key] = b2a_base64(file.content, newline=False).decode("ascii")
        else:
            data[key] = text
        items.append(Item(key, file.path, _EXECUTABLE if file.executable else None))
    return ConfigMapData(data, binary, tuple(items))


def archive(bundle: CodeBundle, top: str = ARCHIVE_TOP) -> bytes:
    """Write the bundle as a stored (uncompressed) zip below the folder ``top``, always in the same bytes.

    Files in order of path, dated 1980-01-01 (the format's zero), modes 0644 and 0755, names in UTF-8.
    """
    from binascii import crc32
    from struct import pack

    body, directory = bytearray(), bytearray()
    for file in bundle.files:
        name = f"{top}/{file.path}".encode() if top else file.path.encode()
        size = len(file.content)
        # flags (bit 11: the name is UTF-8), method 0, time, date, checksum, sizes, length of name, length of
        # extras
        common = pack("<HHHHIIIHH", 0x800, 0, 0, 0x21, crc32(file.content), size, size, len(name), 0)
        mode = 0o100755 if file.executable else 0o100644
        directory += b"PK\x01\x02" + pack("<HH", 0x314, 20) + common
        directory += pack("<HHHII", 0, 0, 0, mode << 16, len(body)) + name
        body += b"PK\x03\x04" + pack("<H", 20) + common + name + file.content
    count = len(bundle.files)
    end = b"PK\x05\x06" + pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)
    return bytes(body + directory + end)


def _key(path: str, taken: Container[str]) -> str:
    key = path.replace("/", "--")
    parts = path.split("/")
    reversible = not any("--" in part or part.startswith("-") or part.endswith("-") for part in parts)
    valid = len(key) <= _MAX_KEY and not _FORBIDDEN.search(key) and not key.startswith("..") and key != "."
    if reversible and valid and key not in taken:
        return key
    from hashlib import sha256

    digest = sha256(path.encode()).hexdigest()
    head = _FORBIDDEN.sub("_", key).lstrip(".-")
    for length in range(8, 65, 8):
        key = f"{head[: _MAX_KEY - length - 1]}-{digest[:length]}".lstrip("-")
        if key not in taken:
            return key
    raise AssertionError("two paths with one sha256")

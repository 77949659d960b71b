"""Empty shared libraries that let the CUDA build of torch load on a machine without a GPU.

The torch wheel for Linux on PyPI links against about 2 GB of NVIDIA libraries. The tests only use torch's CPU
side (gloo), which never calls them, but the dynamic loader insists that they exist. So the fixture writes stubs:
an ELF file with the right name, no code, and a few zeroed data symbols for the references that are not lazy.
A call into one of them would crash at once, which is the honest outcome for a test that asked for a GPU.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

# Directory under site-packages/nvidia (the places torch searches) -> libraries wanted there.
LIBRARIES: Final[dict[str, tuple[str, ...]]] = {
    "cu13/lib": (
        "libcublas.so.13",
        "libcublasLt.so.13",
        "libcufft.so.12",
        "libcusparse.so.12",
        "libcusolver.so.12",
        "libnvJitLink.so.13",
        "libnvrtc-builtins.so.13",
        "libnvrtc.so.13",
    ),
    "cudnn/lib": ("libcudnn.so.9",),
    "cusparselt/lib": ("libcusparseLt.so.0",),
    "nccl/lib": ("libnccl.so.2",),
    "nvshmem/lib": ("libnvshmem_host.so.3",),
}

# Symbols whose addresses torch takes while it loads; everything else is bound lazily, that is never.
SYMBOLS: Final[dict[str, tuple[str, ...]]] = {
    "libnvshmem_host.so.3": (
        "nvshmem_init",
        "nvshmem_selected_device_transport",
        "nvshmemi_device_only_state",
        "nvshmemi_get_device_state_ptrs",
    ),
}

# The version of a library's symbols; where none is given it is the library's name, as NVIDIA does it.
VERSIONS: Final[dict[str, str]] = {"libnvshmem_host.so.3": "NVSHMEM"}

_MACHINES: Final[dict[str, int]] = {"x86_64": 62, "aarch64": 183}
_DATA_SIZE: Final = 4096


def _elf_hash(name: str) -> int:
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high
    return value


def shared_object(soname: str, symbols: tuple[str, ...], version: str, machine: int) -> bytes:
    """A 64-bit little-endian ELF shared object whose `symbols`, all of one `version`, name one zeroed page."""
    strings = bytearray(b"\0")

    def string(text: str) -> int:
        position = len(strings)
        strings.extend(text.encode() + b"\0")
        return position

    names = [string(symbol) for symbol in symbols]
    count = 1 + len(symbols)
    # Two version definitions: the file itself (index 1, flag "base") and the symbols' version (index 2).
    definitions = b"".join(
        struct.pack("<HHHHIII", 1, flags, index, 1, _elf_hash(name), 20, following)
        + struct.pack("<II", string(name), 0)
        for name, index, flags, following in ((soname, 1, 1, 28), (version, 2, 0, 0))
    )

    sections = [64 + 2 * 56]

    def section(size: int) -> int:
        position = sections[-1]
        sections.append((position + size + 63) & ~63)
        return position

    symtab_at = section(24 * count)
    hash_at = section(4 * (3 + count))
    versym_at = section(2 * count)
    verdef_at = section(len(definitions))
    strtab_at = section(len(strings))
    dynamic_at = section(16 * 10)
    data_at = section(_DATA_SIZE)
    size = sections[-1]

    # Symbol: name, STB_GLOBAL|STT_OBJECT, visibility, any section but "undefined", address, size.
    symtab = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", name, 0x11, 0, 1, data_at, _DATA_SIZE) for name in names
    )
    # One hash bucket whose chain visits every symbol in turn.
    chain = [0, *(index + 1 if index + 1 < count else 0 for index in range(1, count))]
    entries = {
        14: 1 + sum(len(symbol) + 1 for symbol in symbols),  # DT_SONAME: the first string after the symbols
        4: hash_at,  # DT_HASH
        5: strtab_at,  # DT_STRTAB
        6: symtab_at,  # DT_SYMTAB
        10: len(strings),  # DT_STRSZ
        11: 24,  # DT_SYMENT
        0x6FFFFFF0: versym_at,  # DT_VERSYM
        0x6FFFFFFC: verdef_at,  # DT_VERDEF
        0x6FFFFFFD: 2,  # DT_VERDEFNUM
        0: 0,  # DT_NULL
    }
    dynamic = b"".join(struct.pack("<QQ", tag, value) for tag, value in entries.items())
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = ident + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 6, 0, 0, 0, size, size, 4096)
    segment = struct.pack(
        "<IIQQQQQQ", 2, 6, dynamic_at, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 8
    )

    image = bytearray(size)
    for position, part in (
        (0, header + load + segment),
        (symtab_at, symtab),
        (hash_at, struct.pack(f"<{3 + count}I", 1, count, 1 if symbols else 0, *chain)),
        (versym_at, struct.pack(f"<{count}H", 0, *[2] * len(symbols))),
        (verdef_at, definitions),
        (strtab_at, bytes(strings)),
        (dynamic_at, dynamic),
    ):
        image[position : position + len(part)] = part
    return bytes(image)


def write(site_packages: Path, machine: str) -> None:
    """Write every stub that is not there already, and make Python bind symbols lazily in this environment."""
    for folder, names in LIBRARIES.items():
        directory = site_packages / "nvidia" / folder
        directory.mkdir(parents=True, exist_ok=True)
        for name in names:
            if not (directory / name).exists():
                content = shared_object(
                    name, SYMBOLS.get(name, ()), VERSIONS.get(name, name), _MACHINES[machine]
                )
                (directory / name).write_bytes(content)
    # Extension modules are opened with immediate binding unless told otherwise.
    (site_packages / "tau_lazy_binding.pth").write_text("import os, sys; sys.setdlopenflags(os.RTLD_LAZY)\n")

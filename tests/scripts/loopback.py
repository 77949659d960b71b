"""Runs a command in a network of its own that holds nothing but the loopback interface.

Ray and torch open ports on every interface and cannot be told not to. As a program: ``loopback.py COMMAND…`` raises
the interface (which takes a new network namespace to be allowed, and to be needed) and becomes the command.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

_NAMESPACE = ("unshare", "--map-root-user", "--net")
_SET_FLAGS, _UP_LOOPBACK_RUNNING = 0x8914, 0x1 | 0x8 | 0x40


def prefix() -> list[str]:
    """Words to put before a command; none where the system does not allow it."""
    try:
        allowed = subprocess.run([*_NAMESPACE, "true"], check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        allowed = False
    return [*_NAMESPACE, sys.executable, str(Path(__file__).resolve())] if allowed else []


def _main() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP_LOOPBACK_RUNNING))
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    _main()

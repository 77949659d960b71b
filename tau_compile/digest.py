"""SHA-256 for the compile path. ``hashlib`` loads OpenSSL first, which is a twentieth of a cold start (``random`` avoids it too)."""

from __future__ import annotations

__all__ = ["sha256"]

try:
    from _sha2 import sha256  # Python 3.12 and later
except ImportError:
    try:
        from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

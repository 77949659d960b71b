"""One writer at a time: a lock on a file, which the system lets go when its holder dies, however it dies.

Workers that are forked while the lock is held share it and keep it for as long as they live.
"""

from __future__ import annotations

import errno
import os
import sys

# Some network file systems know no locks. Refusing to work there helps nobody.
_UNKNOWN = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})


class BusyError(Exception):
    """Somebody else holds the lock."""


def acquire(path: str) -> int:
    """Take the lock without waiting; ``os.close`` of the answer gives it back. Raises BusyError and OSError."""
    flags = (
        os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    )  # NFS locks only files that are open for writing
    file = os.open(path, flags, 0o666)
    try:
        _lock(file)
    except BaseException:
        os.close(file)
        raise
    return file


if sys.platform == "win32":

    def _lock(file: int) -> None:
        import msvcrt

        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            raise BusyError from None

else:

    def _lock(file: int) -> None:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError from None
        except OSError as problem:
            if problem.errno not in _UNKNOWN:
                raise

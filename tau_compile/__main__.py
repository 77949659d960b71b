"""The program: ``tau-compile``, or ``python -m tau_compile``."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit."""
    import gc
    import os
    import sys

    # Names of files are UTF-8 whatever the locale says, as they are part of what a run is; else Python starts anew.
    if sys.getfilesystemencoding() != "utf-8" and sys.executable and len(sys.orig_argv) > 1:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606  this very program
    # A process that lives for a tenth of a second need not look for garbage dozens of times while modules are loaded,
    # nor once more at its end: a quarter of the whole.
    gc.set_threshold(100_000)
    try:
        from tau_compile.cli import main as run

        run()
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()

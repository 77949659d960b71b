"""The program: ``tau-compile``, or ``python -m tau_compile``."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit."""
    import gc

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

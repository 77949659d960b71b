"""The program: ``tau-compile``, or ``python -m tau_compile``."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit."""
    import gc

    # A process that lives for a tenth of a second need not look for garbage fifty times while modules are loaded.
    gc.set_threshold(100_000)
    from tau_compile.cli import main as run

    run()


if __name__ == "__main__":
    main()

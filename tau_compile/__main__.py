"""``python -m tau_compile``."""

from __future__ import annotations

from tau_compile.cli import main

if __name__ == "__main__":
    main()

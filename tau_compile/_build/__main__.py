"""``python -m tau_compile._build``: translate the packaged templates of this checkout anew."""

from __future__ import annotations

from pathlib import Path

from tau_compile._build.translate import write

write(Path(__file__).parents[1])

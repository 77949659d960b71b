"""The build hook: writes ``tau_compile/_templates.py``, for wheels and for editable installs alike."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TemplatesHook(BuildHookInterface[Any]):
    """Translates the packaged templates."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Run before files are collected."""
        if self.target_name != "wheel":
            return
        sys.path.insert(0, self.root)
        from tau_compile._build.translate import module
        from tau_compile.render.packaged import names, packaged

        texts = {name: packaged(name) or "" for name in names()}
        target = Path(self.root, "tau_compile", "_templates.py")
        target.write_text(module(texts), encoding="utf-8", newline="\n")

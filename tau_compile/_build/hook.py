"""The build hook: writes ``tau_compile/_templates.py``, for wheels and for editable installs alike."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TemplatesHook(BuildHookInterface[Any]):
    """Translates the packaged templates before the files of a wheel are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling."""
        if self.target_name == "wheel":
            sys.path.insert(0, self.root)
            from tau_compile._build.translate import write

            write(Path(self.root, "tau_compile"))

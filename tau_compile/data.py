"""Where the packaged data files (schemas, templates, default overlays) lie, installed or in a checkout."""

from __future__ import annotations

import os

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def locate(*parts: str) -> str:
    """The absolute path of a packaged data file or folder, such as ``locate("schemas", "tau.schema.json")``.

    A wheel carries the folders under ``tau_compile/_data``; in a checkout they stand beside the package.
    """
    packaged = os.path.join(_PACKAGE, "_data")
    root = packaged if os.path.isdir(packaged) else os.path.dirname(_PACKAGE)
    return os.path.join(root, *parts)

"""Templates compiled when the package was built, so that a cold start does not compile them again.

The build writes ``tau_compile/_compiled.py``: ``TEMPLATES``, a map from template name to (template text, Python source). An
entry counts only while its text is the template's; without the module, or after an edit, Jinja2 compiles as usual.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from tau_compile.data import locate

if TYPE_CHECKING:
    from types import CodeType


@cache
def _table() -> dict[str, tuple[str, CodeType]]:
    try:
        from tau_compile import _compiled  # type: ignore[attr-defined]
    except ImportError:
        return {}
    table: dict[str, tuple[str, CodeType]] = _compiled.TEMPLATES
    return table


def code_for(name: str, text: str) -> CodeType | None:
    """The compiled code of a packaged template, or None."""
    entry = _table().get(name)
    return entry[1] if entry and entry[0] == text else None


def names() -> list[str]:
    """All packaged templates, by path below ``templates/``."""
    root = locate("templates")
    found = []
    for folder, _, files in os.walk(root):
        found += [
            os.path.relpath(os.path.join(folder, f), root).replace(os.sep, "/")
            for f in files
            if f.endswith(".j2")
        ]
    return sorted(found)

"""The Ray version of an image, read from its tag (B-52)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tau_compile.workload.view import View

DEFAULT = "2.56.0"
_IN_TAG = re.compile(r"(?:^|[^0-9a-z])ray[-_]?([0-9]+\.[0-9]+\.[0-9]+)(?![0-9.])")
_ONLY_TAG = re.compile(r"([0-9]+\.[0-9]+\.[0-9]+)(?![0-9.])")


def ray_version(image: str) -> str:
    """``2.56.0`` for ``…:py3.12-ray2.56.0-cuda13.0``, ``2.9.0`` for ``rayproject/ray:2.9.0-gpu``; "" when the tag has none."""
    name, _, tag = image.partition("@")[0].rpartition(":")
    if "/" in tag or not name:
        return ""
    found = _IN_TAG.search(tag)
    if not found and name.rpartition("/")[2] in ("ray", "ray-ml", "ray-llm"):
        found = _ONLY_TAG.match(tag)
    return found[1] if found else ""


def read_ray_version(view: View, image: str) -> str:
    """The version for ``rayVersion``, with a warning when the image does not tell."""
    version = ray_version(image)
    if not version and image:
        view.warning(
            "TAU605",
            f"the image's tag does not tell its Ray version; {DEFAULT} is assumed",
            view.span("runtime.image"),
            "use an image whose tag holds it, such as :py3.12-ray2.56.0",
        )
    return version or DEFAULT

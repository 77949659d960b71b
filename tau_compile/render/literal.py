"""Text that the kubelet passes on unchanged: in ``env.value``, ``command`` and ``args`` it expands ``$(NAME)`` and ``$$``."""

from __future__ import annotations


def kube_literal(text: str) -> str:
    """``text`` escaped so that the container sees it as it is; text without ``$(`` and ``$$`` stays readable as it is."""
    return text.replace("$", "$$") if "$(" in text or "$$" in text else text

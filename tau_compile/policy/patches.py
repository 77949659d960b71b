"""``patches`` of an overlay: changes to rendered objects, for what no field of tau.yaml says.

They are read here, and refused where they touch what is not theirs; ``strategic`` merges them, ``patching`` applies them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.named import NamedTuple
from tau_compile.policy.list_keys import SPACE
from tau_compile.policy.patch_body import check_body
from tau_compile.source.nodes import Mapping, Sequence, text_of

if TYPE_CHECKING:
    from tau_compile.diagnostics import Diagnostic, Span
    from tau_compile.source.nodes import Node


class Target(NamedTuple):
    """What a patch is for. ``name`` is a glob or empty for every name; ``labels`` must all be there."""

    kind: str
    name: str
    labels: tuple[tuple[str, str], ...]
    span: Span


class Patch(NamedTuple):
    """One patch. ``body`` is as written; ``layer`` names its overlay in messages: ``platform `lab```."""

    target: Target
    body: Mapping
    reason: str
    optional: bool
    layer: str

    @property
    def span(self) -> Span:
        """Where the patch says what it is for: no two patches have it in common."""
        return self.target.span

    @property
    def for_spaces(self) -> bool:
        """Whether it is for objects of a workspace, and not for those of a run."""
        return self.target.kind in SPACE


def read_patches(written: Node | None, layer: str, said: list[Diagnostic]) -> tuple[Patch, ...]:
    """The patches of one overlay, which its schema accepts; ``said`` gets what is wrong with them."""
    found = []
    for item in written.items if isinstance(written, Sequence) else ():
        target, body = (
            (item.get(name) for name in ("target", "patch")) if isinstance(item, Mapping) else (None, None)
        )
        if not isinstance(item, Mapping) or not isinstance(target, Mapping) or not isinstance(body, Mapping):
            continue
        labels = target.get("labels")
        entries = labels.entries if isinstance(labels, Mapping) else ()
        kind = text_of(target.get("kind"))
        patch = Patch(
            Target(
                kind,
                text_of(target.get("name")),
                tuple((e.key.name, text_of(e.value)) for e in entries),
                target.span,
            ),
            body,
            text_of(item.get("reason")),
            text_of(item.get("optional")) in ("true", "True", "TRUE"),
            layer,
        )
        said += check_body(kind, body)
        found.append(patch)
    return tuple(found)

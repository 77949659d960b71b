"""The direct form's mounts (``NAME:PATH[:ro]``) in the canonical form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, error
from tau_compile.source.nodes import Entry, Key, Mapping, Node, Scalar, Sequence, find

if TYPE_CHECKING:
    from tau_compile.source.fields import Fields


def data_mount(fields: Fields, mounts: Sequence) -> None:
    """A claim that is mounted at exactly /data is the canonical form's ``data_pvc``."""
    rest: list[Node] = []
    for mount in mounts.items:
        claim, path = find(mount, "pvc"), text_of(find(mount, "mountPath"))
        if (
            path == "/data"
            and find(mount, "readOnly") is None
            and isinstance(claim, Scalar)
            and fields.get("storage.data_pvc") is None
        ):
            fields.replace("storage.data_pvc", claim, mount.span)
        else:
            rest.append(mount)
    if rest:
        fields.replace("storage.mounts", Sequence(mounts.span, tuple(rest)))
    else:
        fields.remove("storage.mounts")


def canonical_mounts(mounts: Sequence, claims: dict[str, Scalar], said: list[Diagnostic]) -> list[Node]:
    """The mounts, each a mapping; ``claims`` are the volumes by name."""
    found: list[Node] = []
    for item in mounts.items:
        if not isinstance(item, Scalar):
            found.append(item)
            continue
        name, _, rest = item.text.partition(":")
        path, _, flag = rest.partition(":")
        claim = claims.get(name)
        if claim is None:
            said.append(
                error(
                    "TAU248",
                    f"mount `{item.text}` names a volume that is not in `storage.volumes`",
                    item.span,
                    f"add `{name}=pvc:CLAIM` to storage.volumes",
                )
            )
            continue
        entries: list[Entry] = [
            Entry(Key("name", item.span), Scalar(item.span, name, False)),
            Entry(Key("mountPath", item.span), Scalar(item.span, path, False)),
            Entry(Key("pvc", claim.span), claim),
        ]
        if flag == "ro":
            entries.append(Entry(Key("readOnly", item.span), Scalar(item.span, "true", True)))
        found.append(Mapping(item.span, tuple(entries)))
    return found


def text_of(node: Node | None) -> str:
    """The text of a scalar, or ""."""
    return node.text if isinstance(node, Scalar) else ""

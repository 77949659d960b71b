"""What must not happen to the objects of a workspace: a change that every sync would refuse, or one that strands active runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Span, error
from tau_compile.policy.manage_rules import items
from tau_compile.runs.refusals import named
from tau_compile.source.nodes import Mapping, Scalar, find
from tau_compile.source.reader import read as read_yaml
from tau_compile.workload.quantity import try_parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from tau_compile.effects import Read
    from tau_compile.runs.record import Record
    from tau_compile.source.nodes import Node
    from tau_compile.spaces import Folder, Spaces
    from tau_compile.spacetree import Place

Object = tuple[str, str, str, str]  # cluster, kind, namespace, name
_GUARDED = ("localqueue-", "persistentvolumeclaim-")


def guarded(
    read: Read, spaces: Spaces, places: Iterable[Place], records: Iterable[Record], known: Collection[str]
) -> list[Diagnostic]:
    """Everything wrong with the change from what is at the base (in the tree, outside Git) to what is to be."""
    before: dict[Object, tuple[str, Node]] = {}
    after: dict[Object, tuple[str, Node]] = {}
    for place in places:
        cluster = place.path.split("/")[1]
        old = place.base
        if old is None:
            old = {
                name: read(f"{place.path}/{name}") or b""
                for name in place.present
                if name.startswith(_GUARDED)
            }
        before |= _objects(cluster, place.path, old)
        after |= _objects(cluster, place.path, place.wanted)
    owners = {folder.path: folder for folder in spaces.folders}
    said = [
        d
        for key, (path, new) in after.items()
        if key in before
        for d in _changed(key, before[key][1], new, owners[path])
    ]
    gone = {key: path for key, (path, _) in before.items() if key not in after and key[1] == "LocalQueue"}
    return said + _stranded(gone, records, known, spaces) if gone else said


def _objects(cluster: str, path: str, files: dict[str, bytes]) -> dict[Object, tuple[str, Node]]:
    found: dict[Object, tuple[str, Node]] = {}
    for name, content in files.items():
        node = read_yaml(content, f"{path}/{name}").node if name.startswith(_GUARDED) else None
        if isinstance(node, Mapping):
            words = [_text(node, field) for field in ("kind", "metadata.namespace", "metadata.name")]
            found[cluster, words[0], words[1], words[2]] = path, node
    return found


def _changed(key: Object, old: Node, new: Node, folder: Folder) -> Iterator[Diagnostic]:
    # K35, G21
    _, kind, _, name = key
    one = folder.one
    if kind == "LocalQueue":
        was, now = _text(old, "spec.clusterQueue"), _text(new, "spec.clusterQueue")
        if was != now:
            yield error(
                "TAU384",
                f"the LocalQueue `{name}` leads to `{was}` and cannot be led to `{now}`: the API server refuses "
                "the change at every sync",
                one.space.queue_span or one.space.span,
                "give the queue another name; or take it out of the catalogue in one change, and bring it back in the next",
            )
        return
    written = [find(item, "name") for item in items(one.node.get("claims"))]
    where = next((n.span for n in written if isinstance(n, Scalar) and n.text == name), one.space.span)
    fixed = ("spec.storageClassName", "spec.accessModes")
    same = all(_plain(find(old, field)) == _plain(find(new, field)) for field in fixed)
    was, now = (_text(node, "spec.resources.requests.storage") for node in (old, new))
    before, after = try_parse(was), try_parse(now)
    if not same or (before is not None and after is not None and after < before):
        what = f"shrink from {was} to {now}" if same else "change its storage class or access modes"
        yield error(
            "TAU384",
            f"the claim `{name}` cannot {what}: the API server refuses the change at every sync",
            where,
            "make a claim of another name, and move the data",
        )


def _stranded(
    gone: dict[Object, str], records: Iterable[Record], known: Collection[str], spaces: Spaces
) -> list[Diagnostic]:
    """Active runs whose LocalQueue leaves the tree: those that wait would wait for ever (K38)."""
    found: dict[Object, list[Record]] = {}
    for record in records:
        key = (record.cluster, "LocalQueue", record.namespace, record.queue)
        # Of a workspace that no overlay describes more is said elsewhere.
        if record.state == "active" and key in gone and record.workspace in known:
            found.setdefault(key, []).append(record)
    places = {folder.one.space.name: folder.one.space.span for folder in spaces.folders}
    said = []
    for (cluster, _, namespace, queue), runs in sorted(found.items()):
        one = len(runs) == 1
        path = f"{gone[cluster, 'LocalQueue', namespace, queue]}/localqueue-{queue}.yaml"
        said.append(
            error(
                "TAU385",
                f"the LocalQueue `{queue}` of namespace `{namespace}` would leave cluster `{cluster}` while "
                f"{named(runs)} {'is' if one else 'are'} active there: without it nothing is admitted",
                places.get(runs[0].workspace) or Span(path, 1, 1, 1, 1),
                f"wait for {'its end' if one else 'their ends'}, or `tau-compile cancel {runs[0].run}`",
            )
        )
    return said


def _text(node: Node, path: str) -> str:
    found = find(node, path)
    return found.text if isinstance(found, Scalar) else ""


def _plain(node: Node | None) -> object:
    if node is None:
        return None
    from tau_compile.source.scalars import plain_data

    return plain_data(node)

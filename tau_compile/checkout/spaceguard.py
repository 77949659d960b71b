"""What must not happen to the objects of a workspace: a change that every sync would refuse, or one that strands active runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Span, error
from tau_compile.policy.manage_rules import items
from tau_compile.quantity import try_parse
from tau_compile.runs.refusals import named
from tau_compile.runs.tree import folder
from tau_compile.source.nodes import Mapping, Scalar, find, text_of
from tau_compile.source.reader import read as read_yaml

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from tau_compile.checkout.effects import Read
    from tau_compile.checkout.spacetree import Place
    from tau_compile.runs.record import Record
    from tau_compile.source.nodes import Node
    from tau_compile.spaces import Folder, Spaces

Object = tuple[str, str, str, str]  # cluster, kind, namespace, name
_GUARDED = (
    "externalsecret-",
    "localqueue-",
    "persistentvolumeclaim-",
    "resourcequota-",
    "secret-",
    "serviceaccount-",
)
_NEEDED = ("LocalQueue", "Secret", "ServiceAccount")  # claims stay in the cluster when they leave Git
_WHY = {
    "LocalQueue": "without it nothing is admitted",
    "Secret": "without it pods cannot start",
    "ServiceAccount": "without it no pod can be made",
}


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
    owners = {made.path: made for made in spaces.folders}
    said = [
        d
        for key, (path, new) in after.items()
        if key in before
        for d in _changed(key, before[key][1], new, owners[path])
    ]
    gone = {key: path for key, (path, _) in before.items() if key not in after and key[1] in _NEEDED}
    return said + _stranded(read, gone, records, known, spaces) if gone else said


def _objects(cluster: str, path: str, files: dict[str, bytes]) -> dict[Object, tuple[str, Node]]:
    found: dict[Object, tuple[str, Node]] = {}
    for name, content in files.items():
        node = read_yaml(content, f"{path}/{name}").node if name.startswith(_GUARDED) else None
        if isinstance(node, Mapping):
            words = [text_of(find(node, field)) for field in ("kind", "metadata.namespace", "metadata.name")]
            # An ExternalSecret stands for the Secret that it makes, whose name is its own.
            found[cluster, words[0].removeprefix("External"), words[1], words[2]] = path, node
    return found


def _changed(key: Object, old: Node, new: Node, made: Folder) -> Iterator[Diagnostic]:
    # K35, G21
    _, kind, _, name = key
    one = made.one
    wrote = made.wrote.get(f"{kind.lower()}-{name}.yaml", {})
    if kind == "LocalQueue":
        was, now = text_of(find(old, "spec.clusterQueue")), text_of(find(new, "spec.clusterQueue"))
        if was != now:
            yield error(
                "TAU384",
                f"the LocalQueue `{name}` leads to `{was}` and cannot be led to `{now}`: the API server refuses "
                "the change at every sync",
                one.space.queue_span or one.space.span,
                "give the queue another name; or take it out of the catalogue in one change, and bring it back in the next",
            )
        return
    if kind == "ResourceQuota" and _plain(find(old, "spec.scopes")) != _plain(find(new, "spec.scopes")):
        yield error(
            "TAU384",
            f"the scopes of the ResourceQuota `{name}` cannot change: the API server refuses that at every sync",
            next((span for path, span in wrote.items() if path[:2] == ("spec", "scopes")), one.space.span),
            "leave them as they are in the cluster",
        )
    if kind != "PersistentVolumeClaim":
        return
    written = [find(item, "name") for item in items(one.node.get("claims"))]
    where = next((n.span for n in written if isinstance(n, Scalar) and n.text == name), one.space.span)
    was_spec, is_spec = (_fixed(_plain(find(node, "spec"))) for node in (old, new))
    if "volumeName" not in was_spec:  # the cluster has bound it meanwhile, and takes the same name from Git
        is_spec.pop("volumeName", None)
    same = was_spec == is_spec
    was, now = (text_of(find(node, "spec.resources.requests.storage")) for node in (old, new))
    before, after = try_parse(was), try_parse(now)
    if not same or (before is not None and after is not None and after < before):
        changed = {field for field in {*was_spec, *is_spec} if was_spec.get(field) != is_spec.get(field)}
        if changed - {"storageClassName", "accessModes"}:
            what = f"change {' and '.join(f'`{field}`' for field in sorted(changed))}"
        else:
            what = f"shrink from {was} to {now}" if same else "change its storage class or access modes"
        at = ("resources",) if same else tuple(changed)
        yield error(
            "TAU384",
            f"the claim `{name}` cannot {what}: the API server refuses the change at every sync",
            next((span for path, span in wrote.items() if path[:1] == ("spec",) and path[1] in at), where),
            "make a claim of another name, and move the data",
        )


def _fixed(spec: object) -> dict[str, object]:
    """Of the spec of a claim, what the API server lets nobody change."""
    held = spec if isinstance(spec, dict) else {}
    return {"volumeMode": "Filesystem"} | {
        field: value
        for field, value in held.items()
        if field not in ("resources", "volumeAttributesClassName")
    }


def _stranded(
    read: Read, gone: dict[Object, str], records: Iterable[Record], known: Collection[str], spaces: Spaces
) -> list[Diagnostic]:
    """Active runs that need an object that leaves the tree: what waits would wait for ever (K38, J47)."""
    # Of a workspace that no overlay describes more is said elsewhere.
    active = [record for record in records if record.state == "active" and record.workspace in known]
    places = {made.one.space.name: made.one.space.span for made in spaces.folders}
    said = []
    for key, path in sorted(gone.items()):
        cluster, kind, namespace, name = key
        runs = [
            r
            for r in active
            if (r.cluster, r.namespace) == (cluster, namespace) and _uses(read, r, kind, name)
        ]
        if runs:
            one = len(runs) == 1
            said.append(
                error(
                    "TAU385",
                    f"the {kind} `{name}` of namespace `{namespace}` would leave cluster `{cluster}` while {named(runs)} "
                    f"{'is' if one else 'are'} active there: {_WHY[kind]}",
                    places.get(runs[0].workspace) or Span(f"{path}/kustomization.yaml", 1, 1, 1, 1),
                    f"keep it until {'that run has' if one else 'those have'} ended, or `tau-compile cancel {runs[0].run}`",
                )
            )
    return said


def _uses(read: Read, record: Record, kind: str, name: str) -> bool:
    """Whether a run needs an object: its queue stands in its record, all else in its manifests."""
    if kind == "LocalQueue":
        return record.queue == name
    key = rb"serviceAccountName" if kind == "ServiceAccount" else rb"(?:name|secretName)"
    wanted = re.compile(rb"^[ -]*" + key + rb': "?' + re.escape(name.encode()) + rb'"?\r?$', re.MULTILINE)
    return any(
        wanted.search(read(f"{folder(record)}/{file}") or b"")
        for file in record.manifests
        if file.startswith(("job-", "rayjob-"))
    )


def _plain(node: Node | None) -> object:
    if node is None:
        return None
    from tau_compile.source.scalars import plain_data

    return plain_data(node)

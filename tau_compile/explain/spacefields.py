"""The ``manage`` section of a workspace, resolved: the value, the layer and place that set it, and what lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.explain.fields import BUILT_IN, Field, Set, merged_fields, place_of
from tau_compile.policy.manage import layered
from tau_compile.render.space import DEFAULTS
from tau_compile.source.nodes import Mapping, Node, find

if TYPE_CHECKING:
    from tau_compile.explain.spacebench import SpaceBench


def space_fields(bench: SpaceBench) -> list[Field]:
    """The fields by path: those of the workspace that say where it is, and those of ``manage``, by layer."""
    one = bench.one
    space, document = one.space, bench.documents[one.space.span.file]
    layer = bench.layers[space.span.file]
    found = [
        _own(document, layer, name, value)
        for name, value in (
            ("cluster", one.cluster.name),
            ("namespace", space.namespace),
            ("queue", space.queue),
            ("serviceAccount", space.service_account),
        )
        if value
    ]
    merged = layered(one.platform, one.cluster, space)
    for field, node in merged_fields(merged):
        if not isinstance(node, Mapping) or node.entries:
            found.append(field._replace(path=f"manage.{field.path}"))
    for path, value in DEFAULTS.items():
        if find(merged.node, path) is None:
            found.append(Field(f"manage.{path}", "", Set(BUILT_IN, value, "")))
    return sorted(found, key=lambda field: (field.path.startswith("manage."), field.path))


def _own(document: Node, layer: str, name: str, value: Any) -> Field:
    node = find(document, name)
    return Field(name, "", Set(layer, value, place_of(node.span)) if node else Set(BUILT_IN, value, ""))

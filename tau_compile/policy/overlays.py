"""Overlay files → ``Overlays``: each document is read, checked against its schema and turned into a frozen value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, Related, error, has_errors
from tau_compile.named import NamedTuple
from tau_compile.policy import taugrid
from tau_compile.policy.former import taken
from tau_compile.policy.limits import (
    cluster_limits,
    default_limits,
    idle_defaults,
    profile_limits,
    workspace_limits,
)
from tau_compile.policy.model import (
    Cluster,
    Flavor,
    GpuClass,
    Overlays,
    Platform,
    PriorityClass,
    Profile,
    Queue,
    Taint,
    Topology,
    Workspace,
)
from tau_compile.policy.references import cluster_references
from tau_compile.schema import store
from tau_compile.schema.check import check
from tau_compile.source.forms import canonical_defaults
from tau_compile.source.nodes import Mapping, Scalar, find
from tau_compile.source.nodes import Sequence as Items
from tau_compile.source.reader import read
from tau_compile.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tau_compile.diagnostics import Span
    from tau_compile.policy.admission import Admission
    from tau_compile.source.files import SourceFile

KINDS = ("Platform", "Cluster", "Workspace", "Profile")
FORBIDDEN = (
    "name",
    "run.name",
    "run.entrypoint",
    "run.working_dir",
    "run.working_dir_excludes",
    "run.source",
    "run.attempt",
    "workflow.extra_scripts",
    "resource_naming",
    "schema_version",
)

Document = Platform | Cluster | Workspace | Profile


class Loaded(NamedTuple):
    """The overlays, or None when a file has errors."""

    overlays: Overlays | None
    diagnostics: tuple[Diagnostic, ...]


def load(files: Iterable[SourceFile], defaults: Sequence[SourceFile], lenient: bool = False) -> Loaded:
    """Load overlay files; kinds that a repository leaves out come from the packaged ``defaults``.

    ``lenient`` is for questions about a changed overlay: what can be used in spite of errors is.
    """
    said: list[Diagnostic] = []
    documents: list[Document] = []
    for file in files:
        documents += _documents(file, said)
    _unique(documents, said)
    said += taken([d for d in documents if isinstance(d, Workspace)])
    present = {type(document) for document in documents}
    built_in = [document for file in defaults for document in _documents(file, said)]
    documents += [document for document in built_in if type(document) not in present]
    platforms = [d for d in documents if isinstance(d, Platform)]
    for extra in platforms[1:]:
        said.append(
            error(
                "TAU305",
                "a repository has one Platform document",
                extra.span,
                "merge the two documents",
                (Related(platforms[0].span, "the other one"),),
            )
        )
    if has_errors(said) and not (lenient and platforms):
        return Loaded(None, tuple(said))
    overlays = Overlays(
        _filled(platforms[0], next((d for d in built_in if isinstance(d, Platform)), platforms[0])),
        tuple(d for d in documents if isinstance(d, Cluster)),
        tuple(d for d in documents if isinstance(d, Workspace)),
        tuple(d for d in documents if isinstance(d, Profile)),
    )
    if overlays.platform.admission or any(space.admission for space in overlays.workspaces):
        from tau_compile.policy.admission import problems

        said += problems(overlays)
    return Loaded(None if has_errors(said) and not lenient else overlays, tuple(said))


def _filled(platform: Platform, built_in: Platform) -> Platform:
    """A repository's Platform; what it does not say under ``ray`` is as in the packaged one."""
    return platform._replace(
        ray_image=platform.ray_image or built_in.ray_image,
        ray_cpu_image=platform.ray_cpu_image or built_in.ray_cpu_image,
        submission_mode=platform.submission_mode or built_in.submission_mode or "K8sJobMode",
    )


def _unique(documents: list[Document], said: list[Diagnostic]) -> None:
    first: dict[tuple[type, str], Document] = {}
    for document in documents:
        key = (type(document), document.name)
        if key in first:
            said.append(
                error(
                    "TAU306",
                    f"there are two {type(document).__name__} documents called `{document.name}`",
                    document.span,
                    "rename or remove one",
                    (Related(first[key].span, "the other one"),),
                )
            )
        first.setdefault(key, document)


def _documents(file: SourceFile, said: list[Diagnostic]) -> list[Document]:
    if file.problem is not None:
        said.append(file.problem)
        return []
    node = file.node
    if node is None:
        result = read(file.data, file.path)
        said += result.diagnostics
        node = result.node
    if node is None:
        return []
    if not isinstance(node, Mapping):
        message = "an overlay is a mapping with apiVersion, kind and metadata"
        said.append(error("TAU302", message, node.span, "begin the file with `apiVersion: tau-compile/v1`"))
        return []
    kind = node.get("kind")
    word = kind.text if isinstance(kind, Scalar) else ""
    if word in taugrid.KINDS:
        converted: list[Document] = list(taugrid.convert(node, word, said))
        for document in converted:
            if isinstance(document, Workspace):
                said += workspace_limits(document, node)
        return converted
    if word not in KINDS:
        close = nearest(word, [*KINDS, *taugrid.KINDS])
        said.append(
            error(
                "TAU302",
                f"`{word}` is not a kind of overlay" if word else "the document names no kind of overlay",
                kind.span if kind else node.span,
                f"did you mean `{close}`?" if close else f"one of {', '.join([*KINDS, *taugrid.KINDS])}",
            )
        )
        return []
    checked = check(node, store.overlay(word), file_kind=word)
    said += checked.diagnostics
    if has_errors(checked.diagnostics):
        return []
    built = _build(word, checked.data, node, said)
    if "patches" in checked.data:
        from tau_compile.policy.patches import read_patches

        layer = f"{word.lower()} `{built.name}`"
        built = built._replace(patches=read_patches(node.get("patches"), layer, said))
    if any(entry.key.name in ("enforce", "limits", "waivers") for entry in node.entries):
        from tau_compile.policy.guards import read_guards

        built = built._replace(guards=read_guards(word, node, lambda name: _partial(node, name, said), said))
    if isinstance(built, Cluster):
        said += cluster_references(built)
        said += cluster_limits(built, node)
    elif isinstance(built, Workspace):
        said += workspace_limits(built, node)
    elif isinstance(built, Profile) and built.defaults is not None:
        said += profile_limits(built, built.defaults)
    return [built]


def _build(kind: str, data: dict[str, Any], node: Mapping, said: list[Diagnostic]) -> Document:
    name, defaults = data["metadata"]["name"], _partial(node, "defaults", said)
    span = _name_span(node)
    if kind == "Platform":
        ray = data.get("ray", {})
        return Platform(
            name,
            span,
            ray.get("image", ""),
            ray.get("cpuImage", ""),
            ray.get("submissionMode", ""),
            defaults,
            workspaces=_section(node, "workspaces"),
            admission=_admission(data, node),
        )
    if kind == "Workspace":
        return Workspace(
            name,
            span,
            data.get("cluster", ""),
            data.get("namespace", name),
            data["queue"],
            data.get("serviceAccount", ""),
            data.get("outputRoot", ""),
            tuple(data.get("imagePullSecrets", ())),
            tuple(data.get("envFromSecrets", ())),
            tuple(sorted(data.get("podLabels", {}).items())),
            tuple(data.get("formerly", ())),
            defaults,
            _span_at(node, "queue"),
            manage=_section(node, "manage"),
            namespace_span=_span_at(node, "namespace"),
            admission=_admission(data, node),
        )
    if kind == "Profile":
        return profile(data, name, node, span, defaults)
    return _cluster(data, name, node, span, defaults)


def profile(data: dict[str, Any], name: str, node: Mapping, span: Span, defaults: Mapping | None) -> Profile:
    """A Profile from checked data; TauGrid's workloadProfile has the same fields."""
    scope, classes = data.get("applicability", {}), data.get("priorities", {})
    return Profile(
        name,
        span,
        tuple(scope.get("teams", ())),
        tuple(scope.get("lanes", ())),
        tuple(scope.get("namespaces", ())),
        data["gpusPerWorker"],
        data["workerCount"],
        data.get("mode", "fixed"),
        data.get("placement", "unconstrained"),
        data.get("defaultLocalQueue", ""),
        data.get("executionTarget", "singleCluster"),
        classes.get("workloadPriorityClassName", ""),
        classes.get("podPriorityClassName", ""),
        data.get("disableDefaultPriorities", False),
        defaults,
        _span_at(node, "defaultLocalQueue"),
        _span_at(node, "priorities.workloadPriorityClassName"),
    )


def _cluster(data: dict[str, Any], name: str, node: Mapping, span: Span, defaults: Mapping | None) -> Cluster:
    versions = data.get("versions", {})
    return Cluster(
        name,
        span,
        versions.get("kubernetes", ""),
        versions.get("kueue", ""),
        versions.get("kuberay", ""),
        _taints(data.get("gpuTaints", ())),
        tuple(
            GpuClass(
                c["name"],
                c.get("resource", "nvidia.com/gpu"),
                tuple(sorted(c.get("nodeLabels", {}).items())),
                _taints(c.get("taints", ())),
                c.get("gpusPerNode"),
                tuple(c.get("migProfiles", ())),
            )
            for c in data.get("gpuClasses", ())
        ),
        tuple(
            Flavor(
                f["name"],
                f.get("gpuClass", ""),
                tuple(sorted(f.get("nodeLabels", {}).items())),
                _taints(f.get("taints", ())),
                f.get("topology", ""),
                _item_span(node, "flavors", place),
            )
            for place, f in enumerate(data.get("flavors", ()))
        ),
        tuple(
            Queue(
                q["name"],
                tuple(q.get("flavors", ())),
                tuple((lq["namespace"], lq["name"]) for lq in q.get("localQueues", ())),
                _item_span(node, "queues", place),
                namespace_labels=_section(_item(node, "queues", place), "namespaceLabels"),
            )
            for place, q in enumerate(data.get("queues", ()))
        ),
        tuple(PriorityClass(p["name"], p.get("tier", "")) for p in data.get("priorityClasses", ())),
        tuple(
            Topology(
                t["name"], tuple((level.get("placement", ""), level["nodeLabel"]) for level in t["levels"])
            )
            for t in data.get("topologies", ())
        ),
        defaults,
        workspaces=_section(node, "workspaces"),
        namespace_labels=_section(node, "namespaceLabels"),
    )


def _taints(items: Iterable[dict[str, str]]) -> tuple[Taint, ...]:
    return tuple(Taint(t["key"], t.get("value", ""), t.get("effect", "NoSchedule")) for t in items)


def _partial(node: Mapping, name: str, said: list[Diagnostic]) -> Mapping | None:
    """The section ``name`` of an overlay, a partial tau.yaml, in the canonical form."""
    written = node.get(name)
    if not isinstance(written, Mapping):
        return None
    canonical = canonical_defaults(written)
    said += canonical.diagnostics
    for path in FORBIDDEN:
        section, _, field = path.rpartition(".")
        inner = find(canonical.node, section) if section else canonical.node
        entry = inner.entry(field) if isinstance(inner, Mapping) else None
        if entry is not None:
            said.append(
                error(
                    "TAU301",
                    f"an overlay may not set `{entry.key.written or path}`",
                    entry.key.span,
                    "it belongs to one workload: set it in the workload's tau.yaml",
                )
            )
    said += default_limits(canonical.node)
    if name == "defaults":
        said += idle_defaults(canonical.node)
    return canonical.node


def _admission(data: dict[str, Any], node: Mapping) -> Admission | None:
    if "admission" not in data:
        return None
    from tau_compile.policy.admission import read_admission

    return read_admission(data, node)


def _name_span(node: Mapping) -> Span:
    name = find(node, "metadata.name")
    return name.span if name else node.span


def _span_at(node: Mapping, path: str) -> Span | None:
    found = find(node, path)
    return found.span if found else None


def _item_span(node: Mapping, section: str, place: int) -> Span:
    name = _item(node, section, place).get("name")
    return name.span if name else node.span


def _item(node: Mapping, section: str, place: int) -> Mapping:
    items = node.get(section)
    item = items.items[place] if isinstance(items, Items) else node
    return item if isinstance(item, Mapping) else node


def _section(node: Mapping, name: str) -> Mapping | None:
    found = node.get(name)
    return found if isinstance(found, Mapping) else None

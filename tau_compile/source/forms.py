"""The two forms of a tau.yaml, and the front end that turns either into the canonical one.

A document with ``schema_version`` and no engine is canonical (TauGrid's managed manifest); every other is in TauGrid's
direct form. Each value keeps its node, and a moved key remembers how the user spelled its path, so that later messages
speak of what the user wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tau_compile.diagnostics import Diagnostic, Related, error, warning
from tau_compile.named import NamedTuple
from tau_compile.source.blanks import is_blank, is_null
from tau_compile.source.env import fold_env
from tau_compile.source.fields import Fields
from tau_compile.source.mounts import canonical_mounts, data_mount
from tau_compile.source.nodes import Mapping, Scalar, Sequence, find, text_of

if TYPE_CHECKING:
    from tau_compile.source.nodes import Node

Form = Literal["canonical", "direct"]

RAY_WORDS = frozenset({"rayjob", "ray", "ray-train", "ray_train"})

# Spellings of one field, the one that wins first. The first path of each row that is canonical is the target.
SPELLINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("name", ("run.name", "name")),
    (
        "run.entrypoint",
        (
            "run.main_script",
            "workflow.main_script",
            "workflow.script",
            "run.entrypoint",
            "run.script",
            "entrypoint",
            "script",
        ),
    ),
    ("runtime.image", ("runtime.image", "run.image", "image")),
    ("run.smoke_pairs", ("workflow.smoke_pairs", "run.smoke_pairs")),
    ("policy.priority_tier", ("policy.priority_tier", "policy.priority")),
    ("artifacts.checkpoint", ("artifacts.checkpoint", "storage.checkpoint")),
    ("experiment.name", ("experiment.name", "experiment.title")),
    ("storage.data_pvc", ("storage.data_pvc", "storage.result_pvc")),
)
KIND_SPELLINGS = (
    "workflow.workload_kind",
    "run.workload_kind",
    "compute.workload_kind",
    "run.engine",
    "engine",
)
_SIZES = (
    ("cpu_request", "cpus"),
    ("cpu_limit", "cpu_limit"),
    ("memory_request", "memory"),
    ("memory_limit", "memory_limit"),
)


class Canonical(NamedTuple):
    """A tau.yaml in the canonical form, and what was said on the way.

    ``moves`` are (path as written, canonical path) pairs, ``added`` the values that the direct form implies, ``dropped`` the
    paths that had no effect.
    """

    node: Mapping
    form: Form
    moves: tuple[tuple[str, str], ...]
    added: tuple[tuple[str, str], ...]
    dropped: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


def form_of(node: Mapping) -> Form:
    """Which form a document is in (taugrid-config 1.1): the file name never decides."""
    version = node.get("schema_version")
    if version is None or is_null(version):
        return "direct"
    if not (is_blank(node.get("engine")) and is_blank(find(node, "run.engine"))):
        return "direct"
    return "canonical"


def is_direct(canonical: Mapping) -> bool:
    """Whether a canonical tree was written in the direct form: then `schema_version` is implied, and stands nowhere."""
    version = canonical.entry("schema_version")
    return version is not None and version.key.span == canonical.span


def without_implied(canonical: Mapping, path: str) -> Mapping:
    """A canonical tree without the value at a path of two steps, if the direct form implied it and nobody wrote it."""
    section, _, name = path.partition(".")
    inner = canonical.get(section)
    value = find(inner, name)
    if not isinstance(inner, Mapping) or value is None or value.span != canonical.span:
        return canonical
    rest = Mapping(inner.span, tuple(e for e in inner.entries if e.key.name != name))
    entries = tuple(e._replace(value=rest) if e.key.name == section else e for e in canonical.entries)
    return Mapping(canonical.span, entries)


def to_canonical(node: Mapping) -> Canonical:
    """The canonical form of a tau.yaml, or of an overlay's ``defaults``, whichever form it is in."""
    form = form_of(node)
    fields = Fields(node)
    said: list[Diagnostic] = []
    _merge_kinds(fields, said, form)
    for target, spellings in SPELLINGS:
        _merge_spellings(fields, target, spellings, said)
    fold_env(fields, said)
    if form == "direct":
        _direct_compute(fields, said)
        _direct_storage(fields, said)
        fields.remove("schema_version")
        fields.add("schema_version", "1", node.span)
    return _result(fields, form, said)


def canonical_defaults(node: Mapping) -> Canonical:
    """The canonical form of an overlay's ``defaults``: aliases are moved, nothing is implied."""
    fields = Fields(node)
    said: list[Diagnostic] = []
    _merge_kinds(fields, said, "canonical")
    for target, spellings in SPELLINGS:
        _merge_spellings(fields, target, spellings, said)
    fold_env(fields, said)
    return _result(fields, "canonical", said)


def _result(fields: Fields, form: Form, said: list[Diagnostic]) -> Canonical:
    return Canonical(
        fields.build(), form, tuple(fields.moves), tuple(fields.added), tuple(fields.dropped), tuple(said)
    )


def _merge_spellings(fields: Fields, target: str, spellings: tuple[str, ...], said: list[Diagnostic]) -> None:
    present = [path for path in spellings if fields.get(path) is not None]
    if not present:
        return
    winner = fields.entry(present[0])
    for path in present[1:]:
        loser = fields.entry(path)
        if text_of(loser.value) != text_of(winner.value):
            if target == "storage.data_pvc":
                said.append(
                    error(
                        "TAU241",
                        f"`{path}` must name the same claim as `{present[0]}`",
                        loser.value.span,
                        f"remove `{path}`: results and data share one claim, mounted at /data",
                        (Related(winner.value.span, f"`{present[0]}` is set here"),),
                    )
                )
            else:
                said.append(
                    warning(
                        "TAU240",
                        f"`{path}` has no effect: `{present[0]}` is set too and wins",
                        loser.key.span,
                        f"remove one of the two; the canonical spelling is `{target}`",
                        (Related(winner.key.span, f"`{present[0]}` is set here"),),
                    )
                )
        fields.drop(path)
    # `normal` is TauGrid's older word for the tier `default` (taugrid-config 2.2).
    normal = target == "policy.priority_tier" and text_of(winner.value) == "normal"
    fields.move(present[0], target, Scalar(winner.value.span, "default", False) if normal else None)


def _merge_kinds(fields: Fields, said: list[Diagnostic], form: Form) -> None:
    present = [path for path in KIND_SPELLINGS if fields.get(path) is not None]
    kinds: dict[str, str] = {}
    for path in present:
        word = text_of(fields.get(path)).strip().lower()
        entry = fields.entry(path)
        if word in RAY_WORDS and word != "rayjob":
            said.append(
                warning(
                    "TAU211",
                    f"`{path}: {text_of(entry.value)}` is an older spelling of `rayjob`",
                    entry.value.span,
                    f"write `{path}: rayjob`",
                )
            )
        if word == "rayjob-eval":
            said.append(
                error(
                    "TAU223",
                    "evaluation workloads (`rayjob-eval`) are not compiled",
                    entry.value.span,
                    "run evaluation as a job or rayjob of its own, with its inputs in runtime.env",
                )
            )
        kinds[path] = "rayjob" if word in RAY_WORDS else word
    for path in present[1:]:
        if kinds[path] != kinds[present[0]]:
            first, second = fields.entry(present[0]), fields.entry(path)
            said.append(
                error(
                    "TAU242",
                    f"`{path}: {text_of(second.value)}` contradicts `{present[0]}: {text_of(first.value)}`",
                    second.value.span,
                    "keep one of the two",
                    (Related(first.value.span, f"`{present[0]}` is set here"),),
                )
            )
    if present:
        kind, span = kinds[present[0]], fields.entry(present[0]).value.span
        for path in present[1:]:
            fields.drop(path)
        fields.move(present[0], "run.workload_kind", Scalar(span, kind, False))
    elif form == "direct":
        fields.add("run.workload_kind", "rayjob" if _looks_like_ray(fields) else "job", fields.span)


def _looks_like_ray(fields: Fields) -> bool:
    """Engine inference of the direct form (taugrid-config 1.7)."""
    pip = fields.get("runtime.pip")
    return (
        _number(fields.get("compute.workers"), 1) > 1
        or fields.get("compute.gpus_per_worker") is not None
        or (isinstance(pip, Sequence) and bool(pip.items))
        or text_of(fields.get("execution.launcher")) in ("ray-train", "ray-tune")
    )


def _direct_compute(fields: Fields, said: list[Diagnostic]) -> None:
    if text_of(fields.get("run.workload_kind")) == "rayjob":
        _direct_ray_compute(fields, said)
        return
    if fields.get("compute.gpus_per_worker") is not None:
        said.append(
            error(
                "TAU243",
                "`compute.gpus_per_worker` sizes the workers of a RayJob, and this is a Job",
                fields.entry("compute.gpus_per_worker").key.span,
                "write `compute.gpus`, the GPUs of each node; or `engine: rayjob`",
            )
        )
        fields.move("compute.gpus_per_worker", "compute.gpus")
    for size, canonical in _SIZES:
        for part in ("head", "worker"):
            path = f"compute.{part}_{size}"
            if fields.get(path) is not None:
                fields.move(path, f"compute.{part}_{canonical}")
        if fields.get(f"compute.{size}") is not None:
            fields.move(f"compute.{size}", f"compute.{canonical}")


def _sized_elsewhere(fields: Fields) -> bool:
    return any(fields.get(f"policy.{name}") is not None for name in ("profile", "shape", "workspace"))


def _direct_ray_compute(fields: Fields, said: list[Diagnostic]) -> None:
    if fields.get("compute.gpus") is not None:
        said.append(
            error(
                "TAU245",
                "`compute.gpus` counts the GPUs of a Job, and this is a RayJob",
                fields.entry("compute.gpus").key.span,
                "write `compute.gpus_per_worker`, the GPUs of each Ray worker; or `engine: job`",
            )
        )
        fields.remove("compute.gpus")
    if fields.get("compute.gpus_per_worker") is not None:
        fields.move("compute.gpus_per_worker", "compute.gpus")
    elif not _sized_elsewhere(fields):
        # In the direct form a Ray worker has one GPU unless told otherwise (taugrid-config 8.2, trap 2).
        fields.add("compute.gpus", "1", fields.span)
    own = {
        size: [p for p in ("head", "worker") if fields.get(f"compute.{p}_{size}") is not None]
        for size, _ in _SIZES
    }
    for size, canonical in _SIZES:
        shared = fields.get(f"compute.{size}")
        # A shared limit belongs to the shared request, not to a request of the pod's own.
        taken = {*own[size], *own[size.replace("_limit", "_request")]}
        for part in ("head", "worker"):
            target = f"compute.{part}_{canonical}"
            if part in own[size]:
                fields.move(f"compute.{part}_{size}", target)
            elif shared is not None and part not in taken:
                fields.copy(f"compute.{size}", target)
        if shared is None:
            continue
        if len(taken) == 2:
            said.append(
                warning(
                    "TAU903",
                    f"`compute.{size}` has no effect: the Ray head and the workers have sizes of their own",
                    fields.entry(f"compute.{size}").key.span,
                    "remove the line",
                )
            )
            fields.drop(f"compute.{size}")
        fields.remove(f"compute.{size}")


def _direct_storage(fields: Fields, said: list[Diagnostic]) -> None:
    """``volumes`` (NAME=pvc:CLAIM) and ``mounts`` (NAME:PATH) become canonical mounts."""
    volumes, mounts = fields.get("storage.volumes"), fields.get("storage.mounts")
    if not isinstance(volumes, Sequence):
        if isinstance(mounts, Sequence):
            fields.replace("storage.mounts", Sequence(mounts.span, tuple(canonical_mounts(mounts, {}, said))))
        return
    claims: dict[str, Scalar] = {}
    for item in volumes.items:
        name, _, claim = text_of(item).partition("=pvc:")
        if name in claims:
            said.append(
                error(
                    "TAU246",
                    f"volume `{name}` is given twice",
                    item.span,
                    "remove one of the two",
                    (Related(claims[name].span, "first given here"),),
                )
            )
        claims[name] = Scalar(item.span, claim, False)
    if fields.get("storage.data_pvc") is not None:
        said.append(
            error(
                "TAU247",
                "`storage.volumes` and `storage.data_pvc` cannot both be given",
                fields.entry("storage.volumes").key.span,
                "keep `data_pvc` for the claim at /data and list the others under `storage.mounts` with "
                "`name`, `mountPath` and `pvc`",
                (Related(fields.entry("storage.data_pvc").key.span, "`data_pvc` is given here"),),
            )
        )
    key = fields.entry("storage.volumes").key.span
    fields.remove("storage.volumes")
    if not isinstance(mounts, Sequence):
        if len(claims) == 1:  # one volume and no mounts: it goes to /data
            fields.replace("storage.data_pvc", next(iter(claims.values())), key)
        else:
            said.append(
                error(
                    "TAU248",
                    f"{len(claims)} volumes, and no `storage.mounts` that says where they appear",
                    key,
                    "add `storage.mounts` with one `NAME:/path` for each volume",
                )
            )
        return
    found = tuple(canonical_mounts(mounts, claims, said))
    unused = [name for name in claims if name not in {text_of(find(m, "name")) for m in found}]
    said.extend(
        error(
            "TAU249",
            f"volume `{name}` is mounted nowhere",
            claims[name].span,
            f"add `{name}:/path` to storage.mounts, or remove the volume",
        )
        for name in unused
    )
    data_mount(fields, Sequence(mounts.span, found))


def _number(node: Node | None, default: int) -> int:
    text = text_of(node)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default

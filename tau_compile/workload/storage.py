"""``storage`` and ``artifacts``: claims, outputs, checkpoints and assets (taugrid-config 1.4, 1.8, 5.3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tau_compile.diagnostics import Related
from tau_compile.source.nodes import Mapping
from tau_compile.workload.model import Asset, Mount, SourceImage, Storage
from tau_compile.workload.view import scalar

if TYPE_CHECKING:
    from tau_compile.diagnostics import Span
    from tau_compile.policy.model import Workspace
    from tau_compile.workload.model import Kind
    from tau_compile.workload.view import View

# Names and paths of volumes that the templates use themselves.
RESERVED_VOLUMES = frozenset(
    ["data", "dshm", "script", "manifest", "ray-logs", "shared-mem", "log-volume"]
)  # and every name in `tau-`
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029]")
RESERVED_PATHS = ("/data", "/mnt", "/dev/shm", "/tau", "/tmp", "/script", "/manifest", "/var/run/tau")  # noqa: S108


def read_storage(view: View, name: str, space: Workspace, pods: int) -> Storage:
    """The workload's storage. ``pods`` is the number of pods of a Job, 1 for a RayJob (its head alone publishes)."""
    claim = view.text("storage.data_pvc")
    mounts = _mounts(view)
    output = _output(view, name, space, claim, mounts)
    staged = view.text("storage.publish") == "staged"
    writable = bool(output) and _durable(output, claim, mounts)
    if staged and not (writable and pods == 1):
        view.error(
            "TAU284",
            "staged publishing needs an output on a claim and a single pod that writes it",
            view.span("storage.publish"),
            "add `storage.data_pvc`, and use one node; or remove `publish`"
            if not writable
            else "remove `publish`: several nodes write their output directly",
        )
    elif staged and output in ("/data", *(mount.path for mount in mounts)):
        # Publishing replaces the folder by a rename, and the root of a volume cannot be replaced.
        view.error(
            "TAU284",
            f"staged publishing cannot replace `{output}`, the root of a volume",
            view.span("storage.output" if view.has("storage.output") else "storage.publish"),
            f"write below it, such as {output}/runs/{name}",
        )
    checkpoint = view.text("artifacts.checkpoint")
    if checkpoint:
        _check_relative(view, "artifacts.checkpoint", checkpoint)
        if not writable:
            view.error(
                "TAU285",
                f"`{view.name('artifacts.checkpoint')}` needs an output that outlives the run",
                view.span("artifacts.checkpoint"),
                "add `storage.data_pvc` with an existing claim",
            )
    return Storage(claim, mounts, output, staged, checkpoint, _assets(view, mounts))


def read_source(view: View) -> SourceImage | None:
    """``run.source``, when the code comes from an image."""
    if not view.has("run.source"):
        return None
    path = view.text("run.source.path")
    if _inside(path, "/tau"):
        view.error(
            "TAU275",
            f"`{path}` is below /tau, where tau-compile mounts its own files",
            view.span("run.source.path"),
            "build the image with the code in another folder, such as /workspace",
        )
    entrypoint = view.text("run.entrypoint")
    parts = entrypoint.split("/")
    if entrypoint and ("" in parts or ".." in parts or set(parts) == {"."}):
        view.error(
            "TAU702",
            f"the entrypoint `{entrypoint}` is not a clean path inside `run.source`",
            view.span("run.entrypoint"),
            "write a relative path such as train.py, counted from `run.source.path`",
        )
    for other in ("run.working_dir", "runtime.working_dir", "workflow.extra_scripts"):
        if view.has(other):
            view.error(
                "TAU274",
                f"`{view.name(other)}` and `run.source` cannot both be given",
                view.key_span(other),
                "keep `run.source` and put the files into its image, or ship them without it",
                (Related(view.key_span("run.source"), "`run.source` is given here"),),
            )
    return SourceImage(view.text("run.source.image"), path)


def _mounts(view: View) -> tuple[Mount, ...]:
    mounts: list[Mount] = []
    places: dict[str, Span] = {}
    for item in view.items("storage.mounts"):
        if not isinstance(item, Mapping):
            continue
        mount = Mount(
            scalar(item.get("name")),
            scalar(item.get("mountPath")),
            scalar(item.get("pvc")),
            scalar(item.get("readOnly")).lower() == "true",
        )
        if mount.name in RESERVED_VOLUMES or mount.name.startswith("tau-"):
            view.error(
                "TAU286",
                f"volume name `{mount.name}` is taken by tau-compile",
                item.span,
                "choose another name",
            )
        if any(mount.name == other.name for other in mounts):
            view.error(
                "TAU286",
                f"volume `{mount.name}` is mounted twice",
                item.span,
                "give each mount a name of its own",
                (Related(places[mount.name], "the other one"),),
            )
        _check_path(view, mount.path, item.span, [(m.path, places[m.name]) for m in mounts], "mount")
        places[mount.name] = item.span
        mounts.append(mount)
    return tuple(mounts)


def _assets(view: View, mounts: tuple[Mount, ...]) -> tuple[Asset, ...]:
    assets: list[Asset] = []
    taken = [(mount.path, view.span("storage.mounts")) for mount in mounts]
    for item in view.items("storage.image_assets"):
        if not isinstance(item, Mapping):
            continue
        asset = Asset(*(scalar(item.get(key)) for key in ("name", "image", "source_path", "mount_path")))
        if any(asset.name == other.name for other in assets):
            view.error(
                "TAU287",
                f"asset `{asset.name}` is given twice",
                item.span,
                "give each asset a name of its own",
            )
        if _inside(asset.source, "/tau-asset"):
            view.error(
                "TAU287",
                f"`source_path: {asset.source}` is below /tau-asset, where the copy is made",
                item.span,
                "build the image with the files in another folder",
            )
        _check_path(view, asset.path, item.span, taken, "asset")
        taken.append((asset.path, item.span))
        assets.append(asset)
    return tuple(assets)


def _check_path(view: View, path: str, span: Span, others: list[tuple[str, Span]], what: str) -> None:
    code = "TAU286" if what == "mount" else "TAU287"
    if any(part in ("", ".", "..") for part in path.split("/")[1:]):
        view.error(
            code, f"`{path}` is not a clean path", span, "write an absolute path without '.', '..' and '//'"
        )
        return
    for reserved in RESERVED_PATHS:
        if _inside(path, reserved) or _inside(reserved, path):
            view.error(
                code,
                f"{what} path `{path}` overlaps `{reserved}`, which tau-compile uses",
                span,
                "choose another path, such as /datasets",
            )
            return
    for other, place in others:
        if _inside(path, other) or _inside(other, path):
            view.error(
                code,
                f"{what} path `{path}` overlaps `{other}`",
                span,
                "choose paths outside each other",
                (Related(place, "the other one"),),
            )
            return


def _output(view: View, name: str, space: Workspace, claim: str, mounts: tuple[Mount, ...]) -> str:
    given = view.text("storage.output")
    if not given:
        if space.output_root and _durable(space.output_root, claim, mounts):
            return f"{space.output_root}/{name}"
        if claim:
            return f"/data/checkpoints/workflows/{name}"
        return f"{mounts[0].path}/{name}" if mounts and not mounts[0].read_only else ""
    span = view.span("storage.output")
    if any(part in ("", ".", "..") for part in given.split("/")[1:]):
        view.error(
            "TAU282",
            f"`{given}` is not a clean path",
            span,
            "write an absolute path without '.', '..' and '//'",
        )
    elif not _durable(given, claim, mounts):
        known = ", ".join([*(["/data"] if claim else []), *(m.path for m in mounts if not m.read_only)])
        view.error(
            "TAU282",
            f"output `{given}` is on no mounted claim and would be lost with the pod",
            span,
            f"write below {known}"
            if known
            else "add `storage.data_pvc` with an existing claim, and write below /data",
        )
    elif space.output_root and not _inside(given, space.output_root):
        view.error(
            "TAU283",
            f"output `{given}` is outside the output folder of workspace `{space.name}`, "
            f"`{space.output_root}`",
            span,
            f"write below {space.output_root}, or leave it out",
            (Related(space.span, f"workspace `{space.name}`"),),
        )
    return given


def check_checkpoints(view: View, kind: Kind, storage: Storage) -> None:
    """Refuse checkpoints of other attempts and runs in a folder that this Job does not have."""
    paths = ["workflow.upstream_checkpoint"]
    if view.integer("resilience.max_retries", 0):
        paths.append("resilience.checkpoint_path")
    for path in paths:
        text = view.text(path)
        if kind == "job" and _inside(text, "/data") and not storage.data_claim:
            view.error(
                "TAU285",
                f"`{view.name(path)}: {text}` is on no mounted claim",
                view.span(path),
                "add `storage.data_pvc` with an existing claim",
            )


def _durable(path: str, claim: str, mounts: tuple[Mount, ...]) -> bool:
    roots = [*(["/data"] if claim else []), *(m.path for m in mounts if not m.read_only)]
    return any(_inside(path, root) for root in roots)


def _inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _check_relative(view: View, path: str, text: str) -> None:
    clean = (
        not text.startswith("/") and "\\" not in text and text == text.strip() and not _CONTROL.search(text)
    )
    if not clean or any(part in ("", ".", "..") for part in text.split("/")):
        view.error(
            "TAU285",
            f"`{text}` is not a path below the output folder",
            view.span(path),
            "write a relative path such as checkpoints/final, without '.', '..', '\\', control characters and spaces around it",
        )


def read_history(view: View, storage: Storage, kind: Kind) -> tuple[str, ...]:
    """``metrics.history`` as absolute paths (taugrid-config 1.4)."""
    output = storage.output
    found = []
    for item in view.items("metrics.history"):
        text = scalar(item)
        parts = text.split("/")
        if ":" in text:
            view.error(
                "TAU290",
                f"`{text}` has a colon, which separates the files in TAU_METRICS_HISTORY",
                item.span,
                "choose a name without a colon",
            )
        elif text.startswith("/"):
            if not _inside(text, "/data") or ".." in parts:
                view.error(
                    "TAU290",
                    f"`{text}` is not below /data",
                    item.span,
                    "write a path below /data, or a relative one",
                )
            elif kind == "job" and not storage.data_claim:
                view.error(
                    "TAU290",
                    f"`{text}` is on no mounted claim",
                    item.span,
                    "add `storage.data_pvc` with an existing claim, or write a relative path",
                )
            found.append(text)
        elif ".." in parts or not text:
            view.error(
                "TAU290", f"`{text}` leaves the output folder", item.span, "write a path below storage.output"
            )
        elif not output:
            view.error(
                "TAU290",
                "`metrics.history` needs an output folder",
                item.span,
                "add `storage.data_pvc` with an existing claim, or write an absolute path below /data",
            )
        else:
            found.append(f"{output}/{text}")
    return tuple(found)

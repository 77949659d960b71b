"""Volumes of a pod → claims of a tau.yaml; for the others, what to do instead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import has_errors
from tau_compile.importing import own
from tau_compile.source.nodes import Scalar
from tau_compile.workload.storage import RESERVED_PATHS, RESERVED_VOLUMES

if TYPE_CHECKING:
    from tau_compile.importing.draft import Draft
    from tau_compile.importing.ledger import At, Why

_FILE = re.compile(r"(?!start\.(?:sh|py)\Z|tau\.)[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}")
_MOUNTS, _SCRIPTS = 32, 100  # of one run
_SHM = "/dev/shm"  # noqa: S108
_WHYS: dict[str, Why] = {
    "emptyDir": (
        "is not carried over: tau.yaml has no field for it",
        "write to /tmp, or below the folder in TAU_HOT_DIR; what must last belongs on a claim",
    ),
    "configMap": (
        "is not carried over: files of a run lie beside its tau.yaml",
        "put the ConfigMap's files into the folder of tau.yaml, name the program as `run.entrypoint` and the others under "
        "`workflow.extra_scripts` (or ship the folder with `run.working_dir: .`); they appear in /tau/code",
    ),
    "secret": (
        "is not carried over: a run takes secrets as variables",
        "write `runtime: {env_secret: {NAME: SECRET:KEY}}` for each key that the program reads",
    ),
    "hostPath": (
        "is not carried over: a run must not depend on the files of a node",
        "put the data on a claim and write it under `storage.mounts`",
    ),
}
_OTHER: Why = (
    "is not carried over: a run mounts claims only",
    "put the data on a PersistentVolumeClaim and write it under `storage.mounts`",
)
_SIZED: Why = (
    "is not carried over: tau-compile gives /dev/shm its size where several GPUs or processes need it",
    "nothing need be done; with RDMA write `runtime.rdma.shm_size`",
)
_UNUSED: Why = (
    "is not carried over: nothing that is carried over mounts it",
    "remove it, or see what is said at its mount",
)
_NO_CLAIM: Why = (
    "is not carried over: it mounts nothing that is",
    "nothing need be done but what is said at the volume",
)


def read_mounts(draft: Draft, spec: At, main: At) -> None:
    """Carry over what is mounted into one container."""
    volumes: dict[str, At] = {}
    for volume in spec.key("volumes").items():
        volumes.setdefault(volume.key("name").peek(), volume)
    for mount in main.key("volumeMounts").items():
        found = volumes.get(mount.key("name").peek())
        if found is None:
            mount.drop("is not carried over: the pod has no volume of this name", "remove it")
        elif draft.own and own.mounts(draft, found, mount):
            found.skip()
            mount.skip()
        elif found.key("persistentVolumeClaim"):
            _claim(draft, found, mount)
        elif not (found.key("configMap") and _ship(draft, found, mount)):
            found.drop(*_sort(found, mount), code="TAU399" if found.key("configMap") else "TAU393")
            mount.drop(*_NO_CLAIM)
    for volume in volumes.values():
        if not volume.key("persistentVolumeClaim"):
            volume.drop(*_sort(volume, None))
        elif volume.path not in draft.ledger.touched:
            volume.drop(*_UNUSED)


def _sort(volume: At, mount: At | None) -> Why:
    if volume.key("emptyDir") and mount is not None and mount.key("mountPath").peek() == _SHM:
        return _SIZED
    return next((why for kind, why in _WHYS.items() if volume.key(kind)), _OTHER)


def _ship(draft: Draft, volume: At, mount: At) -> bool:
    """Put the files of a ConfigMap that was imported too beside tau.yaml; False where that cannot be."""
    from tau_compile.rules.credentials import find_in_code

    name, where = volume.get("configMap.name").peek(), mount.key("mountPath").peek().rstrip("/")
    keys = draft.code.get(name, {})
    items = volume.get("configMap.items").items()
    files = (
        {item.key("path").peek(): keys.get(item.key("key").peek()) for item in items} if items else {**keys}
    )
    draft.shipped += 1
    if (
        draft.shipped > _MOUNTS
        or len(files) > _SCRIPTS
        or not files
        or not where
        or mount.key("subPath")
        or "entrypoint" not in draft.document.get("run", {})
    ):
        return False
    for path, content in files.items():
        if content is None or not _FILE.fullmatch(path) or draft.files.get(path, content) != content:
            return False
        data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
        if has_errors(find_in_code(path, data)):
            volume.drop(
                f"is not copied: `{path}` in the ConfigMap holds what looks like a credential",
                "take it from a Secret with `runtime: {env_secret: {NAME: SECRET:KEY}}`, and revoke it if it was in a repository",
                "TAU398",
            )
            mount.drop(*_NO_CLAIM)
            return True
    for path, content in files.items():
        assert content is not None
        draft.files[path] = content
    start = draft.document["run"]["entrypoint"]
    program = draft.files[start]
    if isinstance(program, str):
        draft.files[start] = re.sub(rf"(?<![\w./-]){re.escape(where)}(?![\w.-])", "/tau/code", program)
    listed = draft.document.get("workflow", {}).get("extra_scripts", [])
    draft.put("workflow.extra_scripts", sorted({*listed, *files}))
    volume.ledger.report(
        volume,
        f"becomes files beside tau.yaml, and `{where[:200]}` becomes /tau/code",
        f"look for other places that name `{where[:200]}`, such as variables",
        "TAU397",
    )
    mount.skip()
    return True


def _claim(draft: Draft, volume: At, mount: At) -> None:
    claim = volume.get("persistentVolumeClaim.claimName")
    where, name = mount.key("mountPath"), mount.key("name")
    path = where.peek().rstrip("/")
    only = volume.get("persistentVolumeClaim.readOnly"), mount.key("readOnly")
    reading = any(flag.peek() == "true" for flag in only)
    if not (
        isinstance(claim.node, Scalar) and isinstance(where.node, Scalar) and isinstance(name.node, Scalar)
    ):
        mount.drop(
            "is not carried over: it names no claim, or no place for it", "write `claimName` and `mountPath`"
        )
        return
    if mount.key("subPath") or mount.key("subPathExpr"):
        mount.drop(
            "is not carried over: a claim is mounted as a whole",
            "mount the claim under `storage.mounts` and let the program name the folder below it",
        )
        return
    if path == "/data" and not reading:
        if draft.document.get("storage", {}).get("data_pvc", claim.node) == claim.node or _same_claim(
            draft, claim
        ):
            draft.put("storage.data_pvc", draft.document.get("storage", {}).get("data_pvc") or claim.node)
            _done(volume, mount, claim, only)
        return
    for known in draft.mounts:
        if known["mountPath"].text == path and known["pvc"].text == claim.peek():
            if bool(known["readOnly"]) == reading:
                _done(volume, mount, claim, only)
            return
    taken = next((word for word in RESERVED_PATHS if _overlap(path, word)), "") or next(
        (known["mountPath"].text for known in draft.mounts if _overlap(path, known["mountPath"].text)), ""
    )
    if len(draft.mounts) >= _MOUNTS:
        mount.drop(
            f"is not carried over: a run mounts {_MOUNTS} claims at most", "put the data on fewer claims"
        )
        return
    if taken or not path:
        mount.drop(
            f"is not carried over: `{path}` is taken by another claim"
            if taken == path and path not in RESERVED_PATHS
            else f"is not carried over: `{path or '/'}` overlaps `{taken or '/'}`, which is taken",
            "write it under `storage.mounts` with another path, such as /datasets, or as `storage.data_pvc` if it may be /data",
        )
        return
    draft.mounts.append(
        {
            "name": Scalar(name.node.span, _free(draft, name.peek()), False),
            "mountPath": Scalar(where.node.span, path, False),
            "pvc": claim.node,
            "readOnly": True if reading else None,
        }
    )
    _done(volume, mount, claim, only)


def _same_claim(draft: Draft, claim: At) -> bool:
    known: Any = draft.document["storage"]["data_pvc"]
    return bool(known.text == claim.peek())


def _done(volume: At, mount: At, claim: At, only: tuple[At, At]) -> None:
    volume.key("name").take()
    claim.take()
    for key in ("name", "mountPath"):
        mount.key(key).take()
    for flag in only:
        flag.same("true", "false")


def _free(draft: Draft, name: str) -> str:
    """A name for the mount that neither tau-compile nor another mount uses."""
    if name in RESERVED_VOLUMES or name.startswith("tau-"):
        name = f"volume-{name}"
    taken = {known["name"].text for known in draft.mounts}
    return next(new for new in (name, *(f"{name}-{n}" for n in range(2, 10_000))) if new not in taken)


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")

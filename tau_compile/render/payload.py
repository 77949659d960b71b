"""The files a run carries: the user's code at /tau/code, and the small scripts that start it at /tau/bin.

They travel in one immutable ConfigMap of the run's own, or, for clusters that mirror no ConfigMaps (MultiKueue), inside the
pod template.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tau_compile.data import locate
from tau_compile.named import NamedTuple
from tau_compile.render.argv import encode
from tau_compile.workload.code import archive, configmap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tau_compile.workload.code import CodeBundle, ConfigMapData
    from tau_compile.workload.model import Workload

CODE_DIR, BIN_DIR, SOURCE_DIR, ARCHIVE_DIR = "/tau/code", "/tau/bin", "/tau/source", "/tau/archive"
ARCHIVE_FILE = "code.zip"
_PREFIX = "tau."  # of the keys that are not the user's files


class Payload(NamedTuple):
    """The files of one run. ``scripts`` are texts by file name below /tau/bin; ``archive`` is a zip for Ray, or None."""

    bundle: CodeBundle
    scripts: tuple[tuple[str, str], ...]
    archive: bytes | None


def payload(workload: Workload, bundle: CodeBundle, argv: Sequence[str], zipped: bool) -> Payload:
    """Everything that the run's command needs."""
    scripts = {"run.sh": script("run.sh"), "argv": encode(argv)}
    if workload.storage.staged:
        scripts["publish.sh"] = script("publish.sh")
    if workload.storage.checkpoint:
        scripts["index.sh"] = script("index.sh")
    if workload.program.launcher == "ray-tune":
        scripts["tune_driver.py"] = script("tune_driver.py")
    if workload.kind == "job" and workload.pip:
        scripts["requirements.txt"] = "".join(f"{line}\n" for line in workload.pip)
    return Payload(bundle, tuple(sorted(scripts.items())), archive(bundle) if zipped else None)


@cache
def script(name: str) -> str:
    """The text of one of the scripts under ``templates/scripts``."""
    with open(locate("templates", "scripts", name), encoding="utf-8") as file:
        return file.read()


def _packed(files: Payload) -> ConfigMapData:
    scripts = {_PREFIX + key: text for key, text in files.scripts}
    return configmap(files.bundle, scripts, reserved=(_PREFIX + ARCHIVE_FILE,))


def config_map(files: Payload, name: str) -> dict[str, Any]:
    """The ConfigMap's part of the template context."""
    found = _packed(files)
    binary = dict(found.binary_data)
    if files.archive is not None:
        from binascii import b2a_base64

        binary[_PREFIX + ARCHIVE_FILE] = b2a_base64(files.archive, newline=False).decode("ascii")
    return {"name": name, "data": found.data, "binary_data": binary}


def volumes(files: Payload, name: str, started: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(volumes, mounts) that rebuild the paths from the ConfigMap ``name``; the scripts only if ``started``."""
    found = _packed(files)
    made, mounts = [], []
    if found.items:
        items = [
            {"key": i.key, "path": i.path} | ({"mode": i.mode} if i.mode is not None else {})
            for i in found.items
        ]
        made.append({"name": "tau-code", "configMap": {"name": name, "items": items}})
        mounts.append({"name": "tau-code", "mountPath": CODE_DIR, "readOnly": True})
    if started:
        items = [{"key": _PREFIX + key, "path": key} for key, _ in files.scripts]
        made.append({"name": "tau-bin", "configMap": {"name": name, "items": items}})
        mounts.append({"name": "tau-bin", "mountPath": BIN_DIR, "readOnly": True})
    if files.archive is not None:
        items = [{"key": _PREFIX + ARCHIVE_FILE, "path": ARCHIVE_FILE}]
        made.append({"name": "tau-archive", "configMap": {"name": name, "items": items}})
        mounts.append({"name": "tau-archive", "mountPath": ARCHIVE_DIR, "readOnly": True})
    return made, mounts

r"""Run identity 1: what makes two launches of a tau.yaml the same run.

The digest depends on what the user asked for and on the code that ships, and on nothing that is resolved
from overlays, templates, the cluster or the compiler: a change of those never makes a run look new. It is
frozen. A later identity gets its own number and must still recognise this one; the vectors in the tests hold
it in place.

How to compute it, for another implementation:

1. Input: the user's own canonical tau.yaml as plain data, each value read as its schema wants it (text where
   text is wanted, spelled as written), no default filled in, no overlay merged; and the files that ship, if
   any do.

2. Projection of the data (``project``):

   a. Remove the keys of ``DROPPED`` with all below them, and ``run.attempt`` where it is 1: writing down that this is the
      first attempt is no further one.
   b. Except inside ``execution.configs``, whose content is the user's own: remove each key whose value is
      null or an empty map, inner ones first, so that a map left empty goes as well.
   c. ``runtime.env`` (a map, or a list of ``{name, value}`` and ``{name, valueFrom}``) and
      ``runtime.env_secret`` (a map to ``SECRET:KEY``) become one map ``runtime.env``. It leads from a name
      to a text, or to ``{"valueFrom": {...}}``; ``SECRET:KEY`` to ``{"valueFrom": {"secretKeyRef": {"key":
      KEY, "name": SECRET}}}``. A value that is no text is written as in e, a boolean as ``true`` or
      ``false``, null as the empty text.
   d. The value of a key of ``QUANTITIES``, text or number, becomes a text with its exact amount: of whole
      units (``68719476736``), else of billionths, rounded away from zero, with an ``n`` behind
      (``500000000n``). A text that is no Kubernetes quantity stays as it is.
   e. Any other number gets one form. A whole number is an integer, however written: ``1.0`` is ``1``,
      ``1e3`` is ``1000``, ``-0.0`` is ``0``. Another is the shortest decimal that reads back as the same
      IEEE 754 double, in plain notation from 0.0001 upwards (``0.0001``, ``0.5``), below as ``2.5e-05`` or
      ``1e-05``: one digit first, at least two in the exponent. The infinities and "not a number" are the
      texts ``.inf``, ``-.inf``, ``.nan``.
   f. A value that ``SYNONYMS`` names for its key becomes the word given there.
   g. Nothing else changes: lists keep their order, and empty lists stay.

3. Document: a JSON object of two members. ``intent`` is the projection. ``code`` is a list with one ``[path,
   exec bit, sha256 of the content]`` a shipped file, in order of path, the bit as ``true`` or ``false``, the
   digest in lower-case hex; empty if no file ships. Paths are below /tau/code, contents as shipped (LF line
   ends).

4. Text: the document as JSON without any space, the keys of each map in the order of their code points,
   non-ASCII characters as they are; in strings ``\"``, ``\\``, ``\b``, ``\f``, ``\n``, ``\r``, ``\t``, and
   ``\u00xx`` in lower case for the other characters below U+0020. In UTF-8.

5. The digest: sha256, in lower-case hex, of the line ``tau-compile identity 1``, a line feed, and that text.

The run id is the name, a dash and the first 8 digits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tau_compile.workload.code.model import CodeFile

IDENTITY = 1

# Keys that say how a run is launched or described, not what runs. An edit of one takes effect at the next
# launch.
DROPPED: dict[str, str] = {
    "schema_version": "the form of the file; `migrate` changes it",
    "experiment.title": "a text for people",
    "model": "a description of the outcome, for people and registries; nothing of it reaches the program",
    "policy.disable_default_priorities": "priority: when it runs",
    "policy.namespace": "an assertion about the workspace",
    "policy.pod_priority_class": "priority: when it runs",
    "policy.priority": "priority: when it runs",
    "policy.priority_tier": "priority: when it runs",
    "policy.workload_priority_class": "priority: when it runs",
    "policy.workspace": "a run is looked up by workspace, name and digest anyway; it may be implied",
    "resilience": "retries: what happens after a failure",
    "run.launch": "launching: when an edit starts a run",
    "run.on_change": "launching: what happens to the older run",
    "run.ttl_seconds_after_finished": "retention: what happens after the end",
    "run.working_dir_excludes": "what they leave over is in the code part",
    "workflow.extra_scripts": "what they name is in the code part",
}

QUANTITIES = frozenset(
    {
        f"compute.{part}{key}"
        for part in ("", "head_", "worker_")
        for key in ("cpus", "cpu_limit", "memory", "memory_limit")
    }
    | {"runtime.rdma.shm_size"}
)

# Older words, which are accepted with a warning: who follows the warning does not start another run.
SYNONYMS: dict[str, dict[str, str]] = {
    "compute.gpu_resource_mode": {
        "deviceplugin": "device-plugin",
        "device": "device-plugin",
        "nvidia": "device-plugin",
        "nvidia.com/gpu": "device-plugin",
        "gpu": "device-plugin",
        "mig-slice": "mig",
    },
    "policy.gpu_class": {
        "a100-nvlink-80gb": "a100-80gb",
        "h100-standalone-95gb": "h100-95gb",
        "h200-nvlink-141gb": "h200-141gb",
    },
    "policy.topology": {
        "independent": "unconstrained",
        "single-node-nvlink": "same-host",
        "multi-node-nccl": "same-network-domain",
    },
}

_FREE = "execution.configs"
_NANO = 10**9


def project(canonical: Mapping[str, Any]) -> dict[str, Any]:
    """Take out of a canonical tau.yaml (plain data, no defaults filled in) what belongs to the identity."""
    projection = _map(canonical, "")
    runtime = canonical.get("runtime")
    if isinstance(runtime, dict):
        env = _env(runtime.get("env"), runtime.get("env_secret"))
        rest = {
            key: value
            for key, value in projection.pop("runtime", {}).items()
            if key not in ("env", "env_secret")
        }
        if env:
            rest["env"] = env
        if rest:
            projection["runtime"] = rest
    return projection


def intent_digest(projection: Mapping[str, Any], files: Iterable[CodeFile]) -> str:
    """Compute the 64 hex digits of an intent: a projection by ``project``, and the files that ship."""
    import json

    from tau_compile.digest import sha256

    code = sorted([file.path, file.executable, sha256(file.content).hexdigest()] for file in files)
    text = json.dumps(
        {"code": code, "intent": projection},
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    )
    # A lone surrogate is no character, and only a reader that lets one pass could bring it here.
    return sha256(f"tau-compile identity {IDENTITY}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def run_id(name: str, digest: str) -> str:
    """Make the id of a run: ``<name>-<8 hex>``."""
    return f"{name}-{digest[:8]}"


def _map(data: Mapping[str, Any], path: str) -> dict[str, Any]:
    found = {}
    for key, value in data.items():
        here = f"{path}.{key}" if path else key
        if here in DROPPED or (here == "run.attempt" and value == 1):
            continue
        projected = _free(value) if here == _FREE else _value(value, here)
        if projected is not None and projected != {}:
            found[key] = projected
    return found


def _value(value: Any, path: str) -> Any:
    if isinstance(value, dict):
        return _map(value, path)
    if path in QUANTITIES:
        return _quantity(value)
    if isinstance(value, list):
        return [_value(item, f"{path}[]") for item in value]
    if isinstance(value, str) and path in SYNONYMS:
        return SYNONYMS[path].get(value, value)
    return _scalar(value)


def _free(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _free(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_free(item) for item in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    return int(value) if value.is_integer() else value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(_scalar(value))


def _quantity(value: Any) -> Any:
    from tau_compile.quantity import try_parse

    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return _scalar(value)
    quantity = try_parse(_text(value))
    if quantity is None:
        return _text(value)
    whole, rest = divmod(quantity.nanos, _NANO)
    return f"{quantity.nanos}n" if rest else f"{whole}"


def _env(env: Any, secrets: Any) -> dict[str, Any]:
    """One map by name; a name that is given twice has been refused before."""
    pairs: list[tuple[str, Any]] = []
    if isinstance(env, dict):
        pairs += env.items()
    for item in env if isinstance(env, list) else ():
        if isinstance(item, dict) and isinstance(item.get("name"), str):
            rest = {key: value for key, value in item.items() if key != "name"}
            pairs.append((item["name"], rest if "valueFrom" in rest else rest.get("value")))
    for name, reference in secrets.items() if isinstance(secrets, dict) else ():
        secret, _, key = _text(reference).partition(":")
        pairs.append((name, {"valueFrom": {"secretKeyRef": {"key": key, "name": secret}}}))
    return {name: _free(value) if isinstance(value, dict) else _text(value) for name, value in pairs}

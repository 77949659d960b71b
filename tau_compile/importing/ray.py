"""A RayJob → a tau.yaml: one head, one group of workers, one environment for both (R37, R44, R59)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import has_errors
from tau_compile.importing import notes, own, own_program, pods, volumes
from tau_compile.importing.placement import placement
from tau_compile.importing.words import SECRET_WORDS, holds_secret, shell_script
from tau_compile.source.nodes import Key, Mapping, Scalar, Sequence
from tau_compile.source.reader import read
from tau_compile.workload.rayversion import DEFAULT, ray_version

if TYPE_CHECKING:
    from tau_compile.importing.draft import Draft
    from tau_compile.importing.ledger import At

_DASHBOARD = {"dashboard-host": "0.0.0.0", "num-cpus": "0", "num-gpus": "0"}  # noqa: S104


def convert(draft: Draft) -> None:
    """Fill the draft from the RayJob's ``spec``."""
    spec = draft.ledger.root.get("spec")
    draft.put("run.workload_kind", "rayjob")
    spec.key("shutdownAfterJobFinishes").same("true")
    spec.key("ttlSecondsAfterFinished").same("15" if draft.own else "")
    spec.key("submissionMode").same("K8sJobMode", *(["HTTPMode"] if draft.own else []))
    cluster = spec.key("rayClusterSpec")
    head = cluster.key("headGroupSpec")
    template = head.key("template")
    head_spec = pods.pod(draft, template)
    head_main = pods.container(draft, head_spec, "ray-head")
    groups = cluster.key("workerGroupSpecs").items()
    group = groups[0] if groups else cluster.key("workerGroupSpecs")
    worker_spec = pods.pod(draft, group.key("template"))
    worker_main = pods.container(draft, worker_spec, "ray-worker")
    image = head_main.key("image")
    draft.put("runtime.image", image.scalar())
    worker_main.key("image").same(image.peek())
    worker_main.key("image").drop(
        "is not carried over: the head and the workers of a run have one image",
        f"build one image for both; tau.yaml now names the head's, `{image.peek()[:200]}`",
    )
    cluster.key("rayVersion").same(ray_version(image.peek()) or DEFAULT)
    for key, word in _DASHBOARD.items():
        head.key("rayStartParams").key(key).same(word)
    for at in (head, group):
        at.key("rayStartParams").skip(lambda at: not at.below())
        at.key("serviceType").same("ClusterIP")
    if groups:
        _group(draft, group)
    directory = head_main.key("workingDir")
    if directory.peek() not in ("", "/"):
        draft.put("runtime.working_dir", directory.scalar())
        worker_main.key("workingDir").same(directory.peek())
    if draft.own:
        own_program.ray(draft, head_spec, head_main, worker_spec, worker_main)
    else:
        _entrypoint(draft, spec.key("entrypoint"))
    _runtime_env(draft, spec.key("runtimeEnvYAML"))
    pods.sizes(draft, head_main, "head_")
    pods.sizes(draft, worker_main, "worker_")
    pods.environment(draft, head_main)
    pods.environment(draft, worker_main)
    volumes.read_mounts(draft, head_spec, head_main)
    volumes.read_mounts(draft, worker_spec, worker_main)
    notes.sizes(draft, head_main, "head_")
    notes.sizes(draft, worker_main, "worker_")
    if not draft.own:
        notes.directory(draft, head_main)
    placement(draft, group.key("template"), worker_spec)
    priority = worker_spec.key("priorityClassName").peek()
    if priority:
        head_spec.key("priorityClassName").same(priority)
    token = head_spec.key("automountServiceAccountToken")
    worker_spec.key("automountServiceAccountToken").same(token.peek())


def _group(draft: Draft, group: At) -> None:
    replicas = group.key("replicas")
    number = replicas.peek() or "1"
    draft.put("compute.workers", replicas.scalar())
    for key in ("minReplicas", "maxReplicas"):
        group.key(key).same(number)
    group.key("groupName").skip()
    group.key("numOfHosts").same("1")
    gpus = group.get("template.spec.containers").items()
    limit = gpus[0].get("resources.limits").key("nvidia.com/gpu").peek() if gpus else ""
    group.key("rayStartParams").key("num-gpus").same(limit or "0")


def _entrypoint(draft: Draft, entrypoint: At) -> None:
    line = entrypoint.peek()
    if holds_secret([line]):
        entrypoint.drop(*SECRET_WORDS, "TAU398")
    elif line:
        entrypoint.take()
        draft.put("run.entrypoint", "start.sh")
        draft.files["start.sh"] = shell_script(line)
        return
    draft.put("run.entrypoint", "start.sh")
    draft.files["start.sh"] = "#!/bin/sh\necho 'write here what the run shall do' >&2\nexit 1\n"


def _runtime_env(draft: Draft, at: At) -> None:
    """Ray's runtime environment, a YAML text: its packages and variables."""
    if not isinstance(at.node, Scalar) or not at.node.text.strip():
        at.skip()
        return
    found = read(at.node.text.encode("utf-8", "replace"), at.span.file)
    node = found.node
    if not isinstance(node, Mapping) or has_errors(found.diagnostics):
        at.drop(
            "is not carried over: it is no YAML mapping that can be read",
            "write its packages under `runtime.pip` and its variables under `runtime.env`",
        )
        return
    at.take()
    for key, value in node.entries:
        if key.name == "pip" and isinstance(value, Sequence) and all(type(i) is Scalar for i in value.items):
            items = [
                Scalar(at.node.span, item.text, False) for item in value.items if isinstance(item, Scalar)
            ]
            draft.put("runtime.pip", items)
        elif key.name == "env_vars" and isinstance(value, Mapping):
            for inner, text in value.entries:
                _variable(draft, at, inner.name, text.text if isinstance(text, Scalar) else "")
        elif not (draft.own and own.runtime_env(draft, key.name, value)):
            _lost(
                at,
                f"`{key.name[:60]}` in it is not carried over: tau.yaml knows `pip` and `env_vars`",
                "ship files with `run.working_dir`; put everything else into the image",
            )


def _variable(draft: Draft, at: At, name: str, text: str) -> None:
    from tau_compile.rules.credentials import find

    assert at.node is not None
    if find([(name, text, at.span)]):
        why = f"the variable `{name[:60]}` in it is not copied: it looks like a credential"
        _lost(
            at,
            why,
            f"put it into a Secret and write `runtime: {{env_secret: {{{name[:60]}: SECRET:KEY}}}}`",
            "TAU398",
        )
        return
    reserved = pods.reserved(draft, name)
    if reserved:
        _lost(at, f"the variable `{name[:60]}` in it is not carried over: it {reserved[0]}", reserved[1])
        return
    if name not in draft.carried:
        draft.carried.add(name)
        draft.variables[name] = (False, text)
        if name.upper().startswith("NCCL_"):
            draft.put("execution.allow_nccl_override", True)
        draft.env[Key(name, at.node.span)] = Scalar(at.node.span, text, False)


def _lost(at: At, why: str, instead: str, code: str = "TAU393") -> None:
    at.ledger.report(at, f"is carried over in part: {why}", instead, code)

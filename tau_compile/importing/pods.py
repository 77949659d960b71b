"""One container of a pod → sizes, environment and mounts of a tau.yaml."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tau_compile.importing import own
from tau_compile.importing.ledger import shown
from tau_compile.importing.words import expand
from tau_compile.quantity import read_cpu, read_memory
from tau_compile.source.nodes import Key, Scalar
from tau_compile.workload.environment import of_ray, reserved_name

if TYPE_CHECKING:
    from tau_compile.importing.draft import Draft
    from tau_compile.importing.ledger import At

_MIG = re.compile(r"nvidia\.com/mig-(.+)")
_RDMA = re.compile(r"rdma/.+|.*[/-](?:rdma|hca|roce|ib)[-_a-z0-9]*")
_MOST = 1 << 20  # characters of all variables, references replaced
# What the API server writes where nothing was said, and what tau-compile renders in its place.
_DEFAULTS = {
    "dnsPolicy": ("ClusterFirst",),
    "schedulerName": ("default-scheduler",),
    "restartPolicy": ("Never",),
    "terminationGracePeriodSeconds": ("30", "600"),
    "enableServiceLinks": ("false", "true"),
    "preemptionPolicy": ("PreemptLowerPriority",),
    "securityContext.seccompProfile.type": ("RuntimeDefault",),
}
_OF_CONTAINER = {
    "terminationMessagePath": ("/dev/termination-log",),
    "terminationMessagePolicy": ("File",),
    "imagePullPolicy": ("IfNotPresent", "Always"),
    "securityContext.allowPrivilegeEscalation": ("false",),
}


def pod(draft: Draft, template: At) -> At:
    """The pod's own settings; its spec."""
    spec = template.key("spec")
    for path, words in _DEFAULTS.items():
        spec.get(path).same(*words)
    for path in ("securityContext", "metadata.creationTimestamp"):
        (spec if path == "securityContext" else template).get(path).skip(_empty)
    template.get("metadata.creationTimestamp").skip()
    if spec.key("serviceAccount").peek() == spec.key("serviceAccountName").peek():
        spec.key("serviceAccount").skip()  # the older name of the same field
    labels = template.get("metadata.labels")
    for name in (
        "controller-uid",
        "job-name",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
    ):
        labels.key(name).skip()
    token = spec.key("automountServiceAccountToken")
    if token.peek() in ("true", "false"):
        draft.put("runtime.service_account_token", token.scalar() if token.peek() == "true" else None)
        token.take()
    return spec


def _empty(at: At) -> bool:
    return not at.below() and not at.peek()


def container(draft: Draft, spec: At, preferred: str) -> At:
    """The container that runs the program: the only one, the one of a known name, or the first."""
    found = spec.key("containers").items()
    named = [item for item in found if item.key("name").peek() == preferred]
    main = next(iter(named or found), spec.key("containers"))
    if len(found) <= 1 or named:
        main.key("name").skip()
    for path, words in _OF_CONTAINER.items():
        main.get(path).same(*words)
    for path in ("resources", "securityContext"):
        main.get(path).skip(_empty)
    return main


def sizes(draft: Draft, main: At, prefix: str) -> None:
    """Requests and limits: ``prefix`` is "", "head_" or "worker_"."""
    requests, limits = main.get("resources.requests"), main.get("resources.limits")
    for resource, field, limit_field in (("cpu", "cpus", "cpu_limit"), ("memory", "memory", "memory_limit")):
        request, limit = (_amount(at.key(resource), resource) for at in (requests, limits))
        if request is None and limit is None:
            continue
        draft.put(f"compute.{prefix}{field}", request or limit)  # a limit alone is the request too
        same = request is None or limit is None or request.text == limit.text
        if limit is not None and not (same and (resource == "memory" or limit.text.isdigit())):
            draft.put(f"compute.{prefix}{limit_field}", limit)
    for at in (requests, limits):
        for key, value in at.entries():
            _extended(draft, key.name, value, prefix)


def _amount(at: At, resource: str) -> Scalar | None:
    if not isinstance(at.node, Scalar):
        return None
    quantity, said = (read_cpu if resource == "cpu" else read_memory)(at.node.text, at.node.span)
    if quantity is None or said:
        at.drop(
            f"is not carried over: {said[0].message if said else 'it is no amount'}",
            (said[0].hint if said else "") or "write an amount such as 8 or 64Gi",
        )
        return None
    return at.scalar()


def _extended(draft: Draft, name: str, at: At, prefix: str) -> None:
    if not isinstance(at.node, Scalar) or not at.node.text.isdigit() or len(at.node.text) > 4:
        return
    mig = _MIG.fullmatch(name)
    if name == "nvidia.com/gpu" or mig:
        if prefix == "head_":
            if at.node.text == "0":
                at.take()
            else:
                at.drop(
                    "is not carried over: the Ray head has no GPUs",
                    "let the workers do the work; they have `compute.gpus` each",
                )
            return
        given = draft.document.get("compute", {}).get("gpus")
        profile = draft.document.get("compute", {}).get("mig_profile")
        other = given is not None and (
            given.text != at.node.text or getattr(profile, "text", None) != (mig and mig[1])
        )
        if other:
            at.drop("is not carried over: a pod has GPUs of one kind", "ask for one kind")
            return
        draft.put("compute.gpus", _number(at))
        if mig and at.node is not None:
            draft.put("compute.mig_profile", Scalar(at.node.span, mig[1], False))
    elif _RDMA.fullmatch(name) and prefix != "head_":
        draft.put("runtime.rdma.enabled", True)
        draft.put("runtime.rdma.resource_name", Scalar(at.node.span, name, False))
        draft.put("runtime.rdma.count", _number(at))


def _number(at: At) -> Scalar | None:
    """An amount, written as a number."""
    amount = at.scalar()
    return amount._replace(plain=True) if amount else None


def environment(draft: Draft, main: At) -> set[str]:
    """Variables; the names of all, for what a command refers to."""
    from tau_compile.rules.credentials import find

    names: set[str] = set()
    literals: dict[str, str] = {}
    items = main.key("env").items()
    last = {item.key("name").peek(): item.path for item in items}
    for item in items:
        name, value = item.key("name"), item.key("value")
        word = name.peek()
        names.add(word)
        if last[word] != item.path:
            item.drop(
                "is not carried over: the variable is given twice, and the later one counts", "remove it"
            )
            continue
        if draft.own and own.sets(draft, item):
            item.skip()
            continue
        if not word or not isinstance(name.node, Scalar):
            continue
        taken = reserved(draft, word)
        if taken:
            item.drop(f"is not carried over: `{word}` {taken[0]}", taken[1])
            continue
        key = Key(word, name.node.span)
        if item.key("valueFrom"):
            _secret(draft, item, key)
        elif isinstance(value.node, Scalar) or not value:
            text = value.peek()
            if find([(word, text, value.span)]):
                place = value if value else item
                place.drop(
                    f"is not copied: `{shown((word,))}` looks like a credential",
                    f"put it into a Secret and write `runtime: {{env_secret: {{{word}: SECRET:KEY}}}}`; "
                    "if it is a real one that was in a repository, revoke it",
                    "TAU398",
                )
                name.take()
                continue
            full = expand(own.users(draft, word, text), literals, names)
            if full is None or draft.size + len(full) > _MOST:
                value.drop(
                    "is not carried over: it is made of variables that only the cluster knows"
                    if full is None
                    else "is not carried over: the variables are too large in all",
                    f"set `{shown((word,))}` in the program, from the other variables"
                    if full is None
                    else "put the content into a file beside tau.yaml",
                )
                name.take()
                continue
            draft.size += len(full)
            literals[word] = full
            node = value.scalar()
            name.take()
            _add(draft, key, Scalar(node.span if node else name.node.span, full, False), draft.env, item)
    return {name for name in names if name}


def _secret(draft: Draft, item: At, key: Key) -> None:
    reference = item.get("valueFrom.secretKeyRef")
    secret, field = reference.key("name"), reference.key("key")
    if not (secret.peek() and field.peek()):
        item.drop(
            "is not carried over: tau.yaml knows literal values and keys of Secrets",
            "read it in the program: TAU_RUN_ID names the run; write other values under `runtime.env`",
        )
        return
    reference.key("optional").same("false")
    text = f"{secret.text()}:{field.text()}"
    item.key("name").take()
    item.key("value").same("")
    assert secret.node is not None
    _add(draft, key, Scalar(secret.node.span, text, False), draft.secrets, item)


def _add(draft: Draft, key: Key, value: Scalar, into: dict[Any, Any], item: At) -> None:
    """A variable of the run; the head and the workers of a Ray cluster have the same."""
    kind = (into is draft.secrets, value.text)
    known = draft.variables.setdefault(key.name, kind)
    if known != kind:
        why = f"is not carried over: the head has another `{shown((key.name,))}`, and a run has one"
        item.ledger.report(item, why, "set it in the program, where the two must differ")
        return
    if key.name in draft.carried:
        return
    draft.carried.add(key.name)
    if key.name.upper().startswith("NCCL_") and into is draft.env:
        draft.put("execution.allow_nccl_override", True)
    into[key] = value


def reserved(draft: Draft, name: str) -> tuple[str, str] | None:
    """Why a run may not set a variable, and what to do instead."""
    torchrun = draft.document.get("execution", {}).get("launcher") == "torchrun"
    blank = Scalar(draft.ledger.root.span, "", False)
    return reserved_name(name, torchrun, True) or (of_ray(name, blank) if draft.ray else None)

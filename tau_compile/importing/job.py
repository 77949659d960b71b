"""A Kubernetes Job or RayJob → a tau.yaml, and the small program beside it that starts what the object started."""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import Diagnostic, has_errors, warning
from tau_compile.emit.yaml import dump
from tau_compile.importing import notes, own, own_program, pods, ray, volumes
from tau_compile.importing.documents import Object, objects, text, wanted
from tau_compile.importing.draft import WHYS, Draft
from tau_compile.importing.ledger import Ledger
from tau_compile.importing.placement import placement
from tau_compile.importing.result import Made, checked, made
from tau_compile.importing.words import SECRET_WORDS, flags, holds_secret, script, torchrun
from tau_compile.schema import store
from tau_compile.source.nodes import Mapping, Scalar, find
from tau_compile.workload.names import suggested_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tau_compile.importing.ledger import At
    from tau_compile.policy.model import Cluster

KINDS = {"Job": "batch", "RayJob": "ray.io"}
_BESIDE = {"ConfigMap": "", "Service": ""}
_QUEUE, _CLASS = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"


def import_job(files: Iterable[tuple[str, bytes]], clusters: tuple[Cluster, ...] = ()) -> Made:
    """A tau.yaml for each Job and RayJob; in folders by name when there are several.

    ``clusters`` are those of the repository, if there is one: they tell GPU classes and topologies by name.
    """
    said: list[Diagnostic] = []
    found: list[Object] = []
    for label, data in files:
        found += objects(data, label, said)
    kept = wanted(found, {**KINDS, **_BESIDE}, "job", said)
    jobs = [item for item in kept if item.kind in KINDS]
    if kept and not jobs:
        wanted(kept, KINDS, "job", said)
    if has_errors(said) or not jobs:
        return made((), found, said)
    code = _config_maps(kept)
    written: dict[str, str | bytes] = {}
    used: set[str] = set()
    programs: set[str] = set()
    for item in jobs:
        draft = Draft(item, Ledger(item, said, WHYS[item.kind]), clusters, code)
        document = _convert(draft, said)
        if document is None:
            continue
        if document["name"] in used:
            message = f"{item.title}: there is another object of this name, and this one is left out"
            said.append(warning("TAU395", message, item.node.span, "import it apart"))
            continue
        used.add(document["name"])
        top = f"{document['name']}/" if len(jobs) > 1 else ""
        written[f"{top}tau.yaml"] = dump(document, keep_order=True)
        written |= {f"{top}{path}": content for path, content in draft.files.items()}
        programs |= {f"{top}{path}" for path in draft.programs}
    _others(kept, any(own.is_ours(item) for item in jobs), said)
    return made(written.items(), found, said, programs)


def _convert(draft: Draft, said: list[Diagnostic]) -> dict[str, Any] | None:
    ledger, root = draft.ledger, draft.ledger.root
    draft.own = own.is_ours(draft.item)
    draft.put("name", _name(draft))
    root.get("metadata.namespace").take()
    draft.put("policy.namespace", root.get("metadata.namespace").node)
    labels = root.get("metadata.labels")
    draft.put(
        "policy.queue", labels.key(_QUEUE).scalar() or root.get("metadata.annotations").key(_QUEUE).scalar()
    )
    draft.put("policy.workload_priority_class", labels.key(_CLASS).scalar())
    deadline = root.get("spec.activeDeadlineSeconds")
    if deadline.peek().isdigit() and isinstance(deadline.node, Scalar):
        deadline.take()
        draft.put("run.max_duration", Scalar(deadline.node.span, f"{deadline.peek()}s", False))
    root.get("spec.backoffLimit").same("0")
    root.get("spec.suspend").same("true", "false")
    if draft.own:
        own.labels(draft)
    if draft.ray:
        ray.convert(draft)
    else:
        _job(draft)
    ledger.rest()
    if "image" not in draft.document.get("runtime", {}):
        message = f"{draft.item.title} names no image"
        said.append(warning("TAU397", message, root.span, "add `runtime: {image: NAME:TAG}`"))
    return checked(draft.finished(), draft.item.node.span, store.tau(), "tau.yaml", said)


def _name(draft: Draft) -> Scalar | None:
    root = draft.ledger.root
    given = root.get("metadata.name")
    if not given.peek():
        given = root.get("metadata.generateName")
    root.get("metadata.generateName").take()
    written = given.scalar()
    if written is None:
        return Scalar(root.span, "imported", False)
    name = own.name(draft) if draft.own else suggested_name(written.text, 50)
    if name != written.text.removesuffix("-") and not draft.own:
        draft.ledger.said.append(
            warning(
                "TAU397",
                f"`{written.text[:80]}` cannot be the name of a workload; it is called `{name or 'imported'}`",
                written.span,
                "names have lower-case letters, digits and dashes, begin with a letter and have room for the run's own ending",
            )
        )
    return Scalar(written.span, name or "imported", False)


def _job(draft: Draft) -> None:
    root = draft.ledger.root
    spec = pods.pod(draft, root.get("spec.template"))
    main = pods.container(draft, spec, "main" if draft.own else "")
    for path, words in (
        ("manualSelector", ("false",)),
        ("podReplacementPolicy", ("TerminatingOrFailed",)),
    ):
        root.get(f"spec.{path}").same(*words)
    if root.get("spec.manualSelector").peek() != "true":
        root.get("spec.selector").skip()  # made by the API server, from the Job's uid
    nodes = _nodes(root)
    draft.put("runtime.image", main.key("image").scalar())
    if draft.own:
        own_program.job(draft, spec, main, nodes)
    else:
        _command(draft, main, nodes)
    pods.sizes(draft, main, "")
    pods.environment(draft, main)
    volumes.read_mounts(draft, spec, main)
    placement(draft, root.get("spec.template"), spec)
    notes.sizes(draft, main, "")
    if not draft.own:
        notes.directory(draft, main)


def _nodes(root: At) -> int:
    """The pods of one group; 1 where the Job is no such group, and what says otherwise stays open."""
    spec = root.get("spec")
    number, other = spec.key("completions").peek() or "1", spec.key("parallelism").peek() or "1"
    if number == other == "1":
        for key in ("completions", "parallelism"):
            spec.key(key).take()
        spec.key("completionMode").same("NonIndexed", "Indexed")
        return 1
    indexed = spec.key("completionMode").peek() == "Indexed"
    return int(number) if indexed and number == other and number.isdigit() and len(number) < 5 else 1


def take_nodes(draft: Draft, nodes: int) -> None:
    """The Job's pods are one group of torchrun."""
    spec = draft.ledger.root.get("spec")
    draft.put("execution.launcher", "torchrun")
    draft.put("execution.nodes", spec.key("completions").scalar() if nodes > 1 else None)
    spec.key("parallelism").take()
    spec.key("completionMode").take()


def _command(draft: Draft, main: At, nodes: int) -> None:
    """What the container runs: the image's own program with flags, or a script beside tau.yaml."""
    names = {item.key("name").peek() for item in main.key("env").items()} - {""}
    command, args = main.key("command"), main.key("args")
    words, more = _words(command), _words(args)
    directory = main.key("workingDir")
    if secret_words(draft, main, [*words, *more]):
        return
    if words:
        full = [*words, *more]
        group = torchrun(full, nodes) if nodes > 1 else None
        if group is not None:
            take_nodes(draft, nodes)
            draft.put("execution.processes_per_node", int(group.processes[:6]) if group.processes else None)
            draft.put("execution.configs", dict(group.configs))
            _ship(draft, "start.py", group.script())
            parts = [*command.items(), *args.items()]
            for place in group.placed:
                parts[place].drop(
                    "is not carried over: tau-compile tells each node its place", "nothing need be done"
                )
        else:
            _ship(draft, "start.sh", script(full, names))
        for part in (*command.items(), *args.items()):
            if part.path not in draft.ledger.done:
                part.take()
    elif more:
        configs = flags(more)
        if configs is None or "$(" in "".join(more):
            args.drop(
                "is not carried over: an image's own program gets flags only, `--name` or `--name=value`, each once",
                "write the program too: find it with `docker inspect` (Entrypoint) and put it into `command`",
                "TAU399",
            )
        else:
            args.take()
            draft.put("execution.configs", {key: _plain(value) for key, value in configs.items()})
    if directory.peek().startswith("/") and directory.peek() != "/":
        draft.put("runtime.working_dir", directory.scalar())


def _plain(value: str) -> str:
    return value.replace("$$", "$")


def secret_words(draft: Draft, main: At, words: Sequence[str]) -> bool:
    """Whether a command holds a credential; then it is reported and not copied."""
    if not holds_secret(words):
        return False
    for key in ("command", "args"):
        main.key(key).drop(*SECRET_WORDS, "TAU398")
    return True


def _words(at: At) -> list[str]:
    items = at.items()
    return [item.peek() for item in items] if all(isinstance(item.node, Scalar) for item in items) else []


def _ship(draft: Draft, name: str, content: str) -> None:
    draft.put("run.entrypoint", name)
    draft.files[name] = content


def _config_maps(found: list[Object]) -> dict[str, dict[str, str | bytes]]:
    """The files of ConfigMaps: name → key → content."""
    made: dict[str, dict[str, str | bytes]] = {}
    for item in found:
        if item.kind != "ConfigMap":
            continue
        content = made.setdefault(item.name, {})
        for section in ("data", "binaryData"):
            values = find(item.node, section)
            for entry in values.entries if isinstance(values, Mapping) else ():
                word = text(entry.value)
                try:
                    content[entry.key.name] = word if section == "data" else b64decode(word, validate=True)
                except ValueError:
                    continue
    return made


def _others(found: list[Object], ours: bool, said: list[Diagnostic]) -> None:
    """ConfigMaps and Services beside a Job of others are not made again."""
    for item in found:
        if item.kind in _BESIDE and not (ours and own.is_ours(item)):
            said.append(
                warning(
                    "TAU395",
                    f"{item.title} is not made again: a run brings files of its own, and serves nothing",
                    item.node.span,
                    "see that the folder of tau.yaml has the files that the program needs",
                )
            )

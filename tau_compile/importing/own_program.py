"""The program of a Job or RayJob that tau-compile rendered: its file, launcher and flags, and the files that ship."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tau_compile.diagnostics import error
from tau_compile.importing.own import parsed
from tau_compile.importing.words import flags
from tau_compile.source.nodes import Scalar

if TYPE_CHECKING:
    from tau_compile.importing.draft import Draft
    from tau_compile.importing.ledger import At

_ASSETS = 8  # of one run
_TREE = ("/tau/code/", "/tau/source/")
# What the workspace, the cluster or tau-compile itself gives every pod.
_OF_PLATFORM = ("serviceAccountName", "tolerations", "imagePullSecrets", "affinity", "subdomain")


def job(draft: Draft, spec: At, main: At, nodes: int) -> None:
    """The program of a Job."""
    _pod(draft, draft.ledger.root.get("spec.template"), spec)
    argv = _argv(draft, spec)
    if not argv:
        main.key("command").skip(lambda at: not at.below())
        args = [item.peek() for item in main.key("args").items()]
        configs = flags(args)
        if configs is not None:
            main.key("args").take()
            draft.put("execution.configs", {key: value.replace("$$", "$") for key, value in configs.items()})
        draft.put("runtime.working_dir", main.key("workingDir").scalar())
        return
    main.key("command").skip()
    variables = _variables(main)
    if argv[:3] == ["python3", "-m", "torch.distributed.run"]:
        from tau_compile.importing.job import take_nodes

        take_nodes(draft, nodes)
        processes = variables.get("PET_NPROC_PER_NODE", "")
        draft.put("execution.processes_per_node", int(processes) if processes.isdigit() else None)
        argv = argv[3:]
        before = [word for word in argv[: _program(argv)] if word.startswith("--")]
        draft.put("execution.configs", flags(before))
    _entry(draft, argv, variables)
    _profiler(draft, variables)
    pip = draft.code.get(_code_name(spec), {}).get("tau.requirements.txt")
    draft.put("runtime.pip", pip.splitlines() if isinstance(pip, str) else None)
    _files(draft, spec, variables.get("TAU_WORKDIR") == "/tau/code")


def ray(draft: Draft, head: At, head_main: At, worker: At, worker_main: At) -> None:
    """The program of a RayJob."""
    spec = draft.ledger.root.get("spec")
    cluster = spec.get("rayClusterSpec")
    spec.key("entrypoint").skip()
    spec.key("submitterPodTemplate").skip()
    groups = cluster.key("workerGroupSpecs").items()
    _pod(draft, cluster.get("headGroupSpec.template"), head)
    if groups:
        _pod(draft, groups[0].key("template"), worker)
    for main in (head_main, worker_main):
        main.key("ports").skip()
    cluster.get("headGroupSpec.template.metadata.annotations").key(
        "kueue.x-k8s.io/podset-unconstrained-topology"
    ).skip()
    argv, variables = _argv(draft, head), _variables(head_main)
    if argv[1:2] == ["/tau/bin/tune_driver.py"]:
        draft.put("execution.launcher", "ray-tune")
        draft.put("execution.metric", variables.get("TAU_TUNE_METRIC"))
        draft.put("execution.mode", variables.get("TAU_TUNE_MODE"))
        for key, field in (
            ("NUM_SAMPLES", "num_samples"),
            ("MAX_CONCURRENT_TRIALS", "max_concurrent_trials"),
        ):
            draft.put(f"execution.{field}", _number(variables.get(f"TAU_TUNE_{key}", "")))
        draft.put("execution.configs", _nodes(parsed(variables.get("TAU_TUNE_PARAM_SPACE", ""))))
        argv = [variables.get("TAU_TUNE_TRAIN_PATH", ""), *argv[2:]]
    draft.put("execution.configs", _nodes(parsed(variables.get("TAU_RAY_TRAIN_CONFIG_JSON", ""))))
    _entry(draft, argv, variables)
    _files(draft, head, "tau.code.zip" in draft.code.get(_code_name(head), {}))


def _number(word: str) -> int | None:
    return int(word) if word.isdigit() and len(word) < 10 else None


def _nodes(value: Any) -> Any:
    """Settings, with their numbers as they are written in YAML."""
    if isinstance(value, float):
        from tau_compile.diagnostics import Span
        from tau_compile.emit.yaml import dump

        return Scalar(Span("", 1, 1, 1, 1), dump(value).strip(), True)
    if isinstance(value, dict):
        return {key: _nodes(inner) for key, inner in value.items()}
    return [_nodes(inner) for inner in value] if isinstance(value, list) else value


def _pod(draft: Draft, template: At, spec: At) -> None:
    """What every pod of a run has."""
    template.get("metadata.labels").skip()
    for key in _OF_PLATFORM:
        spec.key(key).skip()
    security = spec.key("securityContext")
    for item in spec.key("containers").items():
        item.key("envFrom").skip()
        if item.get("securityContext.runAsNonRoot").peek() == "true":
            draft.put("runtime.security.mode", "restricted")
        item.key("securityContext").skip()
    security.skip()
    for item in spec.key("initContainers").items():
        name, command = item.key("name").peek(), [word.peek() for word in item.key("command").items()]
        if name == "tau-source" and len(command) > 4:
            draft.put("run.source", {"image": item.key("image").node, "path": command[4]})
        elif name.startswith("tau-asset-") and len(command) > 3:
            _asset(draft, spec, item, name, command[3])
        elif name != "tau-code":
            continue
        item.skip()


def _asset(draft: Draft, spec: At, item: At, name: str, source: str) -> None:
    assets = draft.document.get("storage", {}).get("image_assets", [])
    if len(assets) >= _ASSETS:
        return
    short = name.removeprefix("tau-asset-")
    paths = [
        mount.key("mountPath").peek()
        for container in spec.key("containers").items()
        for mount in container.key("volumeMounts").items()
        if mount.key("name").peek() == name
    ]
    if paths and all(known["name"] != short for known in assets):
        made = {"name": short, "image": item.key("image").node, "source_path": source, "mount_path": paths[0]}
        draft.put("storage.image_assets", [*assets, made])


def _variables(main: At) -> dict[str, str]:
    """Literal variables, as the program sees them."""
    return {
        item.key("name").peek(): item.key("value").peek().replace("$$", "$")
        for item in main.key("env").items()
    }


def _argv(draft: Draft, spec: At) -> list[str]:
    """The command that the run's start script runs; empty where the image's own program runs."""
    name = _code_name(spec)
    if name and name not in draft.code:
        item = draft.item
        message = f"{item.title} runs a program that lies in the ConfigMap `{name}`, and no file has that"
        cure = f"give it too: `kubectl get configmap {name} -n {item.namespace or 'NAMESPACE'} -o yaml`"
        draft.ledger.said.append(error("TAU399", message, item.node.span, cure))
    lines = draft.code.get(name, {}).get("tau.argv", "")
    return [_decoded(line) for line in lines.splitlines()] if isinstance(lines, str) else []


def _decoded(line: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], line)


def _code_name(spec: At) -> str:
    for volume in spec.key("volumes").items():
        if volume.key("name").peek() in ("tau-bin", "tau-code"):
            return volume.get("configMap.name").peek()
    return ""


def _program(argv: list[str]) -> int:
    """Where in a command the program is."""
    return next((n for n, word in enumerate(argv) if word.startswith(_TREE)), len(argv))


def _entry(draft: Draft, argv: list[str], variables: dict[str, str]) -> None:
    place = _program(argv)
    if place == len(argv):
        return
    path = argv[place].split("/", 3)[3]
    if argv[0] == "python3" and not path.endswith(".py"):
        draft.put("execution.launcher", "python")
    draft.put("run.entrypoint", path)
    rest = argv[place + 1 :]
    if rest[-2:-1] == ["--smoke-pairs"]:
        draft.put("run.smoke_pairs", _number(rest[-1]))
        rest = rest[:-2]
    draft.put("execution.configs", flags(rest))
    draft.put("workflow.upstream_checkpoint", variables.get("TAU_UPSTREAM_CHECKPOINT"))
    draft.put("storage.publish", "staged" if "TAU_OUTPUT_STAGING_DIR" in variables else None)
    directory = variables.get("TAU_WORKDIR", "")
    own = ("", "/data", "/tau/code", "/tau/source")
    draft.put("runtime.working_dir", directory if directory not in own else None)


def _profiler(draft: Draft, variables: dict[str, str]) -> None:
    mode = variables.get("TAU_PROFILE_MODE")
    if mode:
        draft.put("profiler", {"mode": mode, "rank": variables.get("TAU_PROFILE_RANK", "0")})
        for key, field in (("WARMUP", "warmup"), ("ACTIVE", "duration")):
            seconds = variables.get(f"TAU_PROFILE_{key}_SEC", "0")
            draft.put(f"profiler.{field}", f"{seconds}s" if seconds != "0" else None)


def _files(draft: Draft, spec: At, folder: bool) -> None:
    """The files that the run ships, beside tau.yaml."""
    name, entry = _code_name(spec), draft.document.get("run", {}).get("entrypoint")
    others = []
    for volume in spec.key("volumes").items():
        if volume.key("name").peek() != "tau-code":
            continue
        for item in volume.get("configMap.items").items():
            path, content = item.key("path").peek(), draft.code.get(name, {}).get(item.key("key").peek())
            clean = path and not path.startswith("/") and ".." not in path.split("/")
            if content is not None and clean and path != "tau.yaml":
                draft.files[path] = content
                others.append(path)
                if item.key("mode").peek():  # only files with an exec bit have one
                    draft.programs.add(path)
    if folder and "source" not in draft.document.get("run", {}):
        draft.put("run.working_dir", ".")
    else:
        draft.put("workflow.extra_scripts", [path for path in others if path != entry])

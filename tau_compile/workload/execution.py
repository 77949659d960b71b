"""``run`` and ``execution``: the program, its launcher and its flags (taugrid-config 1.4, 1.5)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tau_compile.source.nodes import Mapping, Scalar, Sequence
from tau_compile.source.scalars import plain_data, resolve
from tau_compile.workload.model import Launcher, Program, Tune

if TYPE_CHECKING:
    from tau_compile.source.nodes import Node
    from tau_compile.workload.model import Kind
    from tau_compile.workload.view import View

_LAUNCHERS: dict[Kind, tuple[Launcher, ...]] = {
    "job": ("python", "torchrun"),
    "rayjob": ("ray-train", "ray-tune"),
}
_FLAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z")
# torchrun flags that the rendered pods set themselves (taugrid-config 1.5).
_OWNED = frozenset(
    (
        "standalone",
        "nnodes",
        "nproc-per-node",
        "node-rank",
        "rdzv-backend",
        "rdzv-endpoint",
        "rdzv-id",
        "master-addr",
        "master-port",
        "module",
        "no-python",
        "run-path",
        "help",
    )
)
_TRAIN_SECTIONS = ("torch_config", "scaling_config", "failure_config")
_TUNE_ONLY = ("metric", "mode", "num_samples", "max_concurrent_trials")


def read_program(view: View, kind: Kind, gpus: int) -> Program:
    """The program and everything that shapes its command line. ``gpus`` is the number of each pod."""
    launcher = _launcher(view, kind)
    nodes = view.integer("execution.nodes", 1)
    entrypoint = view.text("run.entrypoint")
    _check_nodes(view, kind, launcher, nodes)
    processes = _processes(view, kind, launcher, gpus)
    flags = _flags(view, launcher) if launcher in ("python", "torchrun") else ()
    args = flags if launcher == "python" else ()
    if view.has("run.smoke_pairs"):
        args = (*args, "--smoke-pairs", str(view.integer("run.smoke_pairs", 1)))
    if kind == "rayjob" and not entrypoint:
        view.error(
            "TAU270",
            "a RayJob needs a program to run",
            view.node.span,
            "add `run: {entrypoint: train.py}` with the file that starts it",
        )
    return Program(
        launcher,
        view.has("execution.launcher"),
        entrypoint,
        view.span("run.entrypoint") if entrypoint else None,
        flags if launcher == "torchrun" else (),
        args,
        processes,
        _train_config(view) if launcher == "ray-train" else "",
        _tune(view, launcher),
    )


def _launcher(view: View, kind: Kind) -> Launcher:
    allowed = _LAUNCHERS[kind]
    given = view.text("execution.launcher")
    if not given:
        return allowed[0]
    if given not in allowed:
        engine = "RayJob" if kind == "rayjob" else "Job"
        other = "job" if kind == "rayjob" else "rayjob"
        view.error(
            "TAU257",
            f"launcher `{given}` does not start a {engine}",
            view.span("execution.launcher"),
            f"write {' or '.join(f'`{word}`' for word in allowed)}, or `{view.call('run.workload_kind')}: {other}`",
        )
        return allowed[0]
    return next(word for word in allowed if word == given)


def _check_nodes(view: View, kind: Kind, launcher: Launcher, nodes: int) -> None:
    if nodes > 1 and kind == "rayjob":
        view.refuse_key(
            "TAU255",
            "execution.nodes",
            "{} spreads a Job, and this is a RayJob",
            "write `compute.workers`, the number of Ray workers",
        )
    elif nodes > 1 and launcher != "torchrun":
        view.error(
            "TAU258",
            f"{nodes} nodes need a launcher that connects them",
            view.span("execution.nodes"),
            "add `execution: {launcher: torchrun}`",
        )


def _processes(view: View, kind: Kind, launcher: Launcher, gpus: int) -> int:
    default = gpus or 1
    given = view.integer("execution.processes_per_node", default if launcher == "torchrun" else 1)
    if launcher != "torchrun":
        if given > 1:
            view.error(
                "TAU259",
                f"{given} processes on each node need torchrun",
                view.span("execution.processes_per_node"),
                "add `execution: {launcher: torchrun}`",
            )
        elif kind == "rayjob" and view.own("execution.processes_per_node"):
            view.warning(
                "TAU903",
                f"`{view.name('execution.processes_per_node')}` has no effect on Ray",
                view.key_span("execution.processes_per_node"),
                "remove the line",
            )
        return 1
    if gpus and given > gpus:
        view.error(
            "TAU260",
            f"{given} processes on each node, and only {gpus} GPUs",
            view.span("execution.processes_per_node"),
            f"write {gpus}, or leave it out: one process for each GPU is the default",
        )
    elif gpus and given < gpus:
        view.warning(
            "TAU901",
            f"{given} processes on each node leave {gpus - given} of {gpus} GPUs idle",  # B-32
            view.span("execution.processes_per_node"),
            "leave it out: one process for each GPU is the default",
        )
    return given


def _flags(view: View, launcher: Launcher) -> tuple[str, ...]:
    """``execution.configs`` as command-line flags, sorted by name; an empty string is a bare flag."""
    configs = view.mapping("execution.configs")
    flags: dict[str, str] = {}
    seen: dict[str, str] = {}
    for entry in configs.entries if configs else ():
        name, value = entry.key.name, entry.value
        if not _FLAG.match(name) or len(name) > 128:
            view.error(
                "TAU264",
                f"`{name}` cannot be a flag",
                entry.key.span,
                "flags are letters, digits, '_', '-' and '.', and start with a letter or digit",
            )
            continue
        if not isinstance(value, Scalar) or resolve(value) is None:
            view.error(
                "TAU264",
                f"flag `{name}` needs a text, a number or a boolean",
                value.span,
                f'write `{name}: VALUE`, or `{name}: ""` for a flag without a value',
            )
            continue
        owned = _owned(name) if launcher == "torchrun" else ""
        if owned:
            whole = owned == name.replace("_", "-").lower()
            what = f"torchrun flag `{name}`" if whole else f"torchrun reads `{name}` as `{owned}`, which"
            view.error(
                "TAU265",
                f"{what} {'ends it at once' if owned == 'help' else 'is set by tau-compile'}",
                entry.key.span,
                "remove it"
                if owned == "help"
                else "remove it; use execution.nodes and execution.processes_per_node",
            )
            continue
        same = seen.setdefault(name.replace("_", "-") if launcher == "torchrun" else name, name)
        if same != name:
            view.error(
                "TAU266",
                f"`{name}` and `{same}` are the same torchrun flag",
                entry.key.span,
                "remove one of the two",
            )
            continue
        flags[name] = _flag_value(value)
    return tuple(f"--{name}={flags[name]}" if flags[name] else f"--{name}" for name in sorted(flags))


def _owned(name: str) -> str:
    """The owned flag that torchrun would take a flag for, or "": it accepts the first letters of a flag too."""
    short = name.replace("_", "-").lower()
    return short if short in _OWNED else min((flag for flag in _OWNED if flag.startswith(short)), default="")


def _flag_value(value: Scalar) -> str:
    read = resolve(value)
    if isinstance(read, bool):
        return "true" if read else "false"
    return value.text


def _train_config(view: View) -> str:
    configs = view.mapping("execution.configs")
    for entry in configs.entries if configs else ():
        name = entry.key.name
        if name in _TRAIN_SECTIONS and not isinstance(entry.value, Mapping):
            view.error(
                "TAU267",
                f"`{name}` must be a mapping",
                entry.key.span,
                f"write its settings as keys: `{name}: {{...}}`",
            )
            continue
        if name not in _TRAIN_SECTIONS or not isinstance(entry.value, Mapping):
            view.error(
                "TAU267",
                f"`{name}` is not a section of Ray Train",
                entry.key.span,
                f"sections are {', '.join(f'`{s}`' for s in _TRAIN_SECTIONS)}, each a mapping; "
                "pass other settings through runtime.env",
            )
            continue
        for inner in entry.value.entries if name == "scaling_config" else ():
            if inner.key.name in ("num_workers", "resources_per_worker"):
                view.error(
                    "TAU268",
                    f"`scaling_config.{inner.key.name}` is set by tau-compile",
                    inner.key.span,
                    "remove it; use compute.workers and the sizes under compute",
                )
    return _json(configs) if configs else ""


def _tune(view: View, launcher: Launcher) -> Tune | None:
    if launcher != "ray-tune":
        _no_tune(view)
        return None
    metric = view.text("execution.metric")
    if not metric:
        view.error(
            "TAU262",
            "ray-tune needs the metric that decides",
            view.span("execution.launcher"),
            "add `execution.metric` with the name your train_func reports, such as loss",
        )
    configs = view.mapping("execution.configs")
    if configs is None or not configs.entries:
        view.error(
            "TAU269",
            "ray-tune needs a search space",
            view.span("execution.launcher"),
            "add `execution.configs`, for example `lr: [0.001, 0.01]`",
        )
    else:
        _check_space(view, configs, "execution.configs")
    if view.text("storage.publish") == "staged":
        view.error(
            "TAU284",
            "the trials of ray-tune write their results from every worker, so they cannot be staged in one place",
            view.span("storage.publish"),
            "remove `publish`",
        )
    samples = view.integer("execution.num_samples", 1)
    concurrent = view.integer("execution.max_concurrent_trials", 1)
    trials = samples * (_points(configs) if configs else 1)
    if concurrent > trials:
        view.error(
            "TAU297",
            f"{concurrent} trials at a time, and the search has only {trials}",
            view.span("execution.max_concurrent_trials"),
            f"write {trials} or less, or raise execution.num_samples",
        )
    return Tune(
        metric, view.text("execution.mode", "min"), samples, concurrent, _json(configs) if configs else "{}"
    )


def _check_space(view: View, node: Mapping, where: str) -> None:
    """Refuse lists in which there is nothing to try."""
    for entry in node.entries:
        path = f"{where}.{entry.key.name}"
        if isinstance(entry.value, Mapping):
            _check_space(view, entry.value, path)
        elif isinstance(entry.value, Sequence) and not entry.value.items:
            view.error(
                "TAU269",
                f"`{path}` is an empty list: nothing to try",
                entry.value.span,
                "list the values to try, or remove the line",
            )


def _no_tune(view: View) -> None:
    for name in _TUNE_ONLY:
        if view.has(f"execution.{name}"):
            view.refuse_key(
                "TAU263",
                f"execution.{name}",
                "{} only takes effect with Ray Tune",
                "add `launcher: ray-tune` under execution, or remove the key",
            )


def _points(node: Node) -> int:
    """Points of the grid: the product of the lengths of its lists."""
    if isinstance(node, Mapping):
        product = 1
        for entry in node.entries:
            product *= _points(entry.value)
        return product
    return max(1, len(node.items)) if isinstance(node, Sequence) else 1


def _json(node: Node) -> str:
    import json

    return json.dumps(plain_data(node), sort_keys=True, ensure_ascii=False, separators=(",", ":"))

"""Many workloads in one process, and where the time goes. Run by the environment that is measured: ``many.py FOLDER COUNT``.

Prints a JSON object: milliseconds of processor time a workload, in all (``total``) and by part, each part without those inside.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from tau_compile.cli.inputs import Inputs
from tau_compile.compiler import compile_file
from tau_compile.emit.yaml import dump_all

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 5
# What is called from where, from the start of a compilation to its end.
PARTS = {
    "read": ("tau_compile.intent", "read"),
    "check": ("tau_compile.compiler", "read_document"),
    "code, identity": ("tau_compile.compiler", "read_intent"),
    "resolve": ("tau_compile.compiler", "resolve"),
    "workload": ("tau_compile.compiler", "build"),
    "render": ("tau_compile.render.manifests", "render"),
    "templates": ("tau_compile.render.packaged", "text"),
    "parse": ("tau_compile.render.templates", "read"),
    "judge": ("tau_compile.rules.output", "check_objects"),
}
SHAPES = (
    """\
run: {{entrypoint: train.py, workload_kind: rayjob}}
compute: {{gpus: {gpus}, workers: {nodes}, cpus: {cpus}, memory: {cpus}Gi}}
runtime:
  image: registry.example/team/ray:py3.12-ray2.56.0-cuda13.0
  pip: [torch>=2.4.{number}]
""",
    """\
run: {{entrypoint: train.py}}
compute: {{gpus: {gpus}, cpus: {cpus}, memory: {cpus}Gi}}
execution: {{launcher: torchrun}}
runtime:
  image: registry.example/team/train:v{number}
""",
)


def write(folder: str, count: int) -> list[str]:
    """``count`` workloads that differ in everything a user would change; their tau.yaml files."""
    paths = []
    for number in range(count):
        place = os.path.join(folder, "workloads", f"w{number}")
        os.makedirs(place, exist_ok=True)
        shape = SHAPES[number % 2].format(
            gpus=1 + number % 8, nodes=1 + number % 3, cpus=4 + number % 29, number=number
        )
        text = f"schema_version: 1\nname: training-{number}\n{shape}  env:\n  - {{name: LEARNING_RATE, value: '{number}e-5'}}\n"
        for name, content in (("tau.yaml", text), ("train.py", f"RATE = {number}\nprint(RATE)\n" * 20)):
            with open(os.path.join(place, name), "w") as file:
                file.write(content)
        paths.append(os.path.join(place, "tau.yaml"))
    with open(os.path.join(folder, "tau-compile.yaml"), "w") as file:
        file.write("include: [workloads/**/tau.yaml]\n")
    return paths


def compile_all(paths: list[str]) -> None:
    """What ``render`` does for each of the files."""
    inputs = Inputs(paths[0])
    for path in paths:
        compiled = compile_file(inputs.repository, *inputs.read(path))
        assert compiled.objects, compiled.diagnostics
        dump_all(compiled.objects)


class Clock:
    """Exclusive times of nested parts."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.inside = [0.0]

    def watch(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with its time counted."""

        def watched(*args: Any, **kwargs: Any) -> Any:
            self.inside.append(0.0)
            start = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                whole = time.process_time() - start
                self.spent[part] += whole - self.inside.pop()
                self.inside[-1] += whole

        return watched


def main(folder: str, count: int) -> dict[str, Any]:
    """Measure."""
    paths = write(folder, count)
    compile_all(paths[:10])  # schemas and skeletons are made once a process
    seconds = []
    for _ in range(ROUNDS if count <= 100 else 2):
        start = time.process_time()
        compile_all(paths)
        seconds.append(time.process_time() - start)
    clock = Clock()
    for part, (module, name) in PARTS.items():
        home = importlib.import_module(module)
        setattr(home, name, clock.watch(part, getattr(home, name)))
    globals()["dump_all"] = clock.watch("emit", dump_all)
    clock.watch("rest", compile_all)(paths)
    each = {
        part: spent * 1000 / count for part, spent in sorted(clock.spent.items(), key=lambda item: -item[1])
    }
    return {"total": min(seconds) * 1000 / count, "parts": each}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]))))

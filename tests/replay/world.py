"""A repository, the job on its main branch, a collector, and a cluster that an agent keeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tau_compile.diagnostics import has_errors
from tau_compile.runs.record import restated
from tau_compile.runs.tree import manifest_paths
from tests.replay.agent import Cluster
from tests.replay.repo import files
from tests.runs.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.replay.agent import Argo, Flux

FOLDER = "rendered/east/runs/vision"
RAY = """\
schema_version: 1
name: ray
run: {entrypoint: train.py, workload_kind: rayjob}
compute: {gpus: 1, workers: 1, memory: 64Gi}
runtime: {image: "example.com/ray:py3.12-ray2.54.0"}
"""
Tree = dict[str, bytes]


class World:
    """``spoil`` changes each commit's tree before the agent sees it."""

    def __init__(self, agent: Callable[[Cluster], Flux | Argo], spoil: Callable[[Tree], Tree] = dict) -> None:
        contents = {path: text for path, text in files().items() if "speech" not in path}
        contents |= {"workloads/vision/ray/tau.yaml": RAY, "workloads/vision/ray/train.py": "print('ray')\n"}
        contents["overlays/workspaces/speech.yaml"] = files()["overlays/workspaces/speech.yaml"]
        self.repo = Memory(contents)
        self.cluster = Cluster()
        self.agent = agent(self.cluster)
        self.spoil = spoil
        self.history: list[Tree] = []
        self.seen = 0  # the commit that the agent works from
        self.deleted: dict[str, int] = {}  # live objects that somebody deleted by hand, while Git wanted them
        self.retired: dict[str, int] = {}  # starts when the agent first saw the retirement
        self.job()

    # --- what happens in Git

    def job(self) -> None:
        """The serialised job on the base branch."""
        self.repo.build()
        assert not has_errors(self.repo.said), [said.message for said in self.repo.said]
        self.commit()

    def commit(self) -> None:
        self.repo.commit()
        self.history.append(self.spoil(dict(self.repo.files)))

    def edit(self, name: str, text: str) -> None:
        self.repo.files[f"workloads/vision/{name}/train.py"] = f"print({text!r})\n".encode()
        self.commit()

    def replace(self, name: str, text: str) -> None:
        path = f"workloads/vision/{name}/tau.yaml"
        if b"on_change" not in self.repo.files[path]:
            self.repo.files[path] = self.repo.files[path].replace(
                b"max_duration: 4h", b"max_duration: 4h\n  on_change: replace"
            )
        self.edit(name, text)

    def policy(self, text: str) -> None:
        self.repo.files["overlays/platform.yaml"] = (
            "apiVersion: tau-compile/v1\nkind: Platform\nmetadata: {name: lab}\n"
            f"defaults: {{runtime: {{env: {{P: {text}}}}}}}\n"
        ).encode()
        self.commit()

    def patch(self, text: str) -> None:
        """Patches of one workspace, for every kind of run."""
        path = "overlays/workspaces/vision.yaml"
        plain = self.repo.files[path].decode().partition("patches:")[0]
        patches = "".join(
            f"- {{target: {{kind: {kind}}}, patch: {{metadata: {{annotations: {{example.com/p: {text}}}}}}}}}\n"
            for kind in ("Job", "RayJob")
        )
        self.repo.files[path] = f"{plain}patches:\n{patches}".encode()
        self.commit()

    def delete_source(self, name: str) -> None:
        for file in ("tau.yaml", "train.py"):
            self.repo.files.pop(f"workloads/vision/{name}/{file}", None)
        self.commit()

    def cancel(self, choice: int) -> None:
        active = [record for record in self.repo.records().values() if record.state == "active"]
        if active:
            record = active[choice % len(active)]
            self.repo.files[record.path] = restated(self.repo.files[record.path], record.cancelled()).encode()
            for path in manifest_paths(record):
                self.repo.files.pop(path)
            self.commit()

    def collect(self) -> None:
        """The collector commits how runs ended."""
        for record in self.repo.records().values():
            key = ("Job" if record.kind == "job" else "RayJob", record.namespace, record.run)
            live = self.cluster.objects.get(key)
            if live is not None and live.phase == "finished":
                self.repo.tell_end(record)
        self.commit()

    # --- what happens in the cluster

    def sync(self, lag: int = 0) -> None:
        """The agent looks at a commit no older than the one it saw last."""
        self.seen = max(self.seen, len(self.history) - 1 - lag)
        tree = self.history[self.seen]
        over = {
            record["run"]
            for path, data in tree.items()
            if path.startswith("runs/") and (record := json.loads(data))["state"] in ("retired", "cancelled")
        }
        self.agent.sync(tree)
        for run in over:
            self.retired.setdefault(run, self.cluster.starts.get(run, 0))

    def admit(self) -> None:
        self.cluster.admit()

    def finish(self, choice: int) -> None:
        running = self.cluster.runs("running")
        if running:
            self.cluster.finish(running[choice % len(running)][2])

    def clean_up(self) -> None:
        self.cluster.clean_up()

    def delete_live(self, choice: int) -> None:
        """Somebody deletes an object by hand. What Git still wants comes back: that is documented, and counted here."""
        live = self.cluster.runs()
        if live:
            key = live[choice % len(live)]
            self.cluster.objects.pop(key)
            self.deleted[key[2]] = self.deleted.get(key[2], 0) + 1

    # --- what must not happen

    def wrong(self) -> list[str]:
        found = [f"edited {run}" for run in self.cluster.edited]
        for run, starts in self.cluster.starts.items():
            if starts > 1 + self.deleted.get(run, 0):
                found.append(f"started {run} {starts} times")
            if run in self.retired and starts > self.retired[run]:
                found.append(f"started {run} after its end was known")
        over = {r.run for r in self.repo.records().values() if r.state in ("retired", "cancelled")}
        found += [f"stopped {run}" for run in self.cluster.stopped if run not in over]
        if self.seen == len(self.history) - 1:
            found += [f"kept {key[2]}" for key in self.cluster.runs() if key[2] in over & self.retired.keys()]
        return found

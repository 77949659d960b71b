"""A model of a cluster, of Kueue, and of the two GitOps agents, as far as they decide about runs.

Modelled, with the facts' numbers: Flux applies server-side and resets every field that Git has (F8), skips an object with
`ssa: IfNotPresent` that exists (F6), creates it again when it is missing (F7), and prunes what left its inventory (F2, F7b).
Argo CD makes one attempt a commit unless it heals itself (A54), prunes what it owns and Git no longer has, refuses to empty an
application (A57), and with RespectIgnoreDifferences leaves ignored fields of existing objects alone (A42). A Job's template
cannot be changed (G5). Kueue writes into what it admits (A53, G8). A TTL deletes a finished Job (A55).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

RUNS = ("Job", "RayJob")
Key = tuple[str, str, str]
LISTED = "kustomization.yaml"


@lru_cache(maxsize=4096)
def load(data: bytes) -> Any:
    """A manifest, which nobody may change."""
    return yaml.load(data, yaml.CSafeLoader)


@dataclass
class Live:
    """An object in the cluster."""

    manifest: dict[str, Any]
    phase: str = "queued"


@dataclass
class Cluster:
    """What is there, and what has happened to runs: starts and edits by name, and what was stopped before its end."""

    objects: dict[Key, Live] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)
    edited: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)

    def create(self, manifest: Mapping[str, Any]) -> None:
        kind, _, name = key = key_of(manifest)
        self.objects[key] = Live(copy.deepcopy(dict(manifest)))
        if kind in RUNS:
            self.starts[name] = self.starts.get(name, 0) + 1

    def change(self, manifest: Mapping[str, Any]) -> bool:
        """Put Git's fields in the place of the live ones; False when the API server refuses it."""
        kind, _, name = key = key_of(manifest)
        live = self.objects[key].manifest
        if contains(live, manifest):
            return True
        if kind == "Job" and not contains(live["spec"]["template"], manifest["spec"]["template"]):
            return False
        overlay(live, manifest)
        if kind in RUNS:
            self.edited.append(name)
        return True

    def delete(self, key: Key) -> None:
        live = self.objects.pop(key)
        if key[0] in RUNS and live.phase != "finished":
            self.stopped.append(key[2])

    def runs(self, phase: str = "") -> list[Key]:
        return sorted(
            key for key, live in self.objects.items() if key[0] in RUNS and phase in ("", live.phase)
        )

    def admit(self) -> None:
        """Kueue lets everything start that waits, and writes where it runs into its pod templates."""
        for key in self.runs("queued"):
            live = self.objects[key]
            live.phase = "running"
            spec = live.manifest["spec"]
            spec["suspend"] = False
            if key[0] == "Job":
                spec["template"]["spec"]["nodeSelector"] = {"flavor": "a100"}
            else:
                for group in spec["rayClusterSpec"]["workerGroupSpecs"]:
                    group["template"]["spec"]["nodeSelector"] = {"flavor": "a100"}

    def finish(self, name: str) -> None:
        for key in self.runs("running"):
            if key[2] == name:
                self.objects[key].phase = "finished"

    def clean_up(self) -> None:
        """The TTL controller: a finished Job goes; of a RayJob only its RayCluster does (R51)."""
        for key in self.runs("finished"):
            if key[0] == "Job" and "ttlSecondsAfterFinished" in self.objects[key].manifest["spec"]:
                self.delete(key)


def key_of(manifest: Mapping[str, Any]) -> Key:
    return manifest["kind"], manifest["metadata"]["namespace"], manifest["metadata"]["name"]


def contains(live: Any, wanted: Any) -> bool:
    """Whether every field that Git has is as Git has it. Lists are atomic (G8)."""
    if isinstance(wanted, dict):
        return isinstance(live, dict) and all(
            name in live and contains(live[name], item) for name, item in wanted.items()
        )
    return bool(live == wanted)


def overlay(live: dict[str, Any], wanted: Mapping[str, Any]) -> None:
    for name, item in wanted.items():
        if isinstance(item, dict) and isinstance(live.get(name), dict):
            overlay(live[name], item)
        else:
            live[name] = copy.deepcopy(item)


class Flux:
    """A Kustomization with `prune: true` over a folder of runs, reconciled at every interval."""

    def __init__(self, cluster: Cluster, folder: str) -> None:
        self.cluster, self.folder = cluster, folder
        self.inventory: set[Key] = set()

    def sync(self, tree: Mapping[str, bytes]) -> None:
        wanted = {key_of(manifest): manifest for manifest in self.build(tree)}
        for key, manifest in wanted.items():
            annotations = manifest["metadata"].get("annotations", {})
            once = annotations.get("kustomize.toolkit.fluxcd.io/ssa") == "IfNotPresent"
            if key not in self.cluster.objects:
                self.cluster.create(manifest)
            elif not once:
                self.cluster.change(manifest)
        for key in sorted(self.inventory - wanted.keys()):
            if key in self.cluster.objects:
                self.cluster.delete(key)
        self.inventory = set(wanted)

    def build(self, tree: Mapping[str, bytes]) -> list[dict[str, Any]]:
        """What the kustomization.yaml of each folder lists; a folder without one gives every YAML file in it (F13)."""
        folders: dict[str, dict[str, bytes]] = {}
        for path, data in tree.items():
            if path.startswith(f"{self.folder}/"):
                above, _, name = path.rpartition("/")
                folders.setdefault(above, {})[name] = data
        found = []
        for names in folders.values():
            listed = (
                load(names[LISTED])["resources"]
                if LISTED in names
                else [n for n in names if n.endswith(".yaml")]
            )
            found += [load(names[name]) for name in sorted(listed)]
        return found


class Argo:
    """An Application with auto-sync and prune over a folder of runs, `directory.recurse`, without kustomization.yaml files."""

    def __init__(self, cluster: Cluster, folder: str, heals: bool = True, ignores: bool = True) -> None:
        self.cluster, self.folder, self.heals, self.ignores = cluster, folder, heals, ignores
        self.owned: set[Key] = set()
        self.tried: dict[str, bytes] | None = None

    def sync(self, tree: Mapping[str, bytes]) -> None:
        here = {path: data for path, data in tree.items() if path.startswith(f"{self.folder}/")}
        if here == self.tried and not self.heals:
            return
        self.tried = here
        wanted = {
            key_of(manifest): manifest
            for path, data in sorted(here.items())
            if path.endswith(".yaml") and not path.endswith(f"/{LISTED}")
            for manifest in [load(data)]
        }
        if not wanted and self.owned:
            return  # "auto-sync will wipe out all resources"
        for key, manifest in wanted.items():
            self.owned.add(key)
            if key not in self.cluster.objects:
                self.cluster.create(manifest)
                continue
            if self.ignores and key[0] in RUNS:
                manifest = {name: item for name, item in manifest.items() if name != "spec"}
            self.cluster.change(manifest)
        for key in sorted(self.owned - wanted.keys()):
            if key in self.cluster.objects:
                self.cluster.delete(key)
            self.owned.discard(key)

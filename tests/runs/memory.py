"""A repository in memory that builds, commits and retires: the pure parts of a build, without disk and Git."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tau_compile.checkout.effects import change, effects
from tau_compile.checkout.records import Known, is_record
from tau_compile.checkout.sources import Surveyor
from tau_compile.compiler import Repository
from tau_compile.diagnostics import Diagnostic, has_errors
from tau_compile.policy.former import workspace_names
from tau_compile.runs.evidence import folder_of, outcome_of
from tau_compile.runs.model import Action, Limits, Plan, State
from tau_compile.runs.plan import launched, plan
from tau_compile.runs.record import Ended, Record, from_json
from tau_compile.runs.tree import digest
from tau_compile.settings import load
from tau_compile.source.files import SourceFile
from tau_compile.source.project import packaged_overlays
from tests.workload.memory_tree import MemoryTree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tau_compile.runs.model import Source

PACKAGED = packaged_overlays()


class Memory:
    """``files`` is the work tree, ``base`` the files that are on the base branch; ``executable`` paths have the bit set."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.files = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
        self.base: dict[str, bytes] = {}
        self.executable: set[str] = set()
        self.said: list[Diagnostic] = []

    def commit(self) -> None:
        """What is in the tree is on the base branch."""
        self.base = dict(self.files)

    def build(self) -> tuple[Action, ...]:
        """Build; nothing changes when there are errors. What was done, without what was kept."""
        made, writes, deletes = self.planned()
        if not has_errors(self.said):
            self.files |= writes
            for path in deletes:
                self.files.pop(path, None)
        return tuple(action for action in made.actions if action.verb != "keep")

    def planned(self) -> tuple[Plan, dict[str, bytes], frozenset[str]]:
        repository = self.repository()
        overlays = repository.overlays.overlays
        self.said = list(repository.overlays.diagnostics)
        if overlays is None:
            return Plan({}, (), (), (), ()), {}, frozenset()
        names = {name: space.name for name, space in workspace_names(overlays).items()}
        known = self.known()
        state = State(known.tree, known.base, self.end, names)
        surveyor = Surveyor(repository, launched(state).values(), names)
        sources: list[Source] = []
        for path in sorted(path for path in self.files if path.endswith("/tau.yaml")):
            looked = surveyor.look(path, self.files[path])
            self.said += looked.diagnostics
            sources += [looked.source] if looked.source else []
        settings = load("tau-compile.yaml", self.files.get("tau-compile.yaml", b"")).settings
        assert settings is not None
        made = plan(sources, state, Limits(settings.max_runs, settings.max_gpus))
        self.said += made.diagnostics
        found = change(effects(self.files.get, made, known, overlays))
        return made, dict(found.writes), found.deletes

    def repository(self) -> Repository:
        overlays = [
            SourceFile(p, data) for p, data in sorted(self.files.items()) if p.startswith("overlays/")
        ]
        templates = {
            p.removeprefix("templates/"): d.decode()
            for p, d in self.files.items()
            if p.startswith("templates/")
        }
        modes = {path: 0o100755 if path in self.executable else 0o100644 for path in self.files}
        return Repository(overlays, PACKAGED, MemoryTree(self.files, git=modes), templates)

    def known(self) -> Known:
        base = self.records(self.base)
        tree = self.records(self.files)
        texts = {path: self.base[path] for path in base if self.base[path] != self.files.get(path)}
        return Known(tree, base, texts, ())

    def records(self, files: Mapping[str, bytes] | None = None) -> dict[str, Record]:
        found = {}
        for path, data in sorted((self.files if files is None else files).items()):
            if is_record(path):
                record, said = from_json(data, path)
                assert record is not None, said
                found[path] = record
        return found

    def end(self, record: Record) -> Ended | None:
        place = folder_of(record)
        for path in sorted((p for p in self.files if p.startswith(f"{place}/")), reverse=True):
            outcome = outcome_of(self.files[path], record)
            if outcome:
                return Ended(outcome, digest(self.files[path]), path)
        return None

    def tell_end(self, record: Record, outcome: str = "succeeded") -> None:
        """What the collector commits."""
        predicate = {"run": record.run, "namespace": record.namespace, "outcome": outcome}
        self.files[f"{folder_of(record)}/0001.json"] = json.dumps({"predicate": predicate}).encode()

    def output(self) -> dict[str, bytes]:
        """Records and everything rendered."""
        return {path: data for path, data in self.files.items() if path.startswith(("runs/", "rendered/"))}

    def verbs(self) -> dict[str, int]:
        """Build, and count what was done."""
        found: dict[str, Any] = {}
        for action in self.build():
            found[action.verb] = found.get(action.verb, 0) + 1
        return found

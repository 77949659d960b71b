"""What a build does about runs: a pure function of sources, records, evidence and what is on the base branch.

A run is launched when its record is on the base branch. Records that are only in the work tree are drafts: thrown away
and made anew, so that ten edits in one pull request are one run. What is launched is never edited, never launched again,
and leaves the tree only when it ended or was cancelled. Adopted intents are none to launch, on whatever branch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Span, error, warning
from tau_compile.runs.lineage import follows, latest, may_become
from tau_compile.runs.model import Action, Launch, Limits, Plan, Source, State
from tau_compile.runs.record import restated
from tau_compile.runs.refusals import beyond, count, same_names, unknown_workspaces

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.runs.record import Record


def plan(sources: Iterable[Source], state: State, limits: Limits) -> Plan:
    """Decide. Nothing is read or written; a new intent is compiled by its source's ``launch``."""
    return _Planner(state).build(list(sources), limits)


def adopt(sources: Iterable[Source], state: State) -> Plan:
    """Decide about sources that are to be recorded and not launched; their ``launch`` makes adoptions. All else stays."""
    return _Planner(state).adopt(list(sources))


def launched(state: State) -> dict[str, Record]:
    """The records that count, by path: what is at the base, and what was adopted since."""
    if state.base is None:
        return dict(state.tree)
    return {**{path: r for path, r in state.tree.items() if r.state == "adopted"}, **state.base}


class _Planner:
    def __init__(self, state: State) -> None:
        self.state = state
        self.launched = launched(state)
        self.drafts = tuple(r for path, r in sorted(state.tree.items()) if path not in self.launched)
        self.records: dict[str, Record] = {}
        self.by_key: dict[tuple[str, str], list[Record]] = {}
        self.by_object: dict[tuple[str, str, str], Record] = {}
        self.launches: list[Launch] = []
        self.actions: list[Action] = []
        self.said: list[Diagnostic] = []
        for path, record in sorted(self.launched.items()):
            now = state.tree.get(path)
            kept = record if now is None or not may_become(record, now) else now
            self.records[path] = kept
            self.by_key.setdefault(self._key(record), []).append(kept)
            self.by_object[record.cluster, record.namespace, record.run] = record

    def build(self, sources: list[Source], limits: Limits) -> Plan:
        self._restore()
        self._retire()
        self.said += unknown_workspaces(self.records, self.state.workspaces, sources)
        settled = {self._settled(source): source for source in sources}
        if len(settled) < len(sources):
            self.said += same_names((self._settled(source), source) for source in sources)
        for key, source in settled.items():
            self._follow(source, key)
        self._kept(settled)
        self._discarded()
        self.said += beyond(limits, self.launches, {source.path: source.span for source in sources})
        return self._plan(self.drafts)

    def adopt(self, sources: list[Source]) -> Plan:
        replaced: set[tuple[str, str]] = set()
        for source in sources:
            key = self._settled(source)
            recorded = next((r for r in self.by_key.get(key, ()) if r.digest == source.digest), None)
            if recorded is not None:
                text = f"{source.path} is recorded already: {recorded.run} is {recorded.state}"
                self.actions.append(Action("notice", recorded.path, text))
                continue
            made = source.launch(follows(self.by_key.get(key, ())))
            self.said += made.diagnostics
            if made.launch is not None and self._is_free(made.launch.record, source):
                self.launches.append(made.launch)
                replaced.add(key)
                record = made.launch.record
                self.actions.append(Action("adopt", record.path, f"adopts {record.run}: it is not launched"))
        self.said += same_names((self._settled(source), source) for source in sources)
        self.records = {p: r for p, r in self.state.tree.items() if p in self.launched}
        return self._plan(tuple(r for r in self.drafts if self._key(r) in replaced))

    def _plan(self, drafts: tuple[Record, ...]) -> Plan:
        return Plan(
            self.records,
            tuple(sorted(self.launches, key=lambda launch: launch.record.path)),
            drafts,
            tuple(sorted(self.actions, key=lambda action: (action.path, action.verb, action.text))),
            tuple(self.said),
        )

    def _key(self, record: Record) -> tuple[str, str]:
        return self.state.workspaces.get(record.workspace, record.workspace), record.name

    def _settled(self, source: Source) -> tuple[str, str]:
        """(workspace, name). Overlays may imply another workspace than they did when this very file was launched."""
        key = source.workspace, source.name
        if source.implied and not any(r.digest == source.digest for r in self.by_key.get(key, ())):
            for space in sorted(set(self.state.workspaces.values()) - {source.workspace}):
                before = self.by_key.get((space, source.name), ())
                if any(r.digest == source.digest and r.source == source.path for r in before):
                    return space, source.name
        return key

    def _restore(self) -> None:
        for path, record in self.launched.items():
            now = self.state.tree.get(path)
            if now is not None and may_become(record, now):
                continue
            what = "was removed" if now is None else "was changed"
            if now is not None and now.state != record.state:
                what = f"says {now.state}, and it is {record.state} at the base"
            hint = "`tau-compile build` restores it" + (
                f"; to stop the run: `tau-compile cancel {record.run}`" if record.state == "active" else ""
            )
            self.said.append(
                warning("TAU740", f"the record of {record.run} {what}", Span(path, 1, 1, 1, 1), hint)
            )
            self.actions.append(Action("restore", path, f"restores {record.run}: its record {what}"))

    def _retire(self) -> None:
        for path, record in list(self.records.items()):
            how = self.state.end(record) if record.state == "active" else None
            if how is not None:
                self._replace(path, record, record.ended(how))
                self.actions.append(Action("retire", path, f"retires {record.run}: it {_past(how.state)}"))

    def _replace(self, path: str, old: Record, new: Record) -> None:
        self.records[path] = new
        same = self.by_key[self._key(old)]
        same[same.index(old)] = new

    def _follow(self, source: Source, key: tuple[str, str]) -> None:
        before = self.by_key.get(key, [])
        recorded = next((r for r in before if r.digest == source.digest), None)
        if recorded is None:
            if source.mode == "on-attempt" and any(r.attempt >= source.attempt for r in before):
                text = (
                    f"does not launch the edit of {source.path}: `run.launch` is on-attempt; "
                    f"`tau-compile rerun {source.path}` launches it"
                )
                self.actions.append(Action("notice", latest(before)[-1].path, text))
            else:
                self._launch(source, before)
        elif len(before) > 1 and recorded not in latest(before):
            what = "is active" if recorded.state == "active" else f"was {recorded.state}"
            text = (
                f"launches nothing for {source.path}: this intent is recorded as {recorded.run}, which {what}; "
                f"`tau-compile rerun {source.path}` launches it once more"
            )
            self.actions.append(Action("notice", recorded.path, text))

    def _launch(self, source: Source, before: list[Record]) -> None:
        active = [r for r in before if r.state == "active"]
        if active and source.on_change == "refuse":
            self.said.append(
                error(
                    "TAU734",
                    f"`{source.name}` was changed while {active[0].run} is active, and `run.on_change` is refuse",
                    source.span,
                    f"undo the change, wait for the run's end, or stop it with `tau-compile cancel {active[0].run}`",
                )
            )
            return
        made = source.launch(follows(before))
        self.said += made.diagnostics
        if made.launch is None or not self._is_free(made.launch.record, source):
            return
        record = made.launch.record
        how = self.state.end(record)
        if how is not None:  # it ran, and its record was lost
            over = record.ended(how)
            text = restated(made.launch.files[record.path], over)
            self.launches.append(Launch(over, {over.path: text.encode()}))
            said = f"records {over.run} as retired: evidence says that it {_past(how.state)}"
            self.actions.append(Action("retire", over.path, said, over.path))
            return
        if source.on_change == "replace":
            for old in active:
                self._replace(old.path, old, old.cancelled())
                said = f"cancels {old.run}: {record.run} replaces it"
                self.actions.append(Action("cancel", old.path, said, record.path))
        self.launches.append(made.launch)
        gpus = f" ({count(record.gpus, 'GPU')})" if record.gpus else ""
        self.actions.append(
            Action("launch", record.path, f"launches {record.run}{gpus}", record.path, record.gpus)
        )

    def _is_free(self, record: Record, source: Source) -> bool:
        """Whether no other run goes by this id in its namespace: it would be the same object."""
        other = self.by_object.setdefault((record.cluster, record.namespace, record.run), record)
        if other is record or (other.path == record.path and other.digest == record.digest):
            return True
        self.said.append(
            error(
                "TAU735",
                f"the run id {record.run} belongs to another run of namespace `{record.namespace}` ({other.path})",
                source.span,
                f"`tau-compile rerun {source.path}` raises `run.attempt`, which makes another id; or change the `name`",
            )
        )
        return False

    def _kept(self, followed: Iterable[tuple[str, str]]) -> None:
        known = set(followed)
        for record in self.records.values():
            if record.state != "active":
                continue
            self.actions.append(Action("keep", record.path, f"keeps {record.run}"))
            if self._key(record) not in known:
                text = f"keeps {record.run}, whose {record.source} is gone; `tau-compile cancel {record.run}` stops it"
                self.actions.append(Action("notice", record.path, text))

    def _discarded(self) -> None:
        again = {launch.record.path for launch in self.launches}
        for draft in self.drafts:
            if draft.path not in again:
                self.actions.append(Action("discard", draft.path, f"drops the draft {draft.run}"))


def _past(outcome: str) -> str:
    return "was cancelled" if outcome == "cancelled" else outcome

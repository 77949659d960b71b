"""What a build does about runs: a pure function of sources, records, evidence and what is on the base branch.

A run is launched when its record is on the base branch. Records that are only in the work tree are drafts: thrown away
and made anew, so that ten edits in one pull request are one run. What is launched is never edited, never launched again,
and leaves the tree only when it ended or was cancelled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from tau_compile.diagnostics import Diagnostic, Related, Span, error, warning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tau_compile.runs.record import Ended, Record

Verb = Literal["launch", "keep", "retire", "cancel", "notice"]
SUGGEST_RERUN = "`tau-compile rerun {}` launches it once more"


@dataclass(frozen=True, slots=True)
class Launch:
    """A new run: its record and its files by name."""

    record: Record
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Source:
    """One tau.yaml as a build sees it.

    ``workspace`` and ``digest`` are empty when it has errors. ``launch`` compiles it in full; it is called only for an intent
    without a record, and returns None with the reasons among its diagnostics.
    """

    path: str
    span: Span
    workspace: str
    name: str
    digest: str
    attempt: int
    mode: str
    on_change: str
    launch: Callable[[], tuple[Launch | None, tuple[Diagnostic, ...]]]


class Action(NamedTuple):
    """One thing a build does or says about one run."""

    verb: Verb
    run: str
    text: str


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one build may launch; None for no limit on GPUs."""

    max_runs: int = 10
    max_gpus: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The records as they are to be, by path; the files of new runs; and what happens, in words.

    ``records`` holds every record that stays, changed or not. ``launches`` are new. ``drafts`` are records in the work tree
    that are thrown away.
    """

    records: Mapping[str, Record]
    launches: tuple[Launch, ...]
    drafts: tuple[Record, ...]
    actions: tuple[Action, ...]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class State:
    """What is there: records in the work tree and on the base branch by path, the ends of runs, and old workspace names.

    ``base`` is None when there is no Git to ask: then every record counts as launched.
    """

    tree: Mapping[str, Record]
    base: Mapping[str, Record] | None
    ended: Mapping[str, Ended]
    workspaces: Mapping[str, str]  # every known name, old ones too → today's name


def plan(sources: Iterable[Source], state: State, limits: Limits, adopt: bool = False) -> Plan:
    """Decide. Nothing is read or written; a new intent is compiled by its source's ``launch``."""
    return _Planner(list(sources), state, limits, adopt).run()


class _Planner:
    def __init__(self, sources: list[Source], state: State, limits: Limits, adopt: bool) -> None:
        self.sources, self.state, self.limits, self.adopt = sources, state, limits, adopt
        launched = state.tree if state.base is None else state.base
        # A record that is launched may have been retired or cancelled in the work tree since.
        self.records = {path: state.tree.get(path, record) for path, record in launched.items()}
        self.drafts = tuple(r for path, r in sorted(state.tree.items()) if path not in launched)
        self.launches: list[Launch] = []
        self.actions: list[Action] = []
        self.said: list[Diagnostic] = []
        self.by_key: dict[tuple[str, str], list[Record]] = {}
        for record in self.records.values():
            self.by_key.setdefault(self._key(record), []).append(record)

    def run(self) -> Plan:
        self._known_workspaces()
        self._one_file_a_name()
        self._retire()
        followed = {self._follow(source) for source in self.sources if source.digest}
        self._without_source(followed)
        self._within_limits()
        return Plan(
            dict(sorted(self.records.items())),
            tuple(sorted(self.launches, key=lambda launch: launch.record.path)),
            self.drafts,
            tuple(sorted(self.actions, key=lambda action: (action.run, action.verb))),
            tuple(self.said),
        )

    def _key(self, record: Record) -> tuple[str, str]:
        return self.state.workspaces.get(record.workspace, record.workspace), record.name

    def _known_workspaces(self) -> None:
        lost = sorted({r.workspace for r in self.records.values()} - self.state.workspaces.keys())
        for name in lost:
            example = min(r.path for r in self.records.values() if r.workspace == name)
            self.said.append(
                error(
                    "TAU732",
                    f"there are runs of a workspace `{name}`, and no overlay describes it",
                    Span(example, 1, 1, 1, 1),
                    f"restore overlays/workspaces/{name}.yaml, or add `formerly: [{name}]` to the workspace's new overlay",
                )
            )

    def _one_file_a_name(self) -> None:
        first: dict[tuple[str, str], Source] = {}
        for source in self.sources:
            if not source.digest:
                continue
            other = first.setdefault((source.workspace, source.name), source)
            if other is not source:
                self.said.append(
                    error(
                        "TAU733",
                        f"two files of workspace `{source.workspace}` are called `{source.name}`",
                        source.span,
                        "give one of them another name",
                        (Related(other.span, "the other one"),),
                    )
                )

    def _retire(self) -> None:
        for path, record in sorted(self.records.items()):
            how = self.state.ended.get(record.run)
            if record.state == "active" and how is not None:
                self._replace(path, record, record.ended(how))
                self.actions.append(Action("retire", record.run, f"retires {record.run}: it {how.state}"))

    def _replace(self, path: str, old: Record, new: Record) -> None:
        self.records[path] = new
        same = self.by_key[self._key(old)]
        same[same.index(old)] = new

    def _follow(self, source: Source) -> tuple[str, str]:
        key = (source.workspace, source.name)
        before = self.by_key.get(key, [])
        recorded = next((r for r in before if r.digest == source.digest), None)
        if recorded is not None:
            self._recorded(source, recorded, before)
        elif source.mode == "on-attempt" and any(r.attempt >= source.attempt for r in before):
            text = f"does not launch the edit of {source.path}: `run.launch` is on-attempt; raise `run.attempt` to launch it"
            self.actions.append(Action("notice", source.name, text))
        else:
            self._launch(source, before)
        return key

    def _recorded(self, source: Source, record: Record, before: list[Record]) -> None:
        if record.state == "active":
            self.actions.append(Action("keep", record.run, f"keeps {record.run}"))
        if record not in _latest(before):
            what = "is running" if record.state == "active" else f"was {record.state}"
            text = (
                f"launches nothing for {source.path}: this intent is recorded as {record.run}, which {what}; "
            )
            self.actions.append(Action("notice", record.run, text + SUGGEST_RERUN.format(source.path)))

    def _launch(self, source: Source, before: list[Record]) -> None:
        active = [r for r in before if r.state == "active"]
        if active and source.on_change == "refuse" and not self.adopt:
            self.said.append(
                error(
                    "TAU734",
                    f"`{source.name}` was changed while {active[0].run} is active, and `run.on_change` is refuse",
                    source.span,
                    f"wait for its end, or `tau-compile cancel {active[0].run}`",
                )
            )
            return
        made, problems = source.launch()
        self.said += problems
        if made is None:
            return
        latest = _latest(before)
        record = replace(made.record, supersedes=latest[-1].run if latest else "")
        clash = next(
            (r for r in self.records.values() if r.run == record.run and r.digest != record.digest), None
        )
        if clash is not None:
            self.said.append(
                error(
                    "TAU735",
                    f"the run id {record.run} belongs to another intent already ({clash.path})",
                    source.span,
                    "raise `run.attempt` by one: it makes another id",
                )
            )
            return
        if active and source.on_change == "replace" and not self.adopt:
            for old in active:
                self._replace(old.path, old, old.cancelled())
                self.actions.append(Action("cancel", old.run, f"cancels {old.run}: {record.run} replaces it"))
        self.launches.append(Launch(record, made.files))
        verb = "adopts" if self.adopt else "launches"
        gpus = f" ({record.gpus} GPUs)" if record.gpus and not self.adopt else ""
        self.actions.append(Action("launch", record.run, f"{verb} {record.run}{gpus}"))

    def _without_source(self, followed: set[tuple[str, str]]) -> None:
        for record in self.records.values():
            if record.state == "active" and self._key(record) not in followed:
                text = f"keeps {record.run}, whose {record.source} is gone; `tau-compile cancel {record.run}` stops it"
                self.actions.append(Action("notice", record.run, text))

    def _within_limits(self) -> None:
        if self.adopt or not self.launches:
            return
        gpus = sum(launch.record.gpus for launch in self.launches)
        over = len(self.launches) > self.limits.max_runs
        many = self.limits.max_gpus is not None and gpus > self.limits.max_gpus
        if over or many:
            what = f"{len(self.launches)} runs" if over else f"{gpus} GPUs"
            most = f"{self.limits.max_runs} runs" if over else f"{self.limits.max_gpus} GPUs"
            self.said.append(
                error(
                    "TAU736",
                    f"this build would launch {what}; at most {most} are allowed at a time",
                    Span(self.launches[0].record.source, 1, 1, 1, 1),
                    "`tau-compile adopt` records files that are not to be launched; or raise `launch` in tau-compile.yaml",
                )
            )


def _latest(records: list[Record]) -> list[Record]:
    """Records of one workload that no other follows; several when branches launched side by side. Active ones come last."""
    followed = {r.supersedes for r in records}
    return sorted(
        (r for r in records if r.run not in followed), key=lambda r: (r.state == "active", r.attempt, r.run)
    )


def gone_from_catalogue(records: Iterable[Record], problems: Callable[[Record], str]) -> list[Diagnostic]:
    """Warnings about active runs whose queue or flavor is no longer in the catalogue; they are kept as they are."""
    return [
        warning(
            "TAU737",
            f"{record.run}: {why}",
            Span(record.path, 1, 1, 1, 1),
            f"`tau-compile cancel {record.run}` and run it again",
        )
        for record in records
        if record.state == "active" and (why := problems(record))
    ]

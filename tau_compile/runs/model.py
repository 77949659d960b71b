"""What the planner is given and what it answers: values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tau_compile.diagnostics import Diagnostic, Span
    from tau_compile.runs.record import Ended, Record

Verb = Literal["launch", "adopt", "keep", "retire", "cancel", "restore", "discard", "notice", "workspace"]


class Launch(NamedTuple):
    """A new run: its record, and all its files by path from the root, the record's own among them.

    The record may be brief: what only its file needs (``resolved``, ``origins``, ``sources``, ``code``) may be empty.
    """

    record: Record
    files: Mapping[str, bytes]


class Made(NamedTuple):
    """A launch, or None with the reasons."""

    launch: Launch | None
    diagnostics: tuple[Diagnostic, ...] = ()


class Source(NamedTuple):
    """One tau.yaml without errors of its own.

    ``implied``: the file does not name its workspace. ``launch`` compiles it in full, given the run that the new one follows;
    it is called only for an intent that is to be launched.
    """

    path: str
    span: Span
    workspace: str
    implied: bool
    name: str
    digest: str
    attempt: int
    mode: str
    on_change: str
    launch: Callable[[str], Made]


class Action(NamedTuple):
    """One thing a build does or says about one run.

    ``path`` is that of its record: two workspaces may have runs of one id. ``cause`` is the path of the launch that brings
    it about, or empty; ``gpus`` counts those of a launch.
    """

    verb: Verb
    path: str
    text: str
    cause: str = ""
    gpus: int = 0

    @property
    def run(self) -> str:
        """The run id; empty where it is about no run."""
        if self.verb == "workspace":
            return ""
        return self.path.rpartition("/")[2].removesuffix(".json")


class Limits(NamedTuple):
    """How much one build may launch; None for no limit on GPUs."""

    max_runs: int = 10
    max_gpus: int | None = None


class State(NamedTuple):
    """What is there: records in the work tree and at the base by path, the ends of runs, and the names of workspaces.

    ``base`` is None when there is no Git to ask: then every record counts as launched. ``workspaces`` leads from every known
    name, former ones too, to today's.
    """

    tree: Mapping[str, Record]
    base: Mapping[str, Record] | None
    end: Callable[[Record], Ended | None]
    workspaces: Mapping[str, str]


class Plan(NamedTuple):
    """The records as they are to be, by path; new runs; records that are thrown away; and what happens, in words.

    ``records`` holds every record that stays, changed or not, and no launch. ``drafts`` are records in the work tree that
    count for nothing: their files go, unless a launch makes them anew.
    """

    records: Mapping[str, Record]
    launches: tuple[Launch, ...]
    drafts: tuple[Record, ...]
    actions: tuple[Action, ...]
    diagnostics: tuple[Diagnostic, ...]

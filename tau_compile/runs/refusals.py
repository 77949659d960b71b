"""Why a whole build is refused: workspaces nobody describes, two files with one name, more launches than allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, Span, error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tau_compile.runs.model import Launch, Limits, Source
    from tau_compile.runs.record import Record

_SHOWN = 5


def unknown_workspaces(
    records: Mapping[str, Record], known: Mapping[str, str], sources: Sequence[Source]
) -> list[Diagnostic]:
    """Workspaces with runs that no overlay describes: removed while runs are active, or renamed without a word.

    Those whose runs are all over may go, as long as nothing here looks like one of those runs: it would be launched again.
    """
    lost: dict[str, list[Record]] = {}
    for record in records.values():
        if record.workspace not in known:
            lost.setdefault(record.workspace, []).append(record)
    said = []
    for name, runs in sorted(lost.items()):
        active = [run for run in runs if run.state == "active"]
        again = [run for run in runs if any(_looks_like(source, run) for source in sources)]
        shown = active or again
        if not shown:
            continue
        what = f"{named(active)} {'is' if len(active) == 1 else 'are'} active" if active else ""
        until = f" until {'it has' if len(active) == 1 else 'they have'} ended or {'is' if len(active) == 1 else 'are'} cancelled"
        said.append(
            error(
                "TAU732",
                f"there are runs of a workspace `{name}`, and no overlay describes it: "
                + (what or f"{named(again)} would be launched again"),
                Span(shown[0].path, 1, 1, 1, 1),
                f"restore overlays/workspaces/{name}.yaml{until * bool(active)}, or add `formerly: [{name}]` to the "
                "workspace's new overlay",
            )
        )
    return said


def _looks_like(source: Source, run: Record) -> bool:
    """Whether a file is that of a run of another workspace: the same intent, or the same place in a renamed folder."""
    return source.name == run.name and (
        source.digest == run.digest or source.path.split("/")[2:] == run.source.split("/")[2:]
    )


def named(runs: Sequence[Record]) -> str:
    """The first runs by name, and how many more there are."""
    names = [run.run for run in runs[:_SHOWN]]
    if len(runs) > len(names):
        return f"{', '.join(names)} and {len(runs) - len(names)} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def same_names(sources: Iterable[tuple[tuple[str, str], Source]]) -> list[Diagnostic]:
    """Two files with one (workspace, name): which of them a record belongs to could not be said."""
    first: dict[tuple[str, str], Source] = {}
    said = []
    for key, source in sources:
        other = first.setdefault(key, source)
        if other is not source:
            said.append(
                error(
                    "TAU733",
                    f"two files of workspace `{key[0]}` are called `{source.name}`",
                    source.span,
                    "give one of them another `name`, or another workspace with `policy.workspace`",
                    (Related(other.span, "the other one"),),
                )
            )
    return said


def beyond(limits: Limits, launches: Sequence[Launch], spans: Mapping[str, Span]) -> list[Diagnostic]:
    """More launches than one build may make; ``spans`` are the places of sources by path."""
    new = [launch.record for launch in launches if launch.record.state == "active"]
    counted = (
        (len(new), limits.max_runs, "run", "max_runs"),
        (sum(record.gpus for record in new), limits.max_gpus, "GPU", "max_gpus"),
    )
    over = [(have, most, word, key) for have, most, word, key in counted if most is not None and have > most]
    if not over:
        return []
    wants = " with ".join(count(have, word) for have, _, word, _ in over)
    allowed = " and ".join(f"`{key}: {most}`" for _, most, _, key in over)
    enough = ", ".join(f"{key}: {have}" for have, _, _, key in over)
    return [
        error(
            "TAU736",
            f"this build would launch {wants}; the project allows {allowed} at a time",
            spans[min(record.source for record in new)],
            f"if that is meant, write `launch: {{{enough}}}` into tau-compile.yaml; `tau-compile adopt PATH` records files "
            "that are not to be launched",
        )
    ]


def count(number: int, word: str) -> str:
    """``1 run``, ``2 runs``."""
    return f"{number} {word}{'' if number == 1 else 's'}"

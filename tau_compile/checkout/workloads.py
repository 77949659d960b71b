"""All tau.yaml files of a repository, looked at on all cores; where there are many, what is new is compiled right away.

New runs wait in unnamed temporary files until they are written, so that ten thousand of them fit into little memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, TYPE_CHECKING

from tau_compile.checkout import pool
from tau_compile.checkout.sources import Looked, Surveyor, as_recorded
from tau_compile.diagnostics import Diagnostic, Span, error
from tau_compile.named import NamedTuple
from tau_compile.runs.lineage import follows
from tau_compile.runs.model import Launch, Made, Source
from tau_compile.source.files import read_regular, reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tau_compile.compiler import Repository
    from tau_compile.runs.record import Record

LEAST = 64  # files that are worth a process of their own


class _Answer(NamedTuple):
    """What a process says about one file: the path of the record it is unchanged since, or a source."""

    record: str
    source: Source | None
    diagnostics: tuple[Diagnostic, ...]


def survey(
    root: str,
    paths: Sequence[str],
    repository: Repository,
    records: Mapping[str, Record],
    names: Mapping[str, str],
    *,
    adopt: bool = False,
) -> tuple[list[Source], list[Diagnostic]]:
    """Look at every file; ``records`` are those that count as launched, by path, ``names`` leads to today's workspaces.

    With ``adopt`` new runs are made as adopted ones.
    """
    surveyor = Surveyor(repository, records.values(), names, adopt)
    found: list[Source] = []
    said: list[Diagnostic] = []
    first = len(paths) if len(paths) < 2 * LEAST else 1  # the first one loads what all need
    for path in paths[:first]:
        looked = _look(root, path, surveyor)
        said += looked.diagnostics
        found += [looked.source] if looked.source else []
    if first < len(paths):
        many = _Many(root, paths[first:], repository, surveyor, records, names)
        for answer in many.answers():
            said += answer.diagnostics
            if answer.record:
                record = records[answer.record]
                found.append(as_recorded(record.source, record, names))
            elif answer.source is not None:
                found.append(answer.source)
    return found, said


class _Launched:
    """A launch that was made already."""

    def __init__(self, made: Made) -> None:
        self.made = made

    def __call__(self, supersedes: str) -> Made:
        return self.made


class _Many:
    """One survey of many files."""

    def __init__(
        self,
        root: str,
        paths: Sequence[str],
        repository: Repository,
        surveyor: Surveyor,
        records: Mapping[str, Record],
        names: Mapping[str, str],
    ) -> None:
        self._root, self._paths, self._surveyor = root, paths, surveyor
        self._records: dict[tuple[str, str], list[Record]] = {}
        for record in records.values():
            self._records.setdefault((names.get(record.workspace, record.workspace), record.name), []).append(
                record
            )
        repository.tree.tracked(("",))  # ask Git once, not once a process
        count = pool.workers(len(paths), LEAST)
        self._spools = [Spool() for _ in range(count)]

    def answers(self) -> Iterator[_Answer]:
        """One answer a file, in order."""
        for index, answer in enumerate(pool.spread(self._paths, self._work, len(self._spools))):
            made = getattr(answer.source and answer.source.launch, "made", None)
            if made is not None and made.launch is not None:
                made.launch.files.spool = self._spools[index % len(self._spools)]
            yield answer

    def _work(self, part: Sequence[str], number: int) -> list[_Answer]:
        spool = self._spools[number]
        found = [self._look(path, spool) for path in part]
        spool.flush()
        return found

    def _look(self, path: str, spool: Spool) -> _Answer:
        looked = _look(self._root, path, self._surveyor)
        source = looked.source
        if looked.record is not None or source is None:
            return _Answer(looked.record.path if looked.record else "", None, looked.diagnostics)
        before = self._records.get((source.workspace, source.name), [])
        if any(record.digest == source.digest for record in before):
            return _Answer("", source._replace(launch=_Launched(Made(None))), looked.diagnostics)
        made = source.launch(follows(before))
        if made.launch is not None:
            from tau_compile.checkout.launch import brief

            made = made._replace(launch=Launch(brief(made.launch.record), spool.keep(made.launch.files)))
        return _Answer("", source._replace(launch=_Launched(made)), looked.diagnostics)


class Spool:
    """A temporary file without a name, for the contents of many files; it is gone when the process is."""

    def __init__(self) -> None:
        import tempfile

        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  open for as long as its contents are wanted
        self._end = 0

    def keep(self, files: Mapping[str, bytes]) -> Kept:
        """Write contents down."""
        places: dict[str, tuple[int, int]] = {}
        for path, content in files.items():
            self._file.write(content)
            places[path] = (self._end, len(content))
            self._end += len(content)
        return Kept(places, self)

    def flush(self) -> None:
        """Hand over to other processes."""
        self._file.flush()

    def read(self, start: int, size: int) -> bytes:
        """One content."""
        self._file.seek(start)
        return self._file.read(size)


class Kept(Mapping[str, bytes]):
    """Contents that lie in a spool, by path. A pickle leaves the spool behind: whoever reads it puts its own there."""

    def __init__(self, places: dict[str, tuple[int, int]], spool: Spool | None) -> None:
        self._places, self.spool = places, spool

    def __reduce__(self) -> tuple[object, ...]:
        return Kept, (self._places, None)

    def __getitem__(self, path: str) -> bytes:
        assert self.spool is not None
        return self.spool.read(*self._places[path])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _look(root: str, path: str, surveyor: Surveyor) -> Looked:
    try:
        data = read_regular(f"{root}/{path}")
    except OSError as problem:
        message = f"`{path}` cannot be read: {reason(problem)}"
        hint = "put a file that can be read in its place, or remove it"
        return Looked(None, (error("TAU327", message, Span(path, 1, 1, 1, 1), hint),))
    return surveyor.look(path, data)

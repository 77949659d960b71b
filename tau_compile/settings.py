"""The project file ``tau-compile.yaml``: which versions may compile the repository, and which files belong to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tau_compile import __version__
from tau_compile.diagnostics import Diagnostic, error
from tau_compile.named import NamedTuple
from tau_compile.schema import store
from tau_compile.schema.check import check
from tau_compile.source.nodes import Mapping, find
from tau_compile.source.reader import read

if TYPE_CHECKING:
    from collections.abc import Callable

INCLUDE = ("workloads/**/tau.yaml",)
_CONDITION = re.compile(r"(==|>=|<=|~=|>|<|)([0-9]+(?:\.[0-9]+){0,2})")
Version = tuple[int, ...]


class Settings(NamedTuple):
    """The project file's content, defaults filled in."""

    include: tuple[str, ...] = INCLUDE
    base: str = "main"
    max_runs: int = 10
    max_gpus: int | None = None


class Loaded(NamedTuple):
    """The settings, or None when the project file is wrong; then nothing is compiled."""

    settings: Settings | None
    diagnostics: tuple[Diagnostic, ...]


def load(path: str, data: bytes) -> Loaded:
    """Read the project file. An empty one stands for all defaults."""
    result = read(data, path)
    if result.node is None and [d.id for d in result.diagnostics] == ["TAU108"]:
        return Loaded(Settings(), ())
    said = list(result.diagnostics)
    if isinstance(result.node, Mapping):
        checked = check(result.node, store.prepared("project.schema.json"), file_kind="tau-compile.yaml")
        said += checked.diagnostics
        if not said:
            said += _version(result.node, checked.data.get("required_version", ""))
        if not said:
            limits = checked.data.get("launch", {})
            settings = Settings(
                tuple(checked.data.get("include", INCLUDE)),
                checked.data.get("base", "main"),
                limits.get("max_runs", 10),
                limits.get("max_gpus"),
            )
            return Loaded(settings, ())
    elif result.node is not None:
        said.append(
            error("TAU202", "the project file is a mapping", result.node.span, "write `include: [...]`")
        )
    return Loaded(None, tuple(said))


def _version(node: Mapping, conditions: str) -> list[Diagnostic]:
    written = find(node, "required_version")
    if not conditions or written is None or satisfies(__version__, conditions):
        return []
    return [
        error(
            "TAU322",
            f"this repository wants tau-compile {conditions}, and this is {__version__}",
            written.span,
            f'install one that fits: pip install "tau-compile{"" if conditions[0] in "=<>~" else "=="}{conditions}"',
        )
    ]


def satisfies(version: str, conditions: str) -> bool:
    """Whether ``0.1.0`` meets ``>=0.1,<0.2``; a bare version means that release series (``0.1`` is any 0.1.x)."""
    have = _parts(version)
    for condition in conditions.split(","):
        found = _CONDITION.fullmatch(condition.strip())
        if found is None or not _OPERATORS[found[1]](have, tuple(int(p) for p in found[2].split("."))):
            return False
    return True


def _parts(version: str) -> Version:
    found = re.match(r"[0-9]+(?:\.[0-9]+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _pad(version: Version) -> Version:
    return version + (0,) * (3 - len(version))


_OPERATORS: dict[str, Callable[[Version, Version], bool]] = {
    "": lambda have, want: have[: len(want)] == want,
    "==": lambda have, want: _pad(have) == _pad(want),
    ">=": lambda have, want: _pad(have) >= _pad(want),
    "<=": lambda have, want: _pad(have) <= _pad(want),
    ">": lambda have, want: _pad(have) > _pad(want),
    "<": lambda have, want: _pad(have) < _pad(want),
    # ~=0.1.2 is >=0.1.2 within 0.1
    "~=": lambda have, want: (
        _pad(have) >= _pad(want) and have[: max(1, len(want) - 1)] == want[: max(1, len(want) - 1)]
    ),
}

"""Imports point one way, and the compile path knows neither Kubernetes nor Git nor the network."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import tau_compile

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(tau_compile.__file__).parent
# A room may import rooms with a smaller number, and rooms of the same number that `BESIDE` names.
RANK = {
    "_templates": 0, "named": 0, "digest": 0, "data": 0, "suggest": 0, "codes": 0, "diagnostics": 1,
    "printers": 2, "quantity": 2, "explain": 11,
    "source": 2, "schema": 3, "policy": 4, "settings": 4, "workload": 5,
    "emit": 6, "render": 7, "runs": 7, "rules": 8, "guard": 8, "importing": 9, "intent": 9, "spaces": 9,
    "compiler": 10,
    "checkout": 11,
}  # fmt: skip
# Modules of a room that belong to the edge: they ask Git.
EDGE = {"explain/runs.py"}
OUTSIDE = {"kubernetes", "git", "pygit2", "dulwich", "requests", "urllib", "http", "socket", "asyncio"}


def imports(path: Path) -> Iterator[str]:
    """The modules that a file imports, as dotted names."""
    package = ("tau_compile", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = ".".join(package[: len(package) - node.level + 1]) + "." if node.level else ""
            module = f"{above}{node.module or ''}".rstrip(".")
            yield from (f"{module}.{a.name}" for a in node.names) if module == "tau_compile" else [module]


def _room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def files() -> list[Path]:
    """Every module of the ranked rooms."""
    found = sorted(p for p in PACKAGE.rglob("*.py") if _room(p) in RANK and p.name != "_templates.py")
    assert len(found) > 80
    return found


def test_imports_point_one_way() -> None:
    wrong = []
    for path in files():
        name = path.relative_to(PACKAGE).as_posix()
        here = _room(path)
        for module in imports(path):
            parts = module.split(".")
            if parts[0] != "tau_compile" or len(parts) < 2 or parts[1] in (here, "__version__"):
                continue
            if name not in EDGE and RANK.get(parts[1], 99) >= RANK[here]:
                wrong.append(f"{name} imports {module}")
    assert wrong == []


def test_the_compile_path_knows_nothing_of_the_outside() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for path in files()
        for module in imports(path)
        if module.split(".")[0] in OUTSIDE
    ]
    assert wrong == []

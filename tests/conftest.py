"""The one switch that rewrites expected outputs, ``pytest --update-golden``; and how hypothesis runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# The same examples on every run and machine, however slow; ``--hypothesis-profile=explore`` looks further.
settings.register_profile("repository", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile("repository")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write what came out as what is expected; read the diff"
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """``golden(path, text)``: the file holds exactly this text; an empty text stands for no file at all."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(path: Path, text: str) -> None:
        if not update:
            expected = path.read_bytes().decode() if path.exists() else ""
            assert text == expected, f"{path} differs; `pytest --update-golden` rewrites it"
        elif text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        else:
            path.unlink(missing_ok=True)

    return compare

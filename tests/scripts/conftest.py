"""Fixtures: a container in miniature under each shell, and the environment of the slow tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.scripts import environment
from tests.scripts.box import Box

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["sh", "bash"])
def box(request: pytest.FixtureRequest, tmp_path: Path) -> Box:
    return Box(tmp_path, request.param)


@pytest.fixture(scope="session")
def slow_python() -> Path:
    """The Python of the slow tests' environment, with torch and Ray."""
    return environment.make()

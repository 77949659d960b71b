"""Every example rendered once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.examples.repository import NAMES, copy, render

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example repository that is in no Git work tree."""
    return copy(tmp_path_factory.mktemp("examples") / "repository")


@pytest.fixture(scope="session")
def rendered(repository: Path) -> dict[str, str]:
    """The manifests of each example as text."""
    return {name: render(repository, name) for name in NAMES}

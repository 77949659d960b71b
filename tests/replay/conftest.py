"""Repositories for the replays. Git reads no configuration of the machine that the tests run on."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.replay.repo import Repo, files

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_git(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    config = tmp_path_factory.getbasetemp() / "gitconfig"
    if not config.exists():
        config.write_text(
            "[user]\n\tname = Ada\n\temail = ada@example.com\n[commit]\n\tgpgsign = false\n[advice]\n\tdetachedHead = false\n"
            '[protocol "file"]\n\tallow = always\n'
        )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture(scope="session")
def _pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pattern") / "repo"


@pytest.fixture
def repo(_pattern: Path, tmp_path: Path) -> Repo:
    """Sources and overlays on main, nothing launched."""
    if not _pattern.exists():
        made = Repo.create(_pattern, files())
        made.commit("sources")
    shutil.copytree(_pattern, tmp_path / "repo")
    return Repo(tmp_path / "repo")


@pytest.fixture
def launched(repo: Repo) -> Repo:
    """The three workloads are launched."""
    repo.launch()
    return repo

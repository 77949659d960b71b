"""The wheel: what is in it, and that it renders as the checkout does, in a clean environment, offline."""

from __future__ import annotations

import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from tau_compile import __version__
from tests.packaging.environments import installed, offline, pythons, training, wheel
from tests.support.cli import run
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def programs(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` of a clean environment of this interpreter."""
    return installed(sys.executable, package, tmp_path_factory.mktemp("clean") / "venv")


def test_the_wheel_carries_the_program_and_its_data_and_nothing_else(package: Path) -> None:
    with zipfile.ZipFile(package) as file:
        files = {name: file.read(name) for name in file.namelist()}
    own = {name: data for name, data in files.items() if name.startswith("tau_compile/")}
    assert {name.partition("/")[0] for name in files} == {
        "tau_compile",
        f"tau_compile-{__version__}.dist-info",
    }
    assert package.name == f"tau_compile-{__version__}-py3-none-any.whl"

    data = {
        name.removeprefix("tau_compile/_data/"): own[name]
        for name in own
        if name.startswith("tau_compile/_data/")
    }
    wanted = [*ROOT.glob("schemas/**/*.json"), *ROOT.glob("templates/**/*"), *ROOT.glob("overlays/**/*")]
    wanted = [path for path in wanted if path.is_file() and path.suffix != ".pyc"]
    assert data == {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in wanted}
    assert {"schemas/tau.schema.json", "templates/scripts/run.sh", "overlays/platform.yaml"} < data.keys()

    code = {name: own[name] for name in own if not name.startswith("tau_compile/_data/")}
    sources = [
        *ROOT.glob("tau_compile/**/*.py"),
        ROOT / "tau_compile" / "py.typed",
        *ROOT.glob("tau_compile/**/*.pyi"),
    ]
    names = {path.relative_to(ROOT).as_posix() for path in sources}
    names = {name for name in names if not name.startswith("tau_compile/_build/")}
    assert code.keys() == names | {"tau_compile/_templates.py"}
    assert any(name.endswith("/licenses/LICENSE") for name in files)


def test_it_says_what_it_is(programs: Path, tmp_path: Path) -> None:
    for command in ([programs / "tau-compile"], [programs / "python", "-m", "tau_compile"]):
        assert offline([*command, "--version"], tmp_path).decode() == f"tau-compile, version {__version__}\n"
    assert b"No broken requirements" in offline([programs / "python", "-m", "pip", "check"], tmp_path)


def test_it_renders_as_the_checkout_does(programs: Path, tmp_path: Path) -> None:
    file = training(tmp_path / "empty")
    rendered = offline([programs / "tau-compile", "render", "tau.yaml"], file.parent).decode()
    checkout = run(["render", "tau.yaml"], file.parent)
    assert (checkout.exit, checkout.stderr) == (0, "")
    assert rendered == checkout.stdout
    assert rendered.count("\nkind: RayJob\n") == 1


def test_its_templates_are_translated(programs: Path, tmp_path: Path) -> None:
    code = (
        "from tau_compile.render.packaged import names, packaged, translated\n"
        "from tau_compile import _templates\n"
        "assert _templates.TEXTS == {name: packaged(name) for name in names()}\n"
        "assert sorted(translated()) == names()\n"
        "print(len(names()))\n"
    )
    assert int(offline([programs / "python", "-c", code], tmp_path)) == len([*ROOT.glob("templates/**/*.j2")])


def test_every_python_renders_the_same(package: Path, programs: Path, tmp_path: Path) -> None:
    file = training(tmp_path / "empty")
    expected = run(["render", "tau.yaml"], file.parent).stdout
    found = pythons()
    assert sys.executable in found
    for number, python in enumerate(found):
        own = (
            programs if python == sys.executable else installed(python, package, tmp_path / f"venv-{number}")
        )
        rendered = offline([own / "tau-compile", "render", "tau.yaml"], file.parent)
        assert rendered.decode() == expected, python
        assert offline([own / "tau-compile", "validate", "tau.yaml"], file.parent) == b"", python

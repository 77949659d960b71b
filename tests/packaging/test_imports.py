"""What a command loads: nobody waits for modules that his command does not need."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tau_compile._build.translate import write
from tau_compile.render import packaged
from tests.packaging.environments import training
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

# Loaded beside click, PyYAML and what those two load. Whoever adds to this list has measured what it costs.
STANDARD = {
    "_bisect", "_json", "_locale", "_sha2", "_sha256", "bisect", "gc", "json", "json.decoder", "json.encoder", "json.scanner",
    "locale",
}  # fmt: skip
# Never on the way from a tau.yaml to its manifests; some come only with the commands that need them.
NEVER = {
    "asyncio", "attr", "concurrent", "dataclasses", "hashlib", "importlib.metadata", "importlib.resources", "jinja2",
    "jsonschema", "kubernetes", "logging", "multiprocessing", "pathlib", "random", "ruamel", "socket", "ssl",
    "subprocess", "tempfile", "urllib",
}  # fmt: skip
# Loaded where an overlay has patches.
PATCHES = {
    f"tau_compile.{name}"
    for name in (
        "policy.list_keys",
        "policy.strategic",
        "policy.unmatched",
        "rules.blame",
        "rules.kept",
        "rules.pods",
    )
}
SHOW = "import sys; sys.stderr.write(chr(10) + ' '.join(sorted(sys.modules)))"


def loaded(code: str, folder: Path) -> set[str]:
    """The modules that a fresh interpreter has at the end of ``code``."""
    program = f"import atexit\natexit.register(lambda: exec({SHOW!r}))\nimport sys; sys.path.insert(0, {str(ROOT)!r})\n{code}"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.rpartition("\n")[2].split())


def called(arguments: list[str], folder: Path) -> set[str]:
    """The modules of one call of the program."""
    return loaded(
        f"from tau_compile.__main__ import main; sys.argv = ['tau-compile', *{arguments!r}]; main()", folder
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    if not packaged.translated():  # a template was edited since `make` translated them
        write(ROOT / "tau_compile")
    return training(tmp_path / "empty")


@pytest.mark.parametrize("command", ["render", "validate"])
def test_the_way_from_a_file_to_its_manifests(command: str, file: Path) -> None:
    base = loaded("import click, yaml, __future__", file.parent)
    found = called([command, "tau.yaml"], file.parent)
    others = {name for name in found - base if not name.startswith("tau_compile")}
    assert others <= STANDARD, sorted(others - STANDARD)
    assert not {name for name in found if name in NEVER or name.partition(".")[0] in NEVER}
    assert "tau_compile.printers" not in found  # there is nothing to say
    assert "tau_compile.schema.report" not in found
    assert not [name for name in found if "patch" in name or name in PATCHES]
    assert not {name for name in found if "guard" in name}  # nothing is enforced or limited


def test_patches_load_what_merges_them(file: Path) -> None:
    overlay = file.parent / "overlays" / "platform.yaml"
    overlay.parent.mkdir()
    patch = "{target: {kind: RayJob}, patch: {metadata: {labels: {a: b}}}}"
    overlay.write_text(
        f"apiVersion: tau-compile/v1\nkind: Platform\nmetadata: {{name: a}}\npatches: [{patch}]\n"
    )
    found = called(["render", "tau.yaml"], file.parent)
    assert found >= PATCHES - {"tau_compile.policy.unmatched", "tau_compile.rules.blame"}
    assert not found & {"tau_compile.policy.unmatched", "tau_compile.rules.blame", "tau_compile.printers"}


def test_help_loads_no_command(tmp_path: Path) -> None:
    found = called(["--help"], tmp_path)
    assert {name for name in found if name.startswith("tau_compile.")} == {
        "tau_compile.__main__",
        "tau_compile.cli",
    }
    assert "yaml" not in found


def test_jinja2_comes_with_a_template_of_ones_own(file: Path) -> None:
    own = file.parent / "templates"
    own.mkdir()
    (own / "rayjob.yaml.j2").write_bytes((ROOT / "templates" / "rayjob.yaml.j2").read_bytes())
    found = called(["validate", "tau.yaml"], file.parent)
    assert "jinja2" in found
    assert "asyncio" not in found


def test_a_mistake_loads_what_explains_it(file: Path) -> None:
    file.write_text(file.read_text().replace("gpus: 1", "gpuz: 1"))
    code = (
        "import click\nfrom tau_compile.cli import main\n"
        "try:\n    main(['validate', 'tau.yaml'])\nexcept SystemExit as ended:\n    assert ended.code == 1\n"
    )
    found = loaded(code, file.parent)
    assert "tau_compile.printers" in found
    assert not {name for name in found if name in NEVER}


@pytest.mark.parametrize("command", ["render", "validate"])
def test_nobody_pays_for_explanations_that_nobody_asked_for(command: str, file: Path) -> None:
    found = called([command, "tau.yaml"], file.parent)
    assert not [name for name in found if name.startswith("tau_compile.explain")]

"""The command line: exit codes, what is printed where, and help."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from tau_compile import __version__
from tau_compile.cli import VERBS
from tests.support.cli import run, run_process
from tests.support.compiling import JOB
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with one good workload and one that is not."""
    (tmp_path / "good").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "good" / "tau.yaml").write_text(JOB)
    (tmp_path / "bad" / "tau.yaml").write_text(JOB.replace("train.py", "trian.py"))
    for name in ("good", "bad"):
        (tmp_path / name / "train.py").write_text("x = 1\n")
    return tmp_path


def test_exit_codes(folder: Path) -> None:
    assert run(["render", "good/tau.yaml"], folder).exit == 0
    assert run(["render", "bad/tau.yaml"], folder).exit == 1
    assert run(["validate", "good"], folder).exit == 0
    assert run(["validate", "bad", "good"], folder).exit == 1
    for usage in (
        ["render"],
        ["render", "none.yaml"],
        ["render", "good"],
        ["rendr"],
        ["validate", "--format", "xml"],
        ["schema", "x"],
        ["--x"],
    ):
        assert run(usage, folder).exit == 2, usage
    assert run(["--version"], folder).stdout == f"tau-compile, version {__version__}\n"


def test_manifests_on_standard_output_and_words_on_standard_error(folder: Path) -> None:
    good, bad = run(["render", "good/tau.yaml"], folder), run(["render", "bad/tau.yaml"], folder)
    assert [made["kind"] for made in yaml.safe_load_all(good.stdout)] == ["ConfigMap", "Job"]
    assert good.stderr == ""
    assert bad.stdout == ""
    assert "bad/tau.yaml:3:19: error TAU701" in bad.stderr


def test_a_warning_comes_with_the_manifests(folder: Path) -> None:
    (folder / "good" / "tau.yaml").write_text(JOB + "policy: {topology: independent}\n")
    outcome = run(["render", "good/tau.yaml"], folder)
    assert outcome.exit == 0
    assert "kind: Job" in outcome.stdout
    assert "warning TAU212" in outcome.stderr
    assert run(["validate", "good"], folder).stderr.endswith("1 file: 1 warning\n")


def test_json(folder: Path) -> None:
    body = json.loads(run(["render", "--format", "json", "good/tau.yaml"], folder).stdout)
    assert body["run"].startswith("train-")
    assert [made["kind"] for made in body["manifests"]] == ["ConfigMap", "Job"]
    assert body["diagnostics"] == []
    bad = run(["render", "--format", "json", "bad/tau.yaml"], folder)
    assert (bad.exit, bad.stderr) == (1, "")
    assert json.loads(bad.stdout)["diagnostics"][0]["id"] == "TAU701"
    both = run(["validate", "--format", "json"], folder)
    assert (both.exit, both.stderr) == (1, "")
    assert json.loads(both.stdout)["summary"] == {"errors": 1, "warnings": 0}


def test_validate_finds_files_by_itself_and_says_how_many(folder: Path) -> None:
    assert run(["validate"], folder).stderr.endswith("2 files: 1 error\n")
    assert run(["validate"], folder / "good").stderr == "1 file: OK\n"
    assert run(["validate", "good/tau.yaml", "good/tau.yaml"], folder).exit == 0
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "tau.yaml").write_text("broken: [\n")
    (folder / "link").symlink_to("bad")
    (folder / "module").mkdir()
    (folder / "module" / ".git").write_text("gitdir: elsewhere\n")
    (folder / "module" / "tau.yaml").write_text("broken: [\n")
    assert run(["validate"], folder).stderr.endswith("2 files: 1 error\n")


def test_what_is_wrong_with_overlays_is_told_once(folder: Path) -> None:
    (folder / "overlays").mkdir()
    (folder / "overlays" / "a.yaml").write_text("kind: Workspce\n")
    outcome = run(["validate"], folder)
    assert outcome.stderr.count("TAU302") == 1
    assert "overlays/a.yaml:1:7: error TAU302" in outcome.stderr


def test_paths_are_told_from_the_root_of_the_repository(folder: Path) -> None:
    (folder / "overlays").mkdir()
    (folder / "overlays" / "w.yaml").write_text(
        "apiVersion: tau-compile/v1\nkind: Workspace\nmetadata: {name: w}\nqueue: q\n"
    )
    outcome = run(["validate", "tau.yaml"], folder / "bad")
    assert outcome.stderr.startswith("bad/tau.yaml:3:19: error TAU701")


def test_the_workspace_may_be_given(folder: Path) -> None:
    (folder / "overlays").mkdir()
    for name in ("a", "b"):
        (folder / "overlays" / f"{name}.yaml").write_text(
            f"apiVersion: tau-compile/v1\nkind: Workspace\nmetadata: {{name: {name}}}\nqueue: q\n"
        )
    assert "TAU307" in run(["render", "good/tau.yaml"], folder).stderr
    assert "namespace: b" in run(["render", "-w", "b", "good/tau.yaml"], folder).stdout
    assert run(["validate", "--workspace", "b", "good"], folder).exit == 0


# --- help


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(verb: str, folder: Path) -> None:
    outcome = run([verb, "--help"], folder)
    assert outcome.exit == 0
    assert "Example:  " in outcome.stdout
    assert f"tau-compile {verb}" in outcome.stdout
    assert run([verb, "-h"], folder).stdout == outcome.stdout
    assert max(map(len, outcome.stdout.split("\n"))) <= 100


def test_help_lists_every_verb_and_the_exit_codes(folder: Path) -> None:
    outcome = run(["--help"], folder)
    assert outcome.exit == 0
    for verb, (_, about) in VERBS.items():
        assert re.search(rf"^  {verb} +{re.escape(about[:20])}", outcome.stdout, re.MULTILINE)
    assert "Exit codes" in outcome.stdout


def test_help_loads_no_verb() -> None:
    code = (
        "import sys; from tau_compile.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in sys.modules if m.startswith('tau_compile.') and m != 'tau_compile.cli'], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert done.stderr.decode().strip() == "[]"


def test_a_misspelt_verb_is_suggested(folder: Path) -> None:
    assert "Did you mean `validate`?" in run(["valdate"], folder).stderr
    assert "there is no command `x`." in run(["x"], folder).stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, folder: Path) -> None:
    outcome = run(["completion", shell], folder)
    assert outcome.exit == 0
    assert "_TAU_COMPILE_COMPLETE" in outcome.stdout


@pytest.mark.parametrize("name", ["tau", "platform", "cluster", "workspace", "profile", "project"])
def test_schemas_stand_on_their_own(name: str, folder: Path) -> None:
    schema = json.loads(run(["schema", name], folder).stdout)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    references = re.findall(r'"\$ref": "([^"]*)"', json.dumps(schema))
    assert all(reference.startswith("#") for reference in references)


# --- processes


def test_a_bug_of_ours_is_told_without_a_traceback(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tau_compile.compiler

    def broken(*_: object, **__: object) -> None:
        raise ValueError("\x1b[31mboom")

    monkeypatch.setattr(tau_compile.compiler, "compile_file", broken)
    outcome = run(["render", "good/tau.yaml"], folder)
    assert outcome.exit == 70
    assert "ValueError" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert "\x1b" not in outcome.stderr


def test_python_m_and_no_colour_without_a_terminal(folder: Path) -> None:
    outcome = run_process(["validate"], folder, TERM="xterm-256color")
    assert outcome.exit == 1
    assert "\x1b" not in outcome.stderr
    assert outcome == run(["validate"], folder)


def test_a_reader_that_stops_reading_is_no_accident(folder: Path) -> None:
    (folder / "good" / "big.txt").write_text("x" * 100_000)
    (folder / "good" / "tau.yaml").write_text(JOB.replace("{entrypoint", "{working_dir: ., entrypoint"))
    command = f"{sys.executable} -m tau_compile render good/tau.yaml | head -c 10"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=False,
    )
    assert done.stdout == b"apiVersion"
    assert b"Traceback" not in done.stderr
    assert b"internal error" not in done.stderr

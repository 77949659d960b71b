"""The README's ``console`` blocks, run in order in one shell: what it shows is what comes out.

A line of ``...`` stands for any lines. ``pytest --update-golden`` writes what came out into blocks without such a line.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

README = ROOT / "README.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "--- end of a command ---"


class Step(NamedTuple):
    """One command and what it prints."""

    command: str
    output: str


def steps(block: str) -> list[Step]:
    """The commands of a block: ``$`` begins one, ``>`` goes on with it."""
    found: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Step(line[2:] + "\n", ""))
        elif line == ">" or line.startswith("> "):
            found[-1] = Step(found[-1].command + line[2:] + "\n", found[-1].output)
        else:
            found[-1] = Step(found[-1].command, found[-1].output + line + "\n")
    return found


def shown(found: list[Step]) -> str:
    """A block again."""
    lines = []
    for step in found:
        first, *rest = step.command.splitlines()
        lines += [f"$ {first}", *(f"> {line}".rstrip() for line in rest), *step.output.splitlines()]
    return "".join(f"{line}\n" for line in lines)


def run(found: list[Step], folder: Path) -> list[str]:
    """What each command prints, both streams together, in one shell."""
    programs = folder / "bin"
    programs.mkdir()
    python = shlex.quote(sys.executable)
    # `make demo` sets up an environment first, which is not what is shown.
    for name, text in {
        "tau-compile": f'exec {python} -m tau_compile "$@"',
        "make": f'cd {shlex.quote(str(ROOT))} && exec {python} -m tests.demo "$OLDPWD/build/$1"',
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    home = folder / "work"
    home.mkdir()
    who = {"NAME": "reader", "EMAIL": "reader@example.com"}
    identity = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        **identity,
    }
    script = "".join(f"{step.command}echo '{MARK}'\n" for step in found)
    done = subprocess.run(
        ["bash"], input=script, cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    outputs = done.stdout.split(f"{MARK}\n")
    assert len(outputs) == len(found) + 1, done.stdout
    return [text.replace(f"{home}/", "") for text in outputs[:-1]]


def fits(expected: str, text: str) -> bool:
    """Whether ``text`` is what is expected, ``...`` standing for any lines."""
    pattern = "".join(
        "(?:.*\n)*?" if line == "..." else re.escape(f"{line}\n") for line in expected.splitlines()
    )
    return re.fullmatch(pattern, text) is not None


def test_the_readme_shows_what_comes_out(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    text = README.read_text(encoding="utf-8")
    blocks = [steps(block) for block in BLOCK.findall(text)]
    assert len(blocks) >= 4
    outputs = iter(run([step for block in blocks for step in block], tmp_path))
    update = request.config.getoption("--update-golden")
    for block in blocks:
        made = [Step(step.command, next(outputs)) for step in block]
        for step, new in zip(block, made, strict=True):
            if not fits(step.output, new.output):
                assert update, f"$ {step.command}{new.output}"
                assert "...\n" not in step.output, "an output with `...` has to be changed by hand"
                text = text.replace(shown(block), shown(made))
                break
    if update:
        README.write_text(text, encoding="utf-8", newline="\n")


def test_the_checker_sees_a_difference() -> None:
    assert fits("a\n...\nb\n", "a\nb\n")
    assert fits("a\n...\nb\n", "a\nx\ny\nb\n")
    assert not fits("a\n...\nb\n", "a\nx\n")
    assert not fits("a\n", "a\nb\n")
    assert not fits("", "a\n")


def test_links_lead_somewhere() -> None:
    for page in (README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"):
        for link in re.findall(r"\]\(([^)#:]+)", page.read_text(encoding="utf-8")):
            assert (ROOT / link).exists(), f"{page.name}: {link}"

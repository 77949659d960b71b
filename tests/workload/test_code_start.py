from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tau_compile.diagnostics import Span
from tau_compile.workload.code import entry_kind

if TYPE_CHECKING:
    from pathlib import Path

SPAN = Span("tau.yaml", 2, 3, 2, 9)


def argv(content: bytes, path: str, launcher: str | None = None) -> tuple[str, ...]:
    start, said = entry_kind(content, path, launcher, SPAN)
    assert said == []
    assert start is not None
    assert start.argv[-1] == f"/tau/code/{path}"
    return start.argv[:-1]


def why_not(content: bytes, path: str, launcher: str | None = None) -> str:
    start, said = entry_kind(content, path, launcher, SPAN)
    assert start is None
    assert [(d.id, d.severity, d.span) for d in said] == [("TAU718", "error", SPAN)]
    assert said[0].hint
    return said[0].message


@pytest.mark.parametrize(
    ("content", "path", "launcher", "command"),
    [
        (b"print(1)\n", "train.py", None, "python3"),
        (b"", "a/train.py", None, "python3"),
        (b"print(1)\n", "train", "python", "python3"),
        (b"#!/usr/bin/env python3.12 -u\n", "train.py", "python", "python3"),
        (b"#!/opt/pypy3.10 \n", "train", "python", "python3"),
        (b"#!/usr/bin/env python3.12 -u\n", "train.py", None, "/usr/bin/env python3.12 -u"),
        (b"#!/bin/sh\necho\n", "train.sh", None, "/bin/sh"),
        (b"#!/bin/sh", "train.sh", None, "/bin/sh"),
        (b"#! /bin/bash -e\r\n", "train.py", None, "/bin/bash -e"),
        (b"#!/usr/bin/env bash -e\n", "t", None, "/usr/bin/env bash -e"),
        (b"#!/usr/bin/env -S bash -e\n", "t", None, "/usr/bin/env bash -e"),
        (b"#!/usr/bin/env\tA=1 bash\n", "t", None, "/usr/bin/env A=1 bash"),
        (b"#!/bin/sh\n", "t", "ray-train", "/bin/sh"),
        (b"print()\n", "t.py", "ray-train", "python3"),
        (b"#!/bin/sh\n", "t.py", "torchrun", "python3"),
        (b"x\n", "t.py", "torchrun", "python3"),
        (b"x\n", "t.py", "ray-tune", "python3"),
        (b"\xef\xbb\xbfprint(1)\n", "t.py", None, "python3"),
        (b"\xef\xbb\xbf#!/usr/bin/python3\n", "t.py", None, "/usr/bin/python3"),
    ],
)
def test_commands(content: bytes, path: str, launcher: str | None, command: str) -> None:
    assert argv(content, path, launcher) == tuple(command.split())


def test_quotes_after_env_s_stay_for_env() -> None:
    assert argv(b"#!/usr/bin/env -S bash -c 'a b'\n", "t") == ("/usr/bin/env", "-S", "bash -c 'a b'")


def test_python_is_known_by_its_name() -> None:
    for line in (
        b"/usr/bin/env python3",
        b"/usr/bin/env -S python -u",
        b"/usr/bin/python3.12",
        b"pypy3",
        b"/usr/bin/env A=1 python",
    ):
        start, _ = entry_kind(b"#!" + line + b"\n", "t", None, SPAN)
        assert start is not None
        assert start.python, line
    for line in (b"/bin/sh", b"/usr/bin/env bash", b"/usr/bin/pythonic", b"/usr/bin/env uv run"):
        start, _ = entry_kind(b"#!" + line + b"\n", "t.py", None, SPAN)
        assert start is not None
        assert not start.python, line


@pytest.mark.parametrize(
    ("content", "path", "launcher", "why"),
    [
        (b"echo\n", "train.sh", None, "has no #! line and is not a .py file"),
        (b"\x7fELF\0", "train", None, "has no #! line"),
        (b" #!/bin/sh\n", "train", None, "has no #! line"),
        (b"#!\n", "train.py", None, "has an empty #! line"),
        (b"#!  \r\n", "train.sh", "python", "has an empty #! line"),
        (b"#!", "train.py", "torchrun", "has an empty #! line"),
        (b"#!/usr/bin/env\n", "t", None, "names no interpreter"),
        (b"#!/usr/bin/env -S\n", "t", None, "names no interpreter"),
        (b"#!/bin/\xff\n", "t", None, "not UTF-8"),
        (b"#!/bin/a\0b\n", "t", None, "no system understands"),
        (b"#!/bin/" + b"a" * 5000 + b"\n", "t", None, "no system understands"),
        (b"#!/bin/sh\n", "t.py", "python", "for `/bin/sh`, and the launcher is python"),
        (b"x\n", "t.sh", "torchrun", "torchrun starts only those"),
        (b"x\n", "t", "ray-tune", "ray-tune starts only those"),
        (b"\xef\xbb\xbf#!/bin/sh\n", "t", None, "byte order mark"),
    ],
)
def test_refusals(content: bytes, path: str, launcher: str | None, why: str) -> None:
    assert why in why_not(content, path, launcher)


@pytest.mark.parametrize(
    "line", ["#!/bin/sh", "#!/usr/bin/env bash -e", "#!/usr/bin/env -S sh -e", f"#!{sys.executable}"]
)
def test_commands_run_without_an_exec_bit(tmp_path: Path, line: str) -> None:
    program = "print('ran')" if "python" in line else "echo ran"
    (tmp_path / "t").write_text(f"{line}\n{program}\n")
    command = (*argv((tmp_path / "t").read_bytes(), "t"), str(tmp_path / "t"))
    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout == "ran\n"

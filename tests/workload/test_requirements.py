"""Lines of runtime.pip that pip can use, and those that it cannot."""

from __future__ import annotations

import pytest

from tau_compile.workload.requirements import unusable


@pytest.mark.parametrize(
    "line",
    [
        "torch",
        "torch==2.4.0",
        "torch >= 2, < 3",
        "torch>=2 ; python_version < '3.13' and sys_platform == 'linux'",
        "torch [extra, more] ~= 2.4",
        "torch==2.* ",
        "torch==2.4.0 --hash=sha256:0123",
        "torch  # the framework",
        "# a remark about torch and numpy",
        "tool @ https://example.com/tool-1.0.tar.gz",
        "git+https://example.com/tool.git@main#egg=tool",
        "/opt/wheels/tool-1.0-py3-none-any.whl",
        "--extra-index-url https://example.com/simple",
        "--index-url=https://example.com/simple",
        "-i https://example.com/simple",
        "--pre",
        "",
    ],
)
def test_lines_that_pip_can_use(line: str) -> None:
    assert unusable(line) is None


@pytest.mark.parametrize(
    "line, why",
    [
        ("-r requirements.txt", "file"),
        ("-rrequirements.txt", "file"),
        ("--requirement=requirements.txt", "file"),
        ("-c constraints.txt", "file"),
        ("-e .", "editable"),
        ("--editable=./tool", "editable"),
        (".", "local"),
        ("..", "local"),
        ("./tool", "local"),
        ("~/tool", "local"),
        ("/", "local"),
        ("--upgrade", "option"),
        ("-U torch", "option"),
        ("torch numpy", "more than one"),
        ("torch==2.4.0 numpy", "more than one"),
        ("torch[extra] numpy", "more than one"),
        ("torch 2.4.0", "more than one"),
    ],
)
def test_lines_that_pip_cannot_use(line: str, why: str) -> None:
    found = unusable(line)
    assert found
    assert why in found[0]

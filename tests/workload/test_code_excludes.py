from __future__ import annotations

import re
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.workload.code.excludes import Pattern, hidden, parse

if TYPE_CHECKING:
    from pathlib import Path


def pattern(text: str) -> Pattern:
    found = parse(text)
    assert isinstance(found, Pattern), found
    return found


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("*.ckpt", ["a.ckpt", "x/y/b.ckpt", ".ckpt", "a.ckpt/inside"], ["a.ckpt2", "ckpt"]),
        ("data/", ["data/x", "x/data/y"], ["data", "x/data", "mydata/x"]),
        ("data", ["data", "x/data", "data/x"], ["data2"]),
        ("/data", ["data", "data/x"], ["x/data"]),
        ("a/b", ["a/b", "a/b/c"], ["x/a/b", "a/c/b"]),
        ("a/*/c", ["a/b/c", "a/b/c/d"], ["a/c", "a/b/b/c"]),
        ("a/**/c", ["a/c", "a/b/c", "a/b/b/c"], ["x/a/c", "a/b"]),
        ("**/c", ["c", "a/b/c"], ["cc"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/a/b"]),
        ("**", ["a", "a/b"], []),
        ("x?z", ["xyz", "a/xyz"], ["xz", "xyyz", "x/z"]),
        ("t*t*t", ["ttt", "test-test"], ["tt", "t/t/t"]),
        ("a**b", ["ab", "axxb"], ["a/b"]),
        ("é?", ["éé"], ["é"]),
    ],
)
def test_matching(text: str, yes: list[str], no: list[str]) -> None:
    assert [path for path in yes if not hidden(path, [pattern(text)])] == []
    assert [path for path in no if hidden(path, [pattern(text)])] == []


def test_a_trailing_slash_is_for_folders() -> None:
    assert hidden("data", [pattern("data/")], folder=True)
    assert not hidden("data", [pattern("data/")])


_SEGMENT = st.text("ab*?", min_size=1, max_size=6)
_GLOB = st.lists(st.one_of(st.just("**"), _SEGMENT), min_size=1, max_size=4)
_PATH = st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=4)


@settings(deadline=None)
@given(_GLOB, _PATH)
def test_matching_agrees_with_regular_expressions(glob: list[str], parts: list[str]) -> None:
    found = pattern("/" + "/".join(glob))
    expression = ""
    for index, segment in enumerate(found.segments):
        last = index == len(found.segments) - 1
        if segment == "**":
            expression += "(?:[^/]+/)*"
        else:
            expression += "".join({"*": "[^/]*", "?": "[^/]"}.get(c, c) for c in segment) + (
                "" if last else "/"
            )
    prefixes = ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]
    assert hidden("/".join(parts), [found]) == any(re.fullmatch(expression, prefix) for prefix in prefixes)


def test_agrees_with_git(tmp_path: Path) -> None:
    globs = ["*.ckpt", "data/", "/top", "a/b", "a/*/c", "a/**/c", "**/c", "a/**", "x?z", "t*t*t", "d*/e"]
    paths = [
        "a.ckpt",
        "x/y.ckpt",
        "data/x",
        "y/data/z",
        "top",
        "x/top",
        "a/b",
        "x/a/b",
        "a/q/c",
        "a/q/r/c",
        "a/c",
        "c/d",
        "a/z",
        "xyz",
        "q/xyz/w",
    ]
    paths += ["ttt", "u/tatat", "de/e", "q/de/e", "d/e/f", "dx/f"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for glob in globs:
        (tmp_path / ".gitignore").write_text(glob + "\n")
        command = ["git", "-C", str(tmp_path), "check-ignore", "--no-index", *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert [p for p in paths if hidden(p, [pattern(glob)])] == done.stdout.split(), glob


def test_hostile_patterns_end_soon() -> None:
    start = time.perf_counter()
    hidden("a" * 3000, [pattern("*a" * 1500 + "b")])
    hidden("/".join("a" * 500), [pattern("**/a/" * 250 + "b")])
    assert time.perf_counter() - start < 5

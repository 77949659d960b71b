"""Files made to hurt: each is answered with a diagnostic, quickly and in little memory, by both parsers."""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc

import pytest

from tau_compile.source.nodes import Sequence
from tau_compile.source.reader import Limits, ReadResult, read

DEEP = 20_000
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 11)
)
MERGES = (
    f"base: &b {{{', '.join(f'k{i}: 1' for i in range(1000))}}}\n"
    + f"m: {{<<: [{', '.join(['*b'] * 100)}]}}\n"
)
TEXTS = f"a: &a '{'x' * 500_000}'\nb: [{', '.join(['*a'] * 50_000)}]\n"

# name: (text, id, line, column, words)
CASES = {
    "brackets": ("[" * DEEP, "TAU102", 1, 51, "nested more than 50 deep"),
    "brackets behind a key": ("a: " + "[" * DEEP, "TAU102", 1, 53, "nested more than 50 deep"),
    "braces": ("{a: " * DEEP, "TAU102", 1, 201, "nested more than 50 deep"),
    "dashes": ("- " * DEEP, "TAU102", 1, 101, "nested more than 50 deep"),
    "indentation": ("\n".join(" " * i + "a:" for i in range(1400)), "TAU102", 51, 51, "nested more than 50 deep"),
    "depth through aliases": (
        "a: &a " + "[" * 20 + "]" * 20 + "\nb: &b " + "[" * 20 + "*a" + "]" * 20 + "\nc: " + "[" * 10 + "*b" + "]" * 10,
        "TAU102", 3, 14, "nested more than 50 deep",
    ),
    "alias bomb": (BOMB, "TAU103", 6, 10, "more than 100000 keys and values, with aliases expanded"),
    "merge bomb": (MERGES, "TAU103", 2, 202, "more than 100000 keys and values, with aliases expanded"),
    "text bomb": (TEXTS, "TAU103", 2, 37, "aliases repeat more than 4194304 characters"),
    "too large": ("a: " + "x" * 2_000_000, "TAU101", 1, 1, "2000003 bytes; at most 1048576"),
    "too many values": ("- \n" * 300_000, "TAU103", 100_000, 2, "more than 100000 keys and values"),
}  # fmt: skip


def only(result: ReadResult) -> tuple[str, int, int, str]:
    assert result.node is None
    (diagnostic,) = result.diagnostics
    assert diagnostic.span is not None
    assert diagnostic.hint
    return diagnostic.id, diagnostic.span.line, diagnostic.span.column, diagnostic.message


@pytest.mark.parametrize("name", CASES)
def test_refused_quickly(name: str) -> None:
    text, code, line, column, words = CASES[name]
    data = text.encode()
    start = time.perf_counter()
    found = only(read(data, "f"))
    # Far above what it takes (0.4 s for the slowest), far below what it would take unchecked.
    assert time.perf_counter() - start < 5
    assert found[:3] == (code, line, column)
    assert words in found[3]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_refused_alike_by_the_fallback(name: str) -> None:
    data = CASES[name][0].encode()
    assert read(data, "f", loader="python") == read(data, "f", loader="c")


@pytest.mark.parametrize(
    "name", ["braces", "indentation", "alias bomb", "merge bomb", "text bomb", "too large"]
)
def test_refused_in_little_memory(name: str) -> None:
    data = CASES[name][0].encode()
    tracemalloc.start()
    try:
        read(data, "f")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20


def test_memory_of_the_whole_process() -> None:
    """The C parser's own memory is out of tracemalloc's sight; the system counts it.

    (Not ``ru_maxrss``: a process inherits that from the one that started it.)
    """
    code = (
        "from tau_compile.source.reader import read\n"
        "for text in ('[' * 20000, '- ' * 20000, '{a: ' * 20000, '- \\n' * 300000, '&a [' * 20000):\n"
        "    result = read(text.encode(), 'f')\n"
        "    assert result.node is None and result.diagnostics\n"
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 200 << 10  # KiB


def test_limits_are_exact() -> None:
    assert read(b"a: 1", "f", Limits(size=4)).diagnostics == ()
    assert only(read(b"a: 12", "f", Limits(size=4)))[0] == "TAU101"
    assert read(b"[[1]]", "f", Limits(depth=2)).diagnostics == ()
    assert only(read(b"[[[]]]", "f", Limits(depth=2)))[:3] == ("TAU102", 1, 3)
    assert read(b"[1, {a: 2}]", "f", Limits(nodes=5)).diagnostics == ()
    assert only(read(b"[1, {a: 2}]", "f", Limits(nodes=4)))[:3] == ("TAU103", 1, 9)
    assert read(b"[&a [1], *a]", "f", Limits(nodes=5)).diagnostics == ()
    assert only(read(b"[&a [1], *a]", "f", Limits(nodes=4)))[:3] == ("TAU103", 1, 10)
    assert read(b"[&a [1], *a]", "f", Limits(depth=2)).diagnostics == ()
    assert only(read(b"[&a [1], [*a]]", "f", Limits(depth=2)))[:3] == ("TAU102", 1, 11)
    assert read(b"[&a 'xyz', *a]", "f", Limits(characters=8)).diagnostics == ()
    assert only(read(b"[&a 'xyz', *a]", "f", Limits(characters=7)))[:3] == ("TAU103", 1, 12)


def test_what_is_large_but_allowed_is_read() -> None:
    result = read(b"- 1\n" * 90_000, "f")
    assert result.diagnostics == ()
    assert isinstance(result.node, Sequence)
    assert len(result.node.items) == 90_000
    assert result.node.items[-1].span.line == 90_000


@pytest.mark.parametrize(
    "data",
    [b"\0" * 10**6, b"\xff" * 10**6, b"\t" * 10**6, b"'" * 1000001, b'"' + b"\\n" * 450000, b"#\n" * 500000,
     b"%\n" * 500000, b":" * 10**6, b"a: !" + b"%41" * 300000, b"\r" * 10**6, b"[" + b", " * 500000,
     b"- &a #x\n" * 100000, b"a: #" + b" #" * 500000 + b"\nb: 1", b"{" + b"a: , " * 200000 + b"}"],
)  # fmt: skip
def test_a_megabyte_of_anything_takes_little_time(data: bytes) -> None:
    start = time.perf_counter()
    result = read(data, "f")
    assert time.perf_counter() - start < 5
    assert len(result.diagnostics) <= 100

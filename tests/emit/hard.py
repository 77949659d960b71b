"""Strings that some YAML reader or writer gets wrong, and trees made of them."""

from __future__ import annotations

import random
from typing import Any

# What PyYAML's own writer leaves unquoted although Go readers take it for something else (B-4).
PLAIN_IN_PYYAML = (
    *(
        "y",
        "Y",
        "n",
        "N",
        "1e3",
        "1E6",
        "1e+10",
        "1.0e10",
        "25921e05",
        "0e1234",
        "0o17",
        "0X1f",
        "08",
        "09",
        "0128",
    ),
    *("+.5", "2024-1-1", "695e0514", "NaN", "inf", "1,000", "1.2.3", "v1"),
)
# What it quotes, and what others leave unquoted.
QUOTED_IN_PYYAML = (
    *(
        "yes",
        "Yes",
        "YES",
        "no",
        "No",
        "NO",
        "on",
        "On",
        "ON",
        "off",
        "Off",
        "OFF",
        "true",
        "True",
        "TRUE",
        "false",
    ),
    *(
        "False",
        "FALSE",
        "null",
        "Null",
        "NULL",
        "~",
        "",
        "0x1F",
        "012",
        "0123",
        "0b101",
        "1_000",
        "12:30",
        "1:30",
    ),
    *(
        "12:30:45",
        "2024-01-01",
        "2024-01-01T00:00:00Z",
        "=",
        "<<",
        ".nan",
        ".NaN",
        ".inf",
        "-.inf",
        "+1",
        "-0",
        "1.",
    ),
    *(
        ".5",
        "-",
        "--",
        "---",
        "...",
        "?",
        ":",
        ",",
        "[",
        "]",
        "{",
        "}",
        "#",
        "&",
        "*",
        "!",
        "|",
        ">",
        "'",
        '"',
        "%",
    ),
    *(
        "@",
        "`",
        " ",
        " a",
        "a ",
        "a: b",
        "a:",
        ":a",
        "a #b",
        "a#b",
        "- a",
        "? a",
        "!a",
        "!!str a",
        "&a",
        "*a",
        "%a",
        "\t",
    ),
)
# Git revisions that are numbers to some reader (B39).
REVISIONS = ("72225e2", "01443e5", "0e1234", "00215e6", "72044e011", "1e3", "7e10", "1234567")
WORDS = (
    *(
        "a",
        "A1",
        "e3",
        "x-1",
        "a.b/c",
        "v1beta2",
        "nvidia.com/gpu",
        "kueue.x-k8s.io/queue-name",
        "ReadWriteOnce",
    ),
    *(
        "/",
        "/dev/shm",
        "ghcr.io/a/b:v1",
        "ghcr.io/a/b@sha256:00ff",
        "http://a/b?c=d",
        "64Gi",
        "500m",
        "1.5Gi",
        "1E",
        "1k",
    ),
    *(
        "a:b",
        "a::b",
        "a:@b",
        "C:/x",
        "a:1",
        "nan",
        "Infinity",
        "none",
        "None",
        "1m",
        "1M",
        "0m",
        "--lr=1e-3",
        "$(HOST)",
    ),
)
CONTROLS = (
    *(
        "\x00",
        "\x07",
        "\b",
        "\x1b[0m",
        "\x7f",
        "\x85",
        "\x9f",
        "\r",
        "\r\n",
        "a\rb",
        "\xa0",
        "\u2028",
        "\u2029",
        "\ufeff",
    ),
    *(
        "a\u2028b\n",
        "a\x85b\n",
        "\ufffe",
        "\uffff",
        "\u202eevil",
        "\u200e",
        "é",
        "日本",
        "🚀",
        "\U0010fffd",
        "\\",
        "\\n",
        '"',
    ),
)
LINES = (
    *(
        "\n",
        "\n\n",
        "a\n",
        "a\nb",
        "a\nb\n",
        "a\n\n",
        "a\nb\n\n\n",
        "\na",
        "\n\na\n",
        " a\nb",
        "a\n b\n",
        "a \nb\n",
        "a\n \nb",
    ),
    *(
        "a\n\tb\n",
        "a\tb\nc\n",
        "\ta\nb",
        "a\n  \tb",
        "a\n\nb\n",
        "# a\n- b\n",
        "---\na\n",
        "a\n---\n",
        "a\n...\n",
        "- a\n- b\n",
    ),
    *(
        "a: b\nc: d\n",
        "#!/bin/sh\nset -eu\nif true; then\n  exec python3 a.py\nfi\n",
        "a\r\nb\r\n",
        "%a\nb\n",
        "|\na\n",
    ),
)
LONG = (
    *(
        "word " * 40 + "end",
        "x" * 300,
        "1" * 300,
        "key: value " * 30,
        ("line " * 30 + "end\n") * 3,
        "\u2028" * 300,
    ),
    *("a" * 1_100, "a: " * 500, "é" * 1_100),
)
HARD = (*PLAIN_IN_PYYAML, *QUOTED_IN_PYYAML, *REVISIONS, *WORDS, *CONTROLS, *LINES, *LONG)
NUMBERS = (
    *(0, 1, -1, 7, 10**6, 2**31, 2**53, -(2**53)),
    *(
        0.5,
        -0.25,
        1.0,
        1e-5,
        1e-4,
        3e-4,
        1e16,
        1e22,
        1.5e-7,
        5e-324,
        1.7976931348623157e308,
        123456.789,
        0.1,
        1 / 3,
    ),
)


def documents(count: int, seed: int) -> list[dict[str, Any]]:
    """Maps nested a few levels deep, with hard keys and values; the same for the same seed."""
    chance = random.Random(seed)
    alphabet = "".join(sorted(set("".join(HARD)))) + "aaabbb:::---   \n\n"

    def text() -> str:
        if chance.random() < 0.6:
            return chance.choice(HARD)
        return "".join(chance.choice(alphabet) for _ in range(chance.randint(0, 12)))

    def value(depth: int) -> Any:
        kind = chance.random()
        if depth and kind < 0.25:
            return {text(): value(depth - 1) for _ in range(chance.randint(0, 3))}
        if depth and kind < 0.45:
            return [value(depth - 1) for _ in range(chance.randint(0, 3))]
        return text() if kind < 0.85 else chance.choice((*NUMBERS, True, False, None))

    return [{text(): value(3) for _ in range(chance.randint(1, 3))} for _ in range(count)]

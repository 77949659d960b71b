"""The command arrives argument for argument, byte for byte, whatever the user wrote."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tau_compile.render.argv import encode
from tests.scripts.box import ECHO, Box

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
NASTY = st.text("\\n01x'\"$`%*?[]{}~#&|;<>()! \t\r\n-=\x01\x7f\x1b.é", max_size=12)

HOSTILE = [
    "",
    " ",
    "a  b ",
    "-n",
    "--",
    "$HOME `id` $(id) ${x:-y}",
    "'\"",
    "\\",
    "\\n",
    "\\\\n",
    "\\0101\\101\\x41\\u0041\\c",
    "end\n",
    "\n\n",
    "\n",
    "\r\n",
    "\t",
    "%s %b %%",
    "*",
    "~",
    "a=b",
    "é 漢字 \u2028 \U0001f600",
    "\x01\x02\x7f\x80",
    ".",
]


def test_encoding() -> None:
    assert encode([]) == ""
    assert encode(["", "a b", "a\\n", "a\nb\n"]) == "\na b\na\\\\n\na\\nb\\n\n"


def test_hostile_arguments(box: Box) -> None:
    assert box.run(*ECHO, *HOSTILE) == (0, "".join(f"{argument}\0" for argument in HOSTILE), "")


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(arguments=st.lists(TEXT | NASTY, max_size=60))
def test_any_arguments(box: Box, arguments: list[str]) -> None:
    assert box.run(*ECHO, *arguments) == (0, "".join(f"{argument}\0" for argument in arguments), "")


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "en_US.ISO-8859-1"])
def test_the_locale_does_not_matter(box: Box, locale: str) -> None:
    assert box.run(*ECHO, *HOSTILE, LC_ALL=locale).out == "".join(f"{argument}\0" for argument in HOSTILE)


def test_without_python(box: Box) -> None:
    (box.path / "python3").unlink()
    done = box.run("sh", "-c", 'for a; do printf "%s|" "$a"; done', "sh", *HOSTILE)
    assert done == (0, "".join(f"{argument}|" for argument in HOSTILE), "")

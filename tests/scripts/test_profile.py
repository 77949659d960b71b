"""Profiling: the command is wrapped for the chosen ranks, with tools that record how they were called."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.scripts.box import Box, Done

if TYPE_CHECKING:
    from pathlib import Path

# Stands for a profiler: notes its own options (they all start with a dash), then becomes the command.
FAKE = """
printf '%s\\n' "$0" >"$RECORD"
[ "$1" != profile ] || { echo profile >>"$RECORD"; shift; }
while :; do case $1 in -*) printf '%s\\n' "$1" >>"$RECORD"; shift ;; *) break ;; esac; done
exec "$@"
"""


@pytest.fixture
def profile(box: Box, tmp_path: Path) -> dict[str, str]:
    for tool in ("nsys", "ncu"):
        box.tool(tool, FAKE)
    return {
        "TAU_RUN_ID": "r-1",
        "TAU_PROFILE_OUT_DIR": str(tmp_path / "out dir" / "profile"),
        "RECORD": str(tmp_path / "record"),
    }


def options(tmp_path: Path) -> list[str]:
    return (tmp_path / "record").read_text().splitlines()[1:]


def test_nsys(box: Box, profile: dict[str, str], tmp_path: Path) -> None:
    timing = {"TAU_PROFILE_WARMUP_SEC": "30", "TAU_PROFILE_ACTIVE_SEC": "120"}
    done = box.run(
        "sh",
        "-c",
        'printf "<%s>" "$@"; exit 3',
        "sh",
        "a b",
        "",
        TAU_PROFILE_MODE="nsys",
        **profile,
        **timing,
    )
    assert done == Done(3, "<a b><>", "")
    report = tmp_path / "out dir" / "profile" / "rank-0"
    assert options(tmp_path) == [
        "profile",
        f"--output={report}",
        "--force-overwrite=true",
        "--export=sqlite",
        "--wait=primary",
        "--delay=30",
        "--duration=120",
        "--kill=none",
    ]
    assert json.loads(report.with_suffix(".json").read_text()) == {
        "version": 1,
        "run": "r-1",
        "rank": 0,
        "tool": "nsys",
        "report": "rank-0.nsys-rep",
        "exit_code": 3,
    }


@pytest.mark.parametrize("timing", [{}, {"TAU_PROFILE_WARMUP_SEC": "0", "TAU_PROFILE_ACTIVE_SEC": "0"}])
def test_nsys_without_timing_covers_the_whole_run(
    box: Box, profile: dict[str, str], tmp_path: Path, timing: dict[str, str]
) -> None:
    assert box.sh("echo ran", TAU_PROFILE_MODE="nsys", **profile, **timing).out == "ran\n"
    assert not [
        option for option in options(tmp_path) if option.startswith(("--delay", "--duration", "--kill"))
    ]


def test_ncu(box: Box, profile: dict[str, str], tmp_path: Path) -> None:
    done = box.sh(
        "echo ran", TAU_PROFILE_MODE="ncu", JOB_COMPLETION_INDEX="2", TAU_PROFILE_RANK="2", **profile
    )
    assert done == Done(0, "ran\n", "")
    report = tmp_path / "out dir" / "profile" / "rank-2"
    assert options(tmp_path) == [f"--export={report}", "--force-overwrite", "--target-processes=all"]
    assert json.loads(report.with_suffix(".json").read_text())["report"] == "rank-2.ncu-rep"


@pytest.mark.parametrize(
    ("wanted", "rank", "wrapped"),
    [
        ("", "", True),
        ("0", "1", False),
        ("all", "7", True),
        ("1,3", "3", True),
        ("1,3", "2", False),
        ("1", "11", False),
    ],
)
def test_ranks(
    box: Box, profile: dict[str, str], tmp_path: Path, wanted: str, rank: str, wrapped: bool
) -> None:
    given = {"TAU_PROFILE_RANK": wanted, "JOB_COMPLETION_INDEX": rank} if rank else {}
    done = box.sh("echo ran", TAU_PROFILE_MODE="nsys", **profile, **given)
    assert (done.exit, done.out) == (0, "ran\n")
    assert (tmp_path / "record").exists() is wrapped
    assert done.err == ("" if wrapped else f"tau: rank {rank} is not profiled\n")


@pytest.mark.parametrize("tool", ["nsys", "ncu"])
def test_tool_is_missing(box: Box, profile: dict[str, str], tool: str) -> None:
    (box.path / tool).unlink()
    done = box.sh("echo never", TAU_PROFILE_MODE=tool, **profile)
    assert done == Done(127, "", f"tau: the profiler {tool} is not in this image\n")


def test_wrong_configuration(box: Box, profile: dict[str, str]) -> None:
    assert box.sh("echo never", TAU_PROFILE_MODE="perf", **profile) == Done(
        78, "", "tau: unknown profiler: perf\n"
    )
    del profile["TAU_PROFILE_OUT_DIR"]
    assert box.sh("echo never", TAU_PROFILE_MODE="ncu", **profile).exit == 78


def test_profiles_are_published_with_the_output(box: Box, profile: dict[str, str], tmp_path: Path) -> None:
    output = {"TAU_OUTPUT_DIR": str(tmp_path / "out"), "TAU_OUTPUT_STAGING_DIR": str(tmp_path / "staging")}
    profile["TAU_PROFILE_OUT_DIR"] = str(tmp_path / "out" / "profile")
    done = box.sh('echo "$TAU_PROFILE_OUT_DIR"', TAU_PROFILE_MODE="ncu", **profile, **output)
    assert done == Done(0, f"{tmp_path}/staging/profile\n", "")
    assert (tmp_path / "out" / "profile" / "rank-0.json").exists()

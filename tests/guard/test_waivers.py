"""Waivers: for whom, of what, by whom, until when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tau_compile.compiler import compile_file
from tau_compile.guard.overlays import is_date
from tests.policy.documents import cluster, platform, profile, workspace
from tests.support.compiling import JOB, compiled, ids, repository

if TYPE_CHECKING:
    from tau_compile.guard.waivers import Stance

GPU = JOB + "compute: {gpus: 1}\nresilience: {max_retries: 3}\n"
LIMIT = "[{name: gpus, field: compute.gpus, max: 0}]"
ENFORCE = "{resilience: {max_retries: 1}}"


def waiver(more: str = "limits: [gpus], enforce: [resilience]", workload: str = "train") -> str:
    return f"[{{workload: {workload}, reason: paper, expires: 2027-03-31, {more}}}]"


@pytest.mark.parametrize(
    "day, found",
    [
        ("", ["TAU331", "TAU330"]),
        ("2027-03-30", ["TAU343", "TAU343"]),
        ("2027-03-31", ["TAU343", "TAU343"]),  # the last day is one
        ("2027-04-01", ["TAU342", "TAU331", "TAU330"]),
    ],
)
def test_until_when(day: str, found: list[str]) -> None:
    layer = platform(limits=LIMIT, enforce=ENFORCE, waivers=waiver())
    assert ids(GPU, [layer], as_of=day) == found


def test_what_was_waived_is_what_the_workload_says() -> None:
    result = compiled(
        GPU, [platform(enforce=ENFORCE, waivers=waiver("enforce: [resilience]"))], as_of="2027-01-01"
    )
    assert result.workload is not None
    assert result.workload.retry is not None
    assert result.workload.retry.attempts == 3
    assert result.resolved is not None
    assert [one.lifted for one in result.resolved.waived] == [("resilience.max_retries",)]


def test_what_nobody_contradicts_stays_enforced() -> None:
    layer = platform(enforce=ENFORCE, waivers=waiver("enforce: [resilience]"))
    result = compiled(JOB + "compute: {gpus: 1}\n", [layer], as_of="2027-01-01")
    assert result.workload is not None
    assert result.workload.retry is not None
    assert result.workload.retry.attempts == 1
    assert not result.diagnostics


def test_for_whom() -> None:
    layer = platform(limits=LIMIT, waivers=waiver("limits: [gpus], workspace: v"))
    layers = [layer, workspace("v"), workspace("w", formerly="[x]")]
    given = {"as_of": "2027-01-01"}
    assert ids(GPU, layers, workspace="v", **given) == ["TAU343"]
    assert ids(GPU, layers, workspace="w", **given) == ["TAU331"]
    layers[0] = platform(limits=LIMIT, waivers=waiver("limits: [gpus], workspace: x"))  # an older name
    assert ids(GPU, layers, workspace="w", **given) == ["TAU343"]
    prefixed = GPU + "resource_naming: {prefix: ml}\n"
    layers = [platform(limits=LIMIT, waivers=waiver("limits: [gpus]", "ml-train"))]
    assert ids(prefixed, layers, **given) == ["TAU343"]
    assert ids(GPU, layers, **given) == ["TAU331"]


@pytest.mark.parametrize(
    "layers, found",
    [
        ([platform(limits=LIMIT), cluster("c", waivers=waiver("limits: [gpus]"))], ["TAU344"]),
        ([platform(limits=LIMIT), workspace("v", waivers=waiver("limits: [gpus]"))], ["TAU344"]),
        ([profile("p", limits=LIMIT), cluster("c", waivers=waiver("limits: [gpus]"))], ["TAU344"]),
        ([cluster("c", waivers=waiver("limits: [gpus]")), workspace("v", limits=LIMIT)], []),
        ([platform(waivers=waiver("limits: [gpus]")), workspace("v", limits=LIMIT)], []),
        ([platform(waivers=waiver("limits: [gpus]")), profile("p", limits=LIMIT)], []),
        ([workspace("v", limits=LIMIT, waivers=waiver("limits: [gpus]"))], []),
        ([platform(enforce=ENFORCE), workspace("v", waivers=waiver("enforce: [resilience]"))], ["TAU344"]),
        ([workspace("v", enforce=ENFORCE, waivers=waiver("enforce: [resilience.max_retries]"))], []),
        ([platform(enforce=ENFORCE, waivers=waiver("enforce: [res]"))], ["TAU339"]),
    ],
)
def test_by_whom(layers: list[str], found: list[str]) -> None:
    assert [d.id for d in repository(layers).overlays.diagnostics] == found


def test_a_limit_of_the_same_name_above_is_not_lifted_from_below() -> None:
    layers = [
        platform(limits=LIMIT),
        workspace("v", limits=LIMIT, waivers=waiver("limits: [gpus]")),
    ]
    assert sorted(ids(GPU, layers, as_of="2027-01-01")) == ["TAU331", "TAU343"]


def test_a_waived_default_has_an_effect() -> None:
    layers = [
        platform(enforce=ENFORCE, waivers=waiver("enforce: [resilience]")),
        workspace("v", defaults="{resilience: {max_retries: 2}}"),
    ]
    assert repository(layers).overlays.diagnostics == ()


def test_days() -> None:
    assert is_date("2028-02-29")
    assert not any(map(is_date, ("2027-02-29", "2027-2-3", "20270203", "", "2027-W01-1", "0000-01-01")))


def test_the_one_that_lasts_longest_counts() -> None:
    one = waiver("limits: [gpus]")[1:-1]
    layer = platform(limits=LIMIT, waivers=f"[{one}, {one.replace('2027-03', '2027-12')}]")
    assert ids(GPU, [layer], as_of="2027-06-01") == ["TAU342", "TAU343"]


def judged(stance: Stance, as_of: str = "", adopt: bool = False) -> list[tuple[str, str]]:
    place = repository([platform(limits=LIMIT, enforce=ENFORCE, waivers=waiver())], as_of=as_of)
    place.stance = stance
    found = compile_file(place, "tau.yaml", GPU.encode(), adopt=adopt)
    return [(d.id, d.severity) for d in found.diagnostics]


def test_who_asks_without_a_date_is_told_that_a_waiver_may_apply() -> None:
    assert judged("look") == [("TAU343", "warning"), ("TAU343", "warning")]
    assert judged("look", "2027-03-31") == [("TAU343", "info"), ("TAU343", "info")]
    assert judged("look", "2027-04-01")[1:] == [("TAU331", "warning"), ("TAU330", "warning")]


def test_what_is_adopted_breaks_limits_and_locks_on_any_day() -> None:
    for day in ("", "2027-01-01"):
        assert judged("launch", day, adopt=True) == [("TAU331", "warning"), ("TAU330", "warning")]

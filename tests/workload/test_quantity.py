"""``quantities.json`` holds the answers of ``resource.Quantity`` in ``k8s.io/apimachinery`` v0.36.3."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_compile.codes import CODES
from tau_compile.diagnostics import Span
from tau_compile.quantity import MAX, NANO, ZERO, Quantity, parse, read_cpu, read_memory, try_parse

FACTS: dict[str, list[list[Any]]] = json.loads(Path(__file__).with_name("quantities.json").read_text("utf-8"))
SPAN = Span("tau.yaml", 3, 11, 3, 15)

amounts = st.from_regex(
    r"[+-]?[0-9]{1,12}(\.[0-9]{0,12})?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?", fullmatch=True
)


def test_canonical_text_is_that_of_kubernetes() -> None:
    assert len(FACTS["canonical"]) > 600
    wrong = [
        (text, want, parse(text).canonical())
        for text, want in FACTS["canonical"]
        if parse(text).canonical() != want
    ]
    assert wrong == []


def test_what_kubernetes_refuses_is_refused() -> None:
    assert [text for (text,) in FACTS["refused"] if try_parse(text) is not None] == []


def test_a_number_is_needed() -> None:
    """Kubernetes takes these for zero."""
    assert [text for text in ("Gi", "m", "e3", ".", "+", "-") if try_parse(text)] == []


def test_sums_products_and_comparisons_are_those_of_kubernetes() -> None:
    wrong = []
    for a, b, total, order, times, product in FACTS["arithmetic"]:
        x, y = parse(a), parse(b)
        if ((x + y).canonical(), (x > y) - (x < y), (x * times).canonical()) != (total, order, product):
            wrong.append((a, b, times))
    assert wrong == []


@given(amounts)
def test_canonical_text_is_a_fixed_point_and_keeps_the_amount(text: str) -> None:
    quantity = parse(text)
    if abs(quantity.nanos) <= MAX:
        again = parse(quantity.canonical())
        assert again == quantity
        assert again.canonical() == quantity.canonical()


@given(st.one_of(st.text(max_size=80), st.text("0123456789.,_ +-eEinumkKMGTPBb", max_size=12), amounts))
def test_any_text_is_an_amount_or_a_diagnostic(text: str) -> None:
    for read in (read_memory, read_cpu):
        quantity, found = read(text, SPAN)
        assert (quantity is None) == bool(found)
        for diagnostic in found:
            assert diagnostic.span == SPAN
            assert diagnostic.severity == "error"
            assert diagnostic.hint
            assert diagnostic.id in CODES
            assert "\n" not in diagnostic.message + diagnostic.hint


@given(st.text("0123456789.,_ +-eEinumkKMGTPBb", max_size=10))
def test_every_cure_offered_would_be_accepted(text: str) -> None:
    for read in (read_memory, read_cpu):
        for diagnostic in read(text, None)[1]:
            if diagnostic.id in ("TAU401", "TAU402", "TAU403", "TAU404", "TAU407", "TAU408"):
                cures = re.findall(r"(?:write|or|as|,) ([0-9.]\S*?)(?=,| \(| or |$)", diagnostic.hint)
                assert cures
                assert [cure for cure in cures if read(cure, None)[0] is None] == []


def test_amounts_compare_by_value_and_know_their_whole_units() -> None:
    assert parse("1Gi") == parse("1024Mi") == parse("1073741824")
    assert parse("1G") < parse("1Gi")
    assert hash(parse("1")) == hash(parse("1000m"))
    assert parse("1500m").units == 2
    assert parse("-1500m").units == -2
    assert parse("1u").millis == 1
    assert parse("0.5").millis == 500
    assert parse("1.5Gi").is_whole
    assert not parse("1500m").is_whole
    assert sum((parse("1Gi"), parse("512Mi")), ZERO).canonical() == "1536Mi"
    assert str(Quantity(3 * NANO)) == "3"
    assert f"{parse('64Gi') * 2}" == "128Gi"


def test_enormous_exponents_cost_nothing() -> None:
    assert parse("1e999999999") > Quantity(MAX)
    assert parse("-1e999999999") < Quantity(-MAX)
    assert parse("1e-999999999").canonical() == "1e-9"
    assert parse("0e999999999").canonical() == "0"
    assert try_parse("1" * 65) is None
    assert try_parse("1e" + "9" * 30) is None


def test_parse_of_what_is_no_quantity_is_a_value_error() -> None:
    with pytest.raises(ValueError, match='not a Kubernetes quantity: "64GB"'):
        parse("64GB")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("64Gi", "64Gi"),
        ("1.5Gi", "1536Mi"),
        ("0.5G", "500M"),
        ("1Pi", "1Pi"),
        ("100k", "100k"),
        ("1000M", "1G"),
        ("1048576", "1048576"),
        ("1e9", "1e9"),
        ("+8Gi", "8Gi"),
    ],
)
def test_memory_that_is_fine(text: str, canonical: str) -> None:
    quantity, found = read_memory(text, SPAN)
    assert quantity is not None
    assert (quantity.canonical(), found) == (canonical, [])


@pytest.mark.parametrize(
    ("text", "id", "message", "hint"),
    [
        (
            *("64GB", "TAU402", 'memory "64GB": GB is no unit of memory in Kubernetes'),
            "write 64Gi (68719476736 bytes) or 64G (64000000000 bytes)",
        ),
        (
            "6GiB",
            "TAU402",
            'memory "6GiB": GiB is no unit of memory in Kubernetes',
            "write 6Gi (6442450944 bytes)",
        ),
        (
            *("100K", "TAU402", 'memory "100K": K is no unit of memory in Kubernetes'),
            "write 100Ki (102400 bytes) or 100k (100000 bytes)",
        ),
        (
            "64gi",
            "TAU402",
            'memory "64gi": gi is no unit of memory in Kubernetes',
            "write 64Gi (68719476736 bytes)",
        ),
        (
            *("512 mb", "TAU402", 'memory "512 mb": mb is no unit of memory in Kubernetes'),
            "write 512Mi (536870912 bytes) or 512M (512000000 bytes)",
        ),
        (
            *("2 gigabytes", "TAU402", 'memory "2 gigabytes": gigabytes is no unit of memory in Kubernetes'),
            "write 2Gi (2147483648 bytes) or 2G (2000000000 bytes)",
        ),
        ("64 Gi", "TAU401", 'memory "64 Gi": an amount holds no space', "write 64Gi (68719476736 bytes)"),
        ("1,5Gi", "TAU401", 'memory "1,5Gi": an amount holds no comma', "write 1.5Gi (1610612736 bytes)"),
        (
            *("1,500Mi", "TAU401", 'memory "1,500Mi": an amount holds no comma'),
            "write 1500Mi (1572864000 bytes) or 1.500Mi (1572864 bytes)",
        ),
        (
            "1_000Mi",
            "TAU401",
            'memory "1_000Mi": an amount holds no underscore',
            "write 1000Mi (1048576000 bytes)",
        ),
        ("lots", "TAU401", 'memory "lots" is no amount', "write an amount such as 64Gi, 512Mi or 100G"),
        ("", "TAU401", "memory is empty", "write an amount such as 64Gi, 512Mi or 100G"),
        (
            *("500m", "TAU403", 'memory "500m" is 0.5 bytes: m counts thousandths'),
            "write 500Mi (524288000 bytes) or 500M (500000000 bytes)",
        ),
        (
            *("0.3Gi", "TAU403", 'memory "0.3Gi" is 322122547.2 bytes, not a whole number of bytes'),
            "write 308Mi (322961408 bytes)",
        ),
        (
            *("64", "TAU404", 'memory "64" is 64 bytes: a number without a unit counts bytes'),
            "write 64Gi (68719476736 bytes) or 64Mi (67108864 bytes)",
        ),
        (
            *("0.5", "TAU404", 'memory "0.5" is 0.5 bytes: a number without a unit counts bytes'),
            "write 0.5Gi (536870912 bytes) or 0.5Mi (524288 bytes)",
        ),
        (
            *("1e3", "TAU404", 'memory "1e3" is 1000 bytes: a number without a unit counts bytes'),
            "write 1000Gi (1073741824000 bytes) or 1000Mi (1048576000 bytes)",
        ),
        ("-64Gi", "TAU405", 'memory "-64Gi" is negative', "write an amount above zero"),
        ("0Gi", "TAU406", 'memory "0Gi" is nothing', "write an amount above zero"),
        (
            *("8Ei", "TAU409", 'memory "8Ei" is more than Kubernetes can count'),
            "write an amount of at most 9223372036854775807, which is just below 8Ei",
        ),
    ],
)
def test_memory_that_is_a_slip(text: str, id: str, message: str, hint: str) -> None:
    quantity, found = read_memory(text, SPAN)
    assert quantity is None
    assert [(d.id, d.message, d.hint, d.span) for d in found] == [(id, message, hint, SPAN)]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("8", "8"),
        ("0.5", "500m"),
        ("500m", "500m"),
        ("1000m", "1"),
        ("12000m", "12"),
        ("1e1", "10e0"),
        ("0.001", "1m"),
    ],
)
def test_cpu_that_is_fine(text: str, canonical: str) -> None:
    quantity, found = read_cpu(text, SPAN)
    assert quantity is not None
    assert (quantity.canonical(), found) == (canonical.removesuffix("e0"), [])


@pytest.mark.parametrize(
    ("text", "id", "message", "hint"),
    [
        ("8 cores", "TAU402", 'cpus "8 cores": cores is no unit of CPU in Kubernetes', "write 8"),
        ("4vCPU", "TAU402", 'cpus "4vCPU": vCPU is no unit of CPU in Kubernetes', "write 4"),
        (
            "500 millicores",
            "TAU402",
            'cpus "500 millicores": millicores is no unit of CPU in Kubernetes',
            "write 500m",
        ),
        ("8,5", "TAU401", 'cpus "8,5": an amount holds no comma', "write 8.5"),
        ("500 m", "TAU401", 'cpus "500 m": an amount holds no space', "write 500m"),
        ("8 Gi", "TAU401", 'cpus "8 Gi" is no amount', "write an amount such as 8, 0.5 or 500m"),
        (
            *("8000M", "TAU407", 'cpus "8000M" is 8000000000 cores: M is for memory'),
            "write 8000m (8 cores) or 8000 (8000 cores)",
        ),
        ("2Gi", "TAU407", 'cpus "2Gi" is 2147483648 cores: Gi is for memory', "write 2"),
        ("8k", "TAU407", 'cpus "8k" is 8000 cores: k is for memory', "write 8"),
        ("0.0005", "TAU408", 'cpus "0.0005" is finer than a thousandth of a core', "write 1m"),
        ("100u", "TAU408", 'cpus "100u" is finer than a thousandth of a core', "write 1m"),
        ("1.0001", "TAU408", 'cpus "1.0001" is finer than a thousandth of a core', "write 1001m"),
        ("-1", "TAU405", 'cpus "-1" is negative', "write an amount above zero"),
        ("0", "TAU406", 'cpus "0" is nothing', "write an amount above zero"),
    ],
)
def test_cpu_that_is_a_slip(text: str, id: str, message: str, hint: str) -> None:
    quantity, found = read_cpu(text, SPAN)
    assert quantity is None
    assert [(d.id, d.message, d.hint, d.span) for d in found] == [(id, message, hint, SPAN)]


def test_zero_will_do_where_it_may() -> None:
    assert read_cpu("0", SPAN, positive=False) == (ZERO, [])
    assert read_memory("0Gi", SPAN, positive=False) == (ZERO, [])


def test_the_message_names_the_field_and_stays_short() -> None:
    _, found = read_memory("x" * 1_000_000, SPAN, "compute.shm_size")
    assert found[0].message.startswith('compute.shm_size "xxx')
    assert len(found[0].message) < 120
    assert r"\x1b" in read_memory("\x1b[2J", SPAN)[1][0].message

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_compile.codes import CODES
from tau_compile.diagnostics import Span, shown
from tau_compile.workload.names import (
    RUN_SUFFIX,
    Kind,
    check_name,
    derived_names,
    is_dns_1035_label,
    is_dns_label,
    is_dns_subdomain,
    is_env_name,
    is_label_value,
    is_qualified_name,
    label_value,
    name_budget,
    suggested_name,
)

SPAN = Span("tau.yaml", 1, 7, 1, 20)
kinds = st.sampled_from(("job", "rayjob"))
HASH = "0123abcd"


def run_id(name: str, prefix: str = "") -> str:
    return f"{prefix}-{name}-{HASH}" if prefix else f"{name}-{HASH}"


def test_the_names_of_a_ray_run() -> None:
    assert [(d.what, d.name, d.limit) for d in derived_names("rayjob", "demo-0123abcd", 3)] == [
        ("RayJob", "demo-0123abcd", 47),
        ("RayCluster", "demo-0123abcd-xxxxx", 53),
        ("head Service", "demo-0123abcd-xxxxx-head-svc", 63),
        ("submitter Job", "demo-0123abcd", 63),
        ("code ConfigMap", "demo-0123abcd-code", 253),
    ]


def test_the_names_of_a_job() -> None:
    assert [(d.what, d.name, d.limit) for d in derived_names("job", "demo-0123abcd", 1)] == [
        ("Job", "demo-0123abcd", 63),
        ("code ConfigMap", "demo-0123abcd-code", 253),
    ]
    assert [(d.what, d.name, d.limit) for d in derived_names("job", "demo-0123abcd", 16)] == [
        ("Job", "demo-0123abcd", 63),
        ("last pod", "demo-0123abcd-15", 63),
        ("Service between the pods", "demo-0123abcd-peers", 63),
        ("code ConfigMap", "demo-0123abcd-code", 253),
    ]


@pytest.mark.parametrize(
    ("kind", "nodes", "prefix", "room", "what"),
    [
        ("rayjob", 1, "", 38, "RayJob"),
        ("rayjob", 1, "tau", 34, "RayJob"),
        ("job", 1, "", 54, "Job"),
        ("job", 2, "", 48, "Service between the pods"),
        ("job", 1_000_001, "", 46, "last pod"),
    ],
)
def test_the_tightest_limit_wins(kind: Kind, nodes: int, prefix: str, room: int, what: str) -> None:
    limit, tightest = name_budget(kind, nodes, prefix)
    assert (limit, tightest.what) == (room, what)
    assert check_name("n" * room, SPAN, kind, nodes, prefix) == []
    assert len(check_name("n" * (room + 1), SPAN, kind, nodes, prefix)) == 1


@given(kinds, st.integers(1, 100_000), st.from_regex(r"([a-z]([a-z0-9-]{0,20}[a-z0-9])?)?", fullmatch=True))
def test_a_name_within_the_budget_fits_everywhere_and_one_more_does_not(
    kind: Kind, nodes: int, prefix: str
) -> None:
    room, _ = name_budget(kind, nodes, prefix)
    fits = derived_names(kind, run_id("n" * room, prefix), nodes)
    assert all(len(d.name) <= d.limit and is_dns_subdomain(d.name) for d in fits)
    assert any(len(d.name) > d.limit for d in derived_names(kind, run_id("n" * (room + 1), prefix), nodes))
    assert {d.id for d in fits} <= CODES.keys()
    assert len(run_id("")) == RUN_SUFFIX


def test_a_long_name_says_how_long_it_may_be_and_why() -> None:
    name = "vision-transformer-large-imagenet-finetune"
    assert [(d.id, d.message, d.hint, d.span) for d in check_name(name, SPAN, "rayjob", 1, "tau")] == [
        (
            "TAU601",
            f'the name "{name}" has 42 characters, 8 too many: at most 34',
            'shorten it, for example "vision-transformer-large-imagenet": '
            "the run's RayJob is called tau-<name>-<hash> and may have 47 characters, "
            "since KubeRay refuses longer names",
            SPAN,
        )
    ]
    (found,) = check_name("a" * 50, SPAN, "job", 4)
    assert found.id == "TAU412"
    assert found.message.endswith("has 50 characters, 2 too many: at most 48")
    assert found.hint.endswith(
        "the run's Service between the pods is called <name>-<hash>-peers and may have 63 characters, "
        "since it is a host name"
    )


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("Demo", "demo"),
        ("my_model v2.1", "my-model-v2-1"),
        ("-a-", "a"),
        ("3d-unet", "run-3d-unet"),
        ("Über_Netz", "uber-netz"),
        ("a\nb", "a-b"),
        ("A" * 70, "a" * 38),
    ],
)
def test_a_name_that_is_none_gets_a_suggestion(name: str, suggestion: str) -> None:
    found = check_name(name, SPAN, "rayjob", 1)
    assert found[0].id == "TAU411"
    assert found[0].message == f"{shown(name)} cannot be a name in Kubernetes"
    assert found[0].hint == (
        f'use lowercase letters, digits and inner dashes, starting with a letter, for example "{suggestion}"'
    )
    assert check_name(suggestion, SPAN, "rayjob", 1) == []


def test_a_name_without_anything_usable() -> None:
    hint = "use lowercase letters, digits and inner dashes, starting with a letter"
    assert [(d.message, d.hint) for d in check_name("", SPAN, "job", 1)] == [("the name is empty", hint)]
    assert [d.hint for d in check_name("日本", SPAN, "job", 1)] == [hint]


def test_after_a_prefix_a_name_may_start_with_a_digit() -> None:
    assert check_name("3d-unet", SPAN, "job", 1, "tau") == []
    assert [d.id for d in check_name("3d-unet", SPAN, "job", 1)] == ["TAU411"]


def test_a_prefix_that_leaves_no_room() -> None:
    (found,) = check_name("a", SPAN, "rayjob", 1, "p" * 37)
    assert found.id == "TAU601"
    assert "leaves no room for a name" in found.message
    assert found.hint.startswith("shorten the prefix: the run's RayJob is called ppp")
    assert check_name("a", SPAN, "rayjob", 1, "p" * 36) == []


@given(st.text(max_size=90), kinds, st.integers(1, 200), st.sampled_from(("", "tau")))
def test_a_suggestion_is_always_accepted(name: str, kind: Kind, nodes: int, prefix: str) -> None:
    room, _ = name_budget(kind, nodes, prefix)
    suggestion = suggested_name(name, room, digit_first=bool(prefix))
    if suggestion:
        assert check_name(suggestion, SPAN, kind, nodes, prefix) == []
    if not check_name(name, SPAN, kind, nodes, prefix):
        assert suggestion == name


def test_a_huge_name_gives_a_short_message() -> None:
    for found in check_name("Ü" * 1_000_000, SPAN, "job", 1):
        assert len(found.message) + len(found.hint) < 500


@given(st.one_of(st.text(max_size=100), st.text("aA0._- /é", min_size=50, max_size=90)))
def test_a_label_value_is_valid_and_stays_what_it_is(text: str) -> None:
    value = label_value(text)
    assert value
    assert is_label_value(value)
    assert label_value(value) == value
    if is_label_value(text) and text and text == text.lower():
        assert value == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Team Vision", "team-vision"),
        ("feature/My_Branch", "feature-my_branch"),
        ("..a..", "a"),
        ("v1.2", "v1.2"),
        ("", "e3b0c44298fc"),
        ("日本", "cf2abf0c5be3"),
        ("x" * 63, "x" * 63),
    ],
)
def test_label_values(text: str, value: str) -> None:
    assert label_value(text) == value


def test_long_texts_with_one_beginning_get_different_label_values() -> None:
    one, two = label_value("x" * 70), label_value("x" * 71)
    assert one[:50] == two[:50] == "x" * 50
    assert one != two
    assert len(one) == len(two) == 63
    assert label_value("x" * 49 + ".-" + "y" * 30).startswith("x" * 49 + "-")


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (
            is_label_value,
            ["", "a", "A.b_c-9", "0", "a" * 63],
            ["-a", "a-", "a b", "a/b", "é", "a" * 64, "a\n", "."],
        ),
        (
            is_dns_label,
            ["a", "0", "a-b", "a" * 63],
            ["", "A", "a.b", "-a", "a-", "a_b", "a" * 64, "a\n", "٣"],
        ),
        (is_dns_1035_label, ["a", "a0", "a-b"], ["", "0a", "a.b", "a-", "A", "a" * 64]),
        (is_dns_subdomain, ["a", "a.b-c.0", "a" * 253], ["", ".a", "a.", "a..b", "A", "a-.b", "a" * 254]),
        (
            is_qualified_name,
            ["a", "A_b.c", "nvidia.com/gpu", "kueue.x-k8s.io/queue-name", "a/" + "b" * 63],
            ["", "/a", "a/", "a/b/c", "A.com/a", "-a", "a/" + "b" * 64, "a b", "a.com/é"],
        ),
        (is_env_name, ["A", "_a", "PATH2"], ["", "2A", "A-B", "A.B", "A=", "É", "A\n"]),
    ],
)
def test_grammars(check: object, good: list[str], bad: list[str]) -> None:
    assert callable(check)
    assert [text for text in good if not check(text)] == []
    assert [text for text in bad if check(text)] == []

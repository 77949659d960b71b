"""Leaves by path: how people write paths, and which item of a list is which."""

from __future__ import annotations

import pytest

from tau_compile.explain.leaves import Item, items, leaves, matching, realigned

JOB = {
    "kind": "Job",
    "metadata": {"labels": {"app.kubernetes.io/name": "a", "plain": "b"}},
    "spec": {
        "containers": [
            {
                "name": "main",
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                "args": ["x", "y"],
            },
            {"name": "side", "ports": []},
        ],
        "tolerations": [
            {"key": "gpu", "operator": "Exists"},
            {"key": "gpu", "operator": "Equal", "value": "x"},
        ],
        "empty": {},
    },
}


def test_names() -> None:
    assert [leaf.name for leaf in leaves([JOB]).values()] == [
        "Job:kind",
        "Job:metadata.labels['app.kubernetes.io/name']",
        "Job:metadata.labels.plain",
        "Job:spec.containers[0].name",
        "Job:spec.containers[0].env[0].name",
        "Job:spec.containers[0].env[0].value",
        "Job:spec.containers[0].env[1].name",
        "Job:spec.containers[0].env[1].value",
        "Job:spec.containers[0].args[0]",
        "Job:spec.containers[0].args[1]",
        "Job:spec.containers[1].name",
        "Job:spec.containers[1].ports",
        "Job:spec.tolerations[0].key",
        "Job:spec.tolerations[0].operator",
        "Job:spec.tolerations[1].key",
        "Job:spec.tolerations[1].operator",
        "Job:spec.tolerations[1].value",
        "Job:spec.empty",
    ]


def test_every_leaf_is_found_by_its_own_name() -> None:
    found = leaves([JOB])
    for key, leaf in found.items():
        assert matching(found, leaf.name) == [key]


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ("Job:spec.containers[main].env[B].value", "2"),
        ("job:spec.containers[name=main].env.1.value", "2"),
        ("Job/some-name:spec.containers['main'].env[1].value", "2"),
        ("Job:metadata.labels.app.kubernetes.io/name", "a"),
        ('Job:metadata.labels["app.kubernetes.io/name"]', "a"),
        ("Job:metadata.labels[plain]", "b"),
        ("Job: .spec.empty", {}),
    ],
)
def test_other_ways_to_write_a_path(asked: str, value: object) -> None:
    found = leaves([JOB])
    assert [found[key].value for key in matching(found, asked)] == [value]


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ("Job:", 18),
        ("Job:spec.containers", 9),
        ("Job:spec.contain", 0),
        ("Pod:", 0),
        ("Job:spec.containers[2]", 0),
    ],
)
def test_a_beginning_leads_to_all_below(asked: str, count: int) -> None:
    assert len(matching(leaves([JOB]), asked)) == count


def test_a_second_object_of_a_kind_has_a_number() -> None:
    found = leaves([JOB, {"kind": "Job", "a": 1}])
    assert [found[key].name for key in matching(found, "Job-2:")] == ["Job-2:kind", "Job-2:a"]


def listed(*names: str) -> dict[str, object]:
    return {
        "kind": "Pod",
        "env": [{"name": name, "value": f"of {place}"} for place, name in enumerate(names)],
    }


def test_an_item_with_another_name_is_the_same_item() -> None:
    before, after = leaves([listed("A", "LONG")]), leaves([listed("A", "LONGER")])
    place = ("Pod", "env", Item((("name", "LONG"),)), "name")
    assert place not in after
    assert realigned(items(before), after, "long")[place].value == "LONGER"


@pytest.mark.parametrize(
    ("names", "text"), [(("A", "OTHER"), "unrelated"), (("A",), "LONG"), (("A", "B", "C"), "LONG")]
)
def test_what_comes_or_goes_is_no_other_name(names: tuple[str, ...], text: str) -> None:
    before, after = leaves([listed("A", "LONG")]), leaves([listed(*names)])
    assert realigned(items(before), after, text) is after

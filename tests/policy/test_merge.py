"""Layers: maps merge, lists replace, variables and mounts merge by name, and every value knows where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from tau_compile.policy.merge import Layer, Merged, merge
from tau_compile.source.nodes import Mapping, Sequence, find
from tests.support.trees import leaves, plain, tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.source.nodes import Node

WORDS = st.sampled_from(["a", "b", "c"])
VARIABLE = st.one_of(
    WORDS, st.builds(lambda n: {"valueFrom": {"secretKeyRef": {"name": n, "key": "k"}}}, WORDS)
)
MOUNT = st.fixed_dictionaries({"name": WORDS, "mountPath": WORDS}, optional={"readOnly": WORDS})
DOCUMENT = st.fixed_dictionaries(
    {},
    optional={
        "name": WORDS,
        "compute": st.dictionaries(WORDS, WORDS),
        "policy": st.fixed_dictionaries(
            {}, optional={"queue": WORDS, "node_selector": st.dictionaries(WORDS, WORDS)}
        ),
        "runtime": st.fixed_dictionaries(
            {}, optional={"env": st.dictionaries(WORDS, VARIABLE), "pip": st.lists(WORDS, max_size=3)}
        ),
        "storage": st.fixed_dictionaries(
            {}, optional={"mounts": st.lists(MOUNT, max_size=3, unique_by=lambda m: m["name"])}
        ),
    },
)


def merged(*documents: dict[str, Any]) -> Merged:
    """Merge documents, the lowest first; layer and file are called by their number."""
    layers = []
    for place, document in enumerate(documents):
        node = tree(document, str(place))
        assert isinstance(node, Mapping)
        layers.append(Layer(str(place), node))
    return merge(layers)


def result(*documents: dict[str, Any]) -> Any:
    return plain(merged(*documents).node)


@given(DOCUMENT, DOCUMENT, DOCUMENT)
def test_the_order_of_merging_does_not_matter(low: Any, middle: Any, high: Any) -> None:
    assert result(result(low, middle), high) == result(low, result(middle, high)) == result(low, middle, high)


@given(DOCUMENT, DOCUMENT)
def test_merging_again_changes_nothing(low: Any, high: Any) -> None:
    once = result(low, high)
    assert result(high, high) == high
    assert result(once, high) == once
    assert result({}, high) == result(high, {}) == high


@given(st.lists(DOCUMENT, min_size=1, max_size=4))
def test_every_value_is_that_of_the_highest_layer_and_stands_where_it_was_written(documents: Any) -> None:
    node = merged(*documents).node
    for path, value in leaves(node):
        if path == "storage.mounts" or path.startswith("runtime.env."):
            continue
        setters = [n for n, document in enumerate(documents) if find(tree(document), path) is not None]
        assert value.span.file == str(setters[-1])
        assert plain(value) == plain(find(tree(documents[setters[-1]]), path))  # type: ignore[arg-type]


@given(st.lists(DOCUMENT, min_size=1, max_size=4))
def test_variables_and_mounts_are_whole_values_by_name(documents: Any) -> None:
    node = merged(*documents).node
    variables: dict[str, tuple[int, Any]] = {}
    mounts: dict[str, tuple[int, Any]] = {}
    for place, document in enumerate(documents):
        for name, value in document.get("runtime", {}).get("env", {}).items():
            variables[name] = (place, value)
        for mount in document.get("storage", {}).get("mounts", []):
            mounts[mount["name"]] = (place, mount)
    env, listed = find(node, "runtime.env"), find(node, "storage.mounts")
    found = (
        {e.key.name: (int(e.value.span.file), plain(e.value)) for e in env.entries}
        if isinstance(env, Mapping)
        else {}
    )
    assert found == variables
    items = listed.items if isinstance(listed, Sequence) else ()
    assert {plain(item)["name"]: (int(item.span.file), plain(item)) for item in items} == mounts
    assert len(items) == len(mounts)


def units(node: Node, path: str = "") -> Iterator[Node]:
    """What is replaced as a whole: scalars, lists, variables and mounts."""
    if isinstance(node, Mapping) and not path.startswith("runtime.env."):
        for entry in node.entries:
            yield from units(entry.value, f"{path}.{entry.key.name}" if path else entry.key.name)
    elif isinstance(node, Sequence) and path == "storage.mounts":
        yield from node.items
    else:
        yield node


@given(st.lists(DOCUMENT, min_size=1, max_size=4))
def test_every_value_that_was_written_won_or_lost(documents: Any) -> None:
    both = merged(*documents)
    written = {id(unit): layer.name for layer in both.layers for unit in units(layer.node)}
    won = {id(unit) for unit in units(both.node)}
    lost = {id(loser.node): loser.layer for loser in both.lost}
    assert won | lost.keys() == written.keys()
    assert not won & lost.keys()
    assert all(written[node] == layer for node, layer in lost.items())


def test_lost_values_name_the_layer_that_set_them() -> None:
    platform = {
        "compute": {"gpus": 1},
        "runtime": {"env": {"A": "x"}},
        "storage": {"mounts": [{"name": "m"}]},
    }
    cluster = {"name": "c"}
    user = {
        "compute": {"gpus": 2, "cpus": 4},
        "runtime": {"env": {"A": "y", "B": "z"}},
        "storage": {"mounts": [{"name": "m"}]},
    }
    assert [(loser.path, loser.layer) for loser in merged(platform, cluster, user).lost] == [
        ("compute.gpus", "0"),
        ("runtime.env.A", "0"),
        ("storage.mounts[m]", "0"),
    ]


def test_a_map_over_a_value_and_a_value_over_a_map_replace() -> None:
    assert result({"a": {"b": 1, "c": 2}}, {"a": 3}) == {"a": "3"}
    assert result({"a": 3}, {"a": {"b": 1}}) == {"a": {"b": "1"}}
    assert [(loser.path, loser.layer) for loser in merged({"a": {"b": 1, "c": 2}}, {"a": 3}).lost] == [
        ("a.b", "0"),
        ("a.c", "0"),
    ]
    assert [loser.path for loser in merged({"a": 3}, {"a": {"b": 1}}).lost] == ["a"]


def test_lists_replace_whole() -> None:
    assert result({"runtime": {"pip": ["a", "b"]}}, {"runtime": {"pip": ["c"]}}) == {
        "runtime": {"pip": ["c"]}
    }


def test_a_reference_does_not_mix_with_a_literal() -> None:
    reference = {"valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    for low, high in ((reference, "x"), ("x", reference), (reference, {"valueFrom": {}})):
        assert result({"runtime": {"env": {"A": low}}}, {"runtime": {"env": {"A": high}}}) == {
            "runtime": {"env": {"A": high}}
        }

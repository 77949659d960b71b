"""What is written reads back as the same value in every reader that matters, of YAML 1.1 and 1.2."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tau_compile.emit.yaml import dump, dump_all
from tests.emit.hard import HARD, NUMBERS, documents
from tests.support.tools import yamlread

if TYPE_CHECKING:
    from collections.abc import Callable


def pyyaml_c(text: str) -> Any:
    return yaml.load(text, Loader=yaml.CSafeLoader)


def ruamel(text: str) -> Any:
    return YAML(typ="safe").load(io.StringIO(text))


def ruamel_pure(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(io.StringIO(text))


READERS: dict[str, Callable[[str], Any]] = {
    "PyYAML": yaml.safe_load,
    "PyYAML in C": pyyaml_c,
    "ruamel.yaml": ruamel,
    "ruamel.yaml in Python": ruamel_pure,
}
reader = pytest.mark.parametrize("read", READERS.values(), ids=READERS)

texts = st.one_of(st.sampled_from(HARD), st.text(max_size=20), st.text("ab :-#'\"\n\t01e.", max_size=12))
numbers = st.one_of(
    st.sampled_from(NUMBERS),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)


def same(a: Any, b: Any) -> bool:
    """Equal, and of equal types: True is not 1, and "1" is not 1."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def numeric(a: Any) -> Any:
    """JSON does not tell 1.0 from 1: compare both as Go writes them."""
    if isinstance(a, dict):
        return {key: numeric(value) for key, value in a.items()}
    if isinstance(a, list):
        return [numeric(value) for value in a]
    return float(a) if isinstance(a, int) and not isinstance(a, bool) else a


@reader
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(value=values)
def test_any_value_reads_back(read: Callable[[str], Any], value: Any) -> None:
    assert same(read(dump(value)), value)


@reader
def test_every_hard_string_reads_back_as_value_key_item_and_document(read: Callable[[str], Any]) -> None:
    wrong = []
    for text in HARD:
        for value in (
            text,
            [text],
            [[text], text],
            {text: text},
            {"a": {text: [text]}},
            [{text: text, "z": text}],
        ):
            if not same(read(dump(value)), value):
                wrong.append(value)
    assert wrong == []


@reader
def test_every_number_reads_back_as_that_number(read: Callable[[str], Any]) -> None:
    assert same(read(dump(list(NUMBERS))), list(NUMBERS))


def test_several_documents_read_back() -> None:
    trees: list[Any] = [*documents(40, seed=3), *HARD]
    assert same(list(yaml.safe_load_all(dump_all(trees))), trees)
    assert same(list(YAML(typ="safe", pure=True).load_all(dump_all(trees))), trees)


def test_kubernetes_own_reader_reads_the_same_values() -> None:
    trees: list[Any] = [
        *documents(2_000, seed=1),
        *({"value": text} for text in HARD),
        *({text: 1} for text in HARD),
        *([text, [text], {text: [text]}] for text in HARD),
        list(NUMBERS),
    ]
    readings = yamlread([dump(tree) for tree in trees])
    assert len(readings) == len(trees)
    wrong = [
        (tree, reading)
        for tree, reading in zip(trees, readings, strict=True)
        if "error" in reading or not same(numeric(reading["value"]), numeric(tree))
    ]
    assert wrong == []


def test_the_readers_are_able_to_disagree() -> None:
    """The comparison would notice: written without care, these texts do change."""
    careless = [yaml.safe_dump({text: text}) for text in ("y", "1e3", "08")]
    assert [reading["value"] for reading in yamlread(careless)] == [{"true": True}, {"1000": 1000}, {"8": 8}]

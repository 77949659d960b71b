"""Values travel beside the text; whether they are put in as they are or read from the text makes no difference."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.render.templates import Templates
from tau_compile.render.values import MAX_OUTPUT, TooLarge, Values, written

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.sampled_from(
        ["<tau-value-0>", "<tau-value-1>", "no", "1e3", "- a", "{{ x }}", "#", "\x00\x85\u2028\ufeff"]
    )
)
KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
# Each is a template whose values are values of their own.
WHOLE = "a: {{ x }}\nb:\n- {{ y }}\n- [{{ x }}, {{ y }}]\nc: {d: {{ y }}}\n"


def rendered(text: str, context: dict[str, Any]) -> Any:
    """What comes out when all values are read from the text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tau_compile.render.templates.skeleton", lambda *_: None)
        made, said = Templates({"job.yaml.j2": text}).render("job.yaml.j2", context)
    return made if made is not None else [one.id for one in said]


@settings(deadline=None)
@given(DATA, DATA)
def test_put_in_or_read_it_is_the_same(x: Any, y: Any) -> None:
    expected = {"a": x, "b": [y, [x, y]], "c": {"d": y}}
    made, said = Templates({"job.yaml.j2": WHOLE}).render("job.yaml.j2", {"x": x, "y": y})
    assert not said
    assert made == expected
    assert _kinds(made) == _kinds(expected)
    assert rendered(WHOLE, {"x": x, "y": y}) == made


def _kinds(value: Any) -> Any:
    """Types all the way down: 1, 1.0 and True are equal."""
    if isinstance(value, dict):
        return {key: _kinds(inner) for key, inner in value.items()}
    return [_kinds(item) for item in value] if isinstance(value, list) else type(value)


@pytest.mark.parametrize(
    "text, made",
    [
        ("a: 1 # {{ x }}\n", {"a": 1}),
        ("{{ x }}: 1\n", {"v": 1}),
        ("a: {{ x }}\nb: 1 # {{ x }}\n", {"a": "v", "b": 1}),
        ("a: &n {{ x }}\nb: *n\n", {"a": "v", "b": "v"}),
        ("a: <tau-value-0>\nb: {{ x }}\n", {"a": "v", "b": "v"}),
        ("a: <tau-value-7>\n", {"a": "<tau-value-7>"}),
        ("a: |-\n  {{ x }}\n", {"a": '"v"'}),
        ("a: '{{ x }}'\n", {"a": '"v"'}),
        ('a: "{{ x }}"\n', ["TAU321"]),
        ("a: {{ x }}-b\n", ["TAU321"]),
        ("a: {{ x }}{{ x }}\n", ["TAU321"]),
    ],
)
def test_a_value_that_is_not_one_of_its_own_is_written_out(text: str, made: Any) -> None:
    context = {"x": "v"}
    found, said = Templates({"job.yaml.j2": text}).render("job.yaml.j2", context)
    assert (found if found is not None else sorted({one.id for one in said})) == made


def test_a_skeleton_is_read_once_and_objects_share_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr("tau_compile.render.templates.read", _counted(read))
    templates = Templates({"job.yaml.j2": "a: {{ x }}\nb: [{{ x }}]\n"})
    shared = {"k": ["v"]}
    first, _ = templates.render("job.yaml.j2", {"x": shared})
    second, _ = templates.render("job.yaml.j2", {"x": ["another"]})
    assert len(read) == 1
    assert (first, second) == ({"a": shared, "b": [shared]}, {"a": ["another"], "b": [["another"]]})
    assert first is not None
    first["a"]["k"].append("changed")
    assert first["b"] == [{"k": ["v"]}]
    assert shared == {"k": ["v"]}


def _counted(calls: list[str]) -> Any:
    from tau_compile.source.reader import read

    def counted(data: bytes, file: str, limits: Any) -> Any:
        calls.append(file)
        return read(data, file, limits)

    return counted


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {1: 2}, object(), b"bytes", {"a": {1, 2}}, print]
)
def test_what_a_manifest_cannot_hold(value: Any) -> None:
    with pytest.raises(TypeError):
        Values().token(value)
    found, said = Templates({"job.yaml.j2": "a: 1\nb: {{ x }}\n"}).render("job.yaml.j2", {"x": value})
    assert found is None
    (one,) = said
    assert one.id == "TAU320"
    assert one.span is not None
    assert one.span.line == 2


def test_there_is_an_end_to_what_a_template_may_repeat() -> None:
    kept = Values()
    for _ in range(9):
        kept.token("x" * (MAX_OUTPUT // 10))
    with pytest.raises(TooLarge):
        kept.token("x" * (MAX_OUTPUT // 10))


def test_the_number_of_skeletons_that_are_kept_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tau_compile.render.templates._SHAPES", 2)
    templates = Templates({"job.yaml.j2": "a:\n- 0\n{% for i in x %}\n- 1\n{% endfor %}\n"})
    for number in range(5):
        made, _ = templates.render("job.yaml.j2", {"x": [None] * number})
        assert made == {"a": [0] + [1] * number}
        assert len(templates._shapes) <= 2


def test_what_json_leaves_and_some_yaml_reader_does_not_is_escaped() -> None:
    assert written("<tau-value-0>", ["\x7f\u2028"]) == '"\\u007f\\u2028"'

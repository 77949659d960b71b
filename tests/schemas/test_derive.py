"""How published schemas become ours: conversion, folding, and the freshness of what is committed."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from schemas.derive import __main__ as command
from schemas.derive import upstream
from schemas.derive.convert import NAME, Converter, Schema, UnknownKeywordError, closed_text
from schemas.derive.fold import fold
from schemas.derive.kinds import KINDS, KUBERAY, Kind
from tests.support.tools import ROOT, kubeconform

if TYPE_CHECKING:
    from pathlib import Path

TEXT: Schema = {"type": "string", "description": "prose"}


def custom(**fields: Any) -> Schema:
    """A converted CustomResourceDefinition object with the given properties."""
    schema: Schema = bare(Converter({}, custom=True).convert({"type": "object", "properties": fields}))
    return schema


def bare(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    return {key: bare(value) for key, value in schema.items() if key != NAME}


def accepts(schema: Schema, value: Any) -> bool:
    return bool(jsonschema.Draft7Validator(schema).is_valid(value))


def test_a_field_called_properties_is_a_field() -> None:
    schema = custom(properties={"type": "object", "properties": {"type": TEXT, "items": TEXT}})
    assert accepts(schema, {"properties": {"type": "a", "items": "b"}})
    assert not accepts(schema, {"properties": {"properties": {}}})
    assert not accepts(schema, {"type": "object"})


def test_fields_named_like_prose_survive() -> None:
    assert custom(description=TEXT, title=TEXT, default=TEXT)["properties"].keys() == {
        "description",
        "title",
        "default",
    }


def test_unknown_fields_are_kept_only_where_the_definition_says_so() -> None:
    inner = {"type": "object", "properties": {"a": TEXT}}
    assert not accepts(custom(spec=inner), {"spec": {"b": 1}})
    assert accepts(
        custom(spec={**inner, "x-kubernetes-preserve-unknown-fields": True}), {"spec": {"a": "", "b": 1}}
    )


def test_an_object_without_fields_is_empty_in_a_definition_and_free_in_a_built_in_kind() -> None:
    empty = {"type": "object"}
    assert not accepts(custom(spec=empty), {"spec": {"b": 1}})
    assert accepts(Converter({}, custom=False).convert(empty), {"b": 1})
    assert accepts(
        custom(spec={"type": "object", "x-kubernetes-preserve-unknown-fields": True}), {"spec": {"b": 1}}
    )


@pytest.mark.parametrize("value", [80, "http", "80"])
def test_int_or_string_takes_both(value: Any) -> None:
    port = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
    assert accepts(custom(port=port), {"port": value})


@pytest.mark.parametrize(
    "value", [8, 0, -1, "8", "1500m", "0.5", ".5", "1.", "64Gi", "1e9", "1E3", "1E", "-3", "+3k", "2n"]
)
def test_quantity_spellings(value: Any) -> None:
    assert accepts(_quantity(), value)


@pytest.mark.parametrize(
    "value", [1.5, True, None, "", "Gi", "64GB", "1e1.5", " 1", "1 ", "1\n", "1K", "1.2.3", "\u0661"]
)
def test_no_quantities(value: Any) -> None:
    assert not accepts(_quantity(), value)


def test_defaults_fill_gaps_before_required_is_looked_at() -> None:
    node = {
        "type": "object",
        "properties": {"a": {"type": "integer", "default": 1}, "b": TEXT},
        "required": ["a", "b"],
    }
    assert bare(Converter({}, custom=True).convert(node))["required"] == ["b"]


def test_status_of_an_object_goes_and_a_field_called_status_stays() -> None:
    whole = custom(metadata={"type": "object"}, spec={"type": "object"}, status={"type": "object"})
    assert whole["properties"].keys() == {"metadata", "spec"}
    assert custom(status=TEXT, type=TEXT)["properties"].keys() == {"status", "type"}


def test_numbers_have_the_range_of_their_go_type_or_a_narrower_one() -> None:
    assert custom(n={"type": "integer", "format": "int32"})["properties"]["n"]["minimum"] == -(2**31)
    narrow = custom(n={"type": "integer", "format": "int32", "minimum": 0, "maximum": 5})["properties"]["n"]
    assert narrow == {"type": "integer", "minimum": 0, "maximum": 5}
    assert accepts(custom(n={"type": "integer", "format": "int64"}), {"n": 2**63 - 1})
    assert not accepts(custom(n={"type": "integer", "format": "int64"}), {"n": 2**64})


def test_nullable_and_sets() -> None:
    assert accepts(custom(a={**TEXT, "nullable": True}), {"a": None})
    names = {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}
    assert not accepts(custom(a=names), {"a": ["x", "x"]})


@pytest.mark.parametrize(
    "node",
    [
        {"type": "string", "format": "hostname"},
        {"type": "object", "oneOf": [{"required": ["a"]}]},
        {"type": "object", "patternProperties": {}},
        {"type": "string", "pattern": r"^\d+$"},
        {},
    ],
)
def test_what_the_converter_does_not_know_is_an_error(node: Schema) -> None:
    with pytest.raises(UnknownKeywordError):
        custom(a=node)


def test_patterns_mean_the_same_to_python_as_to_go() -> None:
    schema = closed_text("^(?i)[a-z]+$")
    assert accepts(schema, "Abc")
    assert not accepts(schema, "Abc\n")
    assert not accepts(schema, "Abc1")


def test_folding_shares_what_repeats_and_changes_no_meaning() -> None:
    part = {"type": "object", "properties": {f"field{n}": TEXT for n in range(9)}}
    listed = {"type": "array", "items": part}
    node = {"type": "object", "properties": {"one": part, "two": listed, "three": listed}}
    tree = Converter({}, custom=True).convert(node)
    folded = fold(tree)
    assert list(folded["definitions"]) == ["One"]
    assert _unfold(folded, folded["definitions"]) == bare(tree)


def test_folding_prefers_the_name_of_a_type_and_keeps_names_apart() -> None:
    pod = {"type": "object", "properties": {f"field{n}": TEXT for n in range(9)}}
    other = {"type": "object", "properties": {f"other{n}": TEXT for n in range(9)}}
    definitions = {"v1.Pod": pod, "v2.Pod": other}
    fields = {letter: {"$ref": f"#/definitions/v{1 + index % 2}.Pod"} for index, letter in enumerate("abcd")}
    tree = Converter(definitions, custom=False).convert({"type": "object", "properties": fields})
    folded = fold(tree)
    assert list(folded["definitions"]) == ["Pod", "Pod2"]
    assert _unfold(folded, folded["definitions"]) == bare(tree)


def test_files_lie_where_kubeconform_looks() -> None:
    assert Kind(KUBERAY, "ray.io/v1", "RayJob").file == "ray.io/rayjob_v1.json"
    assert Kind(KUBERAY, "v1", "ConfigMap").file == "v1/configmap_v1.json"
    assert len({kind.file for kind in KINDS}) == len(KINDS)


def test_check_names_the_stale_files_and_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "TARGET", tmp_path)
    monkeypatch.setattr(command, "derive", lambda: {"v1/a_v1.json": "{}\n", "v1/b_v1.json": "{}\n"})
    monkeypatch.setattr(sys, "argv", ["derive"])
    assert command.main() == 0
    (tmp_path / "v1" / "a_v1.json").write_text("{ }\n", encoding="utf-8")
    (tmp_path / "v1" / "b_v1.json").unlink()
    (tmp_path / "v1" / "old_v1.json").write_text("{}\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["derive", "--check"])
    assert command.main() == 3
    said = capsys.readouterr().err
    assert said.split()[-3:] == ["v1/a_v1.json", "v1/b_v1.json", "v1/old_v1.json"]
    assert "make schemas" in said
    monkeypatch.setattr(sys, "argv", ["derive"])
    assert command.main() == 0
    assert sorted(path.name for path in tmp_path.rglob("*.json")) == ["a_v1.json", "b_v1.json"]


@pytest.mark.slow
def test_a_module_that_is_not_the_reviewed_one_is_refused() -> None:
    with pytest.raises(upstream.UpstreamError, match="is pinned"):
        upstream.download([KUBERAY._replace(sum="h1:another")])


@pytest.mark.slow
def test_a_version_that_does_not_exist_is_an_error_that_names_it() -> None:
    with pytest.raises(upstream.UpstreamError, match=r"ray-operator@v0\.0\.1"):
        upstream.download([KUBERAY._replace(version="v0.0.1")])


@pytest.mark.slow
def test_the_committed_schemas_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "schemas.derive", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_no_sample_that_kuberay_publishes_is_refused() -> None:
    samples = upstream.download([KUBERAY])[KUBERAY] / "config" / "samples"
    results = [r for r in kubeconform([samples]) if r.kind in {"RayCluster", "RayJob", "RayService"}]
    refused = [result for result in results if not result.valid]
    assert [result for result in refused if "'generateName' not allowed" not in result.msg] == []
    assert len(results) - len(refused) > 50


def _quantity() -> Schema:
    definitions = {"resource.Quantity": {"type": "string"}}
    return Converter(definitions, custom=False).convert({"$ref": "#/definitions/resource.Quantity"})


def _unfold(schema: Any, definitions: Schema) -> Any:
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _unfold(definitions[schema["$ref"].removeprefix("#/definitions/")], definitions)
    return {key: _unfold(value, definitions) for key, value in schema.items() if key != "definitions"}

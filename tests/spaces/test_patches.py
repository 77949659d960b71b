"""Patches of the objects of a workspace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.policy.list_keys import SPACE
from tests.spaces.making import EVERYTHING, objects, of_kind, spaces

if TYPE_CHECKING:
    from tau_compile.spaces import Spaces


def patched(kind: str, patch: Any, manage: Any = EVERYTHING, kueue: str = "0.19.2", **target: Any) -> Spaces:
    """The workspace `vision` with one patch of its own overlay."""
    one = {"target": {"kind": kind, **target}, "patch": patch}
    return spaces(manage, kueue=kueue, patches=[one])


def said(made: Spaces) -> list[str]:
    """The ids of what is said about patches."""
    known = spaces(EVERYTHING).diagnostics
    return [d.id for d in made.diagnostics if d not in known]


@pytest.mark.parametrize("kind", sorted(SPACE))
def test_a_patch_changes_what_it_says_on_objects_of_its_kind_and_nothing_else(kind: str) -> None:
    before = objects(spaces(EVERYTHING))
    after = objects(patched(kind, {"metadata": {"annotations": {"example.com/a": "1"}}}))
    assert list(after) == list(before)
    assert {made["kind"] for made in after.values()} == set(SPACE)
    for name, made in after.items():
        annotations = made["metadata"]["annotations"]
        assert (annotations.pop("example.com/a", None) is not None) == (made["kind"] == kind)
        assert made == before[name]


def test_lists_are_one_value_but_for_the_secrets_of_an_account() -> None:
    made = patched("ServiceAccount", {"secrets": [{"name": "b"}], "imagePullSecrets": [{"name": "c"}]})
    (account,) = of_kind(made, "ServiceAccount").values()
    assert (account["secrets"], account["imagePullSecrets"]) == ([{"name": "b"}], [{"name": "c"}])
    assert said(made) == []
    made = patched("NetworkPolicy", {"spec": {"egress": [{"ports": [{"port": 443}]}]}}, name="*-dns")
    assert said(made) == ["TAU354"]
    assert of_kind(made, "NetworkPolicy")["tau-compile-dns"]["spec"]["egress"] == [{"ports": [{"port": 443}]}]


def test_layers_come_in_order() -> None:
    def patches(value: str) -> list[Any]:
        return [
            {"target": {"kind": "LocalQueue"}, "patch": {"metadata": {"labels": {value: "1", "x": value}}}}
        ]

    made = spaces(
        EVERYTHING, patches=patches("own"), layers={"Platform": patches("lab"), "Cluster": patches("east")}
    )
    for queue in of_kind(made, "LocalQueue").values():
        labels = queue["metadata"]["labels"]
        assert (labels["x"], labels["lab"], labels["east"], labels["own"]) == ("own", "1", "1", "1")


@pytest.mark.parametrize(("kueue", "version"), [("0.19.2", "v1beta2"), ("0.14.0", "v1beta1")])
def test_values_are_read_as_the_version_in_use_wants_them(kueue: str, version: str) -> None:
    made = patched("LocalQueue", {"spec": {"stopPolicy": "Hold"}}, kueue=kueue)
    for queue in of_kind(made, "LocalQueue").values():
        assert queue["apiVersion"] == f"kueue.x-k8s.io/{version}"
        assert queue["spec"]["stopPolicy"] == "Hold"


def test_two_thousand_objects_are_a_number_however_it_is_spelled() -> None:
    made = patched("ResourceQuota", {"spec": {"hard": {"count/secrets": "2k"}}}, {})
    assert made.diagnostics == ()
    wrong = patched("ResourceQuota", {"spec": {"hard": {"count/secrets": "2500m"}}}, {})
    assert [d.id for d in wrong.diagnostics] == ["TAU376"]


def test_what_became_of_patches_is_known() -> None:
    made = patched("Namespace", {"metadata": {"labels": {"x": None}}})
    (touch,) = made.touches
    assert (touch.matched, touch.done) == (True, frozenset())
    assert (
        patched("Namespace", {"metadata": {"labels": {"x": None}}}, name="other").touches[0].matched is False
    )


def test_a_workspace_that_makes_nothing_is_not_patched() -> None:
    from tests.support.compiling import repository

    head = {"apiVersion": "tau-compile/v1"}
    one = {"target": {"kind": "Namespace"}, "patch": {"metadata": {"labels": {"x": "y"}}}}
    platform = {**head, "kind": "Platform", "metadata": {"name": "lab"}, "patches": [one]}
    made = repository({"overlays/platform.yaml": json.dumps(platform)}).spaces
    assert (made.folders, made.touches, made.diagnostics) == ((), (), ())


_WORDS = """metadata labels annotations name spec podSelector policyTypes ingress egress from to ports port endPort ipBlock cidr
except rules verbs apiGroups resources subjects kind hard count/pods limits resources requests storage accessModes secrets
clusterQueue stopPolicy refreshInterval data target template $patch tau-compile/x"""
_KEYS = st.sampled_from(_WORDS.split())
_VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 1, -1, 1.5, "", "x", "replace", "delete", "10.0.0.0/8", "1Gi", [], {}]
)
_TREES = st.recursive(
    _VALUES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEYS, inner, max_size=4)),
    max_leaves=12,
)


@given(kind=st.sampled_from(sorted(SPACE)), patch=st.dictionaries(_KEYS, _TREES, min_size=1, max_size=3))
@settings(max_examples=150, deadline=None)
def test_any_patch_is_merged_or_refused_with_a_place(kind: str, patch: dict[str, Any]) -> None:
    """What comes out fits the schemas of its kinds, and still is what Git knows it by."""
    from tau_compile.schema.objects import problems

    made = patched(kind, patch)
    for one in made.diagnostics:
        assert one.span is not None
        assert one.span.file == "overlays/workspaces/vision.yaml"
        assert "report this as a bug" not in one.hint
    if not made.folders or any(d.severity == "error" for d in made.diagnostics):
        return
    before = objects(spaces(EVERYTHING))
    for name, found in objects(made).items():
        assert problems(found) == []
        known = before[name]
        assert (found["kind"], found["apiVersion"]) == (known["kind"], known["apiVersion"])
        for field in ("name", "namespace"):
            assert found["metadata"].get(field) == known["metadata"].get(field)
        assert (
            known["metadata"]["labels"].items() <= found["metadata"]["labels"].items()
            or kind == found["kind"]
        )
        assert found["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "tau-compile"

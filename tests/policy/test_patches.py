"""Patches: how they merge, what they are for, and what they may not say."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_compile.policy.list_keys import TEMPLATES, VERSIONS, list_keys, shown
from tau_compile.policy.patch_body import check_body
from tau_compile.policy.patches import Patch, Target, read_patches
from tau_compile.policy.patching import apply_all, is_for
from tau_compile.policy.strategic import apply, deletions
from tau_compile.policy.unmatched import without_effect
from tau_compile.source.nodes import Mapping
from tau_compile.source.reader import read
from tests.support.compiling import JOB, RAYJOB, accepted, said

if TYPE_CHECKING:
    from tau_compile.source.nodes import Node

PODS = "spec: {template: {spec: "


def node(text: str) -> Mapping:
    result = read(text.encode(), "overlays/platform.yaml")
    assert isinstance(result.node, Mapping), result.diagnostics
    return result.node


def patch(text: str, kind: str = "Job", target: str = "", optional: bool = False) -> Patch:
    body = node(text)
    parts = node(f"kind: {kind}\n{target}")
    where = Target(kind, _text(parts.get("name")), (), parts.span._replace(file=text))
    return Patch(where, body, "", optional, "platform `lab`")


def _text(value: Node | None) -> str:
    return getattr(value, "text", "")


def pod(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": spec}}}


def merged(made: dict[str, Any], text: str, kind: str = "Job") -> dict[str, Any]:
    """The spec of the pod after a patch of it."""
    one = patch(f"{PODS}{text}}}}}", kind)
    assert check_body(kind, one.body) == []
    before = copy.deepcopy(made)
    result = apply(made, one)
    assert made == before, "the object before is as it was"
    found: dict[str, Any] = result.made["spec"]["template"]["spec"]
    return found


CONTAINERS = [{"name": "a", "image": "x", "env": [{"name": "A", "value": "1"}]}, {"name": "b", "image": "y"}]


def test_items_stay_where_they_are_and_new_ones_follow() -> None:
    found = merged(
        pod(containers=CONTAINERS),
        "{containers: [{name: c, image: z}, {name: b, tty: true}, {name: d, image: z}]}",
    )
    assert [one["name"] for one in found["containers"]] == ["a", "b", "c", "d"]
    assert found["containers"][1] == {"name": "b", "image": "y", "tty": True}
    assert found["containers"][0] is CONTAINERS[0]


@pytest.mark.parametrize(
    ("name", "before", "text", "after"),
    [
        ("volumes", [{"name": "a", "emptyDir": {}}], "[{name: a, hostPath: {path: /x}}]",
         [{"name": "a", "hostPath": {"path": "/x"}}]),
        ("volumes", [{"name": "a", "configMap": {"name": "c"}}], "[{name: a, configMap: {optional: true}}]",
         [{"name": "a", "configMap": {"name": "c", "optional": True}}]),
        ("imagePullSecrets", [{"name": "a"}, {"name": "b"}], "[{name: c}, {name: a, $patch: delete}]",
         [{"name": "b"}, {"name": "c"}]),
        ("hostAliases", [{"ip": "1.1.1.1", "hostnames": ["a"]}], "[{ip: 1.1.1.1, hostnames: [b]}]",
         [{"ip": "1.1.1.1", "hostnames": ["b"]}]),
        ("tolerations", [{"key": "a", "operator": "Exists"}], "[{key: a, operator: Exists, tolerationSeconds: 3}]",
         [{"key": "a", "operator": "Exists", "tolerationSeconds": 3}]),
        ("tolerations", [{"key": "a", "value": "x"}], "[{key: a, value: y}]",
         [{"key": "a", "value": "x"}, {"key": "a", "value": "y"}]),
        ("tolerations", [{"key": "a"}], "[{key: a, operator: Equal, effect: NoSchedule, $patch: delete}]", [{"key": "a"}]),
        ("topologySpreadConstraints", [{"topologyKey": "z", "maxSkew": 1}], "[{topologyKey: z, maxSkew: 2}]",
         [{"topologyKey": "z", "maxSkew": 2}]),
        ("schedulingGates", [], "[{name: a}]", [{"name": "a"}]),
        ("resourceClaims", [{"name": "gpu"}], "[{name: gpu, resourceClaimName: x}]", [{"name": "gpu", "resourceClaimName": "x"}]),
    ],
)  # fmt: skip
def test_the_lists_of_a_pod(name: str, before: list[Any], text: str, after: list[Any]) -> None:
    assert merged(pod(**{name: before}), f"{{{name}: {text}}}")[name] == after


@pytest.mark.parametrize(
    ("name", "before", "text", "after"),
    [
        ("env", [{"name": "A", "value": "1"}], "[{name: A, valueFrom: {fieldRef: {fieldPath: x}}}]",
         [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]),
        ("env", [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}], "[{name: A, value: 3}]",
         [{"name": "A", "value": "3"}]),
        ("env", [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}],
         "[{name: A, valueFrom: {secretKeyRef: {name: s}}}]",
         [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s"}}}]),
        ("env", [{"name": "A", "valueFrom": {"secretKeyRef": {"key": "k"}}}], "[{name: A, valueFrom: {secretKeyRef: {name: s}}}]",
         [{"name": "A", "valueFrom": {"secretKeyRef": {"key": "k", "name": "s"}}}]),
        ("ports", [{"containerPort": 80}], "[{containerPort: 80, protocol: TCP, name: a}, {containerPort: 80, protocol: UDP}]",
         [{"containerPort": 80, "protocol": "TCP", "name": "a"}, {"containerPort": 80, "protocol": "UDP"}]),
        ("volumeMounts", [{"mountPath": "/a", "name": "v"}], "[{mountPath: /a, readOnly: true}]",
         [{"mountPath": "/a", "name": "v", "readOnly": True}]),
        ("volumeDevices", [{"devicePath": "/a", "name": "v"}], "[{devicePath: /a, $patch: delete}]", []),
        ("command", ["a"], "[b, c]", ["b", "c"]),
        ("args", ["a"], "[{$patch: replace}, b]", ["b"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("section", ["containers", "initContainers"])
def test_the_lists_of_a_container(
    section: str, name: str, before: list[Any], text: str, after: list[Any]
) -> None:
    made = pod(**{section: [{"name": "a", name: before}]})
    assert merged(made, f"{{{section}: [{{name: a, {name}: {text}}}]}}")[section] == [
        {"name": "a", name: after}
    ]


def test_what_a_patch_does_not_speak_of_stays() -> None:
    made = pod(containers=CONTAINERS, volumes=[{"name": "a", "emptyDir": {}}], hostname=None, tolerations=[])
    found = merged(made, "{nodeSelector: {a: b}}")
    assert found == {**made["spec"]["template"]["spec"], "nodeSelector": {"a": "b"}}


def test_an_annotation_needs_no_annotations() -> None:
    result = apply(pod(), patch("metadata: {annotations: {x: 1}}"))
    assert result.made["metadata"] == {"annotations": {"x": "1"}}


def test_an_unknown_list_is_replaced_with_a_warning_where_something_is_lost() -> None:
    made = pod(containers=[{"name": "a", "envFrom": [{"secretRef": {"name": "x"}}]}])
    text = "{containers: [{name: a, envFrom: [{secretRef: {name: %s}}]}]}"
    one = patch(f"{PODS}{text % 'y'}}}}}")
    (warning,) = apply(made, one).diagnostics
    assert (warning.id, warning.severity) == ("TAU354", "warning")
    assert "`spec.template.spec.containers[].envFrom`" in warning.message
    assert apply(made, patch(f"{PODS}{text % 'x'}}}}}")).diagnostics == ()
    assert apply(pod(containers=[{"name": "a"}]), one).diagnostics == ()
    meant = one.body.get("spec")
    assert meant is not None
    answered = patch(
        f"{PODS}{{containers: [{{name: a, envFrom: [{{$patch: replace}}, {{secretRef: {{name: y}}}}]}}]}}}}}}"
    )
    result = apply(made, answered)
    assert result.diagnostics == ()
    assert result.made["spec"]["template"]["spec"]["containers"] == [
        {"name": "a", "envFrom": [{"secretRef": {"name": "y"}}]}
    ]


def test_places_of_what_was_written_and_deleted() -> None:
    one = patch(
        "metadata: {labels: {a: x, b: null}}\nspec: {template: {spec: {containers: [{name: a, tty: true}]}}}"
    )
    made = {**pod(containers=CONTAINERS), "metadata": {"labels": {"b": "1"}}}
    result = apply(made, one)
    assert {path: (span.line, span.column) for path, span in result.wrote.items()} == {
        ("metadata", "labels", "a"): (1, 24),
        ("spec", "template", "spec", "containers", 0, "name"): (2, 46),
        ("spec", "template", "spec", "containers", 0, "tty"): (2, 54),
    }
    assert [span.column for span in result.done] == [27]
    assert deletions(one.body) == list(result.done)


def test_a_deletion_of_nothing_is_not_done() -> None:
    one = patch(
        "metadata: {labels: {b: null}}\nspec: {template: {spec: {volumes: [{name: x, $patch: delete}]}}}"
    )
    assert apply(pod(), one).done == frozenset()
    assert len(deletions(one.body)) == 2


def test_every_merge_key_is_a_field_of_its_list() -> None:
    """The table follows the schemas: a path that is not there would never be asked for."""
    from tau_compile.schema import store

    for kind, version in VERSIONS.items():
        schema = store.kubernetes(version, kind)
        assert schema is not None
        for path, key in list_keys(kind).items():
            found: Any = schema
            for step in path:
                found = _resolved(found, schema)
                found = found["items"] if step == "[]" else found["properties"][step]
            items = _resolved(_resolved(found, schema)["items"], schema)
            assert set(key.fields) <= set(items["properties"]), shown(path)
    assert set(TEMPLATES) == set(VERSIONS)


def _resolved(schema: Any, document: Any) -> Any:
    while "$ref" in schema:
        reference, found = schema["$ref"], document
        for step in reference.lstrip("#/").split("/"):
            found = found[step]
        schema = found
    return schema


def test_the_guide_shows_the_whole_table() -> None:
    from tests.support.tools import ROOT

    text = (ROOT / "docs" / "guide" / "overlays.md").read_text()
    for kind in TEMPLATES:
        for path, key in list_keys(kind).items():
            assert f"| `{path[-1]}`" in text or f", `{path[-1]}`" in text, path
            for field in key.fields:
                assert f"`{field}`" in text, field


# --- what a patch is for


@pytest.mark.parametrize(
    ("name", "hits"),
    [("", True), ("train", True), ("train-*", True), ("train-0*", True), ("tra?n", True), ("tra", False), ("*", True),
     ("train-00000000", True), ("rain", False)],
)  # fmt: skip
def test_a_name_is_of_the_workload_or_of_the_object(name: str, hits: bool) -> None:
    made = {"kind": "Job", "metadata": {"name": "train-00000000", "labels": {"tau-compile/name": "train"}}}
    span = node("a: b").span
    assert is_for(Target("Job", name, (), span), made) is hits
    assert not is_for(Target("RayJob", name, (), span), made)
    assert is_for(Target("Job", name, (("tau-compile/name", "train"),), span), made) is hits
    assert not is_for(Target("Job", name, (("tau-compile/name", "other"),), span), made)
    assert not is_for(Target("Job", name, (("x", "y"),), span), made)


def test_targets_are_asked_of_what_was_rendered() -> None:
    first = patch("metadata: {labels: {a: b}}")
    second = first._replace(target=Target("Job", "", (("a", "b"),), first.span._replace(line=9)))
    changed = apply_all({"job.yaml.j2": pod()}, [first, second])
    assert [touch.matched for touch in changed.touches] == [True, False]


def test_without_effect() -> None:
    one = patch("metadata: {labels: {a: null}}")
    changed = apply_all({"job.yaml.j2": pod()}, [one])
    assert [d.id for d in without_effect(changed.touches, ["train"])] == ["TAU356"]
    other = apply_all({"job.yaml.j2": {**pod(), "metadata": {"labels": {"a": "b"}}}}, [one])
    assert without_effect([*changed.touches, *other.touches], ["train"]) == []
    missing = apply_all({}, [one])
    assert [d.id for d in without_effect(missing.touches, ["train"])] == ["TAU355"]
    assert without_effect(apply_all({}, [one._replace(optional=True)]).touches, []) == []
    assert without_effect([], ["train"]) == []


# --- what a patch may not say


def test_a_patch_of_a_broken_document_is_left_out() -> None:
    found: list[Any] = []
    assert read_patches(node("a: [1, {target: {kind: Job}}]").get("a"), "platform `lab`", found) == ()
    assert found == []


@pytest.mark.parametrize("kind", sorted(VERSIONS))
def test_labels_of_ours_are_closed_on_every_kind(kind: str) -> None:
    for path in [("metadata",), *((*one, "metadata") for one in TEMPLATES[kind])]:
        text = "".join(
            f"{{{step}: " if step != "[]" else "[{groupName: workers, " for step in (*path, "labels")
        )
        text = text.replace("[{groupName: workers, {", "[{groupName: workers, ")
        closing = "".join("}" if step != "[]" else "]" for step in reversed((*path, "labels")))
        said = check_body(kind, node(f"{text}{{tau-compile/run-id: x}}{closing}"))
        assert [d.id for d in said] == ["TAU350"], (path, said)


# --- with the whole compiler

PLATFORM = "apiVersion: tau-compile/v1\nkind: Platform\nmetadata: {name: lab}\n"


@pytest.mark.parametrize(("text", "kind"), [(JOB, "Job"), (RAYJOB, "RayJob")])
def test_a_patch_for_others_changes_nothing(text: str, kind: str) -> None:
    other = "RayJob" if kind == "Job" else "Job"
    overlay = (
        f"{PLATFORM}patches: [{{target: {{kind: {other}}}, patch: {{metadata: {{labels: {{a: b}}}}}}}}]\n"
    )
    plain, result = accepted(text), accepted(text, [overlay])
    assert result.objects == plain.objects
    assert said(result) == said(plain)
    assert result.run_id == plain.run_id
    assert [touch.matched for touch in result.touches] == [False]


def test_a_patch_is_no_part_of_the_run_id() -> None:
    overlay = f"{PLATFORM}patches: [{{target: {{kind: Job}}, patch: {{metadata: {{labels: {{a: b}}}}}}}}]\n"
    assert accepted(JOB, [overlay]).run_id == accepted(JOB).run_id


# --- properties

WORDS = st.sampled_from(["a", "b", "main", "x1"])
TEXTS = st.sampled_from(["a", "yes", "1", "null", "on", ""]).map(lambda text: f'"{text}"')


def _flow(pairs: dict[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in pairs.items()) + "}"


def _items(key: str, more: st.SearchStrategy[dict[str, str]]) -> st.SearchStrategy[str]:
    return st.dictionaries(WORDS, more, max_size=3).map(
        lambda found: "[" + ", ".join(_flow({key: name, **fields}) for name, fields in found.items()) + "]"
    )


def _parts(**strategies: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, str]]:
    return st.fixed_dictionaries({}, optional=strategies)


ENV = _items("name", _parts(value=TEXTS))
CONTAINER = _parts(
    image=WORDS, env=ENV, tty=st.sampled_from(["true", "false", "null"]), command=st.just("[sh]")
)
SPEC = _parts(
    containers=_items("name", CONTAINER),
    initContainers=_items("name", CONTAINER),
    volumes=_items("name", _parts(emptyDir=st.sampled_from(["{}", "{medium: Memory}"]))),
    tolerations=_items("key", _parts(effect=st.sampled_from(["NoSchedule", "NoExecute"]))),
    nodeSelector=st.dictionaries(WORDS, st.one_of(TEXTS, st.just("null")), max_size=3).map(_flow),
    hostNetwork=st.sampled_from(["true", "null"]),
)
BODY = SPEC.map(lambda spec: f"spec: {{template: {{spec: {_flow(spec)}}}}}")


@given(BODY, BODY)
def test_applying_twice_is_applying_once(text: str, base: str) -> None:
    made = apply({"kind": "Job"}, patch(base)).made
    once = apply(made, patch(text))
    assert apply(once.made, patch(text)).made == once.made


@given(BODY, BODY)
def test_what_is_not_written_stays(text: str, base: str) -> None:
    made = apply({"kind": "Job"}, patch(base)).made
    before = copy.deepcopy(made)
    one = patch(text)
    result = apply(made, one)
    assert made == before
    was, now = _leaves(made), _leaves(result.made)
    gone = {path for path, value in was.items() if path not in now and value not in ({}, [])}
    assert not gone or result.done, "only deletions take something away"
    changed = {path for path, value in now.items() if was.get(path, ...) != value and value not in ({}, [])}
    assert changed <= {_named(result.made, path) for path in result.wrote}


@given(BODY)
def test_an_empty_patch_is_the_identity(base: str) -> None:
    made = apply({"kind": "Job"}, patch(base)).made
    result = apply(made, patch("x: y")._replace(body=Mapping(node("a: b").span, ())))
    assert result.made == made
    assert result.diagnostics == ()


@given(BODY, st.sampled_from(["Job", "RayJob", "Service", "ConfigMap"]))
def test_only_what_is_meant_is_changed(text: str, kind: str) -> None:
    objects = {name: {"kind": name, "metadata": {"name": "x"}} for name in VERSIONS}
    changed = apply_all(objects, [patch(text, kind)])
    assert {name for name in objects if changed.objects[name] is not objects[name]} <= {kind}
    assert all(objects[name] == {"kind": name, "metadata": {"name": "x"}} for name in objects)


def _leaves(value: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Leaves by path; items of lists by their names."""
    if isinstance(value, dict):
        found: dict[tuple[str, ...], Any] = {} if value else {path: {}}
        for key, inner in value.items():
            found |= _leaves(inner, (*path, key))
        return found
    if isinstance(value, list) and value:
        found = dict[tuple[str, ...], Any]()
        for place, item in enumerate(value):
            found |= _leaves(item, (*path, _name(item, place)))
        return found
    return {path: value}


def _name(item: Any, place: int) -> str:
    if not isinstance(item, dict):
        return str(place)
    return str(item.get("name", f"{item.get('key')}/{item.get('effect')}"))


def _named(made: Any, path: tuple[str | int, ...]) -> tuple[str, ...]:
    found: list[str] = []
    for step in path:
        if isinstance(step, int):
            found.append(_name(made[step], step))
        else:
            found.append(step)
        made = made[step]
    return tuple(found)

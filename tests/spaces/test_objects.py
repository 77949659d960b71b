"""The objects of a workspace: least rights, stable names, what agents keep, and the layers they come from."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tau_compile.emit.yaml import dump_all
from tau_compile.render import packaged
from tests.spaces.making import EVERYTHING, SEALED, objects, of_kind, spaces
from tests.support.tools import kubeconform


@pytest.mark.parametrize("manage", [{}, EVERYTHING], ids=["nothing", "everything"])
@pytest.mark.parametrize("kueue", ["0.14.3", "0.19.2"])
def test_kubeconform_accepts_everything(manage: dict[str, Any], kueue: str) -> None:
    made = objects(spaces(manage, kueue=kueue))
    results = kubeconform(dump_all(made.values()))
    assert [result for result in results if not result.valid] == []
    assert len(results) == len(made) > 7
    version = "v1beta1" if kueue.startswith("0.14") else "v1beta2"
    assert made["localqueue-jobqueue.yaml"]["apiVersion"] == f"kueue.x-k8s.io/{version}"


def test_jinja_renders_what_the_translated_templates_render(monkeypatch: pytest.MonkeyPatch) -> None:
    translated = spaces(EVERYTHING).folders[0].files
    monkeypatch.setattr(packaged, "translated", lambda space=False: {})
    assert spaces(EVERYTHING).folders[0].files == translated


def test_the_kustomization_lists_exactly_the_files_and_they_come_out_the_same_every_time() -> None:
    files = spaces(EVERYTHING).folders[0].files
    listed = [
        line.removeprefix("- ")
        for line in files["kustomization.yaml"].decode().splitlines()
        if line.startswith("- ")
    ]
    assert sorted(listed) == sorted(files.keys() - {"kustomization.yaml"})
    assert spaces(EVERYTHING).folders[0].files == files
    assert files["secret-one.yaml"] == SEALED  # byte for byte


def test_researchers_may_look_and_nothing_else() -> None:
    made = spaces(EVERYTHING)
    (role,) = of_kind(made, "Role").values()
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get", "list", "watch"}
    resources = {resource for rule in role["rules"] for resource in rule["resources"]}
    assert {"pods", "pods/log", "jobs", "rayjobs", "workloads"} <= resources
    assert not resources & {"secrets", "pods/exec", "pods/portforward", "pods/attach", "*"}
    assert not [rule for rule in role["rules"] if "*" in rule["apiGroups"]]
    (binding,) = of_kind(made, "RoleBinding").values()
    assert [subject["name"] for subject in binding["subjects"]] == ["vision-team", "oidc:guests"]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert not of_kind(spaces({}), "Role")


def test_what_holds_data_is_kept_by_both_agents() -> None:
    made = spaces(EVERYTHING)
    for kind in ("Namespace", "PersistentVolumeClaim"):
        for found in of_kind(made, kind).values():
            notes = found["metadata"]["annotations"]
            assert notes["argocd.argoproj.io/sync-options"].split(",")[0] == "Prune=false"
            assert notes["kustomize.toolkit.fluxcd.io/prune"] == "disabled"
    others = [o for o in objects(made).values() if o["kind"] not in ("Namespace", "PersistentVolumeClaim")]
    assert not any("kustomize.toolkit.fluxcd.io/prune" in o["metadata"]["annotations"] for o in others)


def test_no_object_bears_a_name_that_a_run_could_need() -> None:
    made = objects(spaces(EVERYTHING))
    of_runs = ("Job", "RayJob", "RayCluster", "Service", "ConfigMap", "Pod", "Workload")
    assert not [o for o in made.values() if o["kind"] in of_runs]
    assert len({(o["kind"], o["metadata"]["name"]) for o in made.values()}) == len(made)
    for found in made.values():
        assert found["metadata"]["labels"]["tau-compile/workspace"] == "vision"
        assert found["metadata"].get("namespace", "vision") == "vision"


def test_no_token_for_pods_that_ask_for_none() -> None:
    accounts = of_kind(spaces({"serviceAccounts": [{"name": "reader"}]}), "ServiceAccount")
    assert accounts.keys() == {"reader", "training"}  # the workspace's own comes by itself
    assert not any(account["automountServiceAccountToken"] for account in accounts.values())


def test_quotas_count_objects_and_nothing_that_kueue_counts() -> None:
    (quota,) = of_kind(spaces({}), "ResourceQuota").values()
    assert all(name.startswith("count/") for name in quota["spec"]["hard"])
    assert "count/pods" not in quota["spec"]["hard"]
    (quota,) = of_kind(spaces({"quota": {"count/jobs.batch": "1000"}}), "ResourceQuota").values()
    assert quota["spec"]["hard"] == {"count/jobs.batch": "1k"}  # as the API server writes it
    assert not of_kind(spaces({"quota": {}}), "ResourceQuota")
    assert not of_kind(spaces({}), "LimitRange")


def test_layers_merge_and_the_workspace_wins() -> None:
    made = spaces(
        {"podSecurity": {"warn": "baseline"}, "researchers": ["vision-team"]},
        {"network": {"rayOperator": "ray"}, "podSecurity": {"enforce": "privileged"}},
        {
            "podSecurity": {"enforce": "restricted", "audit": "baseline"},
            "researchers": ["everyone-in-the-lab"],
        },
    )
    (namespace,) = of_kind(made, "Namespace").values()
    labels = namespace["metadata"]["labels"]
    levels = {mode: labels[f"pod-security.kubernetes.io/{mode}"] for mode in ("enforce", "warn", "audit")}
    assert levels == {"enforce": "privileged", "warn": "baseline", "audit": "baseline"}
    (binding,) = of_kind(made, "RoleBinding").values()
    assert [subject["name"] for subject in binding["subjects"]] == ["vision-team"]


def test_the_namespace_has_the_labels_that_kueue_looks_for() -> None:
    made = spaces({"labels": {"a": "1"}}, queue={"namespaceLabels": {"example.com/team": "vision"}})
    (namespace,) = of_kind(made, "Namespace").values()
    assert namespace["metadata"]["labels"]["example.com/team"] == "vision"
    assert namespace["metadata"]["labels"]["a"] == "1"


@pytest.mark.parametrize(("name", "ids"), [("vision", []), ("speech", ["TAU372"])])
def test_a_queue_may_look_for_a_namespace_by_its_name(name: str, ids: list[str]) -> None:
    """The API server writes that label; it is neither rendered nor given another value."""
    made = spaces({}, queue={"namespaceLabels": {"kubernetes.io/metadata.name": name}})
    assert [d.id for d in made.diagnostics] == ids
    assert all(b"metadata.name" not in files["namespace-vision.yaml"] for files in [made.folders[0].files])


def test_values_cannot_change_the_structure() -> None:
    hostile = 'x"\n  finalizers: [a]\n{{ 7 }} # '
    made = spaces({"researchers": ["vision: team"], "annotations": {"example.com/note": hostile}})
    (namespace,) = of_kind(made, "Namespace").values()
    assert namespace["metadata"]["annotations"]["example.com/note"] == hostile
    assert namespace["metadata"].keys() == {"name", "labels", "annotations"}


def test_a_credential_in_the_section_is_refused() -> None:
    made = spaces({"annotations": {"example.com/note": "hf_" + ("aBcdEfgHij" * 4)[:34]}})
    assert {said.id for said in made.diagnostics} == {"TAU801"}


@pytest.mark.parametrize("kind", ["Secret", "Pod", "ClusterRole"])
def test_a_template_makes_its_own_kind_only(kind: str) -> None:
    text = json.dumps(
        {"apiVersion": "v1", "kind": kind, "metadata": {"name": "jobqueue"}, "data": {"a": "Yg=="}}
    )
    made = spaces({}, templates={"workspace/localqueue.yaml.j2": text})
    assert {said.id for said in made.diagnostics} == {"TAU432"}
    assert made.diagnostics[0].span
    assert made.diagnostics[0].span.file == "templates/workspace/localqueue.yaml.j2"

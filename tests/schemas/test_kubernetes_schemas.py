"""The schemas in ``schemas/kubernetes``, judged through kubeconform and through Python's jsonschema alike."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema
import pytest

from tests.schemas.manifests import GOOD, Fault, good, missing, unknown, wrong
from tests.support.tools import ROOT, kubeconform

FOLDER = ROOT / "schemas" / "kubernetes"
SCHEMAS = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.json"))

JOB, SERVICE, CONFIG = "job/Job", "indexed-job/Service", "configmap/ConfigMap"
RAYJOB, QUEUE = "rayjob/RayJob", "kueue/ClusterQueue"
RAYCLUSTER, RAYSERVICE = "ray-long-lived/RayCluster", "ray-long-lived/RayService"
POD = "spec/template/spec/"
TRAINER = POD + "containers/0/"
WORKERS = "spec/rayClusterSpec/workerGroupSpecs/0/"
H100 = "spec/resourceGroups/0/flavors/0/resources/"

FAULTS = [
    unknown("typo-at-the-root", JOB, "specs", {}),
    unknown("typo-at-a-custom-root", RAYJOB, "Spec", {}),
    unknown("status", JOB, "status", {}),
    unknown("status-custom", RAYJOB, "status", {"jobStatus": "RUNNING"}),
    unknown("status-embedded", RAYCLUSTER, "spec/headGroupSpec/headService/status", {}),
    unknown("metadata-unknown", JOB, "metadata/label", {"a": "b"}),
    unknown("metadata-unknown-custom", QUEUE, "metadata/label", {"a": "b"}),
    unknown("metadata-server-owned", RAYJOB, "metadata/creationTimestamp", None),
    unknown("metadata-generate-name", RAYJOB, "metadata/generateName", "x-"),
    unknown("metadata-of-a-pod", RAYJOB, WORKERS + "template/metadata", {"lables": {}})._replace(
        at=("spec", "rayClusterSpec", "workerGroupSpecs", 0, "template", "metadata")
    ),
    unknown("namespace-of-a-cluster-scoped-kind", QUEUE, "metadata/namespace", "default"),
    unknown("typo-in-a-container", JOB, TRAINER + "imagePullpolicy", "Always"),
    unknown("typo-in-a-ray-container", RAYJOB, WORKERS + "template/spec/containers/0/volumeMount", []),
    unknown("typo-in-a-flavor", QUEUE, H100 + "0/nominalquota", 1),
    unknown("field-of-another-version", "kueue-v1beta1/ClusterQueue", "spec/cohortName", "research"),
    unknown("field-of-a-newer-kubernetes", JOB, TRAINER + "restartPolicyRules", []),
    wrong("label-number", JOB, "metadata/labels/version", 1.1),
    wrong("annotation-boolean", RAYJOB, "metadata/annotations", {"a": True})._replace(
        at=("metadata", "annotations", "a")
    ),
    wrong("env-number", JOB, TRAINER + "env/0/value", 90),
    wrong("env-boolean", RAYJOB, WORKERS + "template/spec/containers/0/env/0/value", True),
    wrong("command-string", JOB, TRAINER + "command", "python train.py"),
    wrong("args-number", JOB, TRAINER + "args/1", 90),
    wrong("boolean-string", JOB, POD + "automountServiceAccountToken", "false"),
    wrong("integer-float", JOB, "spec/completions", 1.5),
    wrong("integer-beyond-int32", JOB, "spec/backoffLimit", 2**31),
    wrong("integer-beyond-int64", JOB, "spec/activeDeadlineSeconds", 10**30),
    wrong("null", JOB, POD + "restartPolicy", None),
    wrong("list-for-a-map", JOB, POD + "nodeSelector", []),
    wrong("replicas-string", RAYJOB, WORKERS + "replicas", "2"),
    wrong("ray-start-param-number", RAYJOB, "spec/rayClusterSpec/headGroupSpec/rayStartParams/num-cpus", 0),
    wrong("enum-upscaling-mode", RAYCLUSTER, "spec/autoscalerOptions/upscalingMode", "Careful"),
    wrong("enum-queueing-strategy", QUEUE, "spec/queueingStrategy", "FIFO"),
    wrong("kind-of-quota", QUEUE, H100 + "0/nominalQuota", 1.5),
    wrong("quantity-unit", JOB, TRAINER + "resources/limits/memory", "64GB"),
    wrong("quantity-space", JOB, TRAINER + "resources/limits/memory", "64 Gi"),
    wrong("quantity-exponent", QUEUE, H100 + "1/nominalQuota", "1e1.5"),
    wrong("quantity-newline", QUEUE, H100 + "1/nominalQuota", "4Ti\n"),
    wrong("quantity-empty", JOB, TRAINER + "resources/requests/cpu", ""),
    wrong("int-or-string-float", SERVICE, "spec/ports/0/targetPort", 1.5),
    wrong("int-or-string-list", JOB, TRAINER + "livenessProbe/httpGet/port", [80]),
    wrong("port-string", SERVICE, "spec/ports/0/port", "29500"),
    wrong("binary-data-text", CONFIG, "binaryData/archive.zip", "not base64"),
    wrong("data-number", CONFIG, "data/EPOCHS", 90),
    wrong("pattern-upper-case", QUEUE, "spec/cohortName", "Research"),
    wrong("pattern-newline", "kueue/LocalQueue", "spec/clusterQueue", "vision\n"),
    wrong("set-with-a-duplicate", "kueue-v1beta1/MultiKueueConfig", "spec/clusters", ["west", "west"]),
    wrong("too-few-items", "kueue/Topology", "spec/levels", []),
    wrong("name-empty", JOB, "metadata/name", ""),
    missing("no-metadata", CONFIG, "metadata"),
    missing("no-name", JOB, "metadata/name"),
    missing("no-template", JOB, "spec/template"),
    missing("no-containers", RAYJOB, "spec/submitterPodTemplate/spec/containers"),
    missing("no-container-name", JOB, TRAINER + "name"),
    missing("no-head-template", RAYSERVICE, "spec/rayClusterConfig/headGroupSpec/template"),
    missing("no-quota", QUEUE, H100 + "0/nominalQuota"),
    missing("no-priority-value", "kueue/WorkloadPriorityClass", "value"),
]


@cache
def validator(api_version: str, kind: str) -> Any:
    group, version = api_version.split("/")[0], api_version.split("/")[-1]
    schema = json.loads((FOLDER / group / f"{kind.lower()}_{version}.json").read_bytes())
    return jsonschema.Draft7Validator(schema)


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_schema_is_a_valid_schema_that_names_its_dialect(name: str) -> None:
    schema = json.loads((FOLDER / name).read_bytes())
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    jsonschema.Draft7Validator.check_schema(schema)


@pytest.mark.parametrize("name", SCHEMAS)
def test_no_prose_and_no_open_end_is_left(name: str) -> None:
    def walk(schema: Any) -> None:
        assert not {"description", "title", "default", "example", "format"} & schema.keys()
        assert not [key for key in schema if key.startswith("x-")]
        if "properties" in schema:
            assert schema["additionalProperties"] is False
        for part in ("properties", "definitions"):
            for child in schema.get(part, {}).values():
                walk(child)
        for part in ("items", "additionalProperties"):
            if isinstance(schema.get(part), dict):
                walk(schema[part])

    walk(json.loads((FOLDER / name).read_bytes()))


def test_versions_lists_exactly_the_schemas_that_are_there() -> None:
    versions = json.loads((FOLDER / "VERSIONS.json").read_bytes())
    kinds = [kind for module in versions.values() for kind in module["kinds"]]
    files = []
    for kind in kinds:
        *group, version, name = kind.split("/")
        files.append(f"{group[0] if group else version}/{name.lower()}_{version}.json")
    assert sorted(files) == SCHEMAS
    assert {scope for module in versions.values() for scope in module["kinds"].values()} == {
        "Namespaced",
        "Cluster",
    }


def test_kubeconform_accepts_every_good_manifest() -> None:
    results = kubeconform([GOOD])
    assert [result for result in results if not result.valid] == []
    assert len(results) == len(good())


def test_every_kind_has_a_good_manifest() -> None:
    shown = {(value["apiVersion"], value["kind"]) for value in good().values()}
    versions = json.loads((FOLDER / "VERSIONS.json").read_bytes())
    known = {tuple(kind.rsplit("/", 1)) for module in versions.values() for kind in module["kinds"]}
    assert shown == known


@pytest.mark.parametrize("label", sorted(good()))
def test_jsonschema_accepts_every_good_manifest(label: str) -> None:
    manifest = good()[label]
    errors = validator(manifest["apiVersion"], manifest["kind"]).iter_errors(manifest)
    assert [error.message for error in errors] == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_kubeconform_refuses_the_fault_and_blames_its_place(fault: Fault) -> None:
    (verdict,) = kubeconform(json.dumps(fault.manifest()))
    assert verdict.status == "statusInvalid"
    pointer = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in fault.at)
    assert f"at '{pointer}'" in verdict.msg


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_jsonschema_refuses_the_fault_and_blames_its_place(fault: Fault) -> None:
    manifest = fault.manifest()
    errors = list(validator(manifest["apiVersion"], manifest["kind"]).iter_errors(manifest))
    assert {tuple(error.absolute_path) for error in errors} == {fault.at}


def test_kubeconform_refuses_duplicate_keys() -> None:
    text = (GOOD / "configmap.yaml").read_text(encoding="utf-8") + "immutable: false\n"
    (result,) = kubeconform(text)
    assert result.status == "statusError"
    assert 'key "immutable" already set' in result.msg


def test_kubeconform_refuses_a_kind_without_a_schema() -> None:
    (result,) = kubeconform("apiVersion: v1\nkind: Secret\nmetadata: {name: token}\n")
    assert not result.valid
    assert "could not find schema for Secret" in result.msg


def test_kubeconform_refuses_a_version_that_has_no_schema() -> None:
    (result,) = kubeconform("apiVersion: ray.io/v1alpha1\nkind: RayJob\nmetadata: {name: old}\n")
    assert result.status == "statusError"

"""Kubernetes' own ValidatingAdmissionPolicy machinery, asked through ``tests/tools/celcheck``."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tau_compile.schema import store
from tests.support.tools import tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Object = dict[str, Any]

_KINDS = (
    ("batch/v1", "Job"),
    ("ray.io/v1", "RayJob"),
    ("ray.io/v1", "RayCluster"),
    ("ray.io/v1", "RayService"),
)
_SECONDS = 120
_KEPT = ("type", "format", "required", "enum")


class Request(NamedTuple):
    """Somebody creates an object."""

    object: Object
    username: str = "system:serviceaccount:argocd:argocd-application-controller"
    operation: str = "CREATE"


class Decision(NamedTuple):
    """What one rule of a policy said about a request; ``cost`` is that of all rules of the policy, of 10 million."""

    policy: str
    actions: tuple[str, ...]
    verdict: str  # admit, deny or error
    message: str
    cost: int


class Answer(NamedTuple):
    """Everything that the library said. ``errors`` and ``types`` are (policy, field, message)."""

    errors: list[tuple[str, str, str]]
    types: list[tuple[str, str, str]]
    checked: dict[str, list[str]]
    decisions: list[list[Decision]]

    def refusals(self, number: int = 0) -> list[str]:
        """The messages with which a request is refused, or its evaluation fails."""
        return [d.message for d in self.decisions[number] if d.verdict != "admit" and "Deny" in d.actions]


def celcheck(
    objects: Iterable[Object], requests: Sequence[Request | Object] = (), *, types: bool = False
) -> Answer:
    """Compile the policies among ``objects``, and judge each request by them and their bindings.

    With ``types`` every expression is type checked against the schemas of its kinds too, which takes most of the time.
    """
    made = list(objects)
    question = {
        "policies": [o for o in made if o["kind"] == "ValidatingAdmissionPolicy"],
        "bindings": [o for o in made if o["kind"] == "ValidatingAdmissionPolicyBinding"],
        "schemas": published() if types else {},
        "requests": [(r if isinstance(r, Request) else Request(r))._asdict() for r in requests],
    }
    done = subprocess.run(
        [tool("celcheck")],
        input=json.dumps(question),
        capture_output=True,
        encoding="utf-8",
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"celcheck failed ({done.returncode}): {done.stderr[-2000:]}")
    answer = json.loads(done.stdout)
    return Answer(
        [tuple(found.values()) for found in answer["errors"]],
        [tuple(found.values()) for found in answer["types"]],
        answer["checked"],
        [[Decision(**{**d, "actions": tuple(d["actions"])}) for d in each] for each in answer["results"]],
    )


@cache
def published() -> dict[str, Object]:
    """OpenAPI schemas of the kinds that policies judge, out of ``schemas/kubernetes``.

    The schema of a Pod is made of that of a Job's pods.
    """
    found = {}
    for version, kind in _KINDS:
        schema = store.kubernetes(version, kind)
        assert schema is not None
        found[f"{version}/{kind}"] = _open(schema, schema.get("definitions", {}))
    job = found["batch/v1/Job"]["properties"]
    found["v1/Pod"] = {
        "type": "object",
        "properties": {**job, "spec": job["spec"]["properties"]["template"]["properties"]["spec"]},
    }
    for schema in found.values():
        fields = schema["properties"]
        fields["apiVersion"] = fields["kind"] = {"type": "string"}
        # Without it, the library takes the metadata for those of a CustomResourceDefinition: no labels.
        fields["metadata"]["properties"]["generateName"] = {"type": "string"}
    return found


def _open(schema: Any, definitions: Object) -> Object:
    """A JSON Schema of ours as OpenAPI: references filled in, and numbers that may be texts marked as Kubernetes does."""
    if "$ref" in schema:
        return _open({**definitions[schema["$ref"].rpartition("/")[2]], **_rest(schema)}, definitions)
    made: Object = {key: schema[key] for key in _KEPT if key in schema}
    if isinstance(made.get("type"), list):
        del made["type"]
        made["x-kubernetes-int-or-string"] = True
    if "properties" in schema:
        made["properties"] = {k: _open(v, definitions) for k, v in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            made[key] = _open(schema[key], definitions)
    if made.get("type") == "object" and "properties" not in made and "additionalProperties" not in made:
        made["x-kubernetes-preserve-unknown-fields"] = True
    return made


def _rest(schema: Object) -> Object:
    return {key: value for key, value in schema.items() if key != "$ref"}

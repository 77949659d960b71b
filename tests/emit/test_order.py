from __future__ import annotations

import itertools

from tau_compile.emit.order import USER_MAPS, ordered_keys
from tau_compile.emit.yaml import dump


def test_an_object_says_first_what_it_is() -> None:
    keys = ("status", "data", "immutable", "metadata", "spec", "kind", "apiVersion")
    assert ordered_keys(keys) == ("apiVersion", "kind", "metadata", "immutable", "spec", "data", "status")
    assert ordered_keys(("annotations", "labels", "finalizers", "namespace", "name")) == (
        "name",
        "namespace",
        "labels",
        "annotations",
        "finalizers",
    )


def test_a_container_and_a_worker_group() -> None:
    container = (
        "name",
        "image",
        "command",
        "args",
        "env",
        "lifecycle",
        "resources",
        "securityContext",
        "volumeMounts",
    )
    assert ordered_keys(tuple(sorted(container))) == container
    group = ("groupName", "replicas", "minReplicas", "maxReplicas", "rayStartParams", "template")
    assert ordered_keys(tuple(sorted(group))) == group


def test_unknown_keys_are_alphabetical_in_any_order_of_insertion() -> None:
    keys = ("zeta", "alpha", "name", "template")
    assert {ordered_keys(p) for p in itertools.permutations(keys)} == {("name", "alpha", "zeta", "template")}


def test_the_keys_of_users_are_alphabetical() -> None:
    for parent in sorted(USER_MAPS):
        assert (
            dump({parent: {"name": 1, "app": 2, "kind": 3}}) == f"{parent}:\n  app: 2\n  kind: 3\n  name: 1\n"
        )

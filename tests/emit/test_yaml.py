from __future__ import annotations

from collections import OrderedDict
from enum import IntEnum
from typing import Any

import pytest

from tau_compile.emit.yaml import dump, dump_all
from tests.emit.hard import PLAIN_IN_PYYAML, QUOTED_IN_PYYAML, REVISIONS


def test_the_layout_of_an_object() -> None:
    job = {
        "spec": {
            "template": {
                "spec": {
                    "volumes": [{"emptyDir": {}, "name": "shm"}],
                    "containers": [
                        {
                            "args": [],
                            "env": [{"value": "1", "name": "B"}, {"name": "A", "value": "yes"}],
                            "image": "ghcr.io/acme/train:v1@sha256:00ff",
                            "command": ["/bin/sh", "-c", "set -eu\nexec python3 train.py\n"],
                            "name": "main",
                            "resources": {"limits": {"nvidia.com/gpu": "8", "memory": "64Gi", "cpu": "8"}},
                        }
                    ],
                    "restartPolicy": "Never",
                }
            },
            "backoffLimit": 0,
            "matrix": [[1, 2], [], [{"a": None, "b": True}]],
        },
        "kind": "Job",
        "metadata": {"labels": {"b": "x", "a": "on"}, "namespace": "ml", "name": "demo"},
        "apiVersion": "batch/v1",
    }
    assert (
        dump(job)
        == """\
apiVersion: batch/v1
kind: Job
metadata:
  name: demo
  namespace: ml
  labels:
    a: "on"
    b: x
spec:
  backoffLimit: 0
  matrix:
  - - 1
    - 2
  - []
  - - a: null
      b: true
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: ghcr.io/acme/train:v1@sha256:00ff
        command:
        - /bin/sh
        - "-c"
        - |
          set -eu
          exec python3 train.py
        args: []
        env:
        - name: B
          value: "1"
        - name: A
          value: "yes"
        resources:
          limits:
            cpu: "8"
            memory: 64Gi
            nvidia.com/gpu: "8"
      volumes:
      - name: shm
        emptyDir: {}
"""
    )


@pytest.mark.parametrize("text", [*PLAIN_IN_PYYAML, *QUOTED_IN_PYYAML, *REVISIONS])
def test_what_could_be_something_else_is_quoted(text: str) -> None:
    written = dump({text: [text]})
    quoted = text if text == "v1" else '"' + text.replace('"', '\\"').replace("\t", "\\t") + '"'
    assert written == f"{quoted}:\n- {quoted}\n"


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "v1",
        "batch/v1",
        "nvidia.com/gpu",
        "/dev/shm",
        "ghcr.io/a/b:v1@sha256:00ff",
        "64Gi",
        "1.5G",
        "500m",
        "e3",
    ],
)
def test_words_paths_images_and_quantities_are_not_quoted(text: str) -> None:
    assert dump(text) == f"{text}\n"


def test_multi_line_text_is_a_literal_block_with_the_right_ending() -> None:
    assert dump({"a": "x\n\ny"}) == "a: |-\n  x\n\n  y\n"
    assert dump({"a": "x\ny\n"}) == "a: |\n  x\n  y\n"
    assert dump({"a": "x\n\n\n", "b": 1}) == "a: |+\n  x\n\n\nb: 1\n"
    assert dump(["x\ny\n"]) == "- |\n  x\n  y\n"
    assert dump([{"a": "x\ny\n"}]) == "- a: |\n    x\n    y\n"
    assert dump_all(["a\n\n", 1]) == "|+\n  a\n\n---\n1\n"


@pytest.mark.parametrize(
    "text",
    [
        "a \nb",
        "a\t\nb",
        " a\nb",
        "\n a",
        "a\n\tb",
        "a\n \tb",
        "a\n \nb",
        "a\r\nb",
        "a\n\x85",
        "a\n\u2028",
        "a\n\ufeff",
        "\n",
    ],
)
def test_a_literal_block_that_could_be_misread_is_quoted(text: str) -> None:
    written = dump(text)
    assert written.startswith('"')
    assert written.count("\n") == 1


def test_nothing_is_folded_and_no_line_ends_in_a_blank() -> None:
    long = "word " * 60 + "end"
    assert dump({"a": long}) == f'a: "{long}"\n'
    script = "x\n\n" + long + "\n"
    assert not any(line.endswith(" ") for line in dump([{"a": script}]).split("\n"))


def test_a_shared_object_is_written_twice() -> None:
    shared = {"x": [1]}
    assert dump({"a": shared, "b": shared}) == "a:\n  x:\n  - 1\nb:\n  x:\n  - 1\n"


def test_what_hides_from_a_reviewer_is_escaped() -> None:
    assert dump("a\u202eb\u2066") == '"a\\u202eb\\u2066"\n'
    assert dump("a\x1b\x85\u2028\ufeff") == '"a\\u001b\\u0085\\u2028\\ufeff"\n'
    assert dump("# \u202e\nrm\n") == '"# \\u202e\\nrm\\n"\n'
    assert dump("é 日本 🚀") == '"é 日本 🚀"\n'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-05, "1.0e-05"),
        (1e16, "1.0e+16"),
        (1.5e-07, "1.5e-07"),
        (1.0, "1.0"),
        (-0.25, "-0.25"),
        (0.0003, "0.0003"),
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (-7, "-7"),
        (2**70, str(2**70)),
        ({}, "{}"),
        ([], "[]"),
        ((), "[]"),
    ],
)
def test_scalars(value: Any, text: str) -> None:
    assert dump(value) == f"{text}\n"
    assert dump({"a": value}) == f"a: {text}\n"


def test_subclasses_are_written_as_what_they_are() -> None:
    class Port(IntEnum):
        RAY = 6379

    class Text(str):
        __slots__ = ()

    value = OrderedDict(b=(Port.RAY, (1,)), a=Text("no"), c=OrderedDict(d=Text("a\nb")))
    assert dump(value) == 'a: "no"\nb:\n- 6379\n- - 1\nc:\n  d: |-\n    a\n    b\n'


def test_a_key_too_long_for_readers_is_written_explicitly() -> None:
    key = "k" * 1_100
    assert dump([{key: [1], "l": 2}]) == f"- ? {key}\n  :\n  - 1\n  l: 2\n"


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), "\ud800", {"\udfff": 1}, "a\n\ud800\n"],
)
def test_what_no_reader_accepts_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"JSON|surrogate"):
        dump([value])


@pytest.mark.parametrize("value", [{1: 2}, {None: 1}, {b"a": 1}, b"a", {1, 2}, object()])
def test_what_is_not_data_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        dump({"a": value})


def test_the_order_of_insertion_does_not_matter_unless_asked_for() -> None:
    tree = {"b": 1, "kind": {"z": 1, "name": 2}}
    turned = {"kind": {"name": 2, "z": 1}, "b": 1}
    assert dump(tree) == dump(turned) == "kind:\n  name: 2\n  z: 1\nb: 1\n"
    assert dump(tree, keep_order=True) == "b: 1\nkind:\n  z: 1\n  name: 2\n"
    assert dump_all([tree, turned], keep_order=True) == (
        "b: 1\nkind:\n  z: 1\n  name: 2\n---\nkind:\n  name: 2\n  z: 1\nb: 1\n"
    )


def test_no_documents_give_no_text() -> None:
    assert dump_all([]) == ""

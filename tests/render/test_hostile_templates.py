"""A template in a pull request is hostile input: whatever it tries ends in a diagnostic at its file and line, and soon."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.support.compiling import JOB, compiled

if TYPE_CHECKING:
    from tau_compile.diagnostics import Diagnostic

HEAD = (
    "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {{ run.id }}\n  namespace: {{ run.namespace }}\n"
    "  labels: {{ run.labels }}\n"
    "  annotations: {{ run.annotations }}\n"
)
SPEC = "spec:\n  backoffLimit: 0\n  template:\n    spec:\n      restartPolicy: Never\n"
BODY = "      containers:\n      - {name: main, image: {{ pod.containers[0].image }}}\n"
GOOD = HEAD + SPEC + BODY


def problem(text: str, name: str = "job.yaml.j2", **others: str) -> Diagnostic:
    """The one thing that is wrong with a template, told within a second or so."""
    templates = {name: text, **{f"parts/{part}.yaml.j2": inner for part, inner in others.items()}}
    started = time.process_time()
    result = compiled(JOB, templates=templates)
    assert time.process_time() - started < 3
    assert not result.objects
    (found,) = result.diagnostics
    assert found.severity == "error"
    assert found.hint
    assert found.span is not None
    assert found.span.file.startswith("templates/")
    return found


def test_a_good_template_is_used() -> None:
    result = compiled(JOB, templates={"job.yaml.j2": GOOD})
    assert not result.diagnostics
    assert result.objects[-1]["spec"]["template"]["spec"]["containers"] == [
        {"name": "main", "image": "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime"}
    ]


@pytest.mark.parametrize(
    "line, what",
    [
        ("{{ ''.__class__ }}", "unsafe"),
        ("{{ run.__init__.__globals__ }}", "unsafe"),
        ("{{ run.labels.clear() }}", "cannot call"),
        ("{{ ''.join(run) }}", "cannot call"),
        ("{{ cycler('a') }}", "cannot call"),
        ("{{ run.idd }}", "no `idd`"),
        ("{{ runn }}", "no `runn`"),
        ("{% for x in range(1000000000) %}{% endfor %}", "cannot call"),
        ("{{ 'a' * 1000000000 }}", "not available"),
        ("{{ 10 ** 1000000 }}", "not available"),
        ("{{ '%1000000000d' % 1 }}", "not available"),
        ("{{ run.id + 'x' }}", "not available"),
        ("{{ run.id | upper }}", "upper"),
        ("{{ run.id is mapping }}", "mapping"),
        ("{% set x %}a{% endset %}", "rendered text"),
        ("{% filter length %}a{% endfilter %}", "rendered text"),
        ("{% macro m() %}{% endmacro %}", "macros"),
        ("{% import 'job.yaml.j2' as other %}", "macros"),
        ("{% from 'job.yaml.j2' import other %}", "macros"),
        ("{% extends 'job.yaml.j2' %}", "inherit"),
        ("{% block b %}{% endblock %}", "inherit"),
        ("{{ [run, run] }}", "as YAML"),
        ("{{ {'a': run} }}", "as YAML"),
        ("{% include '/etc/passwd' %}", "no template"),
        ("{% include '../overlays/platform.yaml' %}", "no template"),
        ("{% include 'parts/../../overlays/platform.yaml' %}", "no template"),
        ("{% include 'other.j2' %}", "no template"),
        ("{% include run %}", ""),
        ("{{ run.deadline ~ 'x' }}", "joins"),
        ("{% if %}", "expression"),
        ("{{ run.id", "end of"),
        ("{% endif %}", "endif"),
        ("{% do run.clear() %}", "do"),
        ("{# never closed", "comment"),
        ("{{ run.id | indent('x') }}", "columns"),
    ],
)
def test_what_is_not_available_is_told_at_its_line(line: str, what: str) -> None:
    found = problem(GOOD + f"# a comment\n{line}\n")
    assert found.id == "TAU320"
    assert found.span is not None
    assert (found.span.file, found.span.line) == ("templates/job.yaml.j2", GOOD.count("\n") + 2)
    assert what in found.message
    assert "object at 0x" not in found.message


def test_a_part_is_blamed_for_itself() -> None:
    whole = (
        HEAD
        + SPEC.removesuffix("      restartPolicy: Never\n")
        + ("{% filter indent(6, true) %}\n{% include 'parts/pod.yaml.j2' %}\n{% endfilter %}\n")
    )
    found = problem(whole, pod="restartPolicy: Never\n\ncontainers: {{ pod.cnotainers }}\n")
    assert found.span is not None
    assert (found.span.file, found.span.line) == ("templates/parts/pod.yaml.j2", 3)


DOUBLE = "".join(f"{{% set a{i + 1} = a{i} ~ a{i} %}}" for i in range(60))
LOOPS = "".join(f"{{% for x{i} in run.labels %}}" for i in range(30)) + "".join(
    "{% endfor %}" for _ in range(30)
)
CHATTY = LOOPS.replace("{% endfor %}", "some text{% endfor %}", 1)


@pytest.mark.parametrize(
    "text",
    [
        "{% set a0 = 'aaaaaaaa' %}" + DOUBLE + "{{ a60 }}",
        LOOPS,
        "{% filter indent(4) %}" + CHATTY + "{% endfilter %}",
        "{% for c in code.data %}" * 8 + "{{ code }}" + "{% endfor %}" * 8,
        "{% include 'job.yaml.j2' %}",
        "{% for x in run.labels %}{% include 'job.yaml.j2' %}{% endfor %}",
        "{% filter indent(1000000000) %}\na\n{% endfilter %}" * 2000 + LOOPS,
        "{% for x in run.labels recursive %}{{ loop(run.labels) }}{% endfor %}",
    ],
    ids=[
        "doubling",
        "loops",
        "loops-in-a-filter",
        "large-values",
        "itself",
        "itself-often",
        "indent",
        "recursive",
    ],
)
def test_what_never_ends_is_stopped(text: str) -> None:
    assert problem(GOOD + text).id == "TAU320"


@pytest.mark.parametrize(
    "text, what",
    [
        ("kind: Job\nmetadata: [\n", "never closed"),
        (GOOD + "---\n" + GOOD, "second document"),
        (GOOD + "kind: Job\n", "given twice"),
        ("kind: &a Job\nother: *b\n", "no anchor"),
        ("", "empty"),
        ("# {{ run.id }}\n", "empty"),
        ("!!python/object/apply:os.system [ls]\n", "tag"),
        ("a: {{ run.id }} {{ run.id }}\n", "unexpected"),
    ],
)
def test_what_is_not_one_document_is_told(text: str, what: str) -> None:
    found = problem(text)
    assert found.id == "TAU321"
    assert found.span is not None
    assert found.span.file == "templates/job.yaml.j2"
    assert what in found.message


@pytest.mark.parametrize("text", ["- a\n", "text\n", "{{ run.id }}\n", "3\n"])
def test_what_is_no_object_is_told(text: str) -> None:
    assert problem(text).id == "TAU320"


@pytest.mark.parametrize(
    "old, new, id, key",
    [
        ("  backoffLimit: 0\n", "  suspend: true\n", "TAU721", "suspend"),
        ("  backoffLimit: 0\n", "  suspend: false\n", "TAU721", "suspend"),
        (
            "  backoffLimit: 0\n",
            "  ttlSecondsAfterFinished: 60\n",
            "TAU722",
            "ttlSecondsAfterFinished",
        ),
        ("  labels: {{ run.labels }}\n", "", "TAU510", ""),
        ("  labels: {{ run.labels }}\n", "  labels: {{ run.own_labels }}\n", "TAU510", "labels"),
        ("{{ run.namespace }}", "kube-system", "TAU431", "namespace"),
        ("  namespace: {{ run.namespace }}\n", "", "TAU431", ""),
        ("{{ run.id }}", "another", "TAU432", "name"),
        ("  name: {{ run.id }}\n", "  generateName: a-\n", "TAU723", "generateName"),
        ("kind: Job", "kind: Pod", "TAU432", "kind"),
        ("batch/v1", "batch/v1beta1", "TAU430", "kind"),
        ("restartPolicy: Never", "restartPolicy: Never\n      hostNam: x", "TAU430", "hostNam"),
        ("backoffLimit: 0", "backoffLimit: {{ run.id }}", "TAU430", "backoffLimit"),
    ],
)
def test_what_may_not_be_rendered_is_told_at_its_line(old: str, new: str, id: str, key: str) -> None:
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    found = problem(text)
    assert found.id == id
    line = next((n for n, here in enumerate(text.split("\n"), 1) if f"{key}:" in here), 1) if key else 1
    assert found.span is not None
    assert (found.span.file, found.span.line) == ("templates/job.yaml.j2", line)


def test_a_part_of_the_repository_is_blamed_when_the_template_is_a_packaged_one() -> None:
    result = compiled(
        JOB, templates={"parts/pod.yaml.j2": "restartPolicy: Never\ncontainers: []\nhostname: 3\n"}
    )
    assert [(d.id, d.span and (d.span.file, d.span.line)) for d in result.diagnostics] == [
        ("TAU430", ("templates/parts/pod.yaml.j2", 3))
    ]


def test_templates_of_the_other_kind_are_not_read() -> None:
    assert compiled(JOB, templates={"rayjob.yaml.j2": "{{ nonsense("}).objects

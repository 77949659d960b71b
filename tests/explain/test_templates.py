"""The lines of templates that print leaves, in templates of one's own too."""

from __future__ import annotations

import pytest

from tau_compile.explain.bench import bench
from tau_compile.explain.templates import printed
from tests.support.compiling import JOB, repository
from tests.support.tools import ROOT

OWN = (ROOT / "templates" / "job.yaml.j2").read_text()


def lines(templates: dict[str, str]) -> dict[str, str]:
    """The template and line of each leaf, by name."""
    made = bench(repository(templates=templates), "tau.yaml", JOB.encode(), "")
    assert made is not None
    found = printed(made.rendered, templates)
    return {leaf.name: found[key].line.shown for key, leaf in made.leaves.items()}


def test_the_line_is_the_one_with_the_key() -> None:
    found = lines({})
    texts = OWN.split("\n")
    for name, line in found.items():
        if name.startswith("Job:spec.") and "template" not in name:
            file, _, number = line.rpartition(":")
            assert file == "built-in:templates/job.yaml.j2"
            assert name.removeprefix("Job:spec.") in texts[int(number) - 1]
    assert found["Job:spec.template.spec.containers[0].image"].startswith(
        "built-in:templates/parts/container"
    )


@pytest.mark.parametrize(
    ("extra", "name"),
    [
        ("  suspendedBy: {{ run.id }}\n", "suspendedBy"),
        ("  note: |\n    first\n\n    {{ run.id }}\n", "note"),
        ("{% for n in pod.tolerations %}\n{% endfor %}\n  note: plain # a comment\n", "note"),
        ("  {# two\n  lines #}\n  note: >-\n    folded\n    text\n", "note"),
        ("  note: {deep: [1, {in: {{ run.id }}}]}\n", "note.deep[1].in"),
    ],
)
def test_a_template_of_ones_own(extra: str, name: str) -> None:
    text = OWN.replace("spec:\n  backoffLimit: 0\n", f"spec:\n  backoffLimit: 0\n{extra}", 1)
    found = lines({"job.yaml.j2": text})
    line = found[f"Job:spec.{name}"]
    assert line.startswith("templates/job.yaml.j2:")
    number = int(line.rpartition(":")[2])
    key = next(
        n for n, row in enumerate(text.split("\n"), 1) if row.strip().startswith(name.split(".")[0] + ":")
    )
    assert key <= number <= key + 1
    after = next(n for n, row in enumerate(text.split("\n"), 1) if row.startswith("      labels:"))
    assert found["Job:spec.template.metadata.labels['tau-compile/name']"] == f"templates/job.yaml.j2:{after}"
    assert found["Job:spec.template.spec.containers[0].image"].startswith("built-in:")


def test_marks_that_would_make_a_template_too_large_leave_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    made = bench(repository(), "tau.yaml", JOB.encode(), "")
    assert made is not None
    monkeypatch.setattr("tau_compile.render.engine.MAX_OUTPUT", 200)
    found = printed(made.rendered, {})
    assert {of.line.shown for of in found.values()} == {
        "built-in:templates/configmap.yaml.j2:1",
        "built-in:templates/job.yaml.j2:1",
    }

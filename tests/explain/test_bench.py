"""A workload on the bench: what is asked of it, and what patches and aliases do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tau_compile.explain.bench import Bench, bench
from tau_compile.explain.fields import asked, resolved_fields
from tau_compile.explain.leaves import leaves, matching
from tau_compile.explain.origins import explained
from tau_compile.explain.probe import effects
from tau_compile.explain.templates import Rendered
from tests.support.compiling import JOB, repository
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tau_compile.explain.bench import Made
    from tau_compile.explain.inputs import Edit
    from tau_compile.explain.origins import Explained


def on_bench(text: str, overlays: dict[str, str] | tuple[str, ...] = ()) -> Bench:
    made = bench(repository(overlays), "tau.yaml", text.encode(), "")
    assert made is not None
    return made


def one(made: Bench, path: str) -> Explained:
    (key,) = matching(made.leaves, path)
    return explained(made, [key])[key]


def test_what_no_template_printed_is_told() -> None:
    made = on_bench(JOB)
    place, (template, context, job) = next(
        p for p in enumerate(made.rendered) if p[1].template == "job.yaml.j2"
    )
    printed = {**job, "spec": {**job["spec"], "backoffLimit": 1}}
    del printed["metadata"]
    made.rendered = [
        *made.rendered[:place],
        Rendered(template, context, printed),
        *made.rendered[place + 1 :],
    ]
    assert one(made, "Job:spec.backoffLimit").patched
    assert one(made, "Job:spec.backoffLimit").line is not None
    assert one(made, "Job:metadata.name").patched
    assert one(made, "Job:metadata.name").line is None
    assert not one(made, "Job:apiVersion").patched


def test_an_anchor_is_one_place_however_often_it_is_used() -> None:
    text = JOB + "  env: {A: &same first-value, B: *same}\n"
    made = on_bench(text)
    for name in ("A", "B"):
        found = one(made, f"Job:spec.template.spec.containers[0].env[{name}].value").inputs
        places = {origin.place for origin in found if origin.what == "value"}
        assert places == {"tau.yaml:6:18"}, name


def test_questions_do_not_change_what_is_asked() -> None:
    made = on_bench(JOB)
    before = dict(made.leaves)
    effects(made)
    assert made.leaves == before == leaves(made.compiled.objects)


def test_a_repository_with_taugrids_objects() -> None:
    case = ROOT / "tests" / "golden" / "render-taugrid-objects" / "input"
    overlays = {path.relative_to(case).as_posix(): path.read_text() for path in case.glob("overlays/*.yaml")}
    made = on_bench((case / "tau.yaml").read_text(), overlays)
    (found,) = one(made, "RayJob:spec.rayClusterSpec.workerGroupSpecs[0].replicas").inputs
    assert (found.path, found.layer) == ("spec.workloadProfiles[0].workerCount", "profile `single`")
    (field,) = asked(resolved_fields(made), "compute.workers")
    assert field.by.place == found.place


def test_the_names_of_variables_are_inputs() -> None:
    made = on_bench(JOB + "  env: {A: one, B: two}\n")
    (found,) = one(made, "Job:spec.template.spec.containers[0].env[B].name").inputs
    assert (found.what, found.place) == ("name", "tau.yaml:6:17")


@pytest.mark.parametrize("text", ["", "[]", "a: [", "name: x\nkind: Job\napiVersion: v1\n", "\0"])
def test_what_cannot_be_compiled_is_not_put_on_the_bench(text: str) -> None:
    assert bench(repository(), "tau.yaml", text.encode(), "") is None


def test_a_default_counts_only_where_it_has_an_effect() -> None:
    fields = {field.path: field for field in resolved_fields(on_bench(JOB))}
    assert fields["execution.nodes"].by.layer == "built-in default"
    assert "profiler.rank" not in fields
    assert "execution.num_samples" not in fields
    assert asked(list(fields.values()), "runtime.image")[0].by.place == "tau.yaml:5:10"


def test_an_item_of_a_list_leads_to_the_list() -> None:
    text = JOB + "storage:\n  mounts:\n  - {name: a, mountPath: /a, pvc: one}\n"
    fields = resolved_fields(on_bench(text))
    (field,) = asked(fields, "storage.mounts[a]")
    assert field.by.value == {"name": "a", "mountPath": "/a", "pvc": "one"}
    assert [f.path for f in asked(fields, "storage.mounts[a].pvc")] == ["storage.mounts[a]"]


def test_of_a_long_list_only_what_takes_part_is_looked_at() -> None:
    queues = "".join(f"  - {{namespace: team-{n}, name: jobs}}\n" for n in range(100))
    cluster = (
        "apiVersion: tau-compile/v1\nkind: Cluster\nmetadata: {name: c}\npriorityClasses:\n"
        + "".join(f"- {{name: class-{n}, value: {n}}}\n" for n in range(50))
        + "- {name: chosen, value: 7, tier: default}\n"
        + "queues:\n- name: q\n  localQueues:\n  - {namespace: mine, name: jobs}\n"
        + queues
    )
    space = "apiVersion: tau-compile/v1\nkind: Workspace\nmetadata: {name: w}\nnamespace: mine\nqueue: jobs\n"
    made = on_bench(JOB, {"overlays/c.yaml": cluster, "overlays/w.yaml": space})
    asked_of: list[object] = []
    changed = made.changed

    def counted(edits: Sequence[Edit]) -> Made | None:
        asked_of.append(edits)
        return changed(edits)

    made.changed = counted  # type: ignore[method-assign]
    (found,) = one(made, "Job:spec.template.spec.priorityClassName").inputs
    assert (found.path, found.place) == ("priorityClasses[50].name", "overlays/c.yaml:55:10")
    assert len(asked_of) < 120

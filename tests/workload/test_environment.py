"""Variables of the user: names that are taken, sizes, references, and spellings that stay."""

from __future__ import annotations

import pytest

from tests.policy.documents import workspace
from tests.support.compiling import IMAGE, JOB, RAYJOB, accepted, compiled, env, ids, said, workload


def with_env(variables: str, text: str = JOB, more: str = "") -> str:
    return text.replace("runtime:\n", f"runtime:\n  env: {variables}\n") + more


@pytest.mark.parametrize(
    "spelling",
    [
        "010",
        "1e3",
        "yes",
        "1.10",
        "0x1F",
        "1_000",
        "null",
        "~",
        "true",
        "2024-01-01",
        "12:30",
        ".5",
        "+1",
        "=",
        "1e-4",
    ],
)
def test_values_keep_their_spelling(spelling: str) -> None:
    result = compiled(with_env(f"{{A: {spelling}}}"))
    if spelling in ("null", "~"):
        assert [d.id for d in result.diagnostics] == ["TAU206"]
    else:
        assert env(workload(result))["A"] == spelling


def test_the_three_ways_to_write_variables() -> None:
    text = JOB.replace(
        "runtime:\n",
        "runtime:\n  env:\n  - {name: A, value: a}\n  - {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}\n"
        "  env_secret: {C: 't:u.v-w_x'}\n",
    )
    found = env(workload(accepted(text)))
    assert found["A"] == "a"
    assert found["B"] == {"secretKeyRef": {"name": "s", "key": "k"}}
    assert found["C"] == {"secretKeyRef": {"name": "t", "key": "u.v-w_x"}}


def test_an_empty_value_is_a_value() -> None:
    assert env(workload(accepted(with_env("{A: '', B: \"\"}"))))["A"] == ""


def test_variables_are_sorted_and_stand_once() -> None:
    made = workload(accepted(with_env("{Z: 1, A: 2, HF_HOME: /x}", RAYJOB)))
    for pod in ("head", "worker"):
        names = list(env(made, pod))
        assert names == sorted(names)
        assert env(made, pod)["HF_HOME"] == "/x", "the user's value wins over the platform's"


@pytest.mark.parametrize(
    "name, refused",
    [
        ("MASTER_ADDR", True),
        ("master_port", True),
        ("NCCL_DEBUG", True),
        ("nccl_debug", True),
        ("TAU_RUN_ID", True),
        ("TAU_ANYTHING", True),
        ("tau_x", True),
        ("tau_resume_from", True),
        ("TAU_RESUME_FROM", False),
        ("TAU_RETRY_ATTEMPT", False),
        ("TAU_RETRY_MAX", False),
        ("TAU_RETRY_REASON", False),
        ("TAUPE", False),
        ("NCCLX", False),
        ("PET_NNODES", False),
        ("JOB_COMPLETION_INDEX", False),
        ("PATH", False),
        ("_", False),
    ],
)
def test_names_that_are_taken(name: str, refused: bool) -> None:
    for line in (
        f"  env: {{{name}: x}}\n",
        f"  env: [{{name: {name}, value: x}}]\n",
        f"  env_secret: {{{name}: 's:k'}}\n",
    ):
        assert ids(JOB.replace("runtime:\n", f"runtime:\n{line}")) == ["TAU251"] * refused


@pytest.mark.parametrize("name", ["PET_NNODES", "pet_node_rank", "JOB_COMPLETION_INDEX"])
def test_names_that_torchrun_needs(name: str) -> None:
    assert ids(with_env(f"{{{name}: '1'}}", more="execution: {launcher: torchrun}\n")) == ["TAU251"]


def test_nccl_when_it_must_be() -> None:
    text = with_env("{NCCL_DEBUG: INFO}", RAYJOB, "execution: {allow_nccl_override: true}\n")
    assert env(workload(accepted(text)), "worker")["NCCL_DEBUG"] == "INFO"
    assert ids(with_env("{MASTER_ADDR: x, TAU_X: y}", more="execution: {allow_nccl_override: true}\n")) == [
        "TAU251",
        "TAU251",
        "TAU903",
    ]


def test_a_misspelt_name_is_suggested() -> None:
    (found,) = said(compiled(with_env("{TAU_RETRY_ATTEMPTS: '1'}")))
    assert "write `TAU_RETRY_ATTEMPT`" in found.hint


@pytest.mark.parametrize(
    "variables, refused",
    [
        ({"A": 65536}, []),
        ({"A": 65000, "B": 65000}, []),
        ({"A": 65000, "B": 65000, "C": 2000}, ["TAU252"]),
    ],
)
def test_sizes(variables: dict[str, int], refused: list[str]) -> None:
    written = ", ".join(f"{name}: '{'é' * (size // 2)}'" for name, size in variables.items())
    assert ids(with_env(f"{{{written}}}")) == refused


def test_one_value_that_is_too_large() -> None:
    assert ids(with_env(f"{{A: {'x' * 65537}}}")) == ["TAU205"]
    assert ids(with_env(f"{{A: '{'é' * 32769}'}}")) == ["TAU252"], "characters and bytes differ"


def test_a_name_given_twice_shows_both_places() -> None:
    text = JOB.replace("runtime:\n", "runtime:\n  env: {A: x}\n  env_secret: {A: 's:k'}\n")
    (found,) = compiled(text).diagnostics
    assert found.id == "TAU250"
    assert found.span is not None
    assert (found.span.line, found.related[0].span.line) == (6, 5)


def test_an_overlays_variable_may_be_replaced_by_a_reference_and_back() -> None:
    overlays = [workspace("w", defaults="{runtime: {env: {A: x}, env_secret: {B: 's:k'}}}")]
    text = JOB.replace("runtime:\n", "runtime:\n  env: {B: mine}\n  env_secret: {A: 't:k'}\n")
    found = env(workload(accepted(text, overlays)))
    assert found["A"] == {"secretKeyRef": {"name": "t", "key": "k"}}
    assert found["B"] == "mine"


def test_a_reserved_name_in_an_overlay_is_told_at_the_workload_and_shown_where_it_stands() -> None:
    (found,) = compiled(JOB, [workspace("w", defaults="{runtime: {env: {TAU_X: x}}}")]).diagnostics
    assert found.id == "TAU251"
    assert found.span is not None
    assert found.span.file == "tau.yaml"
    assert found.related[0].span.file == "overlays/0.yaml"


@pytest.mark.parametrize("text", ['"a\\0b"', '"\\0"'])
def test_nul_is_refused_wherever_it_stands(text: str) -> None:
    assert ids(with_env(f"{{A: {text}}}")) == ["TAU253"]
    assert ids(JOB + f"execution: {{configs: {{a: {text}}}}}\n") == ["TAU253"]
    assert ids(JOB + f"workflow: {{upstream_checkpoint: {text}}}\n") == ["TAU253"]


def test_a_reference_of_an_image_job() -> None:
    text = f"schema_version: 1\nname: a\nruntime: {{image: {IMAGE}, env_secret: {{A: 's:k'}}}}\n"
    assert env(workload(accepted(text)))["A"] == {"secretKeyRef": {"name": "s", "key": "k"}}

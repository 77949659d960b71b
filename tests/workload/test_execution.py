"""Launchers, processes, nodes, and ``execution.configs`` by launcher."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.support.compiling import JOB, RAYJOB, accepted, compiled, container, env, ids, said, workload

TORCHRUN = JOB + "compute: {gpus: 4}\n"


def argv(text: str, **given: Any) -> list[str]:
    """The command that the container's script starts."""
    code = next(made for made in accepted(text, **given).objects if made["kind"] == "ConfigMap")
    lines = code["data"]["tau.argv"].removesuffix("\n").split("\n")
    return [re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], line) for line in lines]


def flags(configs: str) -> list[str]:
    return argv(JOB + f"execution:\n  configs: {configs}\n")[2:]


@pytest.mark.parametrize(
    "configs, expected",
    [
        ("{}", []),
        ("{epochs: 3}", ["--epochs=3"]),
        ("{lr: 1e-4, b: 2, a: 1}", ["--a=1", "--b=2", "--lr=1e-4"]),
        ("{fast: true, slow: False}", ["--fast=true", "--slow=false"]),
        ('{flag: "", other: "true"}', ["--flag", "--other=true"]),
        ('{name: "a b; rm -rf $HOME `id`"}', ["--name=a b; rm -rf $HOME `id`"]),
        ('{text: "line\\nline\\\\n"}', ["--text=line\nline\\n"]),
        ('{version: 1.10, mask: "010", word: "yes"}', ["--mask=010", "--version=1.10", "--word=yes"]),
        ("{a.b-c_d: x, 9: z}", ["--9=z", "--a.b-c_d=x"]),
        ("{a-b: 1, a_b: 2}", ["--a-b=1", "--a_b=2"]),
    ],
)
def test_flags_of_a_python_program(configs: str, expected: list[str]) -> None:
    assert flags(configs) == expected


@pytest.mark.parametrize(
    "configs",
    [
        "{-x: 1}",
        "{--lr: 1}",
        "{a b: 1}",
        "{a=b: 1}",
        '{"": 1}',
        "{é: 1}",
        f"{{{'x' * 129}: 1}}",
        "{x: [1]}",
        "{x: {y: 1}}",
        "{x: null}",
        "{x: ~}",
    ],
)
def test_what_cannot_be_a_flag(configs: str) -> None:
    assert ids(JOB + f"execution:\n  configs: {configs}\n") == ["TAU264"]


def test_what_yaml_versions_read_differently_is_asked_back() -> None:
    assert ids(JOB + "execution:\n  configs: {mask: 010, word: yes, date: 2024-01-01}\n") == ["TAU140"] * 3


def test_smoke_pairs_come_last() -> None:
    text = (
        JOB.replace("entrypoint: train.py", "entrypoint: train.py, smoke_pairs: 3")
        + "execution: {configs: {z: 1}}\n"
    )
    assert argv(text) == ["python3", "/tau/code/train.py", "--z=1", "--smoke-pairs", "3"]


def test_flags_of_torchrun_stand_before_the_program() -> None:
    text = TORCHRUN + "execution: {launcher: torchrun, configs: {max_restarts: 2, log-dir: /tmp/a b}}\n"
    assert argv(text) == [
        "python3",
        "-m",
        "torch.distributed.run",
        "--log-dir=/tmp/a b",
        "--max_restarts=2",
        "/tau/code/train.py",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "nnodes",
        "nproc_per_node",
        "nproc-per-node",
        "Node_Rank",
        "rdzv_id",
        "MASTER_ADDR",
        "standalone",
        "module",
        "no_python",
        "run-path",
    ],
)
def test_flags_of_torchrun_that_are_set_already(name: str) -> None:
    assert ids(TORCHRUN + f"execution: {{launcher: torchrun, configs: {{{name}: 1}}}}\n") == ["TAU265"]
    assert ids(JOB + f"execution: {{configs: {{{name}: 1}}}}\n") == [], "the program's own flag"


def test_one_torchrun_flag_in_two_spellings() -> None:
    assert ids(TORCHRUN + "execution: {launcher: torchrun, configs: {log-dir: a, log_dir: a}}\n") == [
        "TAU266"
    ]


@pytest.mark.parametrize(
    "execution, variables",
    [
        (
            "{launcher: torchrun}",
            {
                "PET_NPROC_PER_NODE": "4",
                "MASTER_ADDR": "localhost",
                "MASTER_PORT": "29500",
                "PET_STANDALONE": "1",
                "OMP_NUM_THREADS": "1",
            },
        ),
        ("{launcher: torchrun, processes_per_node: 4}", {"PET_NPROC_PER_NODE": "4"}),
        (
            "{launcher: torchrun, nodes: 2}",
            {"PET_NNODES": "2", "PET_NPROC_PER_NODE": "4", "PET_RDZV_BACKEND": "c10d"},
        ),
    ],
)
def test_what_torchrun_is_told(execution: str, variables: dict[str, str]) -> None:
    found = env(workload(accepted(TORCHRUN + f"execution: {execution}\n")))
    assert variables.items() <= found.items()


def test_torchrun_without_gpus() -> None:
    text = JOB + "execution: {launcher: torchrun, processes_per_node: 3}\n"
    assert env(workload(accepted(text)))["PET_NPROC_PER_NODE"] == "3"
    single = env(workload(accepted(JOB + "execution: {launcher: torchrun}\n")))
    assert single["PET_NPROC_PER_NODE"] == "1"
    assert "OMP_NUM_THREADS" not in single


def test_nodes_find_each_other() -> None:
    made = workload(accepted(TORCHRUN + "execution: {launcher: torchrun, nodes: 3}\n"))
    name = made["metadata"]["name"]
    found = env(made)
    assert found["MASTER_ADDR"] == f"{name}-0.{name}-peers"
    assert found["PET_RDZV_ENDPOINT"] == f"{name}-0.{name}-peers:29500"
    assert found["PET_NODE_RANK"] == {
        "fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}
    }
    spec = made["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 3, 3)
    assert spec["template"]["spec"]["subdomain"] == f"{name}-peers"


def test_the_user_may_set_the_number_of_threads() -> None:
    text = (
        TORCHRUN.replace("runtime:\n", "runtime:\n  env: {OMP_NUM_THREADS: '4'}\n")
        + "execution: {launcher: torchrun}\n"
    )
    assert env(workload(accepted(text)))["OMP_NUM_THREADS"] == "4"


@pytest.mark.parametrize(
    "text, expected",
    [
        (JOB + "execution: {nodes: 1, processes_per_node: 1}\n", []),
        (JOB + "execution: {nodes: 2}\n", ["TAU258"]),
        (JOB + "execution: {launcher: python, nodes: 2}\n", ["TAU258"]),
        (JOB + "execution: {processes_per_node: 2}\n", ["TAU259"]),
        (TORCHRUN + "execution: {launcher: torchrun, processes_per_node: 5}\n", ["TAU260"]),
        (TORCHRUN + "execution: {launcher: torchrun, processes_per_node: 3}\n", ["TAU901"]),
        (RAYJOB + "execution: {nodes: 1}\n", []),
        (RAYJOB + "execution: {nodes: 2}\n", ["TAU255"]),
        (RAYJOB + "execution: {launcher: torchrun}\n", ["TAU257"]),
        (RAYJOB + "execution: {launcher: python}\n", ["TAU257"]),
        (JOB + "execution: {launcher: ray-tune}\n", ["TAU257"]),
        (RAYJOB.replace(", entrypoint: train.py", ""), ["TAU270"]),
    ],
)
def test_what_does_not_go_together(text: str, expected: list[str]) -> None:
    assert ids(text) == expected


# --- Ray Train and Ray Tune


def test_sections_of_ray_train_reach_the_program_as_json() -> None:
    text = RAYJOB + (
        "execution:\n  configs:\n    torch_config: {backend: gloo, timeout: 1.50}\n"
        "    scaling_config: {use_gpu: true}\n    failure_config: {max_failures: 2}\n"
    )
    found = env(workload(accepted(text)), "head")["TAU_RAY_TRAIN_CONFIG_JSON"]
    assert json.loads(found) == {
        "torch_config": {"backend": "gloo", "timeout": 1.5},
        "scaling_config": {"use_gpu": True},
        "failure_config": {"max_failures": 2},
    }


@pytest.mark.parametrize(
    "configs, refused",
    [
        ("{lr: 1}", "TAU267"),
        ("{torch_config: gloo}", "TAU267"),
        ("{scaling_config: {num_workers: 1}}", "TAU268"),
        ("{scaling_config: {resources_per_worker: {CPU: 1}}}", "TAU268"),
    ],
)
def test_what_ray_train_does_not_take(configs: str, refused: str) -> None:
    assert ids(RAYJOB + f"execution: {{configs: {configs}}}\n") == [refused]


TUNE = RAYJOB + "compute: {workers: 4}\nexecution:\n  launcher: ray-tune\n  metric: loss\n"


def test_a_search_reaches_the_driver() -> None:
    text = (
        TUNE
        + "  mode: max\n  num_samples: 2\n  max_concurrent_trials: 2\n  configs: {lr: [0.1, 1e-2], deep: {x: [a, b]}}\n"
    )
    found = env(workload(accepted(text)), "head")
    assert json.loads(found["TAU_TUNE_PARAM_SPACE"]) == {"lr": [0.1, 0.01], "deep": {"x": ["a", "b"]}}
    assert (found["TAU_TUNE_METRIC"], found["TAU_TUNE_MODE"]) == ("loss", "max")
    assert (found["TAU_TUNE_NUM_SAMPLES"], found["TAU_TUNE_MAX_CONCURRENT_TRIALS"]) == ("2", "2")
    assert found["TAU_TUNE_TRAIN_PATH"] == "/tau/code/train.py"
    assert found["TAU_NUM_WORKERS"] == "2", "four workers shared out among two trials"


@pytest.mark.parametrize(
    "lines, expected",
    [
        ("  configs: {lr: [1, 2]}\n  max_concurrent_trials: 2\n", []),
        ("  configs: {lr: [1, 2]}\n  max_concurrent_trials: 3\n", ["TAU297"]),
        ("  configs: {lr: [1, 2], b: [1, 2, 3]}\n  max_concurrent_trials: 6\n", []),
        ("  configs: {lr: [1, 2], b: {c: [1, 2, 3]}}\n  max_concurrent_trials: 7\n", ["TAU297"]),
        ("  configs: {lr: [1, 2]}\n  num_samples: 3\n  max_concurrent_trials: 6\n", []),
        ("  configs: {lr: 1}\n  max_concurrent_trials: 2\n", ["TAU297"]),
        ("  configs: {lr: []}\n  max_concurrent_trials: 1\n", ["TAU269"]),
        ("  configs: {lr: [1], b: {c: []}}\n", ["TAU269"]),
        ("  configs: {}\n", ["TAU269"]),
        ("", ["TAU269"]),
    ],
)
def test_the_size_of_a_search(lines: str, expected: list[str]) -> None:
    assert ids(TUNE + lines) == expected


def test_a_search_needs_a_metric() -> None:
    assert ids(TUNE.replace("  metric: loss\n", "  configs: {lr: [1]}\n")) == ["TAU262"]


@pytest.mark.parametrize("field", ["metric: loss", "mode: max", "num_samples: 2", "max_concurrent_trials: 1"])
def test_settings_of_a_search_without_one(field: str) -> None:
    for text in (JOB, RAYJOB):
        (found,) = said(compiled(text + f"execution: {{{field}}}\n"))
        assert found.id == "TAU263"
        assert found.text.startswith(f"`execution.{field.partition(':')[0]}` ")


# --- how a file is started


@pytest.mark.parametrize(
    "name, content, launcher, expected",
    [
        ("train.py", b"x = 1\n", "", ["python3", "/tau/code/train.py"]),
        (
            "train.py",
            b"#!/usr/bin/env python3.11\n",
            "",
            ["/usr/bin/env", "python3.11", "/tau/code/train.py"],
        ),
        ("run.sh", b"#!/bin/bash -e\n", "", ["/bin/bash", "-e", "/tau/code/run.sh"]),
        ("run", b"#!/bin/sh\n", "", ["/bin/sh", "/tau/code/run"]),
        ("script", b"x = 1\n", "execution: {launcher: python}\n", ["python3", "/tau/code/script"]),
    ],
)
def test_how_a_program_is_started(name: str, content: bytes, launcher: str, expected: list[str]) -> None:
    text = JOB.replace("train.py", name) + launcher
    assert argv(text, files={name: content}) == expected


def test_an_images_own_entry_point_gets_the_flags() -> None:
    text = (
        JOB.replace("run: {entrypoint: train.py}\n", "") + "execution: {configs: {a: 'x $(HOME)', b: ''}}\n"
    )
    main = container(workload(accepted(text)))
    assert "command" not in main
    assert main["args"] == ["--a=x $$(HOME)", "--b"]

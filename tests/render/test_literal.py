"""Text that passes the kubelet unchanged, whatever it looks like."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_compile.render.literal import kube_literal
from tests.render.kubelet import expand
from tests.support.compiling import IMAGE, JOB, RAYJOB, accepted, container, env, pods, workload

VARIABLES = {"HOME": "/root", "A": "$(HOME)", "": "empty", "a b": "x"}
DOLLARS = st.text(st.sampled_from(list("$()AHOME {}`\\\"'\n")), max_size=30)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("plain", "plain"),
        ("$(HOME)", "/root"),
        ("$$(HOME)", "$(HOME)"),
        ("$$$(HOME)", "$/root"),
        ("$(NONE)", "$(NONE)"),
        ("$(A)", "$(HOME)"),
        ("a$b", "a$b"),
        ("$", "$"),
        ("$$", "$"),
        ("$(HOME", "$(HOME"),
        ("$()", "empty"),
    ],
)
def test_the_model_of_the_kubelet(text: str, expected: str) -> None:
    assert expand(text, VARIABLES) == expected


@given(DOLLARS)
def test_any_text_comes_out_as_it_went_in(text: str) -> None:
    assert expand(kube_literal(text), VARIABLES) == text


@pytest.mark.parametrize("text", ["", "a", "$HOME", "${HOME}", "cost: 5$", "a $ b", "()"])
def test_text_that_needs_no_care_stays_readable(text: str) -> None:
    assert kube_literal(text) == text


HOSTILE = "$(HOME) $$(HOME) $$ $HOME ${HOME} `id` \\ $("


def test_every_place_of_a_manifest_that_the_kubelet_expands() -> None:
    quoted = '"' + HOSTILE.replace("\\", "\\\\") + '"'
    lines = f"  env: {{A: {quoted}}}\nworkflow: {{upstream_checkpoint: {quoted}}}\nexperiment: {{name: {quoted}}}\n"
    for text, names in ((JOB, ("main",)), (RAYJOB, ("head", "worker"))):
        made = workload(accepted(text + lines))
        for pod in names:
            for name in ("A", "TAU_UPSTREAM_CHECKPOINT", "TAU_EXPERIMENT"):
                assert expand(env(made, pod)[name], {"HOME": "/root"}) == HOSTILE
    image = (
        f"schema_version: 1\nname: a\nruntime: {{image: {IMAGE}}}\nexecution: {{configs: {{a: {quoted}}}}}\n"
    )
    (argument,) = container(workload(accepted(image)))["args"]
    assert expand(argument, {"HOME": "/root"}) == f"--a={HOSTILE}"


def test_scripts_inside_of_commands_pass_the_kubelet() -> None:
    digest = "@sha256:" + "0123456789abcdef" * 4
    text = JOB.replace("run: {", f"run: {{source: {{image: ghcr.io/t/c{digest}, path: /src}}, ")
    (init,) = pods(workload(accepted(text)))["main"]["spec"]["initContainers"]
    from tau_compile.render.payload import script

    assert expand(init["command"][2], {"1": "no", "item": "no"}) == script("source.sh")

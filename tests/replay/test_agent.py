"""Runs under a GitOps agent, over any sequence of edits, builds, syncs, ends and accidents."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.runs.tree import digest
from tests.replay.agent import Argo, Cluster, Flux, load
from tests.replay.world import FOLDER, Tree, World

if TYPE_CHECKING:
    from collections.abc import Callable

AGENTS: dict[str, Callable[[Cluster], Flux | Argo]] = {
    "flux": lambda cluster: Flux(cluster, FOLDER),
    "argo": lambda cluster: Argo(cluster, FOLDER),
    "argo without self-heal": lambda cluster: Argo(cluster, FOLDER, heals=False),
}
_NAMES, _TEXTS, _NUMBERS = (
    st.sampled_from(["train", "eval", "ray"]),
    st.sampled_from("abc"),
    st.integers(0, 3),
)
_STEPS = st.one_of(
    st.tuples(st.just("edit"), _NAMES, _TEXTS),
    st.tuples(st.just("replace"), st.sampled_from(["train", "eval"]), _TEXTS),
    st.tuples(st.just("policy"), _TEXTS),
    st.tuples(st.just("patch"), _TEXTS),
    st.tuples(st.just("job")),
    st.tuples(st.just("job")),
    st.tuples(st.just("sync"), st.integers(0, 2)),
    st.tuples(st.just("sync"), st.just(0)),
    st.tuples(st.just("admit")),
    st.tuples(st.just("finish"), _NUMBERS),
    st.tuples(st.just("collect")),
    st.tuples(st.just("cancel"), _NUMBERS),
    st.tuples(st.just("clean_up")),
    st.tuples(st.just("delete_live"), _NUMBERS),
)


def _drive(world: World, steps: list[tuple[Any, ...]]) -> None:
    for place, (name, *arguments) in enumerate(steps):
        getattr(world, name)(*arguments)
        assert world.wrong() == [], steps[: place + 1]
    for step in ("job", "sync", "admit", "clean_up", "collect", "job", "sync", "sync"):
        getattr(world, step)()
        assert world.wrong() == [], (steps, step)


@pytest.mark.parametrize("agent", sorted(AGENTS))
@given(steps=st.lists(_STEPS, max_size=20))
@settings(max_examples=40)
def test_no_run_starts_again(agent: str, steps: list[tuple[Any, ...]]) -> None:
    _drive(World(AGENTS[agent]), steps)


@pytest.mark.slow
@pytest.mark.parametrize("agent", sorted(AGENTS))
@given(steps=st.lists(_STEPS, max_size=40))
@settings(max_examples=1000)
def test_no_run_starts_again_at_length(agent: str, steps: list[tuple[Any, ...]]) -> None:
    _drive(World(AGENTS[agent]), steps)


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_a_life(agent: str) -> None:
    """Launched, admitted, ended, retired, pruned; and the folder of runs may become empty."""
    world = World(AGENTS[agent])
    world.sync()
    assert sorted(world.cluster.starts.values()) == [1, 1, 1]
    world.admit()
    for _ in range(3):
        world.finish(0)
        world.sync()
    assert len(world.cluster.runs("finished")) == 3
    world.collect()
    world.job()
    world.sync()
    assert world.cluster.runs() == []
    assert [key[0] for key in world.cluster.objects] == ["ConfigMap"]  # the anchor
    world.policy("z")
    world.patch("z")
    world.job()
    world.sync()
    assert sorted(world.cluster.starts.values()) == [1, 1, 1]
    assert world.wrong() == []


# --- the model can fail: trees as a plain template engine makes them


def _every(change: Callable[[dict[str, Any]], None]) -> Callable[[Tree], Tree]:
    def spoil(tree: Tree) -> Tree:
        made = dict(tree)
        for path, data in tree.items():
            if path.startswith("rendered/") and "kustomization" not in path:
                manifest = copy.deepcopy(load(data))
                change(manifest)
                made[path] = yaml.dump(manifest, Dumper=yaml.CSafeDumper).encode()
        return made

    return spoil


def _with_ttl(manifest: dict[str, Any]) -> None:
    if manifest["kind"] == "Job":
        manifest["spec"]["ttlSecondsAfterFinished"] = 60


def _not_once(manifest: dict[str, Any]) -> None:
    manifest["metadata"].get("annotations", {}).pop("kustomize.toolkit.fluxcd.io/ssa", None)


def _without_anchor(tree: Tree) -> Tree:
    return {path: data for path, data in tree.items() if "/anchor/" not in path}


def _with_todays_policy(tree: Tree) -> Tree:
    """Every run is rendered again with the policy of the day, under its name."""
    policy = tree["overlays/platform.yaml"].decode().rpartition("P: ")[2].rstrip("}\n") or "none"

    def change(manifest: dict[str, Any]) -> None:
        if manifest["kind"] == "RayJob":
            manifest["spec"]["entrypoint"] = f"run.sh {policy}"

    return _every(change)(tree)


def _named_by_content(tree: Tree) -> Tree:
    """The name of a run comes from what was rendered, as a hash suffix does it."""
    policy = tree["overlays/platform.yaml"]
    made = {}
    for path, data in tree.items():
        if path.startswith("rendered/") and "/anchor/" not in path:
            above, _, file = path.rpartition("/")
            run = above.rpartition("/")[2]
            other = f"{run}-{digest(policy)[7:11]}"
            made[f"{above.replace(run, other)}/{file.replace(run, other)}"] = data.replace(
                run.encode(), other.encode()
            )
        else:
            made[path] = data
    return made


def _never_retired(tree: Tree, first: Tree = {}) -> Tree:  # noqa: B006  the manifests of the first commit
    if not first:
        first.update({path: data for path, data in tree.items() if path.startswith("rendered/")})
    return {**first, **tree}


LIFE = [("sync",), ("admit",), ("finish", 0), ("finish", 0), ("finish", 0), ("sync",), ("clean_up",), ("sync",), ("collect",),
        ("job",), ("sync",), ("policy", "z"), ("job",), ("sync",), ("admit",), ("sync",)]  # fmt: skip
VARIANTS: dict[str, tuple[Callable[[Tree], Tree], str, set[str]]] = {
    # Without self-heal the second start waits for the next commit (A55).
    "a TTL on a Job": (_every(_with_ttl), "2 times", {"flux", "argo", "argo without self-heal"}),
    "no IfNotPresent": (_every(_not_once), "edited", {"flux"}),
    "no anchor": (_without_anchor, "kept", {"argo", "argo without self-heal"}),
    "names by content": (_named_by_content, "stopped", {"flux", "argo", "argo without self-heal"}),
}


def _outcome(
    agent: Callable[[Cluster], Flux | Argo], spoil: Callable[[Tree], Tree], steps: list[tuple[Any, ...]]
) -> list[str]:
    world = World(agent, spoil)
    found: list[str] = []
    for name, *arguments in steps:
        getattr(world, name)(*arguments)
        found += world.wrong()
    return found


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_the_life_is_right_with_our_tree(agent: str) -> None:
    assert _outcome(AGENTS[agent], dict, LIFE) == []
    assert _outcome(AGENTS[agent], dict, [("sync",), ("admit",), ("policy", "z"), ("job",), ("sync",)]) == []


@pytest.mark.parametrize("agent", sorted(AGENTS))
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_the_model_finds_what_other_trees_do(variant: str, agent: str) -> None:
    spoil, words, agents = VARIANTS[variant]
    steps = (
        LIFE
        if variant != "names by content"
        else [("sync",), ("admit",), ("policy", "z"), ("job",), ("sync",)]
    )
    assert any(words in found for found in _outcome(AGENTS[agent], spoil, steps)) == (agent in agents)


def test_the_model_finds_edits_in_place() -> None:
    steps: list[tuple[Any, ...]] = [("sync",), ("admit",), ("policy", "z"), ("job",), ("sync",)]
    careless: Callable[[Cluster], Argo] = lambda cluster: Argo(cluster, FOLDER, ignores=False)  # noqa: E731
    assert any("edited" in found for found in _outcome(careless, _with_todays_policy, steps))
    both: Callable[[Tree], Tree] = lambda tree: _every(_not_once)(_with_todays_policy(tree))  # noqa: E731
    assert any("edited" in found for found in _outcome(AGENTS["flux"], both, steps))
    # And the delivery has to ignore what Kueue writes, whatever the tree is.
    assert any("edited" in found for found in _outcome(careless, dict, steps))


def test_the_model_finds_that_a_finished_run_which_stays_in_git_runs_again() -> None:
    steps: list[tuple[Any, ...]] = [
        *LIFE[:6],
        ("collect",),
        ("job",),
        ("sync",),
        ("delete_live", 0),
        ("sync",),
    ]
    first: Tree = {}
    found = _outcome(AGENTS["flux"], lambda tree: _never_retired(tree, first), steps)
    assert any("after its end was known" in one for one in found)


def test_no_agent_reads_evidence() -> None:
    world = World(AGENTS["flux"])
    for step in ("sync", "admit"):
        getattr(world, step)()
    world.finish(0)
    world.collect()
    told = [path for path in world.history[-1] if path.startswith("evidence/")]
    assert len(told) == 1
    assert told[0].endswith(".json")
    assert all(path.endswith(".yaml") for path in world.history[-1] if path.startswith("rendered/"))

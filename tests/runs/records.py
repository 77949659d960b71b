"""Records for tests: one that says everything, and what hypothesis makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tau_compile.runs.record import Ended, Record, State
from tau_compile.runs.valid import STATES

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

DIGEST = "ab" * 32


def record(name: str = "train", digest: str = DIGEST, **changes: Any) -> Record:
    """An active record; ``changes`` are fields."""
    made = Record(
        run=f"{name}-{digest[:8]}",
        workspace="vision",
        name=name,
        attempt=1,
        digest=digest,
        kind="job",
        cluster="east",
        namespace="vision",
        queue="jobqueue",
        gpus=2,
        source=f"workloads/vision/{name}/tau.yaml",
        state="active",
        compiler="0.1.0",
        sources={f"workloads/vision/{name}/tau.yaml": DIGEST, "built-in:overlays/platform.yaml": DIGEST},
        code={"train.py": [False, DIGEST, f"workloads/vision/{name}/train.py"]},
        resolved={"name": name, "run": {"entrypoint": "train.py"}, "compute": {"gpus": 2}},
        origins={"name": f"workloads/vision/{name}/tau.yaml:1:7"},
        manifests={"job.yaml": f"sha256:{DIGEST}", "kustomization.yaml": f"sha256:{DIGEST}"},
    )
    return made._replace(**changes)


def ended(made: Record, state: str = "succeeded") -> Record:
    return made.ended(Ended(state, f"sha256:{DIGEST}", f"evidence/east/ab/{made.run}/0001.json"))


_NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
_HEX = st.text("0123456789abcdef", min_size=64, max_size=64)
_TEXTS = st.text(st.characters(exclude_categories=()), max_size=12)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)


_WAIVERS = st.fixed_dictionaries(
    {"expires": _NAMES, "lifted": st.lists(_NAMES, min_size=1, max_size=2), "reason": _NAMES}
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Any record that a build could write."""
    name, digest = draw(_NAMES), draw(_HEX)
    made = record(
        name,
        digest,
        workspace=draw(_NAMES),
        cluster=draw(_NAMES),
        attempt=draw(st.integers(1, 99)),
        gpus=draw(st.integers(0, 10**6)),
        kind=draw(st.sampled_from(["job", "rayjob"])),
        queue=draw(_TEXTS),
        compiler=draw(_TEXTS),
        resolved=draw(st.dictionaries(_TEXTS, _VALUES, max_size=4)),
        origins=draw(st.dictionaries(_TEXTS, _TEXTS, max_size=4)),
        sources=draw(st.dictionaries(_TEXTS, _HEX, max_size=3)),
        code=draw(st.dictionaries(_TEXTS, st.tuples(st.booleans(), _HEX, _TEXTS).map(list), max_size=3)),
        supersedes=draw(st.just("") | _NAMES),
        waivers=draw(st.just(()) | st.lists(_WAIVERS, min_size=1, max_size=2)),
    )
    state: State = draw(st.sampled_from(STATES))
    if state == "retired":
        return ended(made, draw(st.sampled_from(["succeeded", "failed", "cancelled"])))
    return made if state == "active" else made._replace(state=state, manifests={})


def hostile() -> SearchStrategy[Any]:
    """A value that has no business in a record."""
    return _VALUES | st.sampled_from(
        ["../x", "a/../b", "/etc/passwd", "A", "", "sha256:", "x" * 400, "a\\b", "a\x00b"]
    )

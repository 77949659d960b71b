"""``migrate``: the canonical form of a direct file, with the user's comments, order and spelling, and the same run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.diagnostics import Diagnostic, has_errors
from tau_compile.emit.yaml import dump_all
from tau_compile.intent import read_document
from tau_compile.migrate import migrate
from tests.support.cli import run
from tests.support.compiling import IMAGE, RAY, accepted
from tests.support.trees import plain

if TYPE_CHECKING:
    from pathlib import Path


def migrated(text: str) -> str:
    """The canonical text of a file without errors."""
    said: list[Diagnostic] = []
    canonical = read_document("tau.yaml", text.encode(), said)
    assert canonical is not None
    assert not has_errors(said), said
    return migrate(text.encode(), canonical)


def canonical(text: str) -> Any:
    """What a text means."""
    said: list[Diagnostic] = []
    found = read_document("tau.yaml", text.encode(), said)
    assert found is not None
    assert not has_errors(said), (said, text)
    return plain(found.node)


def comments(text: str) -> list[str]:
    return sorted(line[line.index("#") :].rstrip() for line in text.splitlines() if "#" in line)


COMMENTED = """\
# my training
name: train   # the name
# ray, since we tune
engine: ray   # not a job
# what runs
entrypoint: train.py # the program
image: "rayproject/ray:2.9.0"  # pinned
compute:
    # one GPU each
    gpus_per_worker: 1   # all of it
    # the head, too
    cpu_request: "8"
    # and its limit
    cpu_limit: 16   # twice
# the container
runtime:
    env:
        OCT: 010
        SCI: 1e3 # a number
        WORD: yes
        VER: 1.10   # a version
        U: 1_000
        Q: 'single'
        D: "dou\\"ble"
        F: |
            # no comment
            text
    # packages
    pip:
    - torch # first
    - numpy
# the end
"""


KEPT = [
    "        OCT: 010\n",
    "        WORD: yes\n",
    "        U: 1_000\n",
    "        Q: 'single'\n",
    '        D: "dou\\"ble"\n',
    "    - torch # first\n",
    "            # no comment\n",
]


def test_comments_order_quotes_and_spelling_stay() -> None:
    result = migrated(COMMENTED)
    assert comments(result) == comments(COMMENTED)
    for line in KEPT:
        assert line in result
    assert result.index("# the container") < result.index("runtime:")
    assert result.index("# one GPU each") < result.index("gpus: 1")
    assert re.search(r"head_cpus: \"8\"", result)
    assert re.search(r"gpus: 1 +# all of it\n", result)
    assert re.search(r"workload_kind: rayjob +# not a job\n", result)


def test_the_result_is_canonical_and_means_the_same() -> None:
    result = migrated(COMMENTED)
    assert canonical(result) == canonical(COMMENTED)
    assert migrated(result) == result
    first, second = accepted(COMMENTED), accepted(result)
    assert first.run_id == second.run_id
    assert dump_all(first.objects) == dump_all(second.objects)


JOB = f"name: a\nengine: job\nscript: train.py\nimage: {IMAGE}\ncompute: {{gpus: 0}}\n"
RAYJOB = f"name: a\nengine: rayjob\nscript: train.py\nimage: {RAY}\n"
DIRECT = {
    "volumes": JOB
    + "storage:\n  volumes: # all of them\n  - s=pvc:sets # data\n  - o=pvc:out\n  mounts: ['s:/sets:ro', 'o:/out']\n",
    "one-volume": JOB + "storage:\n  # the claim\n  volumes: [s=pvc:sets]\n",
    "maps-as-mounts": JOB + "storage:\n  mounts:\n  # sets\n  - {name: s, mountPath: /s, pvc: c} # why\n",
    "spellings": f"name: a\nrun: {{name: b, script: train.py}}\nengine: job\nscript: other.py\nimage: x\n"
    f"runtime: {{image: {IMAGE}}}\ncompute: {{gpus: 0}}\nworkflow: {{smoke_pairs: 3}}\n",
    "kinds": f"name: a\nengine: ray\nrun: {{workload_kind: ray-train, engine: rayjob}}\nworkflow: {{workload_kind: rayjob}}\n"
    f"compute: {{workload_kind: ray}}\nscript: train.py\nimage: {RAY}\n",
    "implied": f"name: a\nscript: train.py\nimage: {RAY}\nexecution: {{launcher: ray-train}}\n",
    "version": "schema_version: 1 # old\n" + JOB,
    "older-words": JOB + "policy: {priority: normal}\nexperiment: {title: t}\n",
    "result-claim": JOB + "storage: {result_pvc: c, data_pvc: c, checkpoint: x}\n",
    "anchors": JOB.replace("image: ", "image: &i ") + "model: {base: *i}\n",
    "merge": JOB + "runtime:\n  env: &e {A: '1'}\n  env_secret: {B: 's:k'}\nresource_naming: {prefix: p}\n",
    "flow": f'{{"name": "a", "engine": "job", "script": "train.py", "image": "{IMAGE}",'
    ' "compute": {"gpus": 0, "cpu_request": "4"}}',
    "unused-size": RAYJOB
    + "compute:\n  cpu_request: 4 # for whom?\n  head_cpu_request: 1\n  worker_cpu_request: 2\n",
    "unicode": JOB + 'model: {name: 名前, base: "\\x9b\\u2028"} # größe 😀\n',
    "crlf": (JOB + "model: {name: a} # one\n").replace("\n", "\r\n"),
    "bom": "\ufeff" + JOB + "# one\n",
    "folded": JOB + "model:\n  name: >-\n    one\n    two\n  task: a\n    b\n",
    "canonical-older-words": "schema_version: 1\nname: a\nrun: {script: train.py, workload_kind: ray} # kind\n"
    f"runtime: {{image: {RAY}}}\npolicy:\n  # tier\n  priority: default # as ever\n",
}


@pytest.mark.parametrize("text", DIRECT.values(), ids=DIRECT)
def test_every_corner_of_the_direct_form(text: str) -> None:
    result = migrated(text)
    assert canonical(result) == canonical(text)
    assert sorted(set(comments(result))) == sorted(set(comments(text)))
    assert migrated(result) == result
    assert ("\r\n" in result) == ("\r\n" in text)
    assert accepted(result).run_id == accepted(text).run_id


def test_indentation_is_kept() -> None:
    for step, dash in ((2, 0), (2, 2), (4, 0), (4, 2), (4, 4)):
        pad, item = " " * step, " " * dash
        model = f"model:\n{pad}tags:\n{pad}{item}- a\n{pad}{item}- b\n{pad}name: m\n"
        text = f"name: a\nengine: job\nscript: t.py\nimage: i\ncompute:\n{pad}gpus: 0\n{model}"
        assert model in migrated(text)


LINES = [
    "name: a", "engine: rayjob", "script: train.py", "image: x:1", "run: {smoke_pairs: 2}", "experiment: {title: t, group: g}",
    "compute:\n  gpus_per_worker: 1\n  cpu_request: 4\n  head_memory_request: 4Gi",
    "runtime:\n  env:\n    A: 010\n    B: 'x'\n  pip: [torch]",
    "storage:\n  data_pvc: c\n  checkpoint: last", "policy: {priority: normal}", "model:\n  tags:\n  - a\n  - b",
]  # fmt: skip


@settings(max_examples=40)
@given(
    st.permutations(LINES),
    st.lists(st.integers(0, 40), max_size=6, unique=True),
    st.lists(st.integers(0, 40), max_size=6, unique=True),
)
def test_comments_survive_wherever_they_stand(lines: list[str], above: list[int], behind: list[int]) -> None:
    written = "\n".join(lines).split("\n")
    text = ""
    for place, line in enumerate(written):
        pad = line[: len(line) - len(line.lstrip())]
        text += f"{pad}# above {place}\n" if place in above else ""
        text += f"{line} # behind {place}\n" if place in behind else f"{line}\n"
    result = migrated(text)
    assert sorted(set(comments(result))) == sorted(set(comments(text)))
    assert canonical(result) == canonical(text)
    assert migrated(result) == result


# --- the command


def test_the_command_prints_or_writes(tmp_path: Path) -> None:
    file = tmp_path / "tau.yaml"
    file.write_text(COMMENTED)
    (tmp_path / "train.py").write_text("x = 1\n")
    file.chmod(0o640)
    printed = run(["migrate", "tau.yaml"], tmp_path)
    assert (printed.exit, printed.stderr) == (0, "")
    assert file.read_text() == COMMENTED
    wrote = run(["migrate", "tau.yaml", "--write"], tmp_path)
    assert (wrote.exit, wrote.stdout, wrote.stderr) == (0, "", "tau.yaml: migrated\n")
    assert file.read_text() == printed.stdout == migrated(COMMENTED)
    assert file.stat().st_mode & 0o777 == 0o640
    again = run(["migrate", "tau.yaml", "--write"], tmp_path)
    assert again.stderr == "tau.yaml: already in the canonical form\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tau.yaml", "train.py"]
    assert run(["validate", "tau.yaml"], tmp_path).stderr == "1 file: OK\n"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.yaml").write_text(COMMENTED)
    (tmp_path / "tau.yaml").symlink_to("real.yaml")
    assert run(["migrate", "tau.yaml", "--write"], tmp_path).exit == 0
    assert (tmp_path / "tau.yaml").is_symlink()
    assert (tmp_path / "real.yaml").read_text() == migrated(COMMENTED)


def test_a_canonical_file_is_printed_as_it_is(tmp_path: Path) -> None:
    text = "schema_version: 1\nname:   a   # odd spacing\nrun: {entrypoint: t.py}\n"
    (tmp_path / "tau.yaml").write_text(text)
    assert run(["migrate", "tau.yaml"], tmp_path).stdout == text


def test_a_file_with_errors_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "tau.yaml").write_text("name: a\nengine: slurm\n")
    outcome = run(["migrate", "tau.yaml", "--write"], tmp_path)
    assert outcome.exit == 1
    assert "TAU203" in outcome.stderr
    assert (tmp_path / "tau.yaml").read_text() == "name: a\nengine: slurm\n"

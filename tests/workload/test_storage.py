"""Claims, outputs, checkpoints, mounts and assets."""

from __future__ import annotations

import pytest

from tests.policy.documents import workspace
from tests.support.compiling import JOB, RAYJOB, accepted, compiled, container, env, ids, pods, said, workload

DIGEST = "@sha256:" + "0123456789abcdef" * 4
CLAIM = "storage: {data_pvc: team}\n"


def mounted(text: str, pod: str = "main", **given: list[str]) -> dict[str, str]:
    """Path → what lies there: a claim, ``empty`` or ``code``."""
    made = workload(accepted(text, given.get("overlays", [])))
    volumes = {v["name"]: v for v in pods(made)[pod]["spec"].get("volumes", [])}

    def what(name: str) -> str:
        volume = volumes[name]
        claim: str = volume.get("persistentVolumeClaim", {}).get("claimName", "")
        return claim or ("empty" if "emptyDir" in volume else "code")

    mounts = container(made, pod).get("volumeMounts", [])
    assert len({m["mountPath"] for m in mounts}) == len(mounts)
    return {m["mountPath"]: what(m["name"]) + " ro" * m.get("readOnly", False) for m in mounts}


def test_a_job_without_storage() -> None:
    assert mounted(JOB) == {"/tau/code": "code ro", "/tau/bin": "code ro"}


def test_a_claim_comes_with_fast_local_storage() -> None:
    found = mounted(JOB + CLAIM)
    assert (found["/data"], found["/mnt"]) == ("team", "empty")
    assert env(workload(accepted(JOB + CLAIM)))["TAU_DATA_DIR"] == "/data"


def test_ray_always_has_both_folders() -> None:
    for pod in ("head", "worker"):
        assert (mounted(RAYJOB, pod)["/data"], mounted(RAYJOB, pod)["/mnt"]) == ("empty", "empty")
        assert mounted(RAYJOB + CLAIM, pod)["/data"] == "team"


def test_result_pvc_stands_for_data_pvc() -> None:
    assert mounted(JOB + "storage: {result_pvc: team}\n")["/data"] == "team"
    assert ids(JOB + "storage: {result_pvc: team, data_pvc: team}\n") == []
    assert ids(JOB + "storage: {result_pvc: team, data_pvc: other}\n") == ["TAU241"]


def output(text: str, overlays: list[str] | None = None) -> str | None:
    made = workload(accepted(text, overlays or []))
    found: str | None = env(made).get("TAU_OUTPUT_DIR")
    assert made["metadata"]["annotations"].get("tau-compile/output") == found
    return found


ROOT = [workspace("w", outputRoot="/data/w")]
ELSEWHERE = [workspace("w", outputRoot="/results")]
MOUNT = "{mounts: [{name: m, mountPath: /results, pvc: r}]}"


@pytest.mark.parametrize(
    "storage, overlays, expected",
    [
        ("{}", [], None),
        ("{data_pvc: team}", [], "/data/checkpoints/workflows/train"),
        ("{data_pvc: team}", ROOT, "/data/w/train"),
        ("{data_pvc: team, output: /data/x}", [], "/data/x"),
        ("{data_pvc: team, output: /data}", [], "/data"),
        ("{data_pvc: team, output: /data/w/x}", ROOT, "/data/w/x"),
        ("{data_pvc: team, output: /data/w}", ROOT, "/data/w"),
        ("{}", ROOT, None),
        (MOUNT, [], "/results/train"),
        (MOUNT, ROOT, "/results/train"),
        (MOUNT, ELSEWHERE, "/results/train"),
        ("{mounts: [{name: m, mountPath: /results, pvc: r, readOnly: true}]}", [], None),
    ],
)
def test_where_results_go(storage: str, overlays: list[str], expected: str | None) -> None:
    assert output(JOB + f"storage: {storage}\n", overlays) == expected


@pytest.mark.parametrize(
    "storage, overlays, refused",
    [
        ("{output: /data/x}", [], "TAU282"),
        ("{data_pvc: team, output: /mnt/x}", [], "TAU282"),
        ("{data_pvc: team, output: /database}", [], "TAU282"),
        ("{data_pvc: team, output: /data/../x}", [], "TAU282"),
        ("{data_pvc: team, output: /data/./x}", [], "TAU282"),
        ("{output: /r/x, mounts: [{name: m, mountPath: /r, pvc: r, readOnly: true}]}", [], "TAU282"),
        ("{data_pvc: team, output: /data/x}", ROOT, "TAU283"),
        ("{data_pvc: team, output: /data/wide}", ROOT, "TAU283"),
    ],
)
def test_where_results_cannot_go(storage: str, overlays: list[str], refused: str) -> None:
    assert ids(JOB + f"storage: {storage}\n", overlays) == [refused]


def test_an_output_that_would_be_lost_says_where_to_write() -> None:
    text = (
        JOB
        + "storage: {data_pvc: team, output: /x, mounts: [{name: m, mountPath: /r, pvc: r},"
        + " {name: o, mountPath: /o, pvc: o, readOnly: true}]}\n"
    )
    (found,) = said(compiled(text))
    assert found.hint == "write below /data, /r"


# --- staged publishing and checkpoints


def test_staged_results() -> None:
    made = workload(accepted(JOB + "storage: {data_pvc: team, publish: staged}\n"))
    run = env(made)["TAU_RUN_ID"]
    assert env(made)["TAU_OUTPUT_STAGING_DIR"] == f"/mnt/tau-output/{run}"
    ray = workload(accepted(RAYJOB + "storage: {data_pvc: team, publish: staged}\n"))
    assert "TAU_OUTPUT_STAGING_DIR" in env(ray, "head")
    assert "TAU_OUTPUT_STAGING_DIR" not in env(ray, "worker")


@pytest.mark.parametrize(
    "text, refused",
    [
        (JOB + "storage: {publish: staged}\n", ["TAU284"]),
        (
            JOB
            + CLAIM.replace("}", ", publish: staged}")
            + "compute: {gpus: 1}\nexecution: {launcher: torchrun, nodes: 2}\n",
            ["TAU284"],
        ),
        (RAYJOB + CLAIM.replace("}", ", publish: staged}") + "compute: {workers: 3}\n", []),
        (JOB + "artifacts: {checkpoint: a}\n", ["TAU285"]),
        (RAYJOB + "artifacts: {checkpoint: a}\n", ["TAU285"]),
        (JOB + CLAIM + "artifacts: {checkpoint: a/b.pt}\n", []),
        (JOB + CLAIM + "artifacts: {checkpoint: a.b/..c}\n", []),
    ],
)
def test_what_publishing_and_checkpoints_need(text: str, refused: list[str]) -> None:
    assert ids(text) == refused


@pytest.mark.parametrize(
    "path",
    [
        "/a",
        "a/../b",
        "..",
        ".",
        "a//b",
        "a/",
        '" a"',
        '"a "',
        r'"a\\b"',
        r'"a\nb"',
        r'"a\tb"',
        r'"a\u007fb"',
        "./a",
    ],
)
def test_a_checkpoint_is_a_clean_relative_path(path: str) -> None:
    assert ids(JOB + CLAIM + f"artifacts: {{checkpoint: {path}}}\n") == ["TAU285"]


def test_a_checkpoint_is_told_and_annotated() -> None:
    made = workload(accepted(JOB + CLAIM + "artifacts: {checkpoint: last/model.pt}\n"))
    assert env(made)["TAU_CHECKPOINT"] == "last/model.pt"
    assert made["metadata"]["annotations"]["tau-compile/checkpoint"] == "last/model.pt"
    assert "TAU_CHECKPOINT" not in env(
        workload(accepted(RAYJOB + CLAIM + "artifacts: {checkpoint: a}\n")), "worker"
    )


# --- mounts and assets


def mount(name: str = "m", path: str = "/sets", claim: str = "c") -> str:
    return f"{{name: {name}, mountPath: {path}, pvc: {claim}}}"


def test_mounts() -> None:
    found = mounted(
        JOB + f"storage: {{mounts: [{mount()}, {mount('n', '/more', 'd')[:-1]}, readOnly: true}}]}}\n"
    )
    assert (found["/sets"], found["/more"]) == ("c", "d ro")


@pytest.mark.parametrize(
    "name",
    [
        "data",
        "tau-hot",
        "dshm",
        "tau-code",
        "tau-bin",
        "tau-source",
        "tau-archive",
        "tau-files",
        "tau-asset-x",
        "shared-mem",
        "ray-logs",
    ],
)
def test_names_of_volumes_that_are_taken(name: str) -> None:
    for text in (JOB, RAYJOB):
        assert ids(text + f"storage: {{mounts: [{mount(name)}]}}\n") == ["TAU286"]


@pytest.mark.parametrize(
    "path",
    [
        "/data",
        "/data/x",
        "/mnt",
        "/mnt/x",
        "/dev",
        "/dev/shm",
        "/tau",
        "/tau/code/x",
        "/tmp",
        "/tmp/ray",
        "/script",
        "/a/../b",
        "/a/./b",
    ],
)
def test_paths_of_mounts_that_are_taken(path: str) -> None:
    for text in (JOB, RAYJOB):
        assert ids(text + f"storage: {{mounts: [{mount(path=path)}]}}\n") == ["TAU286"]


@pytest.mark.parametrize("path", ["/database", "/mnt2", "/devices", "/tauros", "/temp", "/sets/a", "/..a"])
def test_paths_of_mounts_that_are_free(path: str) -> None:
    assert mounted(JOB + f"storage: {{mounts: [{mount(path=path)}]}}\n")[path] == "c"


@pytest.mark.parametrize(
    "first, second",
    [
        (("a", "/x"), ("a", "/y")),
        (("a", "/x"), ("b", "/x")),
        (("a", "/x"), ("b", "/x/y")),
        (("a", "/x/y"), ("b", "/x")),
    ],
)
def test_mounts_that_are_in_each_others_way(first: tuple[str, str], second: tuple[str, str]) -> None:
    text = JOB + f"storage:\n  mounts:\n  - {mount(*first)}\n  - {mount(*second)}\n"
    (found,) = compiled(text).diagnostics
    assert found.id == "TAU286"
    assert found.span is not None
    assert found.span.line == 9
    assert found.related[0].span.line == 8


def asset(name: str = "tok", source: str = "/tok", path: str = "/assets/tok") -> str:
    return f"{{name: {name}, image: ghcr.io/t/tok{DIGEST}, source_path: {source}, mount_path: {path}}}"


def test_assets_are_copied_by_their_own_image() -> None:
    for text, pod in ((JOB, "main"), (RAYJOB, "head"), (RAYJOB, "worker")):
        made = workload(accepted(text + f"storage: {{image_assets: [{asset()}]}}\n"))
        spec = pods(made)[pod]["spec"]
        (init,) = spec["initContainers"]
        assert (init["name"], init["image"]) == ("tau-asset-tok", f"ghcr.io/t/tok{DIGEST}")
        assert init["command"] == ["/bin/cp", "-R", "-L", "/tok", "/tau-asset/"]
        assert init["resources"]["limits"] == init["resources"]["requests"]
        assert mounted(text + f"storage: {{image_assets: [{asset()}]}}\n", pod)["/assets/tok"] == "empty ro"


@pytest.mark.parametrize(
    "assets",
    [
        [asset(), asset(path="/other")],
        [asset(), asset("other")],
        [asset(), asset("other", path="/assets/tok/x")],
        [asset(source="/tau-asset/x")],
        [asset(path="/data/x")],
        [asset(path="/tau/source")],
    ],
)
def test_assets_that_are_in_the_way(assets: list[str]) -> None:
    assert ids(JOB + f"storage: {{image_assets: [{', '.join(assets)}]}}\n") == ["TAU287"]


def test_an_asset_in_the_way_of_a_mount() -> None:
    text = JOB + f"storage: {{mounts: [{mount(path='/assets')}], image_assets: [{asset()}]}}\n"
    assert ids(text) == ["TAU287"]


# --- code from an image

SOURCE = JOB.replace("run: {", f"run: {{source: {{image: ghcr.io/t/code{DIGEST}, path: /workspace}}, ")


def test_code_from_an_image() -> None:
    made = workload(accepted(SOURCE))
    (init,) = pods(made)["main"]["spec"]["initContainers"]
    assert init["image"] == f"ghcr.io/t/code{DIGEST}"
    assert init["command"][-4:] == ["tau-source", "/workspace", "/tau/source", "train.py"]
    assert env(made)["TAU_WORKDIR"] == "/tau/source"
    assert mounted(SOURCE)["/tau/source"] == "empty"


@pytest.mark.parametrize(
    "text, refused",
    [
        (SOURCE.replace("/workspace", "/tau"), "TAU275"),
        (SOURCE.replace("/workspace", "/tau/source/x"), "TAU275"),
        (SOURCE.replace("run: {", "run: {working_dir: ., "), "TAU274"),
        (SOURCE + "workflow: {extra_scripts: [train.py]}\n", "TAU274"),
        (SOURCE.replace("runtime:\n", "runtime:\n  working_dir: /x\n"), "TAU274"),
    ],
)
def test_code_from_an_image_that_cannot_be(text: str, refused: str) -> None:
    assert ids(text) == [refused]


# --- metrics


@pytest.mark.parametrize(
    "text, expected",
    [
        (
            JOB + CLAIM + "metrics: {history: [m.jsonl, 'logs/*.csv']}\n",
            "/data/checkpoints/workflows/train/m.jsonl:/data/checkpoints/workflows/train/logs/*.csv",
        ),
        (JOB + CLAIM + "metrics: {history: [/data/m.jsonl]}\n", "/data/m.jsonl"),
        (RAYJOB + "metrics: {history: [/data/m.jsonl]}\n", "/data/m.jsonl"),
    ],
)
def test_metric_files(text: str, expected: str) -> None:
    made = workload(accepted(text))
    assert env(made, "main" if made["kind"] == "Job" else "head")["TAU_METRICS_HISTORY"] == expected


@pytest.mark.parametrize("path", ["../m", "a/../m", "/etc/m", "/data/../m", "/database/m", "'a:b'"])
def test_metric_files_that_cannot_be(path: str) -> None:
    assert ids(JOB + CLAIM + f"metrics: {{history: [{path}]}}\n") == ["TAU290"]


def test_relative_metric_files_need_an_output() -> None:
    assert ids(JOB + "metrics: {history: [m.jsonl]}\n") == ["TAU290"]


@pytest.mark.parametrize(
    "storage, expected",
    [
        ("data_pvc: team, output: /data", ["TAU284"]),
        ("data_pvc: team, output: /data/runs/a", []),
        ("mounts: [{name: sets, mountPath: /sets/x, pvc: s}], output: /sets/x", ["TAU284"]),
        ("mounts: [{name: sets, mountPath: /sets/x, pvc: s}], output: /sets/x/a", []),
        ("mounts: [{name: sets, mountPath: /sets/x, pvc: s}]", []),
    ],
)
def test_staged_results_cannot_replace_the_root_of_a_volume(storage: str, expected: list[str]) -> None:
    for text in (JOB, RAYJOB):
        assert ids(text + f"storage: {{{storage}, publish: staged}}\n") == expected
        assert ids(text + f"storage: {{{storage}}}\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "metrics: {history: [/data/m.jsonl]}",
        "workflow: {upstream_checkpoint: /data/base}",
        "resilience: {max_retries: 1, checkpoint_path: /data/last}",
    ],
)
def test_files_below_data_need_a_claim_on_a_job(line: str) -> None:
    (found,) = ids(JOB + line + "\n")
    assert found == ("TAU290" if line.startswith("metrics") else "TAU285")
    assert ids(JOB + CLAIM + line + "\n") == []
    assert ids(RAYJOB + line + "\n") == []

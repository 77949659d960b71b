"""The Ray Tune driver without Ray: what it reads, what it refuses, and how it loads the user's module."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.scripts.box import SCRIPTS

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

GOOD = {"TAU_TUNE_TRAIN_PATH": "/x/train.py", "TAU_TUNE_METRIC": "loss", "TAU_OUTPUT_DIR": "/out"}


def driver() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tune_driver", SCRIPTS / "tune_driver.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(name="driver", scope="module")
def driver_fixture() -> ModuleType:
    return driver()


@pytest.fixture(autouse=True)
def own_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))


def test_defaults(driver: ModuleType) -> None:
    settings = driver.read_settings(GOOD)
    assert settings[3:] == ("loss", "min", 1, 1, {}, 1, 0, "/out", "tune")
    given = {
        "TAU_TUNE_MODE": "max",
        "TAU_TUNE_NUM_SAMPLES": "3",
        "TAU_TUNE_MAX_CONCURRENT_TRIALS": "2",
        "TAU_TUNE_PARAM_SPACE": '{"lr": [1]}',
        "TAU_NUM_WORKERS": "4",
        "TAU_GPUS_PER_WORKER": "1",
        "TAU_RUN_ID": "r-1",
    }
    assert driver.read_settings(GOOD | given)[3:] == ("loss", "max", 3, 2, {"lr": [1]}, 4, 1, "/out", "r-1")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"TAU_TUNE_TRAIN_PATH": ""}, "neither TAU_TUNE_TRAIN_PATH nor TAU_TUNE_TRAIN_MODULE is set"),
        ({"TAU_TUNE_METRIC": ""}, "TAU_TUNE_METRIC is not set"),
        ({"TAU_OUTPUT_DIR": ""}, "TAU_OUTPUT_DIR is not set"),
        ({"TAU_TUNE_MODE": "best"}, "TAU_TUNE_MODE must be min or max, not 'best'"),
        ({"TAU_TUNE_NUM_SAMPLES": "0"}, "TAU_TUNE_NUM_SAMPLES must be a whole number of at least 1, not '0'"),
        ({"TAU_NUM_WORKERS": "²"}, "TAU_NUM_WORKERS must be a whole number of at least 1, not '²'"),
        ({"TAU_GPUS_PER_WORKER": "-1"}, "TAU_GPUS_PER_WORKER must be a whole number of at least 0, not '-1'"),
        ({"TAU_TUNE_PARAM_SPACE": "[1]"}, "TAU_TUNE_PARAM_SPACE must be a JSON object"),
        ({"TAU_TUNE_PARAM_SPACE": "{"}, "TAU_TUNE_PARAM_SPACE is not JSON"),
        ({"TAU_OUTPUT_STAGING_DIR": "/s"}, "they cannot be staged on one"),
    ],
)
def test_refusals(
    driver: ModuleType, capsys: pytest.CaptureFixture[str], wrong: dict[str, str], message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        driver.read_settings(GOOD | wrong)
    assert ended.value.code == 78
    said = capsys.readouterr().err
    assert said.startswith("tau: ")
    assert message in said


def test_search_space(driver: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    space = {
        "lr": [0.1, 0.2],
        "opt": {"name": ["a"], "wd": 0},
        "deep": {"x": {"y": [[1], [2]]}},
        "s": "a",
        "n": None,
    }
    assert driver.search_space(space, lambda items: ("grid", items)) == {
        "lr": ("grid", [0.1, 0.2]),
        "opt": {"name": ("grid", ["a"]), "wd": 0},
        "deep": {"x": {"y": ("grid", [[1], [2]])}},
        "s": "a",
        "n": None,
    }
    with pytest.raises(SystemExit):
        driver.search_space({"a": {"b": []}}, list)
    assert capsys.readouterr().err == "tau: TAU_TUNE_PARAM_SPACE.a.b is an empty list: nothing to try\n"


def settings_for(driver: ModuleType, **env: str) -> Any:
    return driver.read_settings({**GOOD, "TAU_TUNE_TRAIN_PATH": "", **env})


def test_load_by_path(driver: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("value = 7\n")
    (tmp_path / "my train.py").write_text("import helper\ndef train_func(config):\n    return helper.value\n")
    settings = settings_for(driver, TAU_TUNE_TRAIN_PATH=str(tmp_path / "my train.py"))
    driver.check_module(settings)
    assert driver.load(settings)({}) == 7


def test_load_by_module(driver: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "train.py").write_text("def train_func(config):\n    return 8\n")
    settings = settings_for(driver, TAU_TUNE_TRAIN_MODULE="pkg.train", TAU_CODE_DIR=str(tmp_path))
    driver.check_module(settings)
    assert driver.load(settings)({}) == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot load the training code: {} does not exist"),
        ("x = 1\n", "cannot load the training code: {} does not define train_func(config)"),
        ("train_func = 1\n", "cannot load the training code: train_func in {} cannot be called"),
        ("def train_func(:\n", "cannot load the training code: invalid syntax"),
    ],
)
def test_code_that_cannot_work(
    driver: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, message: str
) -> None:
    path = tmp_path / "train.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SystemExit) as ended:
        driver.check_module(settings_for(driver, TAU_TUNE_TRAIN_PATH=str(path)))
    assert ended.value.code == 78
    assert message.format(path) in capsys.readouterr().err


def test_module_that_does_not_exist(
    driver: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(SystemExit):
        driver.check_module(
            settings_for(driver, TAU_TUNE_TRAIN_MODULE="no_such.m", TAU_CODE_DIR=str(tmp_path))
        )
    assert capsys.readouterr().err.endswith(f"no module no_such.m in {tmp_path}\n")


@pytest.mark.parametrize("text", ["import no_gpu_library\n", "raise RuntimeError('no GPU')\n"])
def test_code_that_needs_a_gpu_to_import(
    driver: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "train.py").write_text(text)
    driver.check_module(settings_for(driver, TAU_TUNE_TRAIN_PATH=str(tmp_path / "train.py")))
    assert capsys.readouterr().err.startswith(
        "tau: warning: the training code cannot be imported on the head: "
    )


class Results(list[Any]):
    """Tune's result grid, as far as the driver knows it."""

    @property
    def errors(self) -> list[Exception]:
        return [result.error for result in self if result.error]


def result(error: Exception | None = None, lr: int = 1, **metrics: Any) -> SimpleNamespace:
    return SimpleNamespace(error=error, metrics=metrics or None, config={"lr": lr}, path="/out/tune/1")


def test_best_result(driver: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    failed = [result(ValueError(), loss=0.1), result(ValueError("no\nbecause"))]
    useless = [result(loss=float("nan")), result(loss="0"), result()]
    results = Results([*failed, *useless, result(lr=2, loss=0.7), result(loss=0.5)])
    assert driver.best_result(results, driver.read_settings(GOOD)) == {
        "metric": "loss",
        "mode": "min",
        "value": 0.5,
        "config": {"lr": 1},
        "path": "/out/tune/1",
        "trials": 7,
        "failed": 2,
    }
    assert capsys.readouterr().err == "tau: 2 of 7 trials failed; the first with: ValueError()\n"
    largest = driver.read_settings(GOOD | {"TAU_TUNE_MODE": "max"})
    assert driver.best_result(results, largest)["config"] == {"lr": 2}


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([], "tau: every trial failed\n"),
        (
            [result(ValueError("a\nb"))],
            "tau: 1 of 1 trials failed; the first with: b\ntau: every trial failed\n",
        ),
        ([result(other=1.0), result()], "tau: no trial reported a finite number as loss\n"),
        ([result(loss=float("inf"))], "tau: no trial reported a finite number as loss\n"),
    ],
)
def test_no_best_result(
    driver: ModuleType, capsys: pytest.CaptureFixture[str], results: list[Any], message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        driver.best_result(Results(results), driver.read_settings(GOOD))
    assert ended.value.code == 1
    assert capsys.readouterr().err == message


def test_as_a_program() -> None:
    env = GOOD | {"TAU_TUNE_PARAM_SPACE": json.dumps({}), "TAU_TUNE_TRAIN_PATH": "/nowhere/train.py"}
    command = [sys.executable, str(SCRIPTS / "tune_driver.py")]
    done = subprocess.run(command, env=env, capture_output=True, timeout=60, check=False)
    assert done.returncode == 78
    assert done.stderr == b"tau: cannot load the training code: /nowhere/train.py does not exist\n"

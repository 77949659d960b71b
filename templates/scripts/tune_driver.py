"""Ray Tune driver: searches a parameter space with the user's `train_func(config)`.

Every trial runs `train_func` as a Ray Train (torch) job of TAU_NUM_WORKERS processes, with one GPU each when
TAU_GPUS_PER_WORKER is not 0. Ray Train no longer takes part in Tune by itself, so each trial is a small function that
starts a trainer and passes its reports on. In an image without torch, a trial is a plain function on one process.
`train_func` may report with `ray.train.report` or `ray.tune.report`, or return its metrics as a map.

Environment: TAU_TUNE_TRAIN_PATH (a file) or TAU_TUNE_TRAIN_MODULE (a module below TAU_CODE_DIR, default /tau/code),
both present on all nodes; TAU_TUNE_METRIC, TAU_TUNE_MODE (min), TAU_TUNE_NUM_SAMPLES (1),
TAU_TUNE_MAX_CONCURRENT_TRIALS (1), TAU_TUNE_PARAM_SPACE (JSON: a list is a grid, a map is searched within, anything
else is a constant), TAU_OUTPUT_DIR (on a volume that all nodes share), TAU_RUN_ID (names the results' folder).

The last line on standard output is TAU_TUNE_RESULT and a JSON object. Exit codes: 0 if a trial succeeded, 1 if none
did or none reported the metric, 78 for wrong configuration.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

MARKER = "TAU_TUNE_RESULT"


class Settings(NamedTuple):
    """The driver's configuration, as read from the environment."""

    path: str
    module: str
    code_dir: str
    metric: str
    mode: str
    num_samples: int
    max_concurrent: int
    space: dict[str, Any]
    workers: int
    gpus: int
    output: str
    name: str


def say(message: str) -> None:
    """Print one line for the user."""
    print(f"tau: {message}", file=sys.stderr, flush=True)


def fail(code: int, message: str) -> NoReturn:
    """Print the reason and end the process."""
    say(message)
    sys.exit(code)


def number(environment: Mapping[str, str], name: str, default: int, least: int) -> int:
    """The whole number in a variable; ends the process if it is not one, or too small."""
    text = environment.get(name, "") or str(default)
    if not text.isascii() or not text.isdigit() or int(text) < least:
        fail(78, f"{name} must be a whole number of at least {least}, not {text!r}")
    return int(text)


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Check the environment; ends the process with 78 at the first mistake."""
    path = environment.get("TAU_TUNE_TRAIN_PATH", "")
    module = environment.get("TAU_TUNE_TRAIN_MODULE", "")
    if not path and not module:
        fail(78, "neither TAU_TUNE_TRAIN_PATH nor TAU_TUNE_TRAIN_MODULE is set")
    for name in ("TAU_TUNE_METRIC", "TAU_OUTPUT_DIR"):
        if not environment.get(name):
            fail(78, f"{name} is not set")
    if environment.get("TAU_OUTPUT_STAGING_DIR"):
        fail(78, "Ray Tune writes its results from every node as it goes; they cannot be staged on one")
    mode = environment.get("TAU_TUNE_MODE") or "min"
    if mode not in ("min", "max"):
        fail(78, f"TAU_TUNE_MODE must be min or max, not {mode!r}")
    try:
        space = json.loads(environment.get("TAU_TUNE_PARAM_SPACE") or "{}")
    except ValueError as problem:
        fail(78, f"TAU_TUNE_PARAM_SPACE is not JSON: {problem}")
    if not isinstance(space, dict):
        fail(78, "TAU_TUNE_PARAM_SPACE must be a JSON object")
    return Settings(
        path=path,
        module=module,
        code_dir=environment.get("TAU_CODE_DIR") or "/tau/code",
        metric=environment["TAU_TUNE_METRIC"],
        mode=mode,
        num_samples=number(environment, "TAU_TUNE_NUM_SAMPLES", 1, 1),
        max_concurrent=number(environment, "TAU_TUNE_MAX_CONCURRENT_TRIALS", 1, 1),
        space=space,
        workers=number(environment, "TAU_NUM_WORKERS", 1, 1),
        gpus=number(environment, "TAU_GPUS_PER_WORKER", 0, 0),
        output=environment["TAU_OUTPUT_DIR"],
        name=environment.get("TAU_RUN_ID") or "tune",
    )


def search_space(value: Any, grid: Callable[[list[Any]], Any], where: str = "TAU_TUNE_PARAM_SPACE") -> Any:
    """Tune's form of the parameter space: `grid` is applied to every list, maps are searched within."""
    if isinstance(value, dict):
        return {key: search_space(item, grid, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list):
        if not value:
            fail(78, f"{where} is an empty list: nothing to try")
        return grid(value)
    return value


def load(settings: Settings) -> Callable[[dict[str, Any]], Any]:
    """Import the user's module and return its `train_func`.

    Raises whatever the module raises while it is imported, FileNotFoundError and ModuleNotFoundError if it is not
    there, and AttributeError or TypeError if it has no such function.
    """
    if settings.path:
        # As Python does for a script: its folder comes first.
        path = Path(settings.path)
        if not path.is_file():
            raise FileNotFoundError(f"{path} does not exist")
        sys.path.insert(0, str(path.parent))
        name = "tau_user_" + "".join(letter if letter.isalnum() else "_" for letter in path.stem)
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise FileNotFoundError(f"{path} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # so that its classes can be pickled
        spec.loader.exec_module(module)
    else:
        sys.path.insert(0, settings.code_dir)
        module = importlib.import_module(settings.module)
    if not hasattr(module, "train_func"):
        raise AttributeError(f"{settings.path or settings.module} does not define train_func(config)")
    function: Callable[[dict[str, Any]], Any] = module.train_func
    if not callable(function):
        raise TypeError(f"train_func in {settings.path or settings.module} cannot be called")
    return function


def check_module(settings: Settings) -> None:
    """Find mistakes before any trial starts; ends the process with 78.

    The head has no GPU, so a module that fails to import here may still import on a worker.
    """
    try:
        load(settings)
    except (FileNotFoundError, SyntaxError) as problem:
        fail(78, f"cannot load the training code: {problem}")
    except ModuleNotFoundError as problem:
        if settings.module and settings.module.split(".")[0] == problem.name:
            fail(78, f"cannot load the training code: no module {settings.module} in {settings.code_dir}")
        say(f"warning: the training code cannot be imported on the head: {problem}")
    except Exception as problem:
        if isinstance(problem, (AttributeError, TypeError)) and "train_func" in str(problem):
            fail(78, f"cannot load the training code: {problem}")
        say(f"warning: the training code cannot be imported on the head: {problem!r}")


def run_train_func(settings: Settings, config: dict[str, Any], *, in_trainer: bool) -> None:
    """Body of one training process: both report functions work here, and a returned map is reported."""
    import ray.train
    import ray.tune

    report = ray.train.report if in_trainer else ray.tune.report
    ray.train.report = report
    ray.tune.report = report
    result = load(settings)(config)
    if isinstance(result, Mapping):
        report(dict(result))


def make_trial(settings: Settings, *, with_torch: bool) -> Callable[[dict[str, Any]], None]:
    """The function that Tune runs for each point of the space, with the resources it needs."""
    from ray import tune

    def in_process(config: dict[str, Any]) -> None:
        run_train_func(settings, config, in_trainer=False)

    def in_trainer(config: dict[str, Any]) -> None:
        from ray.train import RunConfig, ScalingConfig
        from ray.train.torch import TorchTrainer
        from ray.tune.integration.ray_train import TuneReportCallback

        TorchTrainer(
            lambda settings_and_config: run_train_func(*settings_and_config["call"], in_trainer=True),
            train_loop_config={"call": (settings, config)},
            scaling_config=ScalingConfig(num_workers=settings.workers, use_gpu=settings.gpus > 0),
            run_config=RunConfig(
                name=f"{settings.name}-train-{tune.get_context().get_trial_id()}",
                storage_path=settings.output,
                callbacks=[TuneReportCallback()],
            ),
        ).fit()

    if with_torch:
        # The trial only waits for its workers. If it held a CPU, waiting trials could keep it from them for ever.
        trial: Callable[[dict[str, Any]], None] = tune.with_resources(in_trainer, {"cpu": 0.001})
    else:
        trial = tune.with_resources(in_process, {"cpu": 1, "gpu": min(settings.gpus, 1)})
    return trial


def main() -> None:
    """Run the search and print its best result."""
    settings = read_settings(os.environ)
    check_module(settings)
    with_torch = importlib.util.find_spec("torch") is not None
    if settings.workers > 1 and not with_torch:
        fail(78, f"{settings.workers} processes per trial need torch, which is not in this image")

    # A trial without the metric counts for nothing; it need not end the whole search.
    os.environ["TUNE_DISABLE_STRICT_METRIC_CHECKING"] = "1"
    import ray
    from ray import tune

    ray.init(address="auto")
    tuner = tune.Tuner(
        make_trial(settings, with_torch=with_torch),
        param_space=search_space(settings.space, tune.grid_search),
        tune_config=tune.TuneConfig(
            metric=settings.metric,
            mode=settings.mode,
            num_samples=settings.num_samples,
            max_concurrent_trials=settings.max_concurrent,
        ),
        run_config=tune.RunConfig(name=settings.name, storage_path=settings.output),
    )
    print(MARKER, json.dumps(best_result(tuner.fit(), settings), sort_keys=True), flush=True)


def finite(value: Any) -> bool:
    """Whether a reported value is a number to compare by."""
    try:
        return math.isfinite(value)
    except TypeError:
        return False


def best_result(results: Any, settings: Settings) -> dict[str, Any]:
    """The summary to print, of Tune's result grid; ends the process with 1 if there is no best result."""
    failed = len(results.errors)
    if failed:
        reason = (str(results.errors[0]).strip() or repr(results.errors[0])).splitlines()[-1]
        say(f"{failed} of {len(results)} trials failed; the first with: {reason}")
    if failed == len(results):
        fail(1, "every trial failed")
    values = {
        float(result.metrics[settings.metric]): result
        for result in results
        if not result.error and finite((result.metrics or {}).get(settings.metric))
    }
    if not values:
        fail(1, f"no trial reported a finite number as {settings.metric}")
    value = min(values) if settings.mode == "min" else max(values)
    best = values[value]
    return {
        "metric": settings.metric,
        "mode": settings.mode,
        "value": value,
        "config": best.config,
        "path": best.path,
        "trials": len(results),
        "failed": failed,
    }


if __name__ == "__main__":
    main()

"""Ray Train: the same function runs on every worker, and gradients are averaged among them.

tau-compile tells the program how many workers there are and which options of `execution.configs` were given.
On a laptop: `TAU_OUTPUT_DIR=/tmp/out python train.py`.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import ray.train
import torch
from ray.train import Checkpoint, FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, prepare_model


def train_func(config: dict[str, int]) -> None:
    """Fit a noisy sine, one epoch after the other, and report each."""
    context = ray.train.get_context()
    generator = torch.Generator().manual_seed(context.get_world_rank())
    x = torch.rand(1024, 1, generator=generator) * 6 - 3
    y = x.sin() + torch.randn(x.shape, generator=generator) * 0.05
    device = ray.train.torch.get_device()
    x, y = x.to(device), y.to(device)

    torch.manual_seed(0)
    plain = torch.nn.Sequential(torch.nn.Linear(1, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
    first = 0
    found = ray.train.get_checkpoint()
    if found is not None:
        with found.as_directory() as folder:
            state = torch.load(Path(folder) / "model.pt", map_location="cpu", weights_only=True)
        plain.load_state_dict(state["model"])
        first = state["epoch"]
    model = prepare_model(plain)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(first + 1, config["epochs"] + 1):
        for _ in range(50):
            loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = None
            if context.get_world_rank() == 0:
                state = {"epoch": epoch, "model": getattr(model, "module", model).state_dict()}
                torch.save(state, Path(folder) / "model.pt")
                checkpoint = Checkpoint.from_directory(folder)
            ray.train.report({"epoch": epoch, "loss": loss.item()}, checkpoint=checkpoint)


if __name__ == "__main__":
    options = json.loads(os.environ.get("TAU_RAY_TRAIN_CONFIG_JSON", "{}"))
    trainer = TorchTrainer(
        train_func,
        train_loop_config={"epochs": int(os.environ.get("EPOCHS", "5"))},
        scaling_config=ScalingConfig(
            num_workers=int(os.environ.get("TAU_NUM_WORKERS", "2")),
            use_gpu=os.environ.get("TAU_DIST_BACKEND") == "nccl",
        ),
        run_config=RunConfig(
            name=os.environ.get("TAU_RUN_ID", "local"),
            storage_path=os.environ["TAU_OUTPUT_DIR"],
            failure_config=FailureConfig(**options.get("failure_config", {})),
        ),
    )
    result = trainer.fit()
    print(json.dumps({"loss": result.metrics["loss"], "checkpoint": result.checkpoint.path}))

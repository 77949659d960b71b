"""Ray Train: the same function runs on every worker, and gradients are averaged among them."""

from __future__ import annotations

import os
from typing import Any

import ray.train.torch
import torch
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, prepare_model

WORDS = [("night", "light"), ("day", "way"), ("sea", "tree"), ("moon", "soon")]


def vector(word: str) -> torch.Tensor:
    """The last letters of a word as numbers."""
    return torch.tensor([float(ord(letter) - 96) for letter in word[-3:].rjust(3, "`")]) / 26


def train_func(config: dict[str, Any]) -> None:
    """Learn from one word the end of the word that rhymes with it."""
    device = ray.train.torch.get_device()
    x, y = (torch.stack([vector(pair[side]) for pair in WORDS]).to(device) for side in (0, 1))
    model = prepare_model(torch.nn.Linear(3, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for epoch in range(config["epochs"]):
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 50 == 0:
            ray.train.report({"epoch": epoch, "loss": loss.item()})


if __name__ == "__main__":
    workers = int(os.environ.get("TAU_NUM_WORKERS", "2"))
    gpu = os.environ.get("TAU_DIST_BACKEND") == "nccl"
    trainer = TorchTrainer(
        train_func,
        train_loop_config={"epochs": 200},
        scaling_config=ScalingConfig(num_workers=workers, use_gpu=gpu),
        run_config=RunConfig(name=os.environ.get("TAU_RUN_ID"), storage_path=os.environ["TAU_OUTPUT_DIR"]),
    )
    print(trainer.fit().metrics)

"""One trial of a search: Ray Tune calls `train_func` with one point of the search space."""

from __future__ import annotations

from typing import Any

import ray.train
import torch


def train_func(config: dict[str, Any]) -> None:
    """Fit a wave with the settings of this trial and report the loss."""
    torch.manual_seed(0)
    x = torch.linspace(-3, 3, 200).unsqueeze(1)
    width = config["width"]
    model = torch.nn.Sequential(torch.nn.Linear(1, width), torch.nn.Tanh(), torch.nn.Linear(width, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
    for step in range(1, 201):
        loss = torch.nn.functional.mse_loss(model(x), x.sin())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            ray.train.report({"loss": loss.item(), "step": step})

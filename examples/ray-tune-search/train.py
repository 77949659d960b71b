"""One trial of a search: Ray Tune calls `train_func` with one point of the search space.

It reports with `ray.train.report`. The driver that tau-compile ships does the rest: it reads the space, starts the
trials, and prints the best one.
"""

from __future__ import annotations

from typing import Any

import ray.train
import torch


def moons(count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Points on two half moons that reach into each other, and which moon each belongs to."""
    angle = torch.rand(count, generator=generator) * torch.pi
    moon = torch.randint(2, (count,), generator=generator)
    x = angle.cos() * (1 - 2 * moon) + moon
    y = angle.sin() * (1 - 2 * moon) + moon * 0.5
    points = torch.stack((x, y), dim=1)
    return points + torch.randn(points.shape, generator=generator) * 0.1, moon


def train_func(config: dict[str, Any]) -> None:
    """Train with the settings of this trial and report the loss on points that were not trained on."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    generator = torch.Generator().manual_seed(0)
    points, moon = (tensor.to(device) for tensor in moons(1000, generator))
    unseen, unseen_moon = (tensor.to(device) for tensor in moons(500, generator))
    width = config["width"]
    layers = (torch.nn.Linear(2, width), torch.nn.ReLU(), torch.nn.Linear(width, 2))
    model = torch.nn.Sequential(*layers).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
    for epoch in range(1, config["epochs"] + 1):
        loss = torch.nn.functional.cross_entropy(model(points), moon)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 20 == 0 or epoch == config["epochs"]:
            with torch.no_grad():
                judged = torch.nn.functional.cross_entropy(model(unseen), unseen_moon)
            ray.train.report({"loss": judged.item(), "epoch": epoch})

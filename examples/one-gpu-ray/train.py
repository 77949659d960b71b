"""Train a small classifier on one GPU that Ray finds somewhere in the cluster.

The program itself starts on the Ray head, which has no GPU. What needs one is a function that asks Ray for it.
Without a GPU, or without a cluster (`python train.py`), the same program trains on the CPU.
"""

from __future__ import annotations

import json
import os

import ray
import torch

EPOCHS = int(os.environ.get("EPOCHS", "200"))


def spirals(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Points on two arms that wind around each other, and which arm each is on."""
    angle = torch.rand(count) * 3 * torch.pi
    arm = torch.randint(2, (count,))
    turned = angle + arm * torch.pi
    points = torch.stack((turned.cos(), turned.sin()), dim=1) * angle.unsqueeze(1) / 10
    return points + torch.randn_like(points) * 0.01, arm


@ray.remote
def train(epochs: int) -> float:
    """Train, report as JSON lines, and return the share of points that the model gets right."""
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    points, arm = (tensor.to(device) for tensor in spirals(2000))
    model = torch.nn.Sequential(
        torch.nn.Linear(2, 64),
        torch.nn.Tanh(),
        torch.nn.Linear(64, 64),
        torch.nn.Tanh(),
        torch.nn.Linear(64, 2),
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(1, epochs + 1):
        loss = torch.nn.functional.cross_entropy(model(points), arm)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 20 == 0:
            print(json.dumps({"epoch": epoch, "loss": round(loss.item(), 4), "device": device}), flush=True)
    return (model(points).argmax(dim=1) == arm).float().mean().item()


if __name__ == "__main__":
    ray.init()
    # tau-compile sets this variable: nccl when the workers have GPUs, else gloo.
    gpus = 1 if os.environ.get("TAU_DIST_BACKEND") == "nccl" else 0
    accuracy = ray.get(train.options(num_gpus=gpus).remote(EPOCHS))
    print(json.dumps({"accuracy": round(accuracy, 4)}))

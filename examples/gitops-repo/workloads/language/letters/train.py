"""Learn which letter follows which. The program starts on the Ray head; `train` runs where the GPU is."""

from __future__ import annotations

import os

import ray
import torch

TEXT = "the quick brown fox jumps over the lazy dog " * 50


@ray.remote
def train() -> float:
    """The loss after training."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    letters = sorted(set(TEXT))
    codes = torch.tensor([letters.index(letter) for letter in TEXT], device=device)
    table = torch.zeros(len(letters), len(letters), device=device, requires_grad=True)
    optimizer = torch.optim.Adam([table], lr=0.1)
    for _ in range(100):
        loss = torch.nn.functional.cross_entropy(table[codes[:-1]], codes[1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    ray.init()
    gpus = 1 if os.environ.get("TAU_DIST_BACKEND") == "nccl" else 0
    print(f"loss {ray.get(train.options(num_gpus=gpus).remote()):.3f}")

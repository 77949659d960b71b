"""A small convolutional network, and pictures made on the fly for it to learn from."""

from __future__ import annotations

import torch

CLASSES = 4
SIZE = 16


def network() -> torch.nn.Module:
    """The model: grey pictures of 16 x 16 pixels in, one score for each class out."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(4),
        torch.nn.Flatten(),
        torch.nn.Linear(16 * (SIZE // 4) ** 2, CLASSES),
    )


def pictures(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Noisy pictures with one bright spot, and the quarter of the picture that it lies in."""
    generator = torch.Generator().manual_seed(seed)
    images = torch.rand(count, 1, SIZE, SIZE, generator=generator) * 0.5
    rows, columns = torch.randint(SIZE, (2, count), generator=generator)
    images[torch.arange(count), 0, rows, columns] = 2.0
    return images, (rows * 2 // SIZE) * 2 + columns * 2 // SIZE

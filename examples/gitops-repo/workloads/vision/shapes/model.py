"""A linear model, and bright spots on grey pictures for it to find."""

from __future__ import annotations

import torch


def network() -> torch.nn.Module:
    """Pictures of 8 x 8 pixels in, a score for each half of the picture out."""
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 2))


def pictures(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Noise with one bright spot, and the half that it lies in."""
    generator = torch.Generator().manual_seed(seed)
    images = torch.rand(count, 8, 8, generator=generator)
    rows, columns = torch.randint(8, (2, count), generator=generator)
    images[torch.arange(count), rows, columns] = 4.0
    return images, rows // 4

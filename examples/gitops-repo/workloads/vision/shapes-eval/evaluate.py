"""How often the model of another run is right."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from model import network, pictures

model = network()
upstream = os.environ["TAU_UPSTREAM_CHECKPOINT"]
model.load_state_dict(torch.load(upstream, map_location="cpu", weights_only=True))
images, halves = pictures(1024, seed=1000)
with torch.no_grad():
    right = (model(images).argmax(dim=1) == halves).float().mean().item()
print(f"accuracy {right:.3f}")
Path(os.environ["TAU_OUTPUT_DIR"], "accuracy.txt").write_text(f"{right}\n")

"""Measure how often the model of another run is right.

On a laptop: put `model.py` beside this file, then `TAU_OUTPUT_DIR=/tmp python evaluate.py`.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import torch
from model import network, pictures


def main() -> None:
    """Load the model if there is one, judge pictures it has not seen, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--pictures", type=int, default=1024)
    options = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = network().to(device).eval()
    upstream = Path(os.environ.get("TAU_UPSTREAM_CHECKPOINT", "model.pt"))
    if upstream.is_file():
        model.load_state_dict(torch.load(upstream, map_location=device, weights_only=True))
    batches = [tensor.split(options.batch_size) for tensor in pictures(options.pictures, seed=2)]
    right = 0
    with torch.no_grad():
        for part, wanted in zip(*batches, strict=True):
            right += int((model(part.to(device)).argmax(dim=1).cpu() == wanted).sum())
    result = {"accuracy": right / options.pictures, "trained": upstream.is_file(), "device": device}
    print(json.dumps(result))
    (Path(os.environ["TAU_OUTPUT_DIR"]) / "evaluation.json").write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()

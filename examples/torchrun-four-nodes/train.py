"""Train a small language model of bytes on many nodes, and go on from the last checkpoint after an interruption.

On a laptop: `TAU_OUTPUT_DIR=/tmp/out STEPS=40 SAVE_EVERY=10 torchrun --standalone --nproc-per-node=2 train.py`.
Run it twice with a larger STEPS: the second run goes on where the first one ended.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = int(os.environ.get("STEPS", "1000"))
SAVE_EVERY = int(os.environ.get("SAVE_EVERY", "100"))
LENGTH, WIDTH = 64, 128
TEXT = b"A context of 64 bytes is not much, but a quick brown fox needs no more to jump over a dog. " * 64


class ByteModel(torch.nn.Module):
    """A transformer with two layers that predicts the next byte."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(256, WIDTH)
        self.place = torch.nn.Embedding(LENGTH, WIDTH)
        layer = torch.nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True)
        self.body = torch.nn.TransformerEncoder(layer, 2)
        self.head = torch.nn.Linear(WIDTH, 256)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        """Bytes (batch, LENGTH) to scores of each next byte (batch, LENGTH, 256)."""
        mask = torch.nn.Transformer.generate_square_subsequent_mask(LENGTH, device=text.device)
        places = torch.arange(LENGTH, device=text.device)
        hidden = self.body(self.embed(text) + self.place(places), mask=mask, is_causal=True)
        scores: torch.Tensor = self.head(hidden)
        return scores


def batch(step: int, rank: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """What this process sees in this step: the same after a restart, and different on each rank."""
    generator = torch.Generator().manual_seed(step * 10_000 + rank)
    text = torch.frombuffer(bytearray(TEXT), dtype=torch.uint8).long()
    starts = torch.randint(len(text) - LENGTH - 1, (8,), generator=generator)
    windows = torch.stack([text[start : start + LENGTH + 1] for start in starts.tolist()]).to(device)
    return windows[:, :-1], windows[:, 1:]


def newest(folder: Path) -> Path | None:
    """The checkpoint of the latest step."""
    return max(folder.glob("step-*.pt"), default=None)


def save(folder: Path, step: int, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Write a checkpoint under a name that nobody reads, then rename it: a half-written one is never loaded."""
    folder.mkdir(parents=True, exist_ok=True)
    partial, final = folder / "partial", folder / f"step-{step:08d}.pt"
    torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, partial)
    partial.rename(final)
    for old in sorted(folder.glob("step-*.pt"))[:-2]:
        old.unlink()


def main() -> None:
    """Train from the newest checkpoint to the last step."""
    cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if cuda else "gloo")
    rank = dist.get_rank()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
    torch.manual_seed(0)
    model = ByteModel().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    folder = Path(os.environ["TAU_OUTPUT_DIR"]) / "checkpoints"
    # A further attempt is told where to go on from.
    found = newest(Path(os.environ.get("TAU_RESUME_FROM") or folder))
    first = 0
    if found is not None:
        state = torch.load(found, map_location=device, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
    if rank == 0:
        print(json.dumps({"processes": dist.get_world_size(), "first_step": first}), flush=True)
    dist.barrier()  # nobody writes before everybody has read

    trained = DistributedDataParallel(model, device_ids=[device.index] if cuda else None)
    for step in range(first + 1, STEPS + 1):
        text, following = batch(step, rank, device)
        loss = torch.nn.functional.cross_entropy(trained(text).flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and (step % SAVE_EVERY == 0 or step == STEPS):
            save(folder, step, model, optimizer)
            print(json.dumps({"step": step, "loss": round(loss.item(), 4)}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

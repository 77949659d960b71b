"""Distributed data-parallel training: torchrun starts one process for each GPU, and gradients are averaged among them.

On a laptop: `TAU_OUTPUT_DIR=/tmp/out torchrun --standalone --nproc-per-node=2 train.py`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import torch
import torch.distributed as dist
from model import network, pictures
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

EPOCHS = int(os.environ.get("EPOCHS", "5"))


def main() -> None:
    """Train, and let the first process write what is kept."""
    cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if cuda else "gloo")
    rank = dist.get_rank()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
    torch.manual_seed(0)

    data = TensorDataset(*pictures(4096, seed=1))
    sampler: DistributedSampler[tuple[torch.Tensor, ...]] = DistributedSampler(data)
    batches = DataLoader(data, batch_size=64, sampler=sampler)
    model = DistributedDataParallel(network().to(device), device_ids=[device.index] if cuda else None)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    output = Path(os.environ["TAU_OUTPUT_DIR"])
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        total = torch.zeros(1, device=device)
        for images, labels in batches:
            loss = torch.nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach()
        dist.all_reduce(total)
        if rank == 0:
            line = json.dumps({"epoch": epoch, "loss": total.item() / len(batches) / dist.get_world_size()})
            print(line, flush=True)
            with (output / "metrics.jsonl").open("a") as file:
                file.write(line + "\n")
    if rank == 0:
        torch.save(model.module.state_dict(), output / "model.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

"""Train the model; torchrun starts this program once for each GPU."""

from __future__ import annotations

import os
from pathlib import Path

import torch
import torch.distributed as dist
from model import network, pictures
from torch.nn.parallel import DistributedDataParallel

cuda = torch.cuda.is_available()
dist.init_process_group("nccl" if cuda else "gloo")
rank = dist.get_rank()
device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
torch.manual_seed(0)
model = DistributedDataParallel(network().to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images, halves = (tensor.to(device) for tensor in pictures(512, seed=rank))
for step in range(200):
    loss = torch.nn.functional.cross_entropy(model(images), halves)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0 and step % 50 == 0:
        print(f"step {step}: loss {loss.item():.3f}")
if rank == 0:
    torch.save(model.module.state_dict(), Path(os.environ["TAU_OUTPUT_DIR"]) / "model.pt")
dist.destroy_process_group()

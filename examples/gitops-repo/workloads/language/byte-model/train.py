"""Guess the next byte of this very file, and go on from the last checkpoint after an interruption."""

from __future__ import annotations

import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

cuda = torch.cuda.is_available()
dist.init_process_group("nccl" if cuda else "gloo")
device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
folder = Path(os.environ["TAU_OUTPUT_DIR"], "checkpoints")
last = folder / "last.pt"

data = torch.tensor(list(Path(__file__).read_bytes()), device=device)
torch.manual_seed(0)
plain = torch.nn.Sequential(torch.nn.Embedding(256, 32), torch.nn.Linear(32, 256))
first = 0
if last.exists():
    state = torch.load(last, map_location="cpu", weights_only=True)
    plain.load_state_dict(state["model"])
    first = state["step"]
model = DistributedDataParallel(plain.to(device))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(first + 1, int(os.environ["STEPS"]) + 1):
    loss = torch.nn.functional.cross_entropy(model(data[:-1]), data[1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 500 == 0 and dist.get_rank() == 0:
        print(f"step {step}: loss {loss.item():.3f}")
        folder.mkdir(parents=True, exist_ok=True)
        torch.save({"step": step, "model": plain.state_dict()}, folder / "new.pt")
        (folder / "new.pt").replace(last)
dist.destroy_process_group()

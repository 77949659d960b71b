"""A real torchrun on CPU: two nodes of two processes, started by run.sh with the variables that a Job sets."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from typing import TYPE_CHECKING

import pytest

from tau_compile.render.argv import encode
from tests.scripts import loopback
from tests.scripts.box import Box

if TYPE_CHECKING:
    from pathlib import Path

TRAIN = """
import json, os, sys
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(total)
names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK")
found = {name: int(os.environ[name]) for name in names} | {"total": total.item(), "argv": sys.argv[1:]}
with open(os.path.join(os.environ["TAU_OUTPUT_DIR"], f"rank-{dist.get_rank()}.json"), "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
sys.exit(int(os.environ.get("END", "0")))
"""

NODES = """
pids=
for node in 0 1; do
    JOB_COMPLETION_INDEX=$node PET_NODE_RANK=$node sh "$TAU_BIN/run.sh" >"$LOGS/$node" 2>&1 &
    pids="$pids $!"
done
for pid in $pids; do wait "$pid"; echo $?; done
"""


class Torch:
    """A box whose command is torchrun, and the folder that the ranks write to."""

    def __init__(self, box: Box, folder: Path, python: Path) -> None:
        (folder / "code").mkdir()
        (folder / "code" / "train.py").write_text(TRAIN)
        self.out = folder / "out"
        self.logs = folder / "logs"
        self.logs.mkdir()
        command = ["python3", "-m", "torch.distributed.run", "train.py", "--text", 'a "b" $c\n']
        (box.bin / "argv").write_bytes(encode(command).encode())
        self.env = {
            "PATH": f"{python.parent}:{os.environ['PATH']}",
            "TAU_BIN": str(box.bin),
            "TAU_RUN_ID": "r-1",
            "TAU_WORKDIR": str(folder / "code"),
            "TAU_OUTPUT_DIR": str(self.out),
            "LOGS": str(self.logs),
            "OMP_NUM_THREADS": "1",
            "GLOO_SOCKET_IFNAME": "lo",
        }

    def run(self, script: str, **env: str) -> list[str]:
        """Run a shell script in its own network; the lines that it prints."""
        done = subprocess.run(
            [*loopback.prefix(), "sh", "-c", script],
            env=self.env | env,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, self.said()
        return done.stdout.split()

    def said(self) -> str:
        return "\n".join(path.read_text() for path in sorted(self.logs.iterdir()))

    def ranks(self) -> list[dict[str, object]]:
        return [json.loads(path.read_text()) for path in sorted(self.out.glob("rank-*.json"))]


@pytest.fixture
def torch(tmp_path: Path, slow_python: Path) -> Torch:
    return Torch(Box(tmp_path, "sh"), tmp_path, slow_python)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.slow
def test_two_nodes(torch: Torch) -> None:
    rendezvous = {
        "PET_NNODES": "2",
        "PET_NPROC_PER_NODE": "2",
        "PET_RDZV_BACKEND": "c10d",
        "PET_RDZV_ENDPOINT": f"localhost:{free_port()}",
        "PET_RDZV_ID": "r-1",
    }
    assert torch.run(NODES, **rendezvous) == ["0", "0"], torch.said()
    found = torch.ranks()
    assert [rank["RANK"] for rank in found] == [0, 1, 2, 3]
    assert {rank["WORLD_SIZE"] for rank in found} == {4}
    assert {rank["LOCAL_WORLD_SIZE"] for rank in found} == {2}
    assert sorted(str((rank["GROUP_RANK"], rank["LOCAL_RANK"])) for rank in found) == [
        "(0, 0)",
        "(0, 1)",
        "(1, 0)",
        "(1, 1)",
    ]
    assert {rank["total"] for rank in found} == {1.0 + 2 + 3 + 4}
    assert all(rank["argv"] == ["--text", 'a "b" $c\n'] for rank in found)


@pytest.mark.slow
def test_one_node(torch: Torch) -> None:
    script = 'sh "$TAU_BIN/run.sh" >"$LOGS/0" 2>&1; echo $?'
    alone = {
        "PET_STANDALONE": "1",
        "PET_NPROC_PER_NODE": "2",
        "MASTER_ADDR": "localhost",
        "MASTER_PORT": "29500",
    }
    assert torch.run(script, **alone) == ["0"], torch.said()
    assert {rank["total"] for rank in torch.ranks()} == {3.0}
    assert torch.run(script, END="3", **alone) == ["1"], torch.said()  # torchrun's own code for a failed rank

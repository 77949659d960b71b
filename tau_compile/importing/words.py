"""Commands of a container as scripts: what Kubernetes expands, what a shell reads."""

from __future__ import annotations

import json
import re
import shlex
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_DOLLAR = re.compile(r"\$(?:\$|\(([^()]*)\))")
_SHELLS = re.compile(r"(?:/usr/bin/|/bin/)?(?:ba|da|z|k)?sh")
_FLAG = re.compile(r"--([A-Za-z0-9][A-Za-z0-9_.-]{0,127})(?:=(.+))?", re.DOTALL)
# Flags of torchrun that tau-compile sets from the number of nodes and processes.
_PLACE = frozenset(
    (
        "nnodes",
        "node-rank",
        "rdzv-backend",
        "rdzv-endpoint",
        "rdzv-id",
        "master-addr",
        "master-port",
        "standalone",
    )
)
_SWITCHES = frozenset(("standalone", "no-python", "m", "module", "run-path"))


SECRET_WORDS = (
    "is not copied: something in it looks like a credential",
    "take it from a Secret with `runtime: {env_secret: {NAME: SECRET:KEY}}`, read it from the variable in the program, and "
    "revoke it if it was in a repository",
)


def holds_secret(words: Sequence[str]) -> bool:
    """Whether the words of a command hold a credential, as ``--name value``, ``NAME=value`` or by its shape."""
    from tau_compile.rules.credentials import find

    parts = [*words, "", *(part.strip("\"';") for word in words for part in word.split())]
    pairs = [("", part) for part in parts]
    pairs += [
        (name.lstrip("-"), value) for name, _, value in (part.partition("=") for part in parts) if value
    ]
    pairs += [(one.lstrip("-"), two) for one, two in pairwise(parts) if one.startswith("--")]
    # What has blanks in it is no name; it is looked at for its shape.
    return bool(find([("" if len(name.split()) > 1 else name[:200], value, None) for name, value in pairs]))


def expand(text: str, literals: dict[str, str], names: set[str]) -> str | None:
    """A value as Kubernetes passes it (R11): ``$(NAME)`` of a variable before it, ``$$`` for `$`; None if that is unknown."""
    unknown = False

    def one(found: re.Match[str]) -> str:
        nonlocal unknown
        name = found[1]
        if name is None:
            return "$"
        if name in literals:
            return literals[name]
        unknown = unknown or name in names
        return found[0]

    full = _DOLLAR.sub(one, text)
    return None if unknown or len(full) > 1 << 16 else full


def script(words: Sequence[str], names: set[str]) -> str:
    """A shell script that does what a container's command does."""
    shell = _SHELLS.fullmatch(words[0])
    if shell and len(words) == 3 and re.fullmatch(r"-[eux]*c", words[1]):
        line = words[0] if words[0].startswith("/") else f"/usr/bin/env {words[0]}"
        flags = words[1][1:-1]
        body = _DOLLAR.sub(lambda found: _variable(found, names), words[2]).strip("\n")
        return f"#!{line}\n" + (f"set -{flags}\n" if flags else "") + f"{body}\n"
    return "#!/bin/sh\nexec " + " ".join(_quoted(word, names) for word in words) + "\n"


def shell_script(line: str) -> str:
    """A shell script from a RayJob's entrypoint, which Ray gives to a shell."""
    return f"#!/bin/sh\n{line.strip(chr(10))}\n"


def _variable(found: re.Match[str], names: set[str]) -> str:
    if found[1] is None:
        return "$"
    return f"${{{found[1]}}}" if found[1] in names else found[0]


def _quoted(word: str, names: set[str]) -> str:
    """One word for a shell, with what Kubernetes would expand in it."""
    parts, end = [], 0
    for found in _DOLLAR.finditer(word):
        parts.append(shlex.quote(word[end : found.start()]) if found.start() > end else "")
        text = _variable(found, names)
        parts.append(f'"{text}"' if found[1] in names else shlex.quote(text))
        end = found.end()
    parts.append(shlex.quote(word[end:]) if end < len(word) or not word else "")
    return "".join(parts)


def flags(words: Sequence[str]) -> dict[str, str] | None:
    """Arguments as ``execution.configs``: ``--name``, ``--name=value``, ``--name value``; None for anything else."""
    found: dict[str, str] = {}
    name = ""
    for word in words:
        match = _FLAG.fullmatch(word)
        if match:
            name = match[1]
            if name in found or word.endswith("="):
                return None
            found[name] = match[2] or ""
            if match[2]:
                name = ""
        elif name and word and not word.startswith("-"):
            found[name] = word
            name = ""
        else:
            return None
    return found


class Torchrun:
    """A torchrun command taken apart: processes on a node ("" if not said), its other flags, the program and its arguments.

    ``placed`` are the positions of words that tell a node its place, which tau-compile tells it anew.
    """

    def __init__(
        self, processes: str, configs: dict[str, str], program: list[str], module: bool, placed: list[int]
    ) -> None:
        self.placed = placed
        self.processes = processes
        self.configs = configs
        self.program = program
        self.module = module

    def script(self) -> str:
        """A Python file that torchrun can start beside tau.yaml: it runs the program of the image."""
        argv = ", ".join(json.dumps(word) for word in self.program)
        if self.module:
            body = 'runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)'
            head = "import os\nimport runpy\nimport sys\n\n"
            return f"{head}sys.argv = [{argv}]\nsys.path[0] = os.getcwd()\n{body}\n"
        return (
            f"import os\nimport runpy\nimport sys\n\nsys.argv = [{argv}]\n"
            "sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))\n"
            'runpy.run_path(sys.argv[0], run_name="__main__")\n'
        )


def torchrun(words: Sequence[str], nodes: int) -> Torchrun | None:
    """Take a command apart that starts torchrun on so many nodes; None for any other."""
    base = [word.rpartition("/")[2] for word in words[:1]]
    if base == ["torchrun"]:
        rest = list(words[1:])
    elif (
        base
        and re.fullmatch(r"python[0-9.]*", base[0])
        and list(words[1:3]) == ["-m", "torch.distributed.run"]
    ):
        rest = list(words[3:])
    else:
        return None
    processes, module = "", False
    configs: dict[str, str] = {}
    placed: list[int] = []
    while rest and rest[0].startswith("-"):
        first = len(words) - len(rest)
        word = rest.pop(0)
        name, _, value = word.lstrip("-").partition("=")
        short = name.replace("_", "-")
        if short in ("no-python", "run-path"):
            return None
        if not value and "=" not in word and short not in _SWITCHES:
            if not rest:
                return None
            value = rest.pop(0)
        if short in ("m", "module"):
            module = True
        elif short == "nproc-per-node":
            processes = value
        elif short not in _PLACE:
            configs[name] = value
        elif (short, value) != ("nnodes", str(nodes)):
            placed += range(first, len(words) - len(rest))
    if not rest or any(_DOLLAR.search(word) for word in (*rest, processes, *configs.values())):
        return None
    return Torchrun(processes if processes.isdigit() else "", configs, rest, module, placed)

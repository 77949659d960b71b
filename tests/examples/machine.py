"""A Job's pod played on this machine: its volumes as folders, its environment, and its containers as processes.

Paths of the container become paths below a folder of the test, in the environment and in commands.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any


class Machine:
    """One pod of a rendered Job.

    ``secrets`` are values by (Secret, key). ``image_files`` says where paths that an init container's image would have
    lie here, such as ``{"/workspace": Path(...)}``.
    """

    def __init__(
        self,
        made: list[dict[str, Any]],
        folder: Path,
        secrets: dict[tuple[str, str], str] | None = None,
        image_files: dict[str, Path] | None = None,
    ) -> None:
        self.spec: dict[str, Any] = next(o for o in made if o["kind"] == "Job")["spec"]["template"]["spec"]
        self.maps = {o["metadata"]["name"]: o for o in made if o["kind"] == "ConfigMap"}
        self.secrets = secrets or {}
        self.image_files = image_files or {}
        self.volumes = {volume["name"]: folder / volume["name"] for volume in self.spec["volumes"]}
        for volume in self.spec["volumes"]:
            self.volumes[volume["name"]].mkdir(parents=True)
        self.main: dict[str, Any] = self.spec["containers"][0]
        for volume in self.spec["volumes"]:
            if "configMap" in volume:
                self._unpack(volume)

    def start(self) -> subprocess.CompletedProcess[str]:
        """Run the init containers in order, then the program; the first that fails ends it."""
        done = None
        for container in (*self.spec.get("initContainers", ()), self.main):
            done = self._run(container)
            if done.returncode:
                break
        assert done is not None
        return done

    def path(self, inside: str) -> Path:
        """Where a path of the main container lies on this machine."""
        return Path(self._here(inside, self.main))

    def _run(self, container: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        for variable in container.get("env", ()):
            environment[variable["name"]] = self._here(self._value(variable), container)
        command = [self._here(word, container) for word in container["command"]]
        return subprocess.run(
            command, env=environment, cwd="/", capture_output=True, text=True, check=False, timeout=60
        )

    def _value(self, variable: dict[str, Any]) -> str:
        if "value" in variable:
            return str(variable["value"])
        reference = variable["valueFrom"]["secretKeyRef"]
        return self.secrets[reference["name"], reference["key"]]

    def _unpack(self, volume: dict[str, Any]) -> None:
        made = self.maps[volume["configMap"]["name"]]
        for item in volume["configMap"]["items"]:
            file = self.volumes[volume["name"]] / item["path"]
            file.parent.mkdir(parents=True, exist_ok=True)
            if item["key"] in made.get("binaryData", {}):
                file.write_bytes(base64.b64decode(made["binaryData"][item["key"]]))
                continue
            text = made["data"][item["key"]]
            file.write_text(self._here(text, self.main) if item["path"] == "argv" else text)

    def _here(self, text: str, container: dict[str, Any]) -> str:
        places = {
            m["mountPath"]: self.volumes[m["name"]] / m.get("subPath", "") for m in container["volumeMounts"]
        } | self.image_files
        paths = "|".join(re.escape(path) for path in sorted(places, reverse=True))
        return re.sub(rf"(?<![\w/.-])({paths})(?![\w.-])", lambda found: str(places[found[1]]), text)

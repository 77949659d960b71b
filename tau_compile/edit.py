"""Edits of a user's file that keep comments, order and quoting. ruamel.yaml is used here and in ``migrate``, nowhere else."""

from __future__ import annotations

import io
import os
import tempfile
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap


def editor() -> YAML:
    """A round-trip reader and writer that changes nothing it need not."""
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1 << 20  # never fold
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def with_attempt(data: bytes, used: int) -> tuple[int, str]:
    """The text with ``run.attempt`` raised above both its value and ``used``, and the new number."""
    yaml = editor()
    document: Any = yaml.load(data.decode("utf-8-sig").replace("\r\n", "\n"))
    run = document.get("run")
    if not isinstance(run, dict):
        place = list(document).index("name") + 1 if "name" in document else len(document)
        run = CommentedMap()
        document.insert(place, "run", run)
    now = run.get("attempt", 1)
    attempt = max(now if isinstance(now, int) else 1, used) + 1
    run["attempt"] = attempt
    out = io.StringIO()
    yaml.dump(document, out)
    return attempt, out.getvalue()


def replace_file(path: str, text: str) -> None:
    """Replace a file by another text, all or nothing: a new file beside the old one, then a rename. Its mode stays."""
    real = os.path.realpath(path)
    mode = os.stat(real).st_mode & 0o777
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(real), prefix=".tau-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(temporary, mode)
        os.replace(temporary, real)
    except BaseException:
        os.unlink(temporary)
        raise

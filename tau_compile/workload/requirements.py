"""Lines of ``runtime.pip``: they become a requirements file, in which some lines cannot work.

Ray writes its list into such a file too, so the options of a requirements file are allowed on both.
"""

from __future__ import annotations

import re

# Options that a requirements file may hold and that need no file beside it.
_OPTIONS = (
    "-i",
    "--index-url",
    "--extra-index-url",
    "--no-index",
    "-f",
    "--find-links",
    "--trusted-host",
    "--pre",
    "--prefer-binary",
    "--only-binary",
    "--no-binary",
    "--require-hashes",
)
_FILES = ("-r", "--requirement", "-c", "--constraint")
_HERE = "list the packages here, one requirement an item"


def unusable(line: str) -> tuple[str, str] | None:
    """(why pip could not use a line, the cure), or None."""
    text = re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip()
    option = re.split(r"[\s=]", text, maxsplit=1)[0]
    if option.startswith(_FILES[0]) and not option.startswith("--"):
        option = "-r"  # -rFILE
    if option in _FILES:
        return "names a file of requirements, which does not ship", _HERE
    if option in ("-e", "--editable"):
        return "is an editable install", _HERE
    if option.startswith("-") and option not in _OPTIONS:
        return "is not an option of a requirements file", _HERE
    if option.startswith("-"):
        return None
    if text in (".", "..", "/") or text.startswith(("./", "../", "~", "file:./", "file:../")):
        return "is a local path, which does not ship", _HERE + ", or write an absolute path in the image"
    if "://" in text or "@" in text or text.startswith("/"):
        return None
    requirement = re.split(r";|\s--", text, maxsplit=1)[0].strip()
    if re.search(r"[\w\].*+]\s+\w", requirement):
        return "is more than one requirement", "write each as an item of its own"
    return None

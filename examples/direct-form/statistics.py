"""Print how long the texts of a folder are and which words occur most."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path


def main() -> None:
    """Read every .txt file below the folder and print one line of JSON."""
    least = int(os.environ.get("MIN_LENGTH", "1"))
    words: Counter[str] = Counter()
    lengths = []
    for file in sorted(Path(os.environ["TEXTS"]).rglob("*.txt")):
        found = re.findall(r"\w+", file.read_text(encoding="utf-8").lower())
        lengths.append(len(found))
        words.update(word for word in found if len(word) >= least)
    longest = max(lengths, default=0)
    print(json.dumps({"texts": len(lengths), "longest": longest, "words": words.most_common(3)}))


if __name__ == "__main__":
    main()

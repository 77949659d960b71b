"""Count how often the words of a vocabulary occur in a folder of texts."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path


def main() -> None:
    """Read every .txt file, count, and write the result."""
    vocabulary = set(Path(os.environ["VOCABULARY"]).read_text().split())
    words: Counter[str] = Counter()
    files = sorted(Path(os.environ["TAU_DATA_DIR"], "texts").glob("*.txt"))
    for file in files:
        words.update(re.findall(r"[a-z]+", file.read_text(encoding="utf-8").lower()))
    known = Counter({word: count for word, count in words.items() if word in vocabulary})
    result = {
        "files": len(files),
        "words": words.total(),
        "known": known.total(),
        "most_frequent": dict(known.most_common(int(os.environ.get("TOP", "10")))),
    }
    print(json.dumps(result))
    Path(os.environ["TAU_OUTPUT_DIR"], "tokens.json").write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()

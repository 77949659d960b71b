"""``python -m tests.corpus DIR``: compile every .yaml file of a folder and say whether each came out as expected."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.corpus.check import check_folder, table
from tests.corpus.imports import check_imports


def main(arguments: list[str]) -> int:
    """Exit code 0 when there are files and none is a surprise."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print(
            "usage: python -m tests.corpus DIR    (a folder of tau.yaml files under any names)",
            file=sys.stderr,
        )
        return 2
    folder = Path(arguments[0]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        verdicts = check_folder(folder, Path(scratch))
        wrong = check_imports(folder, Path(scratch) / "imported")
    for trouble in wrong:
        print(f"FAILED: {trouble}")
    print(table(verdicts))
    return 0 if verdicts and not wrong and all(verdict.passed for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The registry of ids: complete, in use, and each id shown to a user by a golden case with its place and its cure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tau_compile.codes import CODES
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Ids that no file in a small repository can cause, and the test that shows them instead.
ELSEWHERE = {
    "TAU706": "tests/workload/test_code_disk.py",  # what the system refuses to read; root may read all
    "TAU711": "tests/workload/test_code_disk.py",  # Git is broken or missing
}
PLACE = re.compile(
    r"^(?P<place>\S.*?:[0-9]+:[0-9]+: )?(?P<severity>error|warning|info) (?P<id>TAU[0-9]{3}): ."
)


def sources() -> Iterator[Path]:
    """Every file that may name an id."""
    yield from (path for path in (ROOT / "tau_compile").rglob("*.py") if path.name != "codes.py")
    yield from (ROOT / "schemas").glob("*.json")


def expected(name: str) -> list[Path]:
    """The expected outputs of all golden cases."""
    return sorted((ROOT / "tests" / "golden").glob(f"*/expected/{name}"))


def blocks(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each diagnostic of an output: its first line, and the whole of it."""
    lines = text.split("\n")
    starts = [n for n, line in enumerate(lines) if PLACE.match(line)]
    for start, end in zip(starts, [*starts, len(lines)][1:], strict=True):
        first = PLACE.match(lines[start])
        assert first
        yield first, "\n".join(lines[start:end])


def test_every_id_in_use_is_registered_and_every_registered_one_is_in_use() -> None:
    used = {word for path in sources() for word in re.findall(r"TAU[0-9]{3}", path.read_text())}
    assert used == set(CODES)


def test_ids_are_sorted_and_unique_and_say_what_they_stand_for() -> None:
    text = (ROOT / "tau_compile" / "codes.py").read_text()
    listed = re.findall(r'Code\(\s*"(TAU[0-9]{3})"', text)
    assert listed == sorted(set(listed))
    assert len({code.title for code in CODES.values()}) == len(CODES)
    for code in CODES.values():
        assert re.match(r"[A-Z`]", code.title), code
        assert not code.title.endswith(".")
        assert code.authority in ("YAML", "Kubernetes", "Kueue", "KubeRay", "GitOps", "tau-compile")


def test_every_id_is_shown_by_a_golden_case() -> None:
    shown = {found["id"] for path in expected("stderr") for found, _ in blocks(path.read_text())}
    exceptions = set(ELSEWHERE)
    assert set(CODES) - shown - exceptions == set()
    assert shown & exceptions == set(), "no longer needs an exception"
    for code, path in ELSEWHERE.items():
        assert code in (ROOT / path).read_text()


@pytest.mark.parametrize("path", expected("stderr"), ids=lambda path: path.parent.parent.name)
def test_every_message_has_a_place_and_a_cure(path: Path) -> None:
    text = path.read_text()
    for found, block in blocks(text):
        assert found["place"], block
        assert "\n  help: " in block, block
    assert "the pattern `" not in text.replace("exclude pattern", "")
    assert not re.search(r"\[[A-Za-z0-9]-|\)\?|\]\*", text), "a regular expression is no help"
    assert not re.search(r"\([A-Z]-?[0-9]{1,3}\)", text), "the number of a fact means nothing to a user"
    assert "Traceback" not in text


def test_a_golden_case_is_named_after_the_id_that_it_shows() -> None:
    for path in expected("stderr"):
        name = path.parent.parent.name
        if name.startswith("tau"):
            assert f"TAU{name[3:6]}: " in path.read_text(), name


def test_every_pattern_of_our_schemas_says_in_words_what_it_expects() -> None:
    def walk(node: Any, where: str) -> Iterator[str]:
        if isinstance(node, dict):
            if isinstance(node.get("pattern"), str) and "x-tau-expects" not in node:
                yield where
            for key, value in node.items():
                yield from walk(value, f"{where}/{key}")
        elif isinstance(node, list):
            for place, value in enumerate(node):
                yield from walk(value, f"{where}/{place}")

    files = sorted((ROOT / "schemas").glob("*.schema.json"))
    assert files
    assert [found for file in files for found in walk(json.loads(file.read_text()), file.name)] == []

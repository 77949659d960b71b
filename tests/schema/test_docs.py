"""The generated reference pages: fresh, and complete."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tau_compile.codes import CODES
from tau_compile.schema import store
from tau_compile.schema.known import index

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_fresh(generate: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--check"]) == 0, capsys.readouterr().err


def test_a_stale_page_is_told_with_its_cure(
    generate: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(generate, "REFERENCE", tmp_path / "reference")
    assert generate.main(["--check"]) == 1
    assert "reference/tau-yaml.md is stale: run `make docs`" in capsys.readouterr().err
    assert not (tmp_path / "reference").exists()
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    page = tmp_path / "reference" / "tau-yaml.md"
    page.write_text(page.read_text(encoding="utf-8") + "x", encoding="utf-8")
    assert generate.main(["--check"]) == 1


def test_every_field_has_one_anchor(generate: ModuleType) -> None:
    text = generate.tau_yaml()
    anchors = re.findall(r'<a id="([^"]*)"></a>', text)
    assert len(anchors) == len(set(anchors))
    document = store.document("tau.schema.json")
    known = index(document.root, document, {"schema_version": 1})
    for found in known.here.values():
        path = ".".join(found.path)
        if "x-tau-refused" in found.schemas[0]:
            assert f"| `{path}` | [TAU" in text
        elif path != "eval" and not path.startswith("runtime.env."):
            assert path in anchors


def test_links_inside_the_page_lead_somewhere(generate: ModuleType) -> None:
    text = generate.tau_yaml()
    assert set(re.findall(r"\]\(#([^)]*)\)", text)) <= set(re.findall(r'<a id="([^"]*)"></a>', text))


def test_hand_written_parts_of_the_rules_page_stay(generate: ModuleType) -> None:
    assert generate.rules("").startswith("# Rules\n")
    kept = generate.rules(generate.rules("# Ours\n\nBefore.\n") + "After.\n")
    assert kept.startswith("# Ours\n\nBefore.\n")
    assert kept.endswith("After.\n")
    assert all(f'<a id="{code.lower()}"></a>' in kept for code in CODES)
    assert generate.rules(kept) == kept

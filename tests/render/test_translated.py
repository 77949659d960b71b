"""Three ways from a template to an object give the same: translated, by Jinja2, and by Jinja2 with all values as text."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from tau_compile._build.translate import Untranslatable, module
from tau_compile.cli.inputs import Inputs
from tau_compile.compiler import compile_file
from tau_compile.render import packaged, templates
from tau_compile.render.engine import Sandbox
from tau_compile.render.values import Values
from tests.support.tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = sorted(
    [*ROOT.glob("examples/*/tau.yaml"), *ROOT.glob("examples/gitops-repo/workloads/**/tau.yaml")]
)


def texts() -> dict[str, str]:
    return {name: packaged.packaged(name) or "" for name in packaged.names()}


def functions(source: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(compile(source, "_templates.py", "exec"), found)
    return found


def objects(path: Path) -> tuple[dict[str, Any], ...]:
    inputs = Inputs(str(path), as_of="2026-12-01")  # within the waiver of one of them
    compiled = compile_file(inputs.repository, *inputs.read(str(path)))
    assert compiled.objects, compiled.diagnostics
    return compiled.objects


@pytest.mark.parametrize(
    "path", EXAMPLES, ids=lambda path: path.parent.relative_to(ROOT / "examples").as_posix()
)
def test_all_ways_lead_to_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = functions(module(texts()))

    def never(*_: object) -> Any:
        raise AssertionError("Jinja2 was asked")

    with monkeypatch.context() as patch:
        patch.setattr(packaged, "translated", lambda: made["TEMPLATES"])
        patch.setattr(templates.Templates, "_sandbox", property(never))
        translated = objects(path)
    monkeypatch.setattr(packaged, "translated", dict)
    by_jinja = objects(path)
    monkeypatch.setattr(templates, "skeleton", lambda *_: None)
    as_text = objects(path)
    assert translated == by_jinja == as_text


def test_all_packaged_templates_can_be_translated() -> None:
    made = functions(module(texts()))
    assert made["TEXTS"] == texts()
    assert sorted(made["TEMPLATES"]) == packaged.names() != []


def test_an_edited_template_is_not_rendered_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ModuleType("tau_compile._templates")
    made.__dict__.update(functions(module(texts())))
    monkeypatch.setitem(sys.modules, "tau_compile._templates", made)
    monkeypatch.setattr("tau_compile._templates", made, raising=False)
    packaged.translated.cache_clear()
    assert sorted(packaged.translated()) == packaged.names()
    made.TEXTS["parts/pod.yaml.j2"] += "# edited\n"
    packaged.translated.cache_clear()
    assert packaged.translated() == {}
    packaged.translated.cache_clear()


CONTEXT = {"a": {"b": 2, "c": ["x", "y"], "d": {}}, "name": "n"}


@pytest.mark.parametrize(
    "text",
    [
        "plain\n",
        "k: {{ name }}\n{# a comment #}\nl: {{ a.b }}\n",
        "{% if a.d %}\nx: 1\n{% else %}\nx: {{ a.c }}\n{% endif %}\n",
        "{% if a.b > 1 and not a.d or name == 'm' %}\ny: 1\n{% endif %}\n",
        "{% for i in a.c %}\n- {{ i }}\n{% endfor %}\n- {{ name }}\n",
        "{% with i = a.b, name = a.c %}\n- {{ i }}\n- {{ name }}\n{% endwith %}\n- {{ name }}\n",
        "{% filter indent(2) %}\na\n\nb: {{ name }}\n{% endfilter %}\n",
        "{% filter indent(2, true) %}\n{% include 'part' %}\n{% endfilter %}\n",
        "{% for i in a.c %}\n{% if i == 'y' %}\n- {{ a.b }}\n{% endif %}\n{% endfor %}\n",
        "{% if name %}{% endif %}\n",
        "k: {{ 'const' }}\n",
    ],
)
def test_what_is_translated_means_what_jinja2_means(text: str) -> None:
    both = {"main": text, "part": "p: {{ a.b }}\n\nq: 1\n"}
    values = Values()
    parts: list[str] = []
    functions(module(both))["TEMPLATES"]["main"](CONTEXT, parts.append, values.token)
    assert ("".join(parts), values.found) == Sandbox(both).text("main", CONTEXT)


@pytest.mark.parametrize(
    "text",
    [
        "{{ a.items }}",  # a method of dicts for Jinja2, a key for Python
        "{{ a._b }}",
        "{{ a['b'] }}",
        "{{ a.b | length }}",
        "{{ a.b if name else 1 }}",
        "{{ name ~ 'x' }}",
        "{% if name %}{% elif a %}{% endif %}",
        "{% for i in a.c if i %}{% endfor %}",
        "{% for i in a.c %}{{ loop.index }}{% endfor %}",
        "{% for i in a.c %}{% else %}none{% endfor %}",
        "{% for i, j in a.c %}{% endfor %}",
        "{% set x = 1 %}",
        "{% include name %}",
        "{% include 'part' without context %}",
        "{% include 'nowhere' %}",
        "{% if name is defined %}{% endif %}",
    ],
)
def test_what_is_not_known_is_refused_at_its_line(text: str) -> None:
    with pytest.raises(Untranslatable, match=r"templates/main:2: "):
        module({"main": f"first: line\n{text}\n", "part": ""})

"""Names and registries that would like to be CEL: each stays one literal, whatever is in it, and judges as that text."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tau_compile.diagnostics import Span
from tau_compile.emit.yaml import dump
from tau_compile.policy.admission import Admission, allowed
from tau_compile.policy.model import PriorityClass
from tau_compile.render.admission import policies
from tau_compile.render.cel import listed, quoted, spoken
from tests.admission.worlds import CHECKS, CLUSTER, PLATFORM, WORKSPACE, changed, job, overlays
from tests.support.celcheck import Request, celcheck

HOSTILE = (
    "'] || true || 'a' in ['",
    "') || true //",
    '"',
    "\\",
    "\\'",
    "\\\\' || true || '",
    "a\nb",
    "a\r\n'] || true\n|| '",
    "\t\x00\x1b[31m",
    "\u2028\u2029\x85\xa0",
    "\u202eabc",
    "é",
    "日本",
    "😀'",
    "\\u0027",
    "\\x27",
    "{{ 7 * 7 }}",
    "${HOME}",
    "/* */",
    "''' '''",
    'r"a"',
    "$(NAME)",
    "",
    " ",
    "a" * 5000,
)
SPAN = Span("overlays/platform.yaml", 1, 1, 1, 2)


@given(st.text())
def test_a_literal_is_printable_ends_where_it_should_and_means_its_text(text: str) -> None:
    literal = quoted(text)
    assert re.fullmatch(r"'(?:[ -#%&(-\[\]-~]|\\[\\']|\\u[0-9a-f]{4}|\\U[0-9a-f]{8})*'", literal)
    unescaped = re.sub(r"\\U([0-9a-f]{8})", lambda m: chr(int(m[1], 16)), literal[1:-1])
    # JSON has the other escapes, but for the quote.
    meant = json.loads('"' + re.sub(r"\\U.{8}", "", _as_json(literal[1:-1])) + '"')
    assert meant == re.sub(r"[\U00010000-\U0010ffff]", "", text)
    assert len(unescaped) >= len(text)


def _as_json(body: str) -> str:
    return re.sub(r"\\.|\"", lambda m: {"\\'": "'", '"': '\\"'}.get(m[0], m[0]), body)


@given(st.text())
def test_a_message_has_one_line(text: str) -> None:
    assert re.fullmatch(r"[ -~]*", spoken([text]))


@given(st.lists(st.text(), max_size=5))
def test_a_list_has_as_many_literals_as_there_are_texts(texts: list[str]) -> None:
    literals = re.findall(r"'(?:[^'\\]|\\.)*'", listed(texts))
    assert "[" + ", ".join(literals) + "]" == listed(texts)
    assert len(literals) == len(set(texts))


def policy(expression: str) -> list[dict[str, Any]]:
    """A policy with one rule, and its binding."""
    found = policies(overlays(PLATFORM + "admission: {ttl: Deny}", CLUSTER, WORKSPACE).platform, *_places())
    found[0]["spec"]["validations"] = [{"expression": expression, "message": "refused"}]
    return found[:2]


def _places() -> tuple[Any, Any]:
    found = overlays(PLATFORM + CHECKS, CLUSTER, WORKSPACE)
    return found.clusters[0], found.workspaces[0]


def test_the_library_reads_back_every_literal() -> None:
    texts = [*HOSTILE, "".join(map(chr, range(1, 0x250))), "".join(map(chr, range(0xFFF0, 0x10010)))]
    clauses = [
        f"object.metadata.annotations[{quoted(f'a{n}')}] == {quoted(text)}" for n, text in enumerate(texts)
    ]
    right = changed(job(), "metadata/annotations", {f"a{n}": text for n, text in enumerate(texts)})
    requests = [right]
    for n in range(len(texts)):
        requests.append(changed(right, f"metadata/annotations/a{n}", texts[n] + "x"))
    answer = celcheck(policy(" && ".join(clauses)), requests)
    assert answer.errors == []
    assert [answer.refusals(n) for n in range(len(requests))] == [[], *[["refused"]] * len(texts)]


def test_nothing_hostile_changes_a_policy() -> None:
    platform = overlays(PLATFORM + CHECKS, CLUSTER, WORKSPACE).platform
    cluster, workspace = _places()
    for text in HOSTILE:
        checks = Admission(
            SPAN, "Deny", "Deny", "Deny", "Deny", (f"a.example/{text}",), "Deny", 32, (text,), text, text
        )
        objects = policies(
            platform._replace(admission=checks),
            cluster._replace(priority_classes=(PriorityClass(text, ""),), queues=()),
            workspace._replace(queue=text or "x"),
        )
        for made in objects:
            assert dump(made).isascii()
            for rule in made["spec"].get("validations", ()):
                assert "\n" not in rule["message"]
        image = f"a.example/{text}/image"
        fine = changed(job(), "metadata/labels/kueue.x-k8s.io|queue-name", text or "x")
        fine = changed(fine, "metadata/labels/kueue.x-k8s.io|priority-class", text)
        fine = changed(fine, "spec/template/spec/priorityClassName", text)
        fine = changed(fine, "spec/template/spec/containers/0/image", image)
        requests: list[Any] = [fine, job(), Request(job(), text)]
        answer = celcheck(objects[:2], requests)
        assert answer.errors == [], text
        refused = answer.refusals(1)
        # What the text would let through if it were an expression is refused, and what it names is not.
        assert [d.verdict for d in answer.decisions[1]] == ["deny", "deny", "deny", "deny", "admit", "admit"]
        assert [d.verdict for d in answer.decisions[0]][:3] == ["admit"] * 3, text
        assert len(refused) == 4
        assert all("\n" not in message for message in refused)
        if text:
            assert answer.decisions[2] == []


def test_python_and_cel_agree_on_images() -> None:
    registries = (
        "docker.io/library",
        "nvcr.io/nvidia",
        "registry.example.com:5000",
        "localhost",
        "a.example/x",
    )
    names = ["ubuntu", "pytorch/pytorch", "nvidia/cuda", "x", "x/y/z", "image_1", "a.b/c"]
    hosts = ["", "docker.io/", "docker.io/library/", "nvcr.io/", "nvcr.io/nvidia/", "nvcr.io.example/nvidia/"]
    hosts += [
        "registry.example.com/",
        "registry.example.com:5000/",
        "registry.example.com:50000/",
        "localhost/",
    ]
    hosts += [
        "localhost:5000/",
        "LocalHost/",
        "Nvcr.io/nvidia/",
        "a.example/",
        "a.example/x/",
        "a.example/xy/",
    ]
    hosts += ["[::1]:5000/", "library/", "é.example/", "a-b/"]
    tags = ["", ":1", ":1.2-x_Y", "@sha256:" + "0" * 64]
    images = [host + name + tag for host in hosts for name in names for tag in tags]
    checks = Admission(SPAN, images="Deny", registries=registries)
    platform = overlays(PLATFORM + CHECKS, CLUSTER, WORKSPACE).platform._replace(admission=checks)
    answer = celcheck(
        policies(platform, *_places())[:2],
        [changed(job(), "spec/template/spec/containers/0/image", image) for image in images],
    )
    verdicts = [not answer.refusals(n) for n in range(len(images))]
    assert verdicts == [allowed(image, registries) for image in images]
    assert 20 < sum(verdicts) < len(images) - 20

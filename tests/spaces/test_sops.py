"""Files that SOPS encrypted, and files that only look like it."""

from __future__ import annotations

import pytest

from tau_compile.diagnostics import Span
from tau_compile.rules.sops import sealed

NAMED = Span("overlays/workspaces/vision.yaml", 7, 3, 7, 9)
ENC = "ENC[AES256_GCM,data:ab==,iv:cd=,tag:ef==,type:str]"
SOPS = f"sops:\n  mac: {ENC}\n  age:\n  - recipient: age1x\n    enc: |\n      -----BEGIN AGE ENCRYPTED FILE-----\n      YWdl\n"
HEAD = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: hub\n  namespace: vision\n"
VALUES = f"stringData:\n  token: {ENC}\n"
GOOD = HEAD + VALUES + SOPS
TOKEN = "hf_" + ("aBcdEfgHij" * 4)[:34]


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        HEAD + f"type: Opaque\nimmutable: true\ndata:\n  a.b_c-d: {ENC}\n  empty: ''\n" + SOPS,
        HEAD + f"stringData:\n  #{ENC}\n  token: {ENC} # as before\n" + SOPS,
        HEAD + "  labels:\n    team: vision\n" + VALUES + SOPS,
    ],
)
def test_what_is_encrypted_is_taken(text: str) -> None:
    assert sealed("s.yaml", text.encode(), "vision", NAMED) == ("hub", ())


@pytest.mark.parametrize(
    ("text", "id", "fragment"),
    [
        # `encrypted_regex` or `unencrypted_suffix` left something out, or somebody added it later
        (HEAD + f"stringData:\n  a: {ENC}\n  b_unencrypted: hunter2\n" + SOPS, "TAU821", "in line 8"),
        (HEAD + "stringdata:\n  a: hunter2\n" + VALUES + SOPS, "TAU821", "in line 7"),
        (HEAD + "stringData:\n  pin: 1234\n" + SOPS, "TAU821", "in line 7"),
        (GOOD.replace(VALUES, "stringData:\n  a: ENC[hunter2]\n"), "TAU821", "in line 7"),
        (HEAD + f"stringData:\n  # was {TOKEN}\n  a: {ENC}\n" + SOPS, "TAU821", "a Hugging Face token"),
        (HEAD + f"  annotations:\n    was: {TOKEN}\n" + VALUES + SOPS, "TAU821", "a Hugging Face token"),
        (
            HEAD
            + '  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: \'{"stringData": {"a": "hunter2"}}\'\n'
            + VALUES
            + SOPS,
            "TAU821",
            "last-applied-configuration",
        ),
        (HEAD + VALUES, "TAU821", "it has no `sops` block"),
        (HEAD + VALUES + "sops:\n  mac: none\n", "TAU821", "its `sops` block has no `mac`"),
        # one Secret a file, under a name of its own
        (GOOD + "---\n" + HEAD + "stringData:\n  a: hunter2\n", "TAU383", "TAU109, line"),
        (GOOD.replace("name: hub", "name: ../../../x"), "TAU383", "no name of a Secret"),
        (GOOD.replace("name: hub", "name: Hub"), "TAU383", "no name of a Secret"),
        (GOOD.replace("name: hub", f"name: {ENC}"), "TAU383", "no name of a Secret"),
        (GOOD.replace("apiVersion: v1", f"apiVersion: {ENC}"), "TAU383", "holds no Secret"),
        (HEAD + f"data: {ENC}\n" + SOPS, "TAU383", "no map of keys"),
        (HEAD + f"data:\n  a key: {ENC}\n" + SOPS, "TAU383", "no map of keys"),
    ],
)
def test_what_is_not_is_refused_and_not_shown(text: str, id: str, fragment: str) -> None:
    name, (said, *_) = sealed("s.yaml", text.encode(), "vision", NAMED)
    assert (name, said.id) == ("", id)
    assert fragment in said.message
    assert "hunter2" not in said.message + said.hint
    assert TOKEN not in said.message + said.hint

"""The tokens here are made up and put together at run time, so that no scanner takes this file for a leak."""

from __future__ import annotations

import string
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tau_compile.codes import CODES
from tau_compile.diagnostics import Diagnostic, Span
from tau_compile.rules.credential_shapes import SHAPES, find_shapes
from tau_compile.rules.credentials import find, find_in_code, find_in_text

SPAN = Span("tau.yaml", 7, 5, 7, 20)
RANDOM = "q7Zk2Vw9Xb4Rt6Yp1Ls8Nd3Gh5Jf0Mc" * 4  # letters and digits without a pattern
UPPER = "Q7ZK2VW4XB5RT6YP3LSND2GH"
JWT = "eyJ" + RANDOM[:20] + ".eyJ" + RANDOM[:30] + "." + RANDOM[:30]

TOKENS = {
    "a GitHub token": "gh" + "p_" + RANDOM[:36],
    "a GitHub token ": "gh" + "s_" + RANDOM[:36],
    "a GitHub token  ": "github" + "_pat_" + RANDOM[:22] + "_" + RANDOM[:59],
    "a GitLab token": "gl" + "pat-" + RANDOM[:20],
    "a Hugging Face token": "h" + "f_" + (string.ascii_letters * 2)[3:37],
    "an Anthropic key": "sk-" + "ant-api03-" + RANDOM[:40],
    "an OpenAI key": "sk-" + "proj-" + RANDOM[:40],
    "an API key": "sk-" + RANDOM[:48],
    "an AWS access key": "AK" + "IA" + UPPER[:16],
    "an AWS access key ": "AS" + "IA" + UPPER[:16],
    "a Slack token": "xo" + "xb-" + RANDOM[:20],
    "a Slack webhook": "https://hooks.slack"
    + ".com/services/T0"
    + UPPER[:8]
    + "/B0"
    + UPPER[:8]
    + "/"
    + RANDOM[:24],
    "a Google API key": "AI" + "za" + RANDOM[:35],
    "a Google token": "ya" + "29." + RANDOM[:60],
    "an npm token": "np" + "m_" + RANDOM[:36],
    "a PyPI token": "py" + "pi-AgEI" + RANDOM[:80],
    "a Weights & Biases key": "wan" + "db_v1_" + RANDOM[:40],
    "an Azure storage key": "DefaultEndpointsProtocol=https;Account" + "Key=" + RANDOM[:86] + "==",
    "an Azure signature": "https://x.example/c?sv=2022&s" + "ig=" + RANDOM[:40] + "%3D",
    "a private key": "-----BEGIN RSA PRIV" + "ATE KEY-----\n" + RANDOM[:64] + "\n",
    "a private key ": "-----BEGIN OPENSSH PRIV" + "ATE KEY-----\\n" + RANDOM[:64],
    "a private key  ": "-----BEGIN PGP PRIV" + "ATE KEY BLOCK-----\n\nVersion: 1 of something\n",
    "a JSON web token": JWT,
    "a password in a URL": "https://user" + ":" + "pa55w0rd" + "@host.example/simple",
}


def no_secret(said: list[Diagnostic], *secrets: str) -> None:
    for diagnostic in said:
        assert diagnostic.id in CODES
        for text in (diagnostic.message, diagnostic.hint):
            assert not any(secret[i : i + 4] in text for secret in secrets for i in range(len(secret) - 3))


@pytest.mark.parametrize("what", TOKENS)
def test_shapes_are_refused_under_any_name(what: str) -> None:
    token = TOKENS[what]
    for value in (token, f"x {token}", f"{token}, more", f'"{token}"'):
        said = find([("HARMLESS", value, SPAN)])
        assert [(d.id, d.severity, d.span) for d in said] == [("TAU801", "error", SPAN)], value
        assert what.strip() in said[0].message
        assert "`HARMLESS`" in said[0].message
        assert "runtime.env_secret: {HARMLESS: SECRET:KEY}" in said[0].hint
        secret = token.partition("_")[2] or token
        no_secret(said, RANDOM[:48], UPPER, string.ascii_letters[3:30], "pa55w0rd")
        assert secret not in said[0].message
        assert find_in_text(value, SPAN, "`runtime.pip[0]`")[0].message.startswith(
            "`runtime.pip[0]` holds what looks like a"
        )


def test_every_shape_has_a_token() -> None:
    found = {hit.what for token in TOKENS.values() for hit in find_shapes(token)}
    assert found == {shape.what for shape in SHAPES}


@pytest.mark.parametrize(
    "name",
    [
        "HF_TOKEN",
        "GITHUB_TOKEN",
        "TOKEN",
        "hf_token",
        "WANDB_API_KEY",
        "OPENAI_API_KEY",
        "apiKey",
        "OPENAI_APIKEY",
        "MY_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "PASSWORD",
        "PGPASSWORD",
        "DbPassword",
        "MYSQL_PWD",
        "REDIS_PASSWD",
        "KEY_PASSPHRASE",
        "CLIENT_SECRET",
        "JWT_SECRET",
        "SECRET",
        "APP_CREDENTIALS",
        "AZURE_CREDS",
        "STORAGE_KEY",
        "SSH_PRIVATE_KEY",
        "API_KEY_2",
        "API_KEY2",
        "AUTH-TOKEN",
        "slack.bot.token",
        "FOO_ACCESSKEY",
        "ACCESSTOKEN",
    ],
)
def test_names_that_promise_a_credential(name: str) -> None:
    said = find([(name, "Xk29-fjq8Zw1", SPAN), ("OTHER", "Xk29-fjq8Zw1", SPAN)])
    assert [(d.id, d.span) for d in said] == [("TAU802", SPAN)]
    assert f"`{name}`" in said[0].message
    no_secret(said, "Xk29-fjq8Zw1")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # other things with the same words
        ("TOKENIZERS_PARALLELISM", "false"), ("TOKENIZER", "my-org/tok-v2"), ("MAX_TOKENS", "4096"), ("NUM_TOKENS", "12k"),
        ("MAX_NEW_TOKENS", "4096x"), ("PAD_TOKEN", "<pad-0>"), ("EOS_TOKEN", "endoftext1"), ("BOS_TOKEN", "<s>"),
        ("IMAGE_TOKEN", "img0"), ("CHAT_TOKEN", "<|im_start|>"), ("FIM_TOKEN", "[MASK]"), ("COST_PER_TOKEN", "0.002usd"),
        ("NEW_LINE_TOKEN", "\\n"), ("TOKEN_LIMIT", "4k"), ("TOKEN_BUDGET", "1e6x"),
        ("PUBLIC_KEY", "ssh-ed25519 AAAAC3Nz"), ("SORT_KEY", "ts_2"), ("TEXT_KEY", "text0"), ("CACHE_KEY", "v3-2024"),
        ("S3_KEY", "a1b2/c3"), ("METRIC_KEY", "eval/loss_1"), ("PARTITION_KEY", "day1"), ("KEY", "a1b2"),
        ("DATE_KEY", "created_at"), ("KEYS", "a1,b2"), ("MONKEY", "a1b2c3"), ("HOTKEY", "ctrl1"), ("KEYSTORE_TYPE", "PKCS12"),
        # about a secret
        ("AWS_ACCESS_KEY_ID_NAME", "x1"), ("API_KEY_PATH", "k1"), ("DB_PASSWORD_FILE", "f1"), ("TOKEN_URL", "https://a.example/t0"),
        ("PASSWORD_MIN_LENGTH", "12"), ("SECRET_NAME", "my-secret-1"), ("SSH_KEY_TYPE", "ed25519"), ("TOKEN_TTL", "3600s"),
        ("API_KEY_VERSION", "v2"), ("IMAGE_PULL_SECRET", "regcred1"), ("SECRET_REF", "vault1"),
        # values that are none
        ("HF_TOKEN", ""), ("HF_TOKEN", "  "), ("HF_TOKEN", "$(OTHER)"), ("HF_TOKEN", "${OTHER}"), ("HF_TOKEN", "$OTHER"),
        ("USE_TOKEN", "true"), ("ALLOW_EMPTY_PASSWORD", "yes"), ("API_KEY", "none"), ("NUM_KEY", "12"), ("RARE_KEY", "0.5"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/var/run/secrets/gcp.json"), ("SSH_PRIVATE_KEY", "~/.ssh/id_ed25519"),
        ("TLS_KEY", "./certs/tls-1.key"), ("API_TOKEN", "/run/token1"), ("MY_KEY", "certs/tls1.pem"),
        # nothing about them
        ("PWD", "/work1x"), ("COMMIT", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"), ("GIT_SHA", "a" * 39 + "1"),
        ("PATH", "/bin:/usr/bin"),
        ("DIGEST", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
        ("MODEL", "hf_model_name_or_path_of_it"),
        ("IMAGE", "docker://img:tag1@sha256:9f86d081"), ("TASK", "task-0123456789abcdef0123456789abcdef01234567"),
        ("MIRROR", "https://host.example:8443/simple"), ("EMAIL", "me@host.example"), ("REPO", "git@github.com:org/repo.git"),
        ("DB", "postgres://user:$(DB_PASSWORD)@db/x"), ("DB", "postgres://user:${DB_PASSWORD}@db/x"),
        ("EXAMPLE", "AK" + "IA" + "IOSFODNN7EXAMPLE"), ("HINT", "gh" + "p_" + "x" * 36), ("HINT", "sk-" + "0" * 48),
        ("PROXY", "http://proxy.example:3128"), ("TIMES", "http://a:1,http://b:2/@x"),
    ],
)  # fmt: skip
def test_what_passes(name: str, value: str) -> None:
    assert find([(name, value, SPAN)]) == []


def test_passwords_may_be_numbers_but_counts_may_not() -> None:
    assert [d.id for d in find([("DB_PASSWORD", "123456", SPAN), ("CLIENT_SECRET", "1234", None)])] == [
        "TAU802"
    ] * 2
    assert [d.id for d in find([("API_KEY", "123456789012", SPAN)])] == ["TAU802"]


def test_an_aws_secret_that_looks_like_a_path() -> None:
    assert [d.id for d in find([("AWS_SECRET_ACCESS_KEY", "/" + RANDOM[:39], SPAN)])] == ["TAU802"]


def test_words_under_key_names() -> None:
    assert find([("DATE_KEY", "created", SPAN)]) == []
    assert [d.id for d in find([("API_KEY", "created", SPAN)])] == ["TAU802"]
    assert [d.id for d in find([("DATE_KEY", "9f86d081884c", SPAN)])] == ["TAU802"]


def test_other_kinds_of_names() -> None:
    said = find([("api_key", "Xk29", SPAN)], "setting")
    assert "the setting `api_key`" in said[0].message


@pytest.mark.parametrize(
    "line",
    [
        "--extra-index-url https://user" + ":" + "s3cr3t" + "@pypi.example/simple",
        "pkg @ git+https://oauth2" + ":" + "s3cr3t" + "@git.example/org/pkg.git@v1",
        "pkg @ git+https://" + TOKENS["a GitHub token"] + "@github.com/org/pkg.git",
        "--index-url https://:" + "s3cr3t" + "@pypi.example/simple",
    ],
)
def test_requirement_lines(line: str) -> None:
    said = find_in_text(line, SPAN, "`runtime.pip[2]`")
    assert [(d.id, d.severity, d.span) for d in said] == [("TAU801", "error", SPAN)]
    no_secret(said, "s3cr3t", RANDOM[:36])


@pytest.mark.parametrize(
    "line",
    [
        "torch>=2.4.0",
        "pkg @ git+https://github.com/org/pkg.git@v1",
        "-r requirements.txt",
        "--hash=sha256:" + "0a" * 32,
    ],
)
def test_plain_requirement_lines(line: str) -> None:
    assert find_in_text(line, SPAN, "x") == []


def test_azure_signatures() -> None:
    signature = "abcdefghijABCDEFGHIJ0123456789%2Bab%3D"
    for text in (
        f"https://a.blob.core.windows.net/c?sv=2024-11-04&sig={signature}",
        f"sv=2024-11-04&se=2030-01-01&sig={signature}",
        f"sig={signature}&se=2030-01-01",
        f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={'0123456789abcdefABCD' * 4}==",
    ):
        (found,) = find_in_text(text, SPAN, "`model.base`")
        assert found.id == "TAU801"
        no_secret([found], signature)
    assert find_in_text(f"sig={signature}", SPAN, "`model.base`") == []


def test_code_is_an_error_for_exact_shapes() -> None:
    token = TOKENS["a Hugging Face token"]
    said = find_in_code("src/é.py", f"import os\n\té = '{token}'\n".encode())
    assert [(d.id, d.severity) for d in said] == [("TAU803", "error")]
    assert said[0].span == Span("src/é.py", 2, 7, 2, 7 + len(token))
    no_secret(said, token)
    key = TOKENS["a private key"]
    said = find_in_code("k.pem", f"\n\n{key}".encode())
    assert [d.id for d in said] == ["TAU803"]
    assert said[0].span == Span("k.pem", 3, 1, 3, 1 + key.index("\n"))


def test_code_is_a_warning_for_what_examples_hold() -> None:
    head = "-----BEGIN RSA PRIV" + "ATE KEY"
    for text in (f'if line.startswith("{head}-----"):\n', f"T = '{JWT}'\n", TOKENS["a password in a URL"]):
        assert [(d.id, d.severity) for d in find_in_code("a.py", text.encode())] == [("TAU804", "warning")], (
            text
        )


@pytest.mark.parametrize(
    "text",
    [
        'url = f"postgres://{user}' + ':{password}@{host}/db"',
        '"postgres://%s' + ':%s@%s/db" % (u, p, h)',
        "# https://user" + ":pass@host.example",
        "https://user" + ":$PASSWORD@host",
        "API_KEY = os.environ['API_KEY']\npassword = 'hunter2'\n",
        "token = 'gh" + "p_" + "*" * 36 + "'",
        "class hf_model_for_causal_language_modelling_base: pass",
    ],
)  # fmt: skip
def test_code_that_passes(text: str) -> None:
    assert find_in_code("a.py", text.encode()) == []


def test_binary_files_are_not_searched() -> None:
    assert find_in_code("m.bin", b"\0" + TOKENS["a GitHub token"].encode()) == []
    assert [d.id for d in find_in_code("latin.py", b"\xff " + TOKENS["a GitHub token"].encode())] == [
        "TAU803"
    ]


_MARKS = [mark for shape in SHAPES for mark in shape.marks]
_HOSTILE = [
    *(mark * (400000 // len(mark)) for mark in _MARKS),
    "a" * 400000, "eyJ" + "a" * 400000, ("eyJaaaaaaaa." * 34000), "://" + "a:" * 200000, "://a:" * 80000,
    ("://" + "a" * 300 + ":" + "b" * 1100) * 280, "-----BEGIN " * 36000, "-----BEGIN PRIVATE KEY" * 18000,
    "sk-ant-" * 56000 + "!", "AKIA" * 100000, "Account" + "Key=" * 100000, "$" * 400000, "a/" * 200000,
    "a." * 200000,
    ".".join(["a/b"] * 100000), "A_" * 200000, "[" * 400000, "<" * 400000, "1" * 400000,
]  # fmt: skip


@pytest.mark.parametrize("index", range(len(_HOSTILE)))
def test_hostile_text_takes_linear_time(index: int) -> None:
    text = _HOSTILE[index]
    start = time.process_time()
    find([("API_KEY", text, SPAN), (text[:100_000], "x1", SPAN)])
    find_in_code("a.py", text.encode())
    assert time.process_time() - start < 5


@settings(deadline=None)
@given(st.text(), st.text())
@example("", "x")
@example("___", "x1")
@example("123", "x1")
@example("_1", "x1")
def test_never_a_traceback(name: str, value: str) -> None:
    find([(name, value, None)])
    find_in_text(value, None, "x")
    find_in_code("x", value.encode("utf-8", "surrogatepass"))


@settings(deadline=None)
@given(st.sampled_from(sorted(TOKENS)), st.sampled_from(" \n'=,(é"), st.text("xyz .\n", max_size=20))
def test_tokens_are_found_anywhere(what: str, before: str, around: str) -> None:
    text = f"{around}{before}{TOKENS[what]}\n{around}"
    assert what.strip() in {hit.what for hit in find_shapes(text)}

"""The shapes of credentials: tokens that their issuers made recognisable, keys in PEM, passwords in URLs.

A pattern is tried only where its mark occurs, and compiled only then. Every repetition is bounded or of one
class that excludes what follows it, and most begin where no letter or digit stands before: the time is
linear in the length of the text, whatever the text is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Shape(NamedTuple):
    """One kind of credential. ``exact``: nothing else looks like it, so it is one even in code."""

    what: str
    marks: tuple[str, ...]
    pattern: str
    exact: bool = True


class Hit(NamedTuple):
    """What was found where, in code points from the start of the text; ``exact`` as in ``Shape``."""

    what: str
    start: int
    end: int
    exact: bool


_B = r"(?<![A-Za-z0-9])"
_W = "[A-Za-z0-9_-]"
_URL = r"""://[^\s/:@'"<>`]{0,256}:(?P<secret>[^\s/@'"<>`]{1,1024})@(?!sha256:)"""

SHAPES = (
    Shape(
        "a GitHub token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        _B + r"gh[pousr]_(?P<secret>[A-Za-z0-9]{36})",
    ),
    Shape("a GitHub token", ("github_pat_",), _B + r"github_pat_(?P<secret>[A-Za-z0-9_]{50})"),
    Shape("a GitLab token", ("glpat-",), _B + rf"glpat-(?P<secret>{_W}{{20}})"),
    Shape("a Hugging Face token", ("hf_",), _B + r"hf_(?P<secret>[A-Za-z0-9]{34})(?![A-Za-z0-9_])"),
    Shape("an Anthropic key", ("sk-ant-",), _B + rf"sk-ant-(?P<secret>{_W}{{20}})"),
    Shape(
        "an OpenAI key",
        ("sk-proj-", "sk-svcacct-", "sk-admin-"),
        _B + rf"sk-(?:proj|svcacct|admin)-(?P<secret>{_W}{{20}})",
    ),
    Shape("an API key", ("sk-",), _B + r"sk-(?P<secret>[A-Za-z0-9]{32})"),
    Shape("an AWS access key", ("AKIA", "ASIA"), _B + r"A[KS]IA(?P<secret>[A-Z2-7]{16})(?![A-Za-z0-9])"),
    Shape("a Slack token", ("xox",), _B + r"xox[abeoprs]-(?P<secret>[A-Za-z0-9-]{10})"),
    Shape(
        "a Slack webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/[a-z]{1,20}/(?P<secret>T[A-Z0-9]{1,20}/B[A-Z0-9]{4})",
    ),
    Shape("a Google API key", ("AIza",), _B + rf"AIza(?P<secret>{_W}{{35}})(?!{_W})"),
    Shape("a Google token", ("ya29.",), _B + rf"ya29\.(?P<secret>{_W}{{20}})"),
    Shape("an npm token", ("npm_",), _B + r"npm_(?P<secret>[A-Za-z0-9]{36})(?![A-Za-z0-9_])"),
    Shape("a PyPI token", ("pypi-",), _B + rf"pypi-(?P<secret>{_W}{{50}})"),
    Shape("a Weights & Biases key", ("wandb_v1_",), _B + rf"wandb_v1_(?P<secret>{_W}{{20}})"),
    Shape(
        "an Azure storage key",
        ("AccountKey=", "SharedAccessKey="),
        r"(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/]{40})",
    ),
    Shape(
        "an Azure signature",
        ("sig=",),
        r"(?:[?&]sig=|(?<![A-Za-z0-9])sig=(?=[A-Za-z0-9%+/=]{30,120}&s[a-z]=))(?P<secret>[A-Za-z0-9%+/]{30})",
    ),
    Shape(
        "a private key",
        ("PRIVATE KEY",),
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY"
        r"(?P<body>(?: BLOCK)?-----(?:\s|\\n|\\r){1,4}[A-Za-z0-9+/=:, -]{20})?",
    ),
    Shape(
        "a JSON web token",
        ("eyJ",),
        rf"(?<!{_W})eyJ{_W}{{8,}}\.eyJ(?P<secret>{_W}{{8,}})\.{_W}{{8}}",
        exact=False,
    ),
    Shape("a password in a URL", ("://",), _URL, exact=False),
)


_SHORT = 200  # characters of what is likely to come again, in one workload after the other


def find_shapes(text: str) -> Iterable[Hit]:
    """The first place of each shape, placeholders (``ghp_xxxx…``, ``user:$(PASSWORD)@host``) apart."""
    return _found_again(text) if len(text) <= _SHORT else _found(text)


@lru_cache(maxsize=4096)
def _found_again(text: str) -> tuple[Hit, ...]:
    return tuple(_found(text))


def _found(text: str) -> Iterator[Hit]:
    for shape in SHAPES:
        if not any(mark in text for mark in shape.marks):
            continue
        for match in re.finditer(shape.pattern, text):
            groups = match.groupdict("")
            secret = groups.get("secret", "")
            if not placeholder(secret) and not reference(secret):
                # The head of a private key without a body is often the mark that a program looks for.
                exact = shape.exact and groups.get("body") != ""
                yield Hit(shape.what, match.start(), match.end(), exact)
                break


def placeholder(secret: str) -> bool:
    """Whether a value only shows where a credential would stand: a few characters repeated, or so it says."""
    return len(set(secret)) <= 3 < len(secret) or secret.endswith("EXAMPLE")


def reference(value: str) -> bool:
    """Whether a value is another variable: ``$(NAME)``, ``${NAME}`` or ``$NAME``."""
    return re.fullmatch(r"\$(?:\([A-Za-z_]\w*\)|\{[A-Za-z_]\w*\}|[A-Za-z_]\w*)", value) is not None

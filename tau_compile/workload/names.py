"""Names and label values: their grammars, and one length budget for all that is derived from a run's name.

A run is called ``<name>-<8 hex digits>``, or ``<prefix>-<name>-<8 hex digits>``. Kubernetes, Kueue and
KubeRay derive more names from it; where one would be cut or refused, the run hangs or loses its address (B-19
to B-24), so the user's name must leave room for all of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from tau_compile.diagnostics import error, shown
from tau_compile.named import NamedTuple

if TYPE_CHECKING:
    from tau_compile.diagnostics import Diagnostic, Span

Kind = Literal["job", "rayjob"]

RUN_SUFFIX = 9
"""The length of what a run id adds to the name: a dash and 8 hex digits."""

_LABEL = 63
_SUBDOMAIN = 253

_DNS_1035 = re.compile(r"[a-z](?:[a-z0-9-]*[a-z0-9])?")
_DNS_1123 = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_VALUE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_VALUE = re.compile(r"[^a-z0-9_.-]+")


class Derived(NamedTuple):
    """A name made from a run id: what bears it, how long it may be, why, and the id of the refusal."""

    what: str
    name: str
    limit: int
    rule: str
    id: str


def derived_names(kind: Kind, run_id: str, nodes: int) -> tuple[Derived, ...]:
    """Every name that comes from a run's id, ours and those of controllers; ``nodes`` counts a Job's pods."""
    code = Derived(
        "code ConfigMap", f"{run_id}-code", _SUBDOMAIN, "that is the longest object name", "TAU412"
    )
    job_rule = "its name is a label of its pods"  # J14
    if kind == "rayjob":
        cluster = f"{run_id}-xxxxx"  # five random characters (R50)
        return (
            Derived("RayJob", run_id, 47, "KubeRay refuses longer names", "TAU601"),  # R3
            Derived("RayCluster", cluster, 53, "KubeRay refuses longer names", "TAU601"),  # R3
            Derived("head Service", f"{cluster}-head-svc", _LABEL, "it is a host name", "TAU601"),
            Derived("submitter Job", run_id, _LABEL, job_rule, "TAU601"),  # R42
            code,
        )
    job = Derived("Job", run_id, _LABEL, job_rule, "TAU412")
    if nodes < 2:
        return (job, code)
    return (
        job,
        Derived("last pod", f"{run_id}-{nodes - 1}", _LABEL, "it is a host name", "TAU412"),  # J13
        Derived("Service between the pods", f"{run_id}-peers", _LABEL, "it is a host name", "TAU412"),
        code,
    )


def name_budget(kind: Kind, nodes: int, prefix: str = "") -> tuple[int, Derived]:
    """How many characters a name may have, and what allows no more (its ``name`` is a pattern)."""
    head = f"{prefix}-" if prefix else ""
    patterns = derived_names(kind, f"{head}<name>-<hash>", nodes)
    tightest = min(patterns, key=lambda d: d.limit - len(d.name))
    taken = len(tightest.name) - len("<name>-<hash>") + RUN_SUFFIX
    return tightest.limit - taken, tightest


def check_name(name: str, span: Span | None, kind: Kind, nodes: int, prefix: str = "") -> list[Diagnostic]:
    """Check a run's name: its grammar (a DNS-1035 label: R3, Services) and its length."""
    limit, tightest = name_budget(kind, nodes, prefix)
    if limit < 1:
        message = f"the prefix {shown(prefix)} leaves no room for a name"
        hint = f"shorten the prefix: {_why(tightest)}"
        return [error(tightest.id, message, span, hint)]
    well_formed = (_DNS_1123 if prefix else _DNS_1035).fullmatch(name) is not None
    if well_formed and len(name) <= limit:
        return []
    found: list[Diagnostic] = []
    cure = suggested_name(name, limit, digit_first=bool(prefix))
    example = f', for example "{cure}"' if cure else ""
    if not well_formed:
        start = "" if prefix else ", starting with a letter"
        rule = f"use lowercase letters, digits and inner dashes{start}"
        what = f"{shown(name)} cannot be a name in Kubernetes" if name else "the name is empty"
        found.append(error("TAU411", what, span, rule + example))
    if len(name) > limit:
        excess = len(name) - limit
        message = f"the name {shown(name)} has {len(name)} characters, {excess} too many: at most {limit}"
        found.append(error(tightest.id, message, span, f"shorten it{example}: {_why(tightest)}"))
    return found


def _why(tightest: Derived) -> str:
    return (
        f"the run's {tightest.what} is called {tightest.name} and may have {tightest.limit} characters, "
        f"since {tightest.rule}"
    )


def suggested_name(name: str, limit: int = _LABEL, *, digit_first: bool = False) -> str:
    """Make a valid name of at most ``limit`` characters that resembles ``name``; empty if nothing is left."""
    import unicodedata

    bare = "".join(c for c in unicodedata.normalize("NFKD", name[:1_000]) if not unicodedata.combining(c))
    text = re.sub(r"[^a-z0-9]+", "-", bare.lower()).strip("-")
    if not digit_first and text[:1].isdigit():
        text = f"run-{text}"
    if len(text) > limit:
        cut = text[:limit]
        # Whole words, unless that would lose more than half of the room.
        words = cut.rpartition("-")[0] if text[limit] != "-" else cut
        text = (words if len(words) > limit // 2 else cut).strip("-")
    return text


def label_value(text: str) -> str:
    """Make any text safe as a label value: lowercase, at most 63 characters; a result maps to itself.

    Runs of characters that labels do not allow become a dash; a hash tells apart what was cut or came out
    empty.
    """
    safe = _NOT_VALUE.sub("-", text.lower()).strip("-_.")
    if safe and len(safe) <= _LABEL:
        return safe
    import hashlib

    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    head = safe[: _LABEL - 1 - len(digest)].rstrip("-_.")
    return f"{head}-{digest}" if head else digest


def is_label_value(text: str) -> bool:
    """Whether it may stand as a label's value; the empty text may."""
    return not text or (len(text) <= _LABEL and _VALUE.fullmatch(text) is not None)


def is_dns_label(text: str) -> bool:
    """Whether it is a DNS-1123 label: namespaces, containers, volumes, host names."""
    return len(text) <= _LABEL and _DNS_1123.fullmatch(text) is not None


def is_dns_1035_label(text: str) -> bool:
    """Whether it is a DNS-1035 label, which starts with a letter: Services and Ray objects (R3)."""
    return len(text) <= _LABEL and _DNS_1035.fullmatch(text) is not None


def is_dns_subdomain(text: str) -> bool:
    """Whether it is a DNS-1123 subdomain: the names of most objects."""
    return len(text) <= _SUBDOMAIN and all(_DNS_1123.fullmatch(part) for part in text.split("."))


def is_qualified_name(text: str) -> bool:
    """Whether it may be the key of a label or annotation: ``name`` or ``dns.subdomain/name``."""
    prefix, slash, name = text.rpartition("/")
    return (
        (not slash or is_dns_subdomain(prefix)) and len(name) <= _LABEL and _VALUE.fullmatch(name) is not None
    )


def is_env_name(text: str) -> bool:
    """Whether it is a C identifier, as a shell needs for an environment variable."""
    return _ENV_NAME.fullmatch(text) is not None

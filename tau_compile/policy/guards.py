"""What an overlay document enforces and limits, and the exceptions it makes, as frozen values. Imported only where one does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, error
from tau_compile.named import NamedTuple
from tau_compile.source.nodes import Mapping, Scalar, Sequence, find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tau_compile.diagnostics import Span


class Limit(NamedTuple):
    """One limit. Absent checks are None; ``span`` is its name's, every value keeps its own."""

    name: str
    span: Span
    field: Scalar
    minimum: Scalar | None
    maximum: Scalar | None
    one_of: tuple[Scalar, ...] | None
    pattern: Scalar | None
    required: Scalar | None
    forbidden: Scalar | None
    message: str
    warns: bool


class Waiver(NamedTuple):
    """A named exception for one workload, until the end of the day ``expires`` (``YYYY-MM-DD``)."""

    workload: str
    workspace: Scalar | None
    limits: tuple[Scalar, ...]
    enforce: tuple[Scalar, ...]
    reason: str
    expires: Scalar
    span: Span


class Guards(NamedTuple):
    """``enforce``, ``limits`` and ``waivers`` of one document."""

    enforce: Mapping | None
    limits: tuple[Limit, ...]
    waivers: tuple[Waiver, ...]


# Which workload a profile is for is decided before the profile is known.
_CHOOSING = ("policy.profile", "policy.team", "policy.lane")
# Read from the workload's own file only: no layer has a say in when a file launches.
_OWN = ("run.launch", "run.on_change")


def read_guards(
    kind: str, node: Mapping, partial: Callable[[str], Mapping | None], said: list[Diagnostic]
) -> Guards:
    """Read a checked document; ``partial`` reads one of its sections as a partial tau.yaml."""
    enforce = partial("enforce")
    if enforce is not None:
        said += _unenforceable(kind, enforce)
    return Guards(
        enforce,
        tuple(_limit(item) for item in _mappings(node.get("limits"))),
        tuple(_waiver(item) for item in _mappings(node.get("waivers"))),
    )


def _unenforceable(kind: str, enforce: Mapping) -> Iterator[Diagnostic]:
    reasons = dict.fromkeys(_OWN, "it is read from the workload's own file, and would not hold")
    if kind == "Profile":
        reasons |= dict.fromkeys(_CHOOSING, "it decides which profile a workload has")
    for path, why in reasons.items():
        found = find(enforce, path)
        if found is not None:
            cure = "remove it" if path in _OWN else "enforce it in the Platform, a Cluster or a Workspace"
            message = f"`{path}` cannot be enforced here: {why}"
            yield error("TAU340", message, found.span, cure)


def _limit(item: Mapping) -> Limit:
    name, options, mode = item.get("name"), item.get("oneOf"), item.get("mode")
    field = _scalar(item, "field") or Scalar(item.span, "", False)
    return Limit(
        name.text if isinstance(name, Scalar) else "",
        name.span if name else item.span,
        field,
        _scalar(item, "min"),
        _scalar(item, "max"),
        tuple(o for o in options.items if isinstance(o, Scalar)) if isinstance(options, Sequence) else None,
        _scalar(item, "pattern"),
        _scalar(item, "required"),
        _scalar(item, "forbidden"),
        _text(item, "message"),
        isinstance(mode, Scalar) and mode.text == "warn",
    )


def _waiver(item: Mapping) -> Waiver:
    workload = item.get("workload")
    return Waiver(
        _text(item, "workload"),
        _scalar(item, "workspace"),
        _scalars(item, "limits"),
        _scalars(item, "enforce"),
        _text(item, "reason"),
        _scalar(item, "expires") or Scalar(item.span, "", False),
        workload.span if workload else item.span,
    )


def _mappings(node: object) -> list[Mapping]:
    return [item for item in node.items if isinstance(item, Mapping)] if isinstance(node, Sequence) else []


def _scalars(item: Mapping, name: str) -> tuple[Scalar, ...]:
    node = item.get(name)
    return tuple(o for o in node.items if isinstance(o, Scalar)) if isinstance(node, Sequence) else ()


def _scalar(item: Mapping, name: str) -> Scalar | None:
    node = item.get(name)
    return node if isinstance(node, Scalar) else None


def _text(item: Mapping, name: str) -> str:
    node = item.get(name)
    return node.text.strip() if isinstance(node, Scalar) else ""

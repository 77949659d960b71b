"""The strict YAML reader: bytes to positioned nodes, and everything wrong with them as diagnostics.

The meaning of a file must not rest on a YAML library or its version, so what libraries read differently is
refused or kept as spelled: a scalar is its text, and ``scalars`` types it where one is wanted (B50, B52).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from yaml.error import MarkedYAMLError, YAMLError

from tau_compile.diagnostics import Diagnostic, Span, error, ordered
from tau_compile.named import NamedTuple
from tau_compile.source.composer import Composer, Stop
from tau_compile.source.decode import decode
from tau_compile.source.limits import Limits
from tau_compile.source.nodes import Node, Scalar

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

try:
    from yaml._yaml import CParser
except ImportError:  # pragma: no cover - a PyYAML that was built without libyaml
    CParser = None  # type: ignore[assignment,misc]

__all__ = ["Limits", "ReadResult", "read"]

Loader = Literal["c", "python"]


class ReadResult(NamedTuple):
    """A document, and what is wrong with it.

    ``node`` is None if the document has no certain meaning. A duplicate key (the first counts) or a tag (it
    is ignored) leaves a node to find further mistakes in; ``diagnostics`` has an error all the same.
    """

    node: Node | None
    diagnostics: tuple[Diagnostic, ...]


_DEFAULT = Limits()
_CONFLICT = "<<<<<<< "  # at the beginning of a line


def read(data: bytes, file: str, limits: Limits = _DEFAULT, *, loader: Loader | None = None) -> ReadResult:
    """Read one YAML document.

    ``file`` is the label of the spans. ``loader`` selects the parser, for tests: libyaml ("c") is the default
    where PyYAML has it, and the results are the same. Never raises, whatever the bytes.
    """
    text, diagnostics = decode(data, file, limits)
    if diagnostics:
        return ReadResult(None, tuple(diagnostics))
    if _CONFLICT in text and (text.startswith(_CONFLICT) or f"\n{_CONFLICT}" in text):
        return ReadResult(None, (_conflict(text, file),))
    composer = Composer(text, file, limits)
    try:
        composer.run(_events(text, loader))
    except Stop:
        composer.broken = True
    except MarkedYAMLError as problem:
        if loader != "python" and "nesting" in (problem.problem or ""):
            # Newer versions of libyaml count brackets too, but ahead of the parse, so the place would be wrong.
            return read(data, file, limits, loader="python")
        composer.broken = True
        from tau_compile.source.syntax import Reporter

        composer.diagnostics.append(Reporter(text, file).explain(problem, composer.opened()))
    except (YAMLError, UnicodeDecodeError):
        # libyaml lets a tag pass whose %-escapes are not UTF-8, and PyYAML then fails to decode it.
        composer.broken = True
        from tau_compile.source.syntax import Reporter

        composer.diagnostics.append(Reporter(text, file).undecodable_tag(composer.last_index()))
    node = composer.root
    if not composer.broken and (node is None or (isinstance(node, Scalar) and node.plain and not node.text)):
        composer.broken = True
        message = "the document is empty"
        composer.diagnostics.append(
            error("TAU108", message, Span(file, 1, 1, 1, 1), "write `key: value` lines")
        )
    return ReadResult(None if composer.broken else node, tuple(ordered(composer.diagnostics)))


def _conflict(text: str, file: str) -> Diagnostic:
    from tau_compile.source.places import line_end, span_of

    start = 0 if text.startswith(_CONFLICT) else text.index(f"\n{_CONFLICT}") + 1
    hint = "resolve it: keep one side, or both, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>"
    return error(
        "TAU127", "a merge conflict begins here", span_of(text, file, start, line_end(text, start)), hint
    )


def _events(text: str, loader: Loader | None) -> Callable[[], Any]:
    if CParser is not None and loader != "python":
        get_event: Callable[[], Any] = CParser(text).get_event
        return get_event
    from tau_compile.source.fallback import PureParser

    return PureParser(text).get_event

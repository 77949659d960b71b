"""Waivers: which one lifts a limit or an enforced value for a workload, on what day.

Nothing reads the clock: the day is the caller's. Authority points down: a document lifts what itself or a layer below it says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tau_compile.diagnostics import Related
from tau_compile.named import NamedTuple
from tau_compile.policy.former import workspace_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.diagnostics import Severity
    from tau_compile.policy.guards import Waiver
    from tau_compile.policy.model import Cluster, Overlays, Platform, Profile, Workspace

    Document = Platform | Cluster | Workspace | Profile

Stance = Literal["launch", "look", "adopt"]
"""Why a workload is judged: it is to be launched; somebody asks about it, who cannot tell whether it is launched already, nor
always the day; or it is recorded as it is and launches nothing, so that what it breaks is only said."""

KINDS = ("Platform", "Cluster", "Workspace", "Profile")


def kind_of(document: Document) -> str:
    """The document's kind."""
    return type(document).__name__


def label(document: Document) -> str:
    """How a document is called in messages: ``platform `lab```."""
    return f"{kind_of(document).lower()} `{document.name}`"


def reaches(above: Document, document: Document) -> bool:
    """Whether a waiver in ``above`` may lift what ``document`` says, where both apply to one workload."""
    if above is document or kind_of(above) == "Platform":
        return True
    return kind_of(above) == "Cluster" and kind_of(document) == "Workspace"


def covers(paths: tuple[str, ...], path: str) -> bool:
    """Whether one of the paths is, or holds, ``path``."""
    return any(path == one or path.startswith(f"{one}.") for one in paths)


class Offer(NamedTuple):
    """A waiver that is meant for the case at hand, and whether it applies. ``sure``: on that day, not only on some day."""

    waiver: Waiver
    document: Document
    applies: bool
    sure: bool


class Waivers:
    """The waivers that may concern one workload."""

    def __init__(
        self,
        overlays: Overlays,
        documents: tuple[Document, ...],
        workload: str,
        space: Workspace,
        as_of: str,
        stance: Stance,
    ) -> None:
        self._as_of, self._stance = as_of, stance
        # What is adopted is the same on every day.
        meant = () if stance == "adopt" else self._meant(overlays, documents, workload, space)
        self._found = list(meant)

    def _meant(
        self, overlays: Overlays, documents: tuple[Document, ...], workload: str, space: Workspace
    ) -> Iterator[tuple[Document, Waiver]]:
        for document in documents:
            for waiver in document.guards.waivers if document.guards else ():
                if waiver.workload != workload:
                    continue
                asked = workspace_names(overlays).get(waiver.workspace.text) if waiver.workspace else space
                if asked is space:
                    yield document, waiver

    def limit(self, document: Document, name: str) -> Offer | None:
        """The waiver of a limit of ``document``."""
        return self._best(document, [f for f in self._found if name in [limit.text for limit in f[1].limits]])

    def lock(self, document: Document, path: str) -> Offer | None:
        """The waiver of an enforced value of ``document``."""
        found = [f for f in self._found if covers(tuple(p.text for p in f[1].enforce), path)]
        return self._best(document, found)

    def _best(self, document: Document, found: list[tuple[Document, Waiver]]) -> Offer | None:
        """One that applies, else the one that lasts longest."""
        reaching = [(above, waiver) for above, waiver in found if reaches(above, document)]
        if not reaching:
            return None
        above, waiver = max(reaching, key=lambda item: item[1].expires.text)
        sure = bool(self._as_of) and self._as_of <= waiver.expires.text
        return Offer(waiver, above, sure or (self._stance == "look" and not self._as_of), sure)

    def severity(self, offer: Offer | None) -> Severity:
        """How bad a breach is. Of one whose waiver is over, only who launches can tell whether it is a new one."""
        over = offer is not None and not offer.applies and self._stance == "look"
        return "warning" if over or self._stance == "adopt" else "error"

    def advice(self, offer: Offer | None) -> tuple[str, tuple[Related, ...]]:
        """What to say of a waiver that exists and does not apply."""
        if offer is None:
            return "; as the file stands it launches nothing" * (self._stance == "adopt"), ()
        until = offer.waiver.expires.text
        place = (Related(offer.waiver.span, f"the waiver, until {until}"),)
        if self._as_of:
            return f"; the waiver ended on {until}, and a new launch needs another one", place
        return f"; there is a waiver until {until}: pass today's date, `--as-of YYYY-MM-DD`, to use it", place

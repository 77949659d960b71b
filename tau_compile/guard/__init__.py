"""What the platform enforces and limits, brought to bear on one workload.

Enforced values are a layer above tau.yaml: a user may repeat one, in any spelling, and not contradict it. Limits are judged
on what is resolved. The room is imported only where an overlay has `enforce`, `limits` or `waivers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related
from tau_compile.guard.fit import applicable, around, outranked, without
from tau_compile.guard.tree import Tree
from tau_compile.guard.values import Value, is_hidden, shown, wholes
from tau_compile.guard.waivers import Waivers, label
from tau_compile.policy.fit import fitting
from tau_compile.policy.merge import Layer, merge
from tau_compile.policy.profile import is_ray
from tau_compile.policy.resolve import Settled, Waived
from tau_compile.source.forms import without_implied
from tau_compile.source.nodes import Mapping, Scalar, find
from tau_compile.workload.view import View

if TYPE_CHECKING:
    from tau_compile.guard.waivers import Document, Offer, Stance
    from tau_compile.policy.model import Cluster, Overlays, Profile, Workspace
    from tau_compile.policy.resolve import Resolved
    from tau_compile.workload.model import Workload


class Guard:
    """Everything that is enforced and limited in one repository."""

    def __init__(self, overlays: Overlays, as_of: str, stance: Stance = "launch") -> None:
        self._overlays, self._as_of, self._stance = overlays, as_of, stance
        self._known: dict[tuple[int, bool], tuple[Mapping, list[Value]]] = {}

    def adopting(self) -> Guard:
        """The same for what is recorded and not launched."""
        return Guard(self._overlays, "", "adopt")

    def above(self, cluster: Cluster, space: Workspace) -> list[Layer]:
        """What is enforced whatever the profile, lowest first. The Platform has the last word."""
        return [layer for _, layer in _layers((space, cluster, self._overlays.platform))]

    def settle(
        self,
        below: list[Layer],
        document: Mapping,
        place: tuple[Cluster, Workspace, Profile | None],
        said: list[Diagnostic],
    ) -> Settled:
        """The layers of one workload; contradictions go into ``said``, used waivers into the result."""
        cluster, space, profile = place
        chain = (profile, space, cluster, self._overlays.platform)
        locks = _layers(tuple(one for one in chain if one is not None))
        top = Layer("tau.yaml", document)
        ray = _is_ray([*(layer for _, layer in reversed(locks)), top, *reversed(below)])
        waivers, own = self._waivers(document, place), Tree(document)
        above, waived, locked = [], [], []
        for owner, layer in locks:
            node, enforced = self._enforced(layer.node, ray)
            lifted: list[str] = []
            for value in enforced:
                for other in around(value, own, ray):
                    if other.span == document.span and other.path == "compute.gpus":
                        continue  # nobody wrote it
                    offer = waivers.lock(owner, value.path)
                    if offer is not None and offer.applies:
                        lifted.append(value.path)
                        waived.append(use(offer, other, value.path, said))
                    else:
                        said.append(_contradiction(document, other, value, owner, waivers, offer))
            above.append(layer._replace(node=without(node, lifted)))
            locked += [value for value in enforced if value.path not in lifted]
        if any(value.path == "compute.gpus" for value in locked):
            document = without_implied(document, "compute.gpus")
            top = Layer("tau.yaml", document)
        ruled = merge([top, *above]).node
        below = [
            layer._replace(node=without(layer.node, outranked(locked, layer.node, ray)))
            for layer in fitting(below, ruled)
        ]
        if any(layer.node.get(name) for layer in above for name in ("execution", "profiler")):
            above = fitting(above, merge([*below, Layer("tau.yaml", ruled)]).node)
        return Settled(below, document, above, tuple(dict.fromkeys(waived)))

    def _enforced(self, node: Mapping, ray: bool) -> tuple[Mapping, list[Value]]:
        """What of an enforced layer applies to a Job or RayJob; found once for all of them."""
        key = (id(node), ray)
        if key not in self._known:
            fit = applicable(node, ray)
            self._known[key] = (fit, wholes(fit))
        return self._known[key]

    def judged(self, resolved: Resolved, workload: Workload, said: list[Diagnostic]) -> Resolved:
        """Judge the limits; ``said`` gets the breaches, the result the waivers that were used."""
        chain = (resolved.platform, resolved.cluster, resolved.workspace, resolved.profile)
        documents = [d for d in chain if d is not None and d.guards is not None and d.guards.limits]
        if not documents:
            return resolved
        from tau_compile.guard.limits import judge

        place = (resolved.cluster, resolved.workspace, resolved.profile)
        waivers = self._waivers(resolved.document, place)
        waived = judge(resolved, workload, documents, waivers, said)
        return resolved._replace(waived=tuple(dict.fromkeys((*resolved.waived, *waived))))

    def _waivers(self, document: Mapping, place: tuple[Cluster, Workspace, Profile | None]) -> Waivers:
        cluster, space, _ = place
        name, prefix = (find(document, path) for path in ("name", "resource_naming.prefix"))
        own = name.text if isinstance(name, Scalar) else ""
        full = f"{prefix.text}-{own}" if isinstance(prefix, Scalar) and prefix.text else own
        documents = (self._overlays.platform, cluster, space)
        return Waivers(self._overlays, documents, full, space, self._as_of, self._stance)


def _layers(chain: tuple[Document, ...]) -> list[tuple[Document, Layer]]:
    return [
        (one, Layer(f"{label(one)} (enforced)", one.guards.enforce))
        for one in chain
        if one.guards is not None and one.guards.enforce is not None
    ]


def _is_ray(layers: list[Layer]) -> bool:
    """Whether layers, the highest first, make a RayJob."""
    return is_ray(next((one.node for one in layers if find(one.node, "run.workload_kind")), layers[0].node))


def use(offer: Offer, value: Value, lifted: str, said: list[Diagnostic]) -> Waived:
    """Say that a waiver was used, or that it may be."""
    waiver = offer.waiver
    stands = "stands" if offer.sure else "can stand only"
    said.append(
        Diagnostic(
            "TAU343",
            "info" if offer.sure else "warning",
            f"{shown(value)} {stands} by a waiver of `{lifted}`, until {waiver.expires.text}: {waiver.reason}",
            value.span,
            "it applies to launches up to that day; what was launched stays"
            if offer.sure
            else "nothing launches without today's date, `--as-of YYYY-MM-DD`, which tells whether that day is over",
            (Related(waiver.span, f"the waiver of {label(offer.document)}"),),
        )
    )
    return Waived((lifted,), waiver.reason, waiver.expires.text)


def _contradiction(
    document: Mapping, other: Value, value: Value, owner: Document, waivers: Waivers, offer: Offer | None
) -> Diagnostic:
    alike = isinstance(value.node, Scalar) and value.path == other.path and not is_hidden(value)
    implied = other.span == document.span
    call = View(document, []).call(other.path) if implied else other.written
    what, cure = shown(other._replace(written=call)), "remove the line"
    if alike and isinstance(value.node, Scalar):
        enforced = f"`{call}: {value.node.text}`"
        cure = f"write {enforced}" + ("" if implied else ", or remove the line")
    else:
        enforced = "another value" if value.path == other.path else shown(value)
    if implied:
        what = f"{what}, which the file means without saying it,"
    advice, places = waivers.advice(offer)
    return Diagnostic(
        "TAU330",
        waivers.severity(offer),
        f"{what} contradicts {label(owner)}, which enforces {enforced}",
        other.span,
        f"{cure}{advice}",
        (Related(value.span, f"enforced by {label(owner)}"), *places),
    )

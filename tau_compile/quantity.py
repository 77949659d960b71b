"""Kubernetes quantities (``64Gi``, ``500m``, ``12e6``): exact, and written as the API server writes them.

Argo CD compares text: an amount that the API server spells differently (``1000m`` becomes ``1``) looks out of
sync for ever (B-29), so everything we emit is canonical. What people write by mistake is refused with what
they probably meant (B-26 to B-28).
"""

from __future__ import annotations

import re
from functools import total_ordering
from typing import TYPE_CHECKING, Literal

from tau_compile.diagnostics import error, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tau_compile.diagnostics import Diagnostic, Span

NANO = 10**9
MAX = (2**63 - 1) * NANO
"""The largest amount that Kubernetes keeps, in nanos; it silently turns ``1000E`` into ``1``."""

_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_GRAMMAR = re.compile(
    r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?[0-9]{1,9}))?"
)
# Kubernetes sets no limit; this one keeps arithmetic small and is far beyond any amount in nanos.
_MAX_TEXT = 64


Style = Literal["decimal", "binary", "exponent"]


@total_ordering
class Quantity:
    """An exact amount in billionths, the finest of Kubernetes. Compares by amount, not by style. Never changes."""

    __slots__ = ("nanos", "style")

    def __init__(self, nanos: int, style: Style = "decimal") -> None:
        self.nanos = nanos
        self.style = style

    def __eq__(self, other: object) -> bool:
        return self.nanos == other.nanos if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: Quantity) -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __repr__(self) -> str:
        return f"Quantity({self.nanos}, {self.style!r})"

    @property
    def is_whole(self) -> bool:
        """Whether it is an integer of the unit: whole bytes, whole cores."""
        return self.nanos % NANO == 0

    @property
    def units(self) -> int:
        """Count whole units (bytes, cores), rounded away from zero."""
        return _divide(self.nanos, NANO)

    @property
    def millis(self) -> int:
        """Count thousandths, rounded away from zero."""
        return _divide(self.nanos, NANO // 1000)

    def canonical(self) -> str:
        """Write it as the API server does: a fixed point of reading and writing up to ``MAX``."""
        if self.nanos == 0:
            return "0"
        if self.style == "binary" and self.is_whole and abs(self.nanos) >= 1024 * NANO:
            amount, power = self.nanos // NANO, 0
            while amount % 1024 == 0 and power < 6:
                amount, power = amount // 1024, power + 1
            return f"{amount}{_BINARY[power]}"
        amount, exponent = self.nanos, -9
        while amount % 1000 == 0 and (exponent < 18 or self.style == "exponent"):
            amount, exponent = amount // 1000, exponent + 3
        if self.style == "exponent":
            return f"{amount}e{exponent}" if exponent else f"{amount}"
        return f"{amount}{_DECIMAL[exponent // 3 + 3]}"

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.nanos + other.nanos, self.style if self.nanos else other.style)

    def __mul__(self, times: int) -> Quantity:
        return Quantity(self.nanos * times, self.style)

    def __str__(self) -> str:
        return self.canonical()


ZERO = Quantity(0)


def try_parse(text: str) -> Quantity | None:
    """Read a quantity; None where Kubernetes would refuse it.

    Finer amounts than a billionth are rounded away from zero, as there. Stricter in two points: a number is
    required (Kubernetes takes ``Gi`` and ``.`` for zero), and so is a text of at most 64 characters.
    """
    match = _GRAMMAR.fullmatch(text) if len(text) <= _MAX_TEXT else None
    if match is None:
        return None
    sign, number, suffix, exponent = match.groups()
    whole, _, fraction = number.partition(".")
    nanos, power = int(whole + fraction) * NANO, -len(fraction)
    style: Style = "decimal"
    if exponent:
        # Beyond this the amount is over MAX or under a billionth in any case.
        power, style = power + max(-200, min(200, int(exponent))), "exponent"
    elif suffix and suffix[-1] == "i":
        nanos, style = nanos << 10 * _BINARY.index(suffix), "binary"
    elif suffix:
        power += 3 * _DECIMAL.index(suffix) - 9
    nanos = nanos * 10**power if power >= 0 else _divide(nanos, 10**-power)
    return Quantity(-nanos if sign == "-" else nanos, style)


def parse(text: str) -> Quantity:
    """Read a quantity from text that is known to be one; ValueError otherwise."""
    quantity = try_parse(text)
    if quantity is None:
        raise ValueError(f"not a Kubernetes quantity: {shown(text)}")
    return quantity


def _divide(amount: int, by: int) -> int:
    """Division that rounds away from zero."""
    return -(-amount // by) if amount >= 0 else amount // by


_MEMORY_EXAMPLE = "write an amount such as 64Gi, 512Mi or 100G"
_CPU_EXAMPLE = "write an amount such as 8, 0.5 or 500m"
_TOO_SMALL = NANO << 20
_DIGITS = "0123456789."
# Compiled at the first mistake only: start-up matters more.
_LOOSE = r"\s*([+-]?)\s*([0-9.,_]*[0-9][.,_]?)\s*([^\W\d_]*)\s*"
_THOUSANDS = r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?"
_DECIMAL_WORDS = {
    "kilo": "k",
    "mega": "m",
    "meg": "m",
    "giga": "g",
    "gig": "g",
    "tera": "t",
    "peta": "p",
    "exa": "e",
}
_WORDS = _DECIMAL_WORDS | {"kibi": "ki", "mebi": "mi", "gibi": "gi", "tebi": "ti", "pebi": "pi", "exbi": "ei"}
_MEMORY_UNITS = {
    "": ("",),
    **{unit.lower(): (unit,) for unit in _BINARY[1:]},
    **{unit.lower(): (unit.upper() + "i", unit) for unit in _DECIMAL[4:]},
}
_CPU_UNITS = {
    **dict.fromkeys(("", "c", "core", "cores", "cpu", "cpus", "vcpu", "vcpus", "vcore", "vcores"), ("",)),
    **dict.fromkeys(("m", "mc", "mcpu", "milli", "millicore", "millicores", "millicpu", "millicpus"), ("m",)),
}


def read_memory(
    text: str, span: Span | None, what: str = "memory", *, positive: bool = True
) -> tuple[Quantity | None, list[Diagnostic]]:
    """Read an amount of memory or storage from a user; None and an error where it is none or surely a slip.

    ``what`` names the field in messages; with ``positive`` off, zero will do.
    """
    quantity = try_parse(text)
    if quantity is None:
        return None, [_misspelt(text, span, what, memory=True)]
    found = _out_of_range(text, quantity, span, what, positive)
    if found is None and not _good_memory(text, quantity):
        number, unit = text.strip("+num"), text[-1]
        amount = f"{what} {shown(text)} is {_exact(quantity)} bytes"
        if unit == "m":
            cures = _offer((f"{number}Mi", f"{number}M"), True) or _MEMORY_EXAMPLE
            found = error("TAU403", f"{amount}: m counts thousandths", span, cures)
        elif unit not in _DIGITS or quantity.nanos >= _TOO_SMALL:
            cures = _offer((f"{_divide(quantity.units, 1 << 20)}Mi",), True) or _MEMORY_EXAMPLE
            found = error("TAU403", f"{amount}, not a whole number of bytes", span, cures)
        else:
            number = number if quantity.style == "decimal" else f"{quantity.units}"
            cures = _offer((f"{number}Gi", f"{number}Mi"), True) or _MEMORY_EXAMPLE
            found = error("TAU404", f"{amount}: a number without a unit counts bytes", span, cures)
    return (None, [found]) if found else (quantity, [])


def read_cpu(
    text: str, span: Span | None, what: str = "cpus", *, positive: bool = True
) -> tuple[Quantity | None, list[Diagnostic]]:
    """Read a number of CPU cores from a user; as ``read_memory``."""
    quantity = try_parse(text)
    if quantity is None:
        return None, [_misspelt(text, span, what, memory=False)]
    found = _out_of_range(text, quantity, span, what, positive)
    if found is None and not _good_cpu(text, quantity):
        number = text.lstrip("+")
        unit = number.lstrip(_DIGITS)
        if quantity.nanos % (NANO // 1000):
            message = f"{what} {shown(text)} is finer than a thousandth of a core"
            cures = _offer((f"{quantity.millis}m",), False) or _CPU_EXAMPLE
            found = error("TAU408", message, span, cures)
        else:
            number = number.removesuffix(unit)
            message = f"{what} {shown(text)} is {quantity.units} cores: {unit} is for memory"
            cures = _offer((f"{number}m", number) if unit == "M" else (number,), False) or _CPU_EXAMPLE
            found = error("TAU407", message, span, cures)
    return (None, [found]) if found else (quantity, [])


def _good_memory(text: str, quantity: Quantity) -> bool:
    """Whether it is whole bytes, not in thousandths, and more than some bytes where no unit is given."""
    bare = text[-1] in _DIGITS
    small = 0 < quantity.nanos < _TOO_SMALL
    return quantity.is_whole and not (bare and small) and (text[-1] not in "num" or not quantity.nanos)


def _good_cpu(text: str, quantity: Quantity) -> bool:
    """Whether it is whole millicores (Kubernetes counts no finer) and in no unit of memory."""
    unit = text.lstrip("+-").lstrip(_DIGITS)
    return quantity.nanos % (NANO // 1000) == 0 and unit not in _BINARY[1:] and unit not in _DECIMAL[4:]


def _out_of_range(
    text: str, quantity: Quantity, span: Span | None, what: str, positive: bool
) -> Diagnostic | None:
    if quantity.nanos < 0:
        return error("TAU405", f"{what} {shown(text)} is negative", span, "write an amount above zero")
    if quantity.nanos == 0 and positive:
        return error("TAU406", f"{what} {shown(text)} is nothing", span, "write an amount above zero")
    if quantity.nanos > MAX:
        message = f"{what} {shown(text)} is more than Kubernetes can count"
        return error(
            "TAU409", message, span, f"write an amount of at most {MAX // NANO}, which is just below 8Ei"
        )
    return None


def _misspelt(text: str, span: Span | None, what: str, *, memory: bool) -> Diagnostic:
    """Refuse a text that is no quantity, with what it may have been meant to be."""
    match = re.fullmatch(_LOOSE, text) if len(text) <= _MAX_TEXT else None
    cures, word = "", ""
    if match:
        sign, number, word = match.groups()
        cures = _offer(
            [sign.strip("+") + n + u for n in _numbers(number) for u in _units(word, memory)], memory
        )
    if not cures:
        message = f"{what} {shown(text)} is no amount" if text else f"{what} is empty"
        return error("TAU401", message, span, _MEMORY_EXAMPLE if memory else _CPU_EXAMPLE)
    if word and word not in _units(word, memory):
        of = "memory" if memory else "CPU"
        return error("TAU402", f"{what} {shown(text)}: {word} is no unit of {of} in Kubernetes", span, cures)
    slip = "comma" if "," in text else "underscore" if "_" in text else "space"
    return error("TAU401", f"{what} {shown(text)}: an amount holds no {slip}", span, cures)


def _numbers(number: str) -> list[str]:
    """Read a number with commas or underscores: they may mark thousands, or the comma decimals."""
    number = number.replace("_", "")
    if "," not in number:
        return [number]
    thousands = [number.replace(",", "")] if re.fullmatch(_THOUSANDS, number) else []
    return thousands + ([number.replace(",", ".")] if number.count(",") == 1 and "." not in number else [])


def _units(word: str, memory: bool) -> tuple[str, ...]:
    """Translate a user's word for a unit into the units of Kubernetes it may stand for."""
    if not memory:
        return _CPU_UNITS.get(word.lower(), ())
    if word in _BINARY or word in _DECIMAL[4:]:
        return (word,)
    bare = word.lower()
    for end in ("bytes", "byte", "b"):
        if bare.endswith(end):
            bare = bare.removesuffix(end)
            break
    return _MEMORY_UNITS.get(_WORDS.get(bare.removesuffix("s"), bare), ())


def _offer(cures: Iterable[str], memory: bool) -> str:
    """Write the hint that names the cures, those that would be accepted."""
    good = _good_memory if memory else _good_cpu
    offered = [(cure, q) for cure in cures if (q := try_parse(cure)) and 0 < q.nanos <= MAX and good(cure, q)]
    if memory:
        texts = [f"{cure} ({q.units} bytes)" for cure, q in offered]
    else:
        texts = [f"{cure} ({_exact(q)} cores)" if len(offered) > 1 else cure for cure, q in offered]
    return f"write {' or '.join(texts)}" if texts else ""


def _exact(quantity: Quantity) -> str:
    """Write an amount that is not negative as a plain decimal number."""
    whole, rest = divmod(quantity.nanos, NANO)
    return f"{whole}.{rest:09d}".rstrip("0") if rest else f"{whole}"

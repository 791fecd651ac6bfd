"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


BYTES = ("B", "kB", "MB", "GB", "TB", "PB")


def data_size(count: float) -> str:
    """Return bytes with three digits and a unit: 1.23 MB."""
    return _scaled(count, BYTES)


def unit(largest: float) -> tuple[str, float]:
    """Return the unit for an axis that goes up to so many bytes, and its size."""
    place = min(max(int(math.log10(max(largest, 1))) // 3, 0), len(BYTES) - 1)
    return BYTES[place], 1000.0**place


def count(number: float) -> str:
    """Return a count with three digits and a word: 1.23 million."""
    return _scaled(number, ("", "thousand", "million", "billion", "trillion"))


def time(seconds: float) -> str:
    """Return a time in seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def _scaled(value: float, units: Sequence[str]) -> str:
    place = 0
    while value >= 999.5 and place < len(units) - 1:
        value, place = value / 1000, place + 1
    digits = f"{value:.0f}" if place == 0 else f"{value:#.3g}".rstrip(".")
    return f"{digits} {units[place]}".strip()


def tick(value: float, _place: int | None = None) -> str:
    """Return an axis' number in full where that is short, with a power of ten elsewhere."""
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return f"{value:,.6g}"
    return power(value)


def power(value: float, _place: int | None = None) -> str:
    """Return a number with a power of ten: 2·10⁻⁵."""
    mantissa, _, exponent = f"{value:.3e}".partition("e")
    raised = f"10{str(int(exponent)).translate(RAISED)}"
    digits = f"{float(mantissa):g}"
    return raised if digits == "1" else f"{digits}·{raised}"

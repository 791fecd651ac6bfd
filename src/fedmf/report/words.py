"""Numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence


def data_size(count: float) -> str:
    """Return bytes with three digits and a unit: 1.23 MB."""
    return _scaled(count, ("B", "kB", "MB", "GB", "TB", "PB"))


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

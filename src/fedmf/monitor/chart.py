"""Figures as SVG without sizes of their own: the page's style gives them width, height and colour.

A figure is stretched to the place that it gets, its lines keep their width, and all words stand
beside it as text, so that it can be read on a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isfinite, log

from fedmf.monitor.scene import ANSWERED, MISSING

POINTS = 300  # of a curve; more cannot be told apart
TICKS = 4
NARROW = 1e-9  # a range below this part of the values is drawn as a level line


def curve(values: Sequence[float], first: int, title: str, words: str) -> str:
    """Return a figure of values by round, the first of them that of round `first`."""
    shown = [(first + place, value) for place, value in enumerate(values) if isfinite(value)]
    logarithmic = all(value > 0 for _, value in shown)
    points = thinned(shown, POINTS)
    if not points:
        return ""
    low, high = _range([value for _, value in shown])
    start, end = shown[0][0], max(shown[-1][0], shown[0][0] + 1)
    path = " ".join(
        f"{100 * (number - start) / (end - start):.2f},"
        f"{100 - 100 * _place(value, low, high, logarithmic):.2f}"
        for number, value in points
    )
    grid = "".join(
        f"<path class='grid' d='M0 {100 * tick / (TICKS - 1):.2f}H100'/>" for tick in range(TICKS)
    )
    levels = _levels(low, high, logarithmic)
    scale = "logarithmic" if logarithmic else "linear"
    return (
        f"<figure><figcaption>{escape(title)} <span class='note'>({scale})</span></figcaption>"
        f"<div class='plot'><div class='ys' aria-hidden='true'>{_spans(levels)}</div>"
        "<svg viewBox='0 0 100 100' preserveAspectRatio='none' role='img' "
        f"aria-label='{escape(words)}'>{grid}<polyline class='line' points='{path}'/></svg>"
        f"<div class='xs' aria-hidden='true'>{_spans([f'round {start}', str(end)])}</div></div>"
        "</figure>"
    )


def strip(marks: Sequence[str], length: int, words: str = "") -> str:
    """Return a row of marks, one a round, the newest at the right."""
    told = f"role='img' aria-label='{escape(words)}'" if words else "aria-hidden='true'"
    kinds = {ANSWERED: "M{x} 0h.8v1h-.8z", MISSING: "M{x} .1h.7v.8h-.7z"}
    drawn = "".join(
        f"<path class='{mark}' d='{kinds[mark].format(x=f'{place + 0.1:.1f}')}'/>"
        for place, mark in enumerate(marks, start=length - len(marks))
        if mark in kinds
    )
    return (
        f"<svg class='strip' viewBox='0 0 {length} 1' preserveAspectRatio='none' "
        f"{told}>{drawn}</svg>"
    )


def thinned(points: Sequence[tuple[int, float]], most: int) -> list[tuple[int, float]]:
    """Return at most so many of the points, evenly, the first and the last among them."""
    if len(points) <= most:
        return list(points)
    step = (len(points) - 1) / (most - 1)
    return [points[round(place * step)] for place in range(most)]


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Return the lowest and the highest value, a little apart in any case."""
    low, high = min(values), max(values)
    if high - low > NARROW * max(abs(low), abs(high)):
        return low, high
    return (low - 0.5, high + 0.5) if low == 0 else tuple(sorted((0.9 * low, 1.1 * high)))  # type: ignore[return-value]


def _place(value: float, low: float, high: float, logarithmic: bool) -> float:
    """Return where a value stands between the lowest, 0, and the highest, 1."""
    if logarithmic:
        return log(value / low) / log(high / low)
    return (value - low) / (high - low)


def _levels(low: float, high: float, logarithmic: bool) -> list[str]:
    """Return the values of the lines, the highest first, in as few digits as tell them apart."""
    places = [1 - tick / (TICKS - 1) for tick in range(TICKS)]
    values = [low * (high / low) ** x if logarithmic else low + x * (high - low) for x in places]
    for digits in range(2, 17):
        levels = [f"{value:.{digits}g}" for value in values]
        if len(set(levels)) == TICKS:
            break
    return levels


def _spans(texts: Sequence[str]) -> str:
    return "".join(f"<span>{escape(text)}</span>" for text in texts)

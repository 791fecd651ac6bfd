"""How a line looks: a method has its own colour, its lines differ by shade, dash and mark."""

from __future__ import annotations

from typing import NamedTuple

from fedmf.report.palette import DASHES, MARKS, METHODS, SHADES, SOLID, Dash, variable


class Look(NamedTuple):
    """How a line is drawn."""

    colour: str  # its variable
    dash: Dash
    mark: str = ""
    fill: bool = False


def of_line(method: str, place: int, alike: int) -> Look:
    """Return the look of one of several lines of a method: shades where there are over two."""
    if alike == 1:
        own = METHODS[method].dash if method in METHODS else SOLID
        mark = [*METHODS, method].index(method)
        return Look(variable(method), own, MARKS[mark % len(MARKS)])
    shade = None if alike == 2 else round(place * (len(SHADES) - 1) / (alike - 1))
    return Look(variable(method, shade), DASHES[place % len(DASHES)], MARKS[place % len(MARKS)])


def of_level(method: str) -> Look:
    """Return the look of a level to compare with."""
    own = METHODS[method].dash if method in METHODS else SOLID
    return Look(variable(method) if method else "faint", own or DASHES[1])

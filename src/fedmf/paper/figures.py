"""The figures, said without drawing them: mean curves with their bands, levels, and maps.

A method keeps its colour. Within a panel its curves differ by shade, by mark and, where the file
says so, by dash: curves that are dashed alike have the shades of those that are solid.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from fedmf.paper.exhibit import Exhibit, Panel, Series
from fedmf.paper.maps import Map, matched
from fedmf.paper.verdict import Results
from fedmf.report import Figure, Lines, Look, Reference, Scatter
from fedmf.report import Series as Line
from fedmf.report.palette import DASHES, MARKS, SHADES, variable
from fedmf.titles import title
from fedmf.trials import Result
from fedmf.trials.curves import Curve, averaged

LINES = {"solid": DASHES[0], "dashed": DASHES[1], "dotted": DASHES[2]}
AXES = {
    "round": "round",
    "uplink_reals": "reals sent to the server",
    "objective": "objective F",
    "accuracy": "accuracy, %",
}
ROOM = 0.04  # below the lowest curve


def figure(exhibit: Exhibit, results: Results, found: Map | None = None) -> Figure:
    """Return an exhibit's figure; a series without results is left out."""
    if exhibit.kind == "map":
        panels: list[Lines] | list[Scatter] = _maps(exhibit, results, found)
    else:
        shared = _shared(exhibit)
        panels = [lines(panel, results, shared) for panel in exhibit.panels]
    columns = 3 if len(panels) % 3 == 0 else 2
    return Figure(exhibit.paper, panels, exhibit.caption, exhibit.name, columns=columns)


def _shared(exhibit: Exhibit) -> set[str]:
    """Return the labels that curves of several methods have."""
    methods: dict[str, set[str]] = {}
    for one in exhibit.series.values():
        methods.setdefault(one.label, set()).add(_method(one))
    return {label for label, own in methods.items() if len(own) > 1}


def heading(panel: Panel) -> str:
    """Return what stands over a panel: its letter, its data and case, its title."""
    data, cases = ({getattr(one, name) for one in panel.places} for name in ("name", "case"))
    where = [*data, *(cases if len(cases) == 1 else ())] if len(data) == 1 else []
    return f"({panel.name}) {', '.join(filter(None, [*where, panel.title]))}"


def lines(panel: Panel, results: Results, shared: Collection[str] = ()) -> Lines:
    """Return a panel of mean curves; labels that are shared get their method before them."""
    looks = looks_of(panel)
    scale = 100.0 if panel.y == "accuracy" else 1.0
    drawn, levels, tops = [], [], []
    for one in panel.series:
        own = list(results[one.key].values())
        method = _method(one)
        if one.level and own:
            value = scale * float(np.mean([result.scores[panel.y] for result in own]))
            levels.append(Reference(one.label, value, method))
        elif own:
            curve = averaged(own, panel.y, panel.x)
            rounds = averaged(own, panel.y).x
            kept = (rounds >= 1) & (curve.x > 0)
            name = f"{title(method)}, {one.label}" if one.label in shared else one.label
            drawn.append(_line(name, curve, kept, scale, looks[one.key], len(own) > 1))
            tops.append(float(np.interp(panel.from_round, rounds, curve.mean)))
    first, beside = None, None
    if tops and panel.from_round:
        beside = _range(drawn, max(tops), "y" in panel.log)
        first = _entered(drawn, beside[1])
    return Lines(
        drawn,
        title=heading(panel),
        x=AXES[panel.x],
        y=AXES[panel.y],
        x_log="x" in panel.log,
        y_log="y" in panel.log,
        references=levels,
        x_range=(first, panel.until),
        y_range=beside or (None, None),
    )


def _line(name: str, curve: Curve, kept: Any, scale: float, look: Look, several: bool) -> Line:
    x, mean, low, high = (part[kept] for part in curve)
    edges = (scale * low, scale * high) if several else (None, None)
    return Line(name, x, scale * mean, edges[0], edges[1], look=look)


def _range(drawn: Sequence[Line], top: float, log: bool) -> tuple[float, float]:
    """Return an axis from a little below the lowest curve to a little above the top."""
    low = min(float(np.min(one.y)) for one in drawn)
    if log and low > 0:
        room = (top / low) ** ROOM
        return low / room, top * room
    return low - ROOM * (top - low), top + ROOM * (top - low)


def _entered(drawn: Sequence[Line], top: float) -> float:
    """Return where the first curve comes down to the top of the axis."""
    return min(float(one.x[int(np.argmax(one.y <= top))]) for one in drawn if min(one.y) <= top)


def looks_of(panel: Panel) -> dict[str, Look]:
    """Return how each curve of a panel is drawn."""
    curves = [one for one in panel.series if not one.level]
    groups: dict[tuple[str, str], list[str]] = {}
    for one in curves:
        groups.setdefault((_method(one), one.line), []).append(one.key)
    looks = {}
    for place, one in enumerate(curves):
        own = groups[_method(one), one.line]
        shade = None
        if len(own) > 1:
            shade = round(own.index(one.key) * (len(SHADES) - 1) / (len(own) - 1))
        mark = MARKS[place % len(MARKS)]
        looks[one.key] = Look(variable(_method(one), shade), LINES[one.line], mark)
    return looks


def _method(one: Series) -> str:
    return str(one.trials[0].method["name"])


def _maps(exhibit: Exhibit, results: Results, found: Map | None) -> list[Scatter]:
    """Return the maps: the classes, and each method's clusters by the class they are matched with.

    The accuracy in a title is that of all samples, those that are not shown included.
    """
    if found is None:
        return []
    maps = [Scatter(found.points, found.classes[found.shown], found.names,
                    title=f"({exhibit.panels[0].name}) {exhibit.panels[0].title}")]  # fmt: skip
    for panel in (panel for panel in exhibit.panels if panel.series):
        first = _first(results[panel.series[0].key])
        if first is None or first.labels is None:
            continue
        groups, names = matched(found, first.labels)
        title = f"({panel.name}) {panel.title}, {100 * first.scores['accuracy']:.1f} %"
        maps.append(Scatter(found.points, groups[found.shown], names, title=title))
    return maps


def _first(results: Mapping[int, Result]) -> Result | None:
    return results[min(results)] if results else None

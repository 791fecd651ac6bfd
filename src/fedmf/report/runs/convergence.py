"""How F came down: by round, by what was uploaded, by time; and how far it still moved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedmf.arrays import Array, IntArray
from fedmf.report.figure import Figure, Lines, Series
from fedmf.report.page import Section, Text
from fedmf.report.record import Record, penalty_grows
from fedmf.report.words import unit

POINTS = 1000  # of a curve, evenly by round; as many again evenly by the logarithm
REACH = 7  # rounds before and after one, of which a running median is taken


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    played = [record for record in records if record.run.rows]
    if not played:
        return Section("Convergence", [Text("No round was played.")])
    return Section("Convergence", [progress(played), settling(played)])


def progress(records: Sequence[Record], objectives: Sequence[Array] | None = None) -> Figure:
    """Return F by round, by upload and by time; or other values than the history's F."""
    values = objectives or [record.column("objective") for record in records]
    size, factor = unit(max(record.uploaded[-1] for record in records))
    over = {
        "round": [record.column("round") for record in records],
        f"uploaded, {size}": [record.uploaded / factor for record in records],
        "seconds": [np.cumsum(record.column("seconds")) for record in records],
    }
    positive = all(F.min() > 0 for F in values)
    panels = [
        Lines(
            [
                thinned(record.series, x, F, record.method)
                for record, x, F in zip(records, xs, values, strict=True)
            ],
            x=name,
            x_log=True,
            y_log=positive,
        )
        for name, xs in over.items()
    ]
    caption = (
        "The objective after each round: by round, by all that was uploaded (the set-up and the "
        "first upload included), and by the time that the rounds took."
    )
    return Figure("Objective", panels, caption, key="objective")


def settling(records: Sequence[Record]) -> Figure:
    """Return the relative change of F, and rho where it grew."""
    panels = [
        Lines(
            [series for record in records for series in _changes(record)],
            y="relative change of F",
            y_log=True,
        )
    ]
    if any(map(penalty_grows, records)):
        grown = [
            thinned(one.series, one.column("round"), one.column("rho"), one.method, step=True)
            for one in records
        ]
        panels.append(Lines(grown, y="penalty, relative", y_log=True))
    caption = "How far F still moved in each round: the running median in front, each round behind."
    return Figure("Change", panels, caption, key="change")


def _changes(record: Record) -> list[Series]:
    """Return the change in each round where there was any, and its running median in front."""
    change = record.column("change")
    moved = change > 0
    s, change = record.column("round")[moved], change[moved]
    return [
        thinned(record.series, s, change, record.method, faint=True),
        thinned(record.series, s, running_median(change), record.method),
    ]


def running_median(values: Array) -> Array:
    """Return the median of each value and up to REACH before and after it."""
    places = range(len(values))
    return np.array([np.median(values[max(0, i - REACH) : i + REACH + 1]) for i in places])


def thinned(
    name: str, x: Array, y: Array, method: str, *, step: bool = False, faint: bool = False
) -> Series:
    """Return a line with no more points than can be seen."""
    kept = thin(len(x))
    return Series(name, x[kept], y[kept], method=method, step=step, faint=faint)


def thin(count: int) -> IntArray:
    """Return the places that are kept of many: evenly, and evenly by the logarithm."""
    if count <= 2 * POINTS:
        return np.arange(count)
    even, early = np.linspace(0, count - 1, POINTS), np.geomspace(1, count, POINTS) - 1
    return np.unique(np.concatenate([even, early]).astype(np.int64))

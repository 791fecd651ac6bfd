"""Figures of runs: functions from records to matplotlib figures, without a window or global state.

Every figure names its axes with their units, and tells runs apart by colour (the method) and by
line (which run of it).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from fedmf.arrays import Array
from fedmf.report.palette import BAR, FAINT, INK, LINE, colour
from fedmf.report.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1, 1, 1)))
WIDTH = 7.6  # inches


class Curve(NamedTuple):
    """A run as a line: what it is called, whose colour it has, and its figures by round."""

    label: str
    method: str
    rounds: Array
    uploaded: Array  # bytes after each round
    objective: Array
    change: Array
    penalty: Array  # relative


def curve(record: Record) -> Curve:
    """Return a run's line."""
    return Curve(
        record.label,
        record.method,
        record.column("round"),
        record.uploaded,
        record.column("objective"),
        record.column("change"),
        record.column("rho"),
    )


def progress(curves: Sequence[Curve]) -> Figure:
    """Draw F by round and by what was uploaded."""
    figure = Figure(figsize=(WIDTH, 3.1), layout="constrained")
    by_round, by_bytes = figure.subplots(1, 2, sharey=True)
    for each, style in styled(curves):
        by_round.plot(each.rounds, each.objective, label=each.label, **style)
        by_bytes.plot(each.uploaded / 1e6, each.objective, **style)
    _plain(by_round, "objective F", "round")
    _plain(by_bytes, "", "uploaded, MB (set-up and first upload included)")
    for axes in (by_round, by_bytes):
        _log_below(axes)
    _objective_axis(by_round, curves)
    _legend(figure, by_round, len(curves))
    return figure


def settling(curves: Sequence[Curve]) -> Figure:
    """Draw the relative change of F, and rho where it grew."""
    grew = any(len(np.unique(each.penalty)) > 1 for each in curves)
    figure = Figure(figsize=(WIDTH, 2.7), layout="constrained")
    panels = figure.subplots(1, 2 if grew else 1, squeeze=False)[0]
    for each, style in styled(curves):
        moved = each.change > 0
        s, change = each.rounds[moved], each.change[moved]
        panels[0].plot(s, change, color=style["color"], linewidth=0.7, alpha=0.3)
        panels[0].plot(s, _running_median(change), **style)
        if grew:
            panels[1].step(each.rounds, each.penalty, where="mid", **style)
    titles = ("relative change of F, and its running median", "penalty, relative")
    for axes, title in zip(panels, titles, strict=False):
        _plain(axes, title, "round")
        axes.set_yscale("log")
    return figure


def sites(record: Record) -> Figure:
    """Draw the sites, largest first: their samples, and in how many rounds each took part."""
    order = np.argsort(-record.run.sizes, kind="stable")
    edges = np.arange(len(order) + 1) + 0.5
    figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    samples, turns = record.run.sizes[order], record.turns[order]
    above.stairs(samples, edges, fill=True, color=BAR.light)
    below.stairs(turns, edges, fill=True, color=colour(record.method).light)
    _plain(above, "samples", "")
    _plain(below, f"rounds drawn, of {len(record.run.rows)}", "sites, largest first")
    if samples.max() > 20 * max(1, int(np.median(samples))):
        above.set_yscale("log")
        above.yaxis.set_major_formatter(FuncFormatter(_number))
        above.set_ylim(bottom=0.7)
    below.set_ylim(bottom=0)
    below.set_xlim(edges[0], edges[-1])
    return figure


def styled(curves: Sequence[Curve]) -> list[tuple[Curve, dict[str, Any]]]:
    """Return each curve with its method's colour and a line of its own within the method."""
    seen: Counter[str] = Counter()
    pairs = []
    for each in curves:
        line = LINES[seen[each.method] % len(LINES)]
        seen[each.method] += 1
        style = {"color": colour(each.method).light, "linestyle": line, "linewidth": 1.7}
        pairs.append((each, style))
    return pairs


def _running_median(values: Array, reach: int = 7) -> Array:
    """Return the median of each value and up to `reach` before and after it."""
    places = range(len(values))
    return np.array([np.median(values[max(0, i - reach) : i + reach + 1]) for i in places])


def _legend(figure: Figure, axes: Axes, count: int) -> None:
    """Put the legend of one panel above all of them."""
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside upper left", ncols=min(count, 4),
        fontsize=8.5, frameon=False, labelcolor=INK.light, handlelength=2.4,
    )  # fmt: skip


def _log_below(axes: Axes) -> None:
    """Take a logarithmic scale below, with numbers between the powers of ten where it is short."""
    axes.set_xscale("log")
    first, last = axes.get_xlim()
    between = (1.0,) if last > 30 * first else (1.0, 2.0, 5.0)
    axes.xaxis.set_major_locator(LogLocator(subs=between))
    axes.xaxis.set_major_formatter(FuncFormatter(_number))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _objective_axis(axes: Axes, curves: Sequence[Curve]) -> None:
    """Take a logarithmic scale where every F is positive."""
    values = np.concatenate([each.objective for each in curves])
    if values.size and values.min() > 0:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=(1, 2, 5, 10)))
        axes.yaxis.set_major_formatter(FuncFormatter(_number))
        axes.yaxis.set_minor_locator(NullLocator())


def _plain(axes: Axes, title: str, below: str) -> None:
    """Leave out what is not data; say what is on the axes."""
    axes.set_title(title, fontsize=9, color=INK.light, loc="left", pad=5)
    axes.set_xlabel(below, fontsize=8.5, color=FAINT.light)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(LINE.light)
    axes.tick_params(which="both", labelsize=8, labelcolor=FAINT.light, color=LINE.light, length=3)
    axes.grid(visible=True, color=LINE.light, linewidth=0.6)
    axes.set_axisbelow(True)


def _number(value: float, _place: int | None = None) -> str:
    """Return a tick's number in full, without a power of ten where that is short."""
    return f"{value:,.6g}" if 1e-3 <= abs(value) < 1e6 else f"{value:.0e}"
